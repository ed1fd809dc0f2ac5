resource "a" "b" {
  x = [1, 2
  y = "unclosed ${f(1
  z = <<EOT
no end

resource "c" "d" {
  ok = 1

# next
variable "e" {
  default = {
}
variable
"f" {}
}} /* never closed
output "g" { value = 'x' & 1, two = 2 }
