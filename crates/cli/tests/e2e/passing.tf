# Passes secrets on.

variable "secret" {
  type      = string
  ephemeral = true
}

variable "parts" {
  type      = list(string)
  ephemeral = true
}

locals {
  trimmed = trimspace(var.secret)
}

output "secret" {
  value     = local.trimmed
  ephemeral = true
}

output "parts" {
  value     = { for index, part in var.parts : "part${index}" => part }
  ephemeral = true
}
