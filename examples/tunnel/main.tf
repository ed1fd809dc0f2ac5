# A provider whose remote system is reached through a tunnel, which is open only while the provider works.

terraform {
  required_providers {
    playground = {
      source  = "registry.opentofu.org/mayfly/playground"
      version = "0.1.0"
    }
  }
}

ephemeral "playground_tunnel" "example" {
  user        = "terraform"
  tunnel_host = "bastion.prod.example.com"
  remote_host = "consul.prod.example.com" # hosts under example.com answer from the tunnel itself
  remote_port = 443
}

provider "playground" {
  alias = "consul"
  # A port of this machine, such as 127.0.0.1:45623.
  address = ephemeral.playground_tunnel.example.local_address
}

resource "playground_parameter" "key" {
  provider = playground.consul
  name     = "consul-key"
  type     = "String"
  value    = "blue"
}
