# Reads the secret of ../store, configures a provider with it, and passes it to a write-only attribute.

terraform {
  required_providers {
    playground = {
      source  = "registry.opentofu.org/mayfly/playground"
      version = "0.1.0"
    }
  }
}

provider "playground" {
  alias = "read-secrets"
  store = "../.playground"
}

variable "secret_manager_arn" {
  type = string
}

module "secret_management" {
  providers = {
    playground : playground.read-secrets
  }
  source             = "../mod"
  secret_manager_arn = var.secret_manager_arn
}

provider "playground" {
  alias        = "dev-access"
  store        = "../.playground"
  access_key   = module.secret_management.secrets["access_key"]
  secret_key   = module.secret_management.secrets["secret_key"]
  require_keys = true
}

resource "playground_parameter" "store_ephemeral_in_write_only" {
  provider         = playground.dev-access
  name             = "parameter_from_ephemeral_value"
  type             = "SecureString"
  value_wo         = jsonencode(module.secret_management.secrets)
  value_wo_version = 1

  provisioner "local-exec" {
    when    = create
    command = "echo non-ephemeral value: ${playground_parameter.store_ephemeral_in_write_only.arn}"
  }

  # An error: a write-only attribute reads as null, and null cannot be part of a text.
  # provisioner "local-exec" {
  #   when    = create
  #   command = "echo write-only value: ${playground_parameter.store_ephemeral_in_write_only.value_wo}"
  # }

  # The output is suppressed, because the command contains an ephemeral value.
  provisioner "local-exec" {
    when    = create
    command = "echo ephemeral value from module: #${jsonencode(module.secret_management.secrets)}#"
  }
}
