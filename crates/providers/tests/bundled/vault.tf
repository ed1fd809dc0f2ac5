terraform {
  required_providers {
    playground = {
      source = "registry.opentofu.org/mayfly/playground"
    }
  }
}

variable "secret" {
  type      = string
  ephemeral = true
}

variable "secrets_version" {
  type    = number
  default = 1
}

resource "playground_vault" "example" {
  name            = "example"
  secrets_version = var.secrets_version
  secret_wo       = var.secret
  codes_wo        = [var.secret]
  any_wo          = { inside = var.secret }
  login           = { user = "u", password_wo = var.secret }
  logins          = [{ user = "a", password_wo = var.secret }, { user = "b" }]
  logins_by_role  = { admin = { user = "u", password_wo = var.secret } }

  primary {
    name     = "p"
    token_wo = var.secret
  }
  replica {
    name     = "r0"
    token_wo = var.secret
  }
  replica {
    name = "r1"
  }
  region "eu" {
    name     = "e"
    token_wo = var.secret
  }
  fallback {
    token_wo = var.secret
  }
}

resource "playground_database" "example" {
  identifier          = "example"
  password_wo         = var.secret
  password_wo_version = var.secrets_version
}
