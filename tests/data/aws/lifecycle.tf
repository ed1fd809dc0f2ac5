terraform {
  required_providers {
    aws = {
      source  = "registry.terraform.io/hashicorp/aws"
      version = "5.100.0"
    }
  }
}

provider "aws" {
  region                      = "eu-west-1"
  access_key                  = "test"
  secret_key                  = "test"
  s3_use_path_style           = true
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
}

variable "stage" {
  type = string
}

resource "aws_s3_bucket" "files" {
  bucket = "mayfly-files"
  tags   = { stage = var.stage }
}

resource "aws_sqs_queue" "jobs" {
  name                       = "mayfly-jobs"
  visibility_timeout_seconds = var.stage == "one" ? 30 : 60
}

resource "aws_dynamodb_table" "locks" {
  name         = "mayfly-locks"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"
  attribute {
    name = "id"
    type = "S"
  }
  tags = { stage = var.stage }
}

resource "aws_iam_role" "runner" {
  name        = "mayfly-runner"
  description = "Runs jobs at ${var.stage}"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      { Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ec2.amazonaws.com" } }
    ]
  })
}

resource "aws_ssm_parameter" "setting" {
  name  = "/mayfly/setting"
  type  = "String"
  value = "${aws_sqs_queue.jobs.url} ${var.stage}"
}

resource "aws_secretsmanager_secret" "password" {
  name                    = "mayfly-password"
  description             = "The password at ${var.stage}"
  recovery_window_in_days = 0
}

resource "aws_vpc" "main" {
  cidr_block = "10.0.0.0/16"
}

resource "aws_security_group" "web" {
  name        = "mayfly-web"
  description = "Web servers"
  vpc_id      = aws_vpc.main.id
  tags        = { stage = var.stage }
}

output "queue" {
  value = aws_sqs_queue.jobs.url
}
