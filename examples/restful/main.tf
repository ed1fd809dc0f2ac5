# Credentials of one run go from an API into a database of the same API, and are stored nowhere.

terraform {
  required_providers {
    restful = { source = "mayfly/restful" }
  }
}

variable "api" {
  type        = string
  description = "The URL of the API."
}

provider "restful" {
  base_url = var.api
}

# The API issues the credentials, and takes them back at the end of the run.
ephemeral "restful_resource" "credentials" {
  method = "POST"
  path   = "credentials"

  close_method = "DELETE"
  close_path   = "credentials"
}

resource "restful_resource" "database" {
  path      = "posts"
  read_path = "$(path)/$(body.id)"

  body = {
    name  = "orders"
    owner = { name = "app" }
  }

  # Merged into `body` in requests, and removed from `output`.
  ephemeral_body = {
    owner = { password = ephemeral.restful_resource.credentials.output.password }
  }
}

output "database" {
  value = restful_resource.database.output
}
