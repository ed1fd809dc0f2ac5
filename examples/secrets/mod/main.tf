# Stores a secret (secret_version above 1), or reads a stored one.

terraform {
  required_providers {
    playground = {
      source  = "registry.opentofu.org/mayfly/playground"
      version = "0.1.0"
    }
  }
}

variable "secret_map" {
  type      = map(string)
  default   = {}
  ephemeral = true
}

variable "secret_version" {
  type    = number
  default = 1
}

variable "secret_manager_arn" {
  type    = string
  default = ""
}

resource "playground_secret" "manager" {
  count = var.secret_version > 1 ? 1 : 0
  name  = "ephemeral-rfc-example"
}

resource "playground_secret_version" "secret_creation" {
  count                    = var.secret_version > 1 ? 1 : 0
  secret_id                = playground_secret.manager[0].arn
  secret_string_wo         = jsonencode(var.secret_map) # write-only: goes to the provider, never to plan or state
  secret_string_wo_version = var.secret_version         # raise it to send a new value
}

# The resource above contains null instead of the secret; only an ephemeral resource can read it.
ephemeral "playground_secret_version" "secret_retrieval" {
  count     = var.secret_version > 1 ? 1 : 0
  secret_id = playground_secret.manager[0].arn
  depends_on = [
    playground_secret_version.secret_creation
  ]
}

ephemeral "playground_secret_version" "secret_retrieval_direct" {
  count     = var.secret_version > 1 ? 0 : 1
  secret_id = var.secret_manager_arn
}

output "secrets" {
  value = "${var.secret_version > 1 ?
    jsondecode(ephemeral.playground_secret_version.secret_retrieval[0].secret_string) :
  jsondecode(ephemeral.playground_secret_version.secret_retrieval_direct[0].secret_string)}"
  ephemeral = true # required, because the value is ephemeral
}

output "secret_manager_arn" {
  value = var.secret_version > 1 ? playground_secret.manager[0].arn : null
}
