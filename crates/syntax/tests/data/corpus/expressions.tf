a = [for i, v in { x = 1, y = 2 } : "${i}-${v}" if v != 2]
b = { for k, v in [1, 2] : k => v... if true }
c = x.*.y.0.z[*].w[0]
d = provider::aws::arn_parse("x", y...)
e = !a || b && c == d != e < f <= g > h >= i + -j
f = cond ? { a : 1 } : (other ? [] : null)
for = [for for in [1] : for]
if = [for if in [1] : if if if == 1]
g = (
  1
  + /* block
  comment */ 2
)
h = { "a" = 1
  b = 2, c = 3 }
