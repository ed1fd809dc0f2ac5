# A secret from every origin in every place that takes one.

terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
    phrases    = { source = "mayfly/phrases" }
  }
}

variable "outside" {
  type    = string
  default = ""
}

variable "secrets_version" {
  type    = number
  default = 1
}

variable "from_flag" {
  type      = string
  ephemeral = true
  validation {
    condition     = length(var.from_flag) > 3
    error_message = "Too short."
  }
}

variable "from_environment" {
  type      = string
  ephemeral = true
  sensitive = true
}

variable "from_tfvars" {
  type      = string
  ephemeral = true
}

variable "structured" {
  type = object({
    inner = string
    list  = list(string)
    map   = map(number)
  })
  ephemeral = true
}

variable "from_json" {
  type      = string
  ephemeral = true
}

variable "from_file" {
  type      = string
  ephemeral = true
}

variable "from_prompt" {
  type      = string
  ephemeral = true
}

ephemeral "playground_secret" "stored" {
  name = "stored"
  lifecycle {
    postcondition {
      condition     = length(self.value) > 6
      error_message = "Too short."
    }
  }
}

ephemeral "playground_random" "random" {}

ephemeral "playground_lease" "lease" {
  path = "stored"
}

# Its argument depends on ephemeral values.
ephemeral "playground_lease" "second" {
  path = length(var.from_prompt) > length(var.from_json) ? "one" : "other"
}

provider "playground" {}

provider "playground" {
  alias        = "keys"
  access_key   = var.from_environment
  secret_key   = ephemeral.playground_secret.stored.value
  require_keys = true
}

provider "playground" {
  alias      = "leased"
  auth_token = ephemeral.playground_lease.lease.data["auth_token"]
}

provider "phrases" {
  phrases = { greet = "Hello" }
}

provider "phrases" {
  alias   = "secret"
  phrases = { greet = var.from_flag, sleep = "Sleep well" }
}

locals {
  # The default configuration, one with a secret, and the schema answer.
  phrases = [
    provider::phrases::greet(var.from_prompt), provider::phrases::secret::sleep(var.from_environment),
    provider::phrases::secret::greet(ephemeral.playground_secret.stored.value),
    provider::phrases::shout(var.from_json), provider::phrases::secret::shout(var.from_tfvars),
  ]
  all = [
    var.from_flag, var.from_environment, var.from_tfvars, var.from_json, var.from_file, var.from_prompt,
    var.structured.inner, ephemeral.playground_secret.stored.value, ephemeral.playground_random.random.result,
  ]
  mixed = {
    a = "plain"
    b = "${var.from_tfvars}-${ephemeral.playground_secret.stored.value}"
  }
  upper = upper(join("|", concat(local.all, local.phrases)))
}

module "passing" {
  source = "./passing"
  secret = var.from_file
  parts  = local.all
}

resource "playground_vault" "vault" {
  name            = "vault"
  secrets_version = var.secrets_version
  secret_wo       = var.from_flag
  codes_wo        = [var.from_environment, var.from_tfvars]
  any_wo          = { inside = var.structured, secret = ephemeral.playground_secret.stored.value }
  login           = { user = "u", password_wo = var.from_json }
  logins          = [{ user = "a", password_wo = var.from_file }, { user = "b" }]
  logins_by_role  = { admin = { user = "u", password_wo = var.from_prompt } }

  primary {
    name     = "p"
    token_wo = ephemeral.playground_random.random.result
  }
  replica {
    name     = "r0"
    token_wo = ephemeral.playground_lease.lease.data["auth_token"]
  }
  dynamic "region" {
    for_each = { eu = "e", us = "u" }
    content {
      name     = region.value
      token_wo = local.all[1]
    }
    labels = [region.key]
  }
  fallback {
    token_wo = "${local.upper}${jsonencode(local.phrases)}"
  }
}

resource "playground_database" "database" {
  provider            = playground.keys
  identifier          = "database"
  password_wo         = module.passing.secret
  password_wo_version = var.secrets_version
}

resource "playground_secret" "secret" {
  provider         = playground.leased
  name             = "secret"
  value_wo         = jsonencode(module.passing.parts)
  value_wo_version = var.secrets_version
}

resource "playground_secret_version" "version" {
  secret_id                = playground_secret.secret.id
  secret_string_wo         = base64encode(local.upper)
  secret_string_wo_version = var.secrets_version
}

# Reads the secret that this run has stored.
ephemeral "playground_secret" "late" {
  name       = "secret"
  depends_on = [playground_secret_version.version]
}

resource "terraform_data" "provisioned" {
  input = length(local.all)
  lifecycle {
    precondition {
      condition     = var.from_prompt != "" && ephemeral.playground_secret.stored.value != var.from_flag
      error_message = "They are the same."
    }
  }

  provisioner "local-exec" {
    command     = "printf '%s' '${var.from_flag}${local.upper}'; printf '%s' \"$SECRET\"; echo \"$SECRET\" >&2"
    environment = { SECRET = "${var.structured.inner}${ephemeral.playground_secret.late.value}" }
  }

  provisioner "local-exec" {
    command     = "if test -n \"$TO\"; then printf '%s' \"$RANDOM_VALUE\" > \"$TO/random\"; printf '%s' \"$LEASE\" > \"$TO/lease\"; fi"
    interpreter = ["/bin/sh", "-c"]
    environment = {
      TO           = var.outside
      RANDOM_VALUE = ephemeral.playground_random.random.result
      LEASE        = ephemeral.playground_lease.second.data["auth_token"]
      PHRASES      = jsonencode(local.phrases)
    }
  }

  provisioner "local-exec" {
    when    = destroy
    command = "echo ${self.output}"
  }
}

resource "terraform_data" "after" {
  count = length([local.upper, local.mixed])
  input = ephemeralasnull(var.from_flag) == null
}

check "secrets" {
  assert {
    condition     = var.from_tfvars != ephemeral.playground_secret.stored.value
    error_message = "They are the same."
  }
  assert {
    condition     = provider::phrases::secret::greet(var.from_file) != "" && length(local.phrases) == 5
    error_message = "It is ${provider::phrases::greet(var.from_file)}."
  }
}

output "nothing" {
  value     = ephemeralasnull(local.mixed)
  sensitive = true
}

output "structure" {
  value = { count = length(local.all), names = keys(local.mixed) }
}

output "write_only" {
  value     = playground_vault.vault.secret_wo
  sensitive = true
}
