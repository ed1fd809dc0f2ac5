terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "5.100.0"
    }
  }
}

provider "aws" {
  s3_use_path_style = true
}

resource "aws_s3_bucket" "artifacts" {
  bucket = "lambda-artifacts"
}

resource "aws_iam_role" "functions" {
  name = "functions"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Action    = "sts:AssumeRole"
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
}

module "function" {
  for_each = toset(["first", "second"])
  source   = "./function"

  name                   = each.key
  lambda_artifact_bucket = aws_s3_bucket.artifacts.bucket
  role                   = aws_iam_role.functions.arn
}
