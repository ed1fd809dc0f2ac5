terraform {
  required_providers {
    archive = {
      source = "mayfly/archive"
    }
    aws = {
      source  = "hashicorp/aws"
      version = "5.100.0"
    }
  }
}

variable "name" {
  type = string
}

variable "lambda_artifact_bucket" {
  type = string
}

variable "role" {
  type = string
}

data "archive_file" "sources" {
  source_dir  = "${path.module}/lambda-sources"
  output_path = "${path.temp}/lambda-sources.zip"
  type        = "zip"
}

resource "aws_s3_object" "sources" {
  bucket = var.lambda_artifact_bucket
  key    = "${var.name}/${data.archive_file.sources.output_sha256}/sources.zip"
  source = data.archive_file.sources.output_path
  etag   = filemd5(data.archive_file.sources.output_path)
}

resource "aws_lambda_function" "example" {
  function_name = var.name

  s3_bucket         = aws_s3_object.sources.bucket
  s3_key            = aws_s3_object.sources.key
  s3_object_version = aws_s3_object.sources.version_id

  handler = "index.example"
  runtime = "nodejs18.x"
  role    = var.role
}
