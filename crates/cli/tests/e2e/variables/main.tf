variable "s" {
  type    = string
  default = "default"
}
variable "n" {
  type    = number
  default = 0
}
variable "b" {
  type    = bool
  default = false
}
variable "l" {
  type    = list(string)
  default = []
}
variable "set" {
  type    = set(string)
  default = []
}
variable "m" {
  type    = map(number)
  default = {}
}
variable "t" {
  type    = tuple([string, number])
  default = ["x", 1]
}
variable "o" {
  type    = object({ a = string, b = optional(number, 7), c = optional(list(object({ d = optional(string, "d") }))) })
  default = { a = "x" }
}
variable "any" {
  type    = any
  default = null
}
variable "untyped" {
  default = null
}
variable "untyped_list" {
  default = [1, 2]
}
variable "untyped_number" {
  default = 5
}
variable "strict" {
  type     = string
  default  = "kept"
  nullable = false
}
variable "even" {
  type    = number
  default = 2
  validation {
    condition     = var.even % 2 == 0
    error_message = "It is odd."
  }
  validation {
    condition     = var.even < 100
    error_message = "It is too large: ${var.even}."
  }
}
variable "pin" {
  type      = number
  default   = 1
  sensitive = true
}
variable "token" {
  type      = list(number)
  default   = []
  ephemeral = true
}
output "s" {
  value = var.s
}
output "n" {
  value = var.n
}
output "b" {
  value = var.b
}
output "l" {
  value = var.l
}
output "set" {
  value = var.set
}
output "m" {
  value = var.m
}
output "t" {
  value = var.t
}
output "o" {
  value = var.o
}
output "any" {
  value = var.any
}
output "untyped" {
  value = var.untyped
}
output "untyped_list" {
  value = var.untyped_list
}
output "untyped_number" {
  value = var.untyped_number
}
output "strict" {
  value = var.strict
}
output "even" {
  value = var.even
}
output "pin" {
  value     = var.pin
  sensitive = true
}
