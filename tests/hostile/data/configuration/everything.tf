terraform {
  required_providers { playground = { source = "mayfly/playground" } }
}
variable "password" {
  type      = string
  ephemeral = true
}
variable "names" {
  type    = map(object({ a = string, b = optional(number, 1) }))
  default = {}
}
locals {
  up   = upper(var.password)
  list = [for k, v in var.names : "${k}-%{if v.b > 1}x%{else}y%{endif}" if k != ""]
  both = { for k, v in var.names : k => v... }
}
module "m" {
  source = "./m"
  in     = local.up
}
resource "playground_service" "s" {
  for_each = var.names
  name     = each.key
  lifecycle { ignore_changes = [name] }
}
output "o" {
  value     = try(playground_service.s["a"].name, module.m.out, local.list[0])
  ephemeral = true
}
check "c" {
  assert {
    condition     = length(local.list) > 0
    error_message = "none: ${var.password}"
  }
}
