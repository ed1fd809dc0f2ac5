resource "playground_service" {
  name = local.a.b[
variable x { type = list( }
locals { a = local.b
b = local.a }
output "é" { value = <<E
${"${
E
moved { from = a.b
 to = module.m["x"].c.d }
