provider "playground" { alias = "w" }
ephemeral "playground_password" "p" { length = 8 }
data "playground_service" "d" { provider = playground.w }
resource "terraform_data" "t" {
  count = 2
  input = ephemeral.playground_password.p.result
  dynamic "x" {
    for_each = toset(["a"])
    content { y = x.value }
  }
  provisioner "local-exec" { command = "echo ${self.id}" }
}
import { 
  to = terraform_data.t[0] 
  id = "x"
}
removed { from = terraform_data.gone }
