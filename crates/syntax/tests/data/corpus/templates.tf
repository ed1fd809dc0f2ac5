locals {
  heredoc = <<-EOT
    first ${var.a}
      second %{ if var.b ~}
    yes
    %{ else }no%{ endif }
    $${literal} %%{literal} 100% $5

  EOT
  plain = <<EOT
${<<INNER
nested ${ "x${1}" }
INNER
}
EOT
  wrap  = "${ { a = [1, 2] }["a"][0] }"
  loop  = "%{ for k, v in m ~}${k}=${v}, %{ endfor }"
  call  = f(<<A
a
A
  , "b")
}
