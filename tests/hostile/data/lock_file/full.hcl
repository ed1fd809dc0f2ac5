# This file is maintained automatically.
provider "registry.opentofu.org/hashicorp/aws" {
  version     = "5.1.0"
  constraints = ">= 4.0.0, ~> 5.0, != 5.0.1"
  hashes = [
    "h1:abc+/=",
    "zh:0123",
  ]
}

provider "example.com/a/b" {
  version = "1.2.3-beta.1+x"
}
module "x" {}
