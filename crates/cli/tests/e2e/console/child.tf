variable "given" {
  type = string
}
resource "terraform_data" "inner" {
  input = upper(var.given)
}
output "loud" {
  value = terraform_data.inner.output
}
output "quiet" {
  value     = var.given
  sensitive = true
}
output "whole" {
  value = { given = var.given, list = [var.given] }
}
