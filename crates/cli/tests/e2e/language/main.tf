variable "text" {
  type    = string
  default = "hello"
}
variable "list" {
  type    = list(string)
  default = ["a", "b"]
}
variable "set" {
  type    = set(string)
  default = ["b", "a"]
}
variable "map" {
  type    = map(number)
  default = { x = 1, y = 2 }
}
variable "tuple" {
  type    = tuple([string, number])
  default = ["t", 5]
}
variable "object" {
  type    = object({ a = string, b = optional(number, 7), c = optional(list(string)) })
  default = { a = "x" }
}
variable "objects" {
  type    = list(object({ n = number, t = optional(string, "d") }))
  default = [{ n = 1 }, { n = 2, t = null }, { n = 3, t = "e" }]
}
variable "deep" {
  type = map(object({
    in  = optional(object({ p = optional(bool, true), q = optional(string) }), {})
    all = optional(list(object({ r = optional(number, 1) })), [{}])
    set = optional(set(string), ["s"])
  }))
  default = { one = {}, two = { in = { p = false }, all = [] }, three = { in = null, all = [{ r = 5 }, {}] } }
}
variable "any" {
  type    = any
  default = { a = [1, "b"], c = null }
}
variable "list_any" {
  type    = list(any)
  default = [1, "a", true]
}
variable "map_any" {
  type    = map(any)
  default = { a = 1, b = "x" }
}
variable "null_text" {
  type    = string
  default = null
}
variable "null_list" {
  type    = list(string)
  default = null
}
variable "null_object" {
  type    = object({ a = string })
  default = null
}
variable "kept" {
  type     = object({ a = optional(string, "x") })
  default  = {}
  nullable = false
}
resource "terraform_data" "u" {
  input = "in"
}
resource "terraform_data" "v" {
  count = 2
}
locals {
  id     = terraform_data.u.id
  out    = terraform_data.u.output
  prefix = "ami-${terraform_data.u.id}"
  ids    = tolist([terraform_data.u.id, "x"])
  idset  = toset([terraform_data.u.id, "x"])
  idmap  = tomap({ a = terraform_data.u.id, b = "x" })
  number = length(terraform_data.u.id)
  flag   = terraform_data.u.id == "x"
  split  = split(",", terraform_data.u.id)
  partly = { known = "k", unknown = terraform_data.u.id, list = [1, terraform_data.u.id] }
  pick   = terraform_data.u.id == "x" ? 3 : 8
  some   = terraform_data.u.id == "x" ? tolist(["a"]) : tolist(["a", "b", "c"])
  maybe  = terraform_data.u.id == "x" ? null : "a"
  pin    = sensitive("1234")
}
