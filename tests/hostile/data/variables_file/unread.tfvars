a = 1
b = {  c= ["hunter2", null, true],a = 1
b =ÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿ { c = ["hunter2 "d e" = -1.5 }
d = <<-E
  huntï»¿a {
( b = E
} <<er2
  E
e = "hunter2 $${E
  x
  E
x", null, tru}"
