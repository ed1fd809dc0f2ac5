# A provider reaches its remote system through a tunnel that is open only while the provider works.

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
  remote_host = "consul.prod.example.com" # the tunnel itself answers for hosts under example.com
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
