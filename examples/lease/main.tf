# A provider logs in with a leased token. The lease is renewed while the provider works, and closed afterwards.

terraform {
  required_providers {
    playground = {
      source  = "registry.opentofu.org/mayfly/playground"
      version = "0.1.0"
    }
  }
}

ephemeral "playground_lease" "example" {
  path   = "secret/rundeck_auth"
  ttl_ms = 2000 # renewed after half of this time
}

provider "playground" {
  alias      = "rundeck"
  auth_token = ephemeral.playground_lease.example.data["auth_token"]
  latency_ms = 700 # makes a run longer than the lease
}

resource "playground_parameter" "job" {
  provider = playground.rundeck
  name     = "rundeck-job"
  type     = "String"
  value    = "nightly"
}
