# Stores a pair of keys as one secret, and outputs its ARN for ../read.

terraform {
  required_providers {
    playground = {
      source  = "registry.opentofu.org/mayfly/playground"
      version = "0.1.0"
    }
  }
}

provider "playground" {
  alias = "secrets-read-write"
  store = "../.playground"
}

# A value for an ephemeral variable of a module need not be ephemeral itself.
variable "access_key" {
  type      = string
  ephemeral = false
}

variable "secret_key" {
  type      = string
  ephemeral = false
}

locals {
  secrets = {
    "access_key" : var.access_key,
    "secret_key" : var.secret_key
  }
}

module "secret_management" {
  providers = {
    playground : playground.secrets-read-write
  }
  source         = "../mod"
  secret_map     = local.secrets
  secret_version = 2
}

output "secret_manager_arn" {
  value = module.secret_management.secret_manager_arn
}
