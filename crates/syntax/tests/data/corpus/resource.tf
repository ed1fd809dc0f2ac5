# A resource with most of what a block can hold.
resource "aws_instance" "web" {
  count         = var.enabled ? 3 : 0
  ami           = data.aws_ami.ubuntu[count.index].id // trailing
  instance_type = "t3.${var.size}"

  tags = merge(local.tags, {
    Name  = "web-${count.index}"
    "a b" = true, (var.key) : null
  })

  dynamic "ebs_block_device" {
    for_each = [for d in var.disks : d if d.size > 10 && !d.root]
    content { device_name = ebs_block_device.value["name"] }
  }

  lifecycle {
    ignore_changes = [tags["x"], ami]
    precondition {
      condition     = length(var.disks) <= 5 || var.force == true
      error_message = "Too many disks: ${length(var.disks)} % of $$ \"many\" \u00e9 $${x}."
    }
  }
}

variable "size" { default = "micro" }
output o { value = -a.b[0].c * (1 + 2.5e3) / 4 % 3 }
