a {
  b = <<E
  x
  E
}
# end