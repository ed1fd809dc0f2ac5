variable "text" {
  type    = string
  default = "hello"
}
variable "many" {
  type    = list(string)
  default = ["a", "b", "c"]
}
variable "shape" {
  type    = object({ name = string, size = optional(number, 3), tags = optional(map(string), {}) })
  default = { name = "box", tags = { k = "v" } }
}
variable "pin" {
  type      = string
  default   = "1234"
  sensitive = true
}
variable "token" {
  type      = string
  default   = "kanarek"
  ephemeral = true
}
variable "nothing" {
  type    = string
  default = null
}
variable "unions" {
  type    = set(number)
  default = [3, 1, 2]
}
locals {
  number  = 42
  half    = 0.5
  yes     = true
  nested  = { a = [{ b = 1 }, { b = 2 }], "odd key" = { c = "d" } }
  lines   = "one\ntwo\n"
  mixed   = ["x", 1, true, null]
  secret  = { plain = "p", hidden = var.pin }
  passing = "${var.token}!"
  empty   = []
  maps    = { for i, it in var.many : it => i }
  table   = [for it in var.many : { name = it, long = length(it) > 1 }]
}
resource "terraform_data" "one" {
  input = { name = var.text, list = var.many }
}
resource "terraform_data" "counted" {
  count = 2
  input = "n${count.index}"
}
resource "terraform_data" "each" {
  for_each = toset(["x", "y"])
  input    = each.key
}
resource "terraform_data" "hidden" {
  input = var.pin
}
module "child" {
  source = "./child"
  given  = var.text
}
module "children" {
  source   = "./child"
  for_each = toset(["l", "r"])
  given    = each.key
}
output "out" {
  value = terraform_data.one.output
}
