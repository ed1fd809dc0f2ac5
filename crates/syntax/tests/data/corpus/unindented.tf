terraform {
required_providers {
aws = {
source = "hashicorp/aws"
}
}
backend "s3" {
}
}
