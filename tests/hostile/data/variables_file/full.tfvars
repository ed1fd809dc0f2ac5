a = 1
b = { c = ["hunter2", null, true], "d e" = -1.5 }
d = <<-E
  hunter2
  E
e = "hunter2 $${x}"
variable "hunter2" { default = "hunter2" }
f = var.hunter2
g = upper("hunter2")
a = "hunter2
