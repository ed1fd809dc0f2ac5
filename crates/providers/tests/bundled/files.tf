terraform {
  required_providers {
    archive = { source = "registry.opentofu.org/mayfly/archive" }
    local   = { source = "registry.opentofu.org/mayfly/local" }
  }
}

variable "text" {
  type = string
}

variable "secret" {
  type      = string
  sensitive = true
}

resource "local_file" "note" {
  filename = "${path.module}/files/note.txt"
  content  = var.text
}

resource "local_sensitive_file" "key" {
  filename = "${path.module}/files/key"
  content  = var.secret
}

resource "archive_file" "all" {
  type        = "tar.gz"
  source_dir  = "${path.module}/files"
  output_path = "${path.module}/files/all.tar.gz"
  excludes    = ["key"]
  depends_on  = [local_file.note, local_sensitive_file.key]
}

data "archive_file" "note" {
  type             = "zip"
  output_path      = "${path.module}/out/note.zip"
  output_file_mode = "0644"

  source {
    filename = "note.txt"
    content  = local_file.note.content
  }
}

data "local_file" "all" {
  filename   = archive_file.all.output_path
  depends_on = [archive_file.all]
}

output "hashes" {
  value = [archive_file.all.output_base64sha256, data.local_file.all.content_base64sha256]
}

output "size" {
  value = data.archive_file.note.output_size
}
