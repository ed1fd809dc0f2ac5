# A hundred resources of the AWS provider, each as it should be. `wrong_schema.tf` and
# `wrong_values.tf` have the same ones with a mistake each.

terraform {
  required_providers {
    aws = { source = "registry.terraform.io/hashicorp/aws", version = "5.100.0" }
  }
}

provider "aws" {
  region                      = "eu-central-1"
  skip_credentials_validation = true
}

variable "tags" {
  type    = map(string)
  default = { team = "platform" }
}

locals {
  azs = ["eu-central-1a", "eu-central-1b"]
  trust = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
  account = "123456789012"
}

# --- S3

resource "aws_s3_bucket" "x" {
  bucket        = "mayfly-example"
  force_destroy = true
  tags          = var.tags
}

resource "aws_s3_bucket_versioning" "x" {
  bucket = aws_s3_bucket.x.id
  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_policy" "x" {
  bucket = aws_s3_bucket.x.id
  policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}

resource "aws_s3_bucket_lifecycle_configuration" "x" {
  bucket = aws_s3_bucket.x.id
  rule {
    id     = "old"
    status = "Enabled"
    filter {
      prefix = "logs/"
    }
    expiration {
      days = 30
    }
  }
}

resource "aws_s3_bucket_public_access_block" "x" {
  bucket                  = aws_s3_bucket.x.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "x" {
  bucket = aws_s3_bucket.x.id
  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "aws:kms"
    }
  }
}

resource "aws_s3_object" "x" {
  for_each = toset(["a.txt", "b.txt"])
  bucket   = aws_s3_bucket.x.bucket
  key      = each.key
  content  = "content of ${each.value}"
}

resource "aws_s3_bucket_notification" "x" {
  bucket = aws_s3_bucket.x.id
  queue {
    queue_arn = aws_sqs_queue.x.arn
    events    = ["s3:ObjectCreated:*"]
  }
}

resource "aws_s3_bucket_cors_configuration" "x" {
  bucket = aws_s3_bucket.x.id
  cors_rule {
    allowed_methods = ["GET"]
    allowed_origins = ["https://example.com"]
  }
}

resource "aws_s3_bucket_website_configuration" "x" {
  bucket = aws_s3_bucket.x.id
  index_document {
    suffix = "index.html"
  }
}

# --- SQS, SNS

resource "aws_sqs_queue" "x" {
  name                       = "jobs"
  visibility_timeout_seconds = 60
  redrive_policy             = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-central-1:${local.account}:dead", maxReceiveCount = 4 })
}

resource "aws_sqs_queue_policy" "x" {
  queue_url = aws_sqs_queue.x.url
  policy    = jsonencode({ Version = "2012-10-17", Statement = [] })
}

resource "aws_sns_topic" "x" {
  name       = "events.fifo"
  fifo_topic = true
}

resource "aws_sns_topic_subscription" "x" {
  topic_arn = aws_sns_topic.x.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.x.arn
}

resource "aws_sns_topic_policy" "x" {
  arn    = aws_sns_topic.x.arn
  policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}

# --- IAM

resource "aws_iam_role" "x" {
  name_prefix          = "runner-"
  assume_role_policy   = local.trust
  max_session_duration = 7200
}

resource "aws_iam_policy" "x" {
  name = "read"
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = ["s3:GetObject"], Resource = "${aws_s3_bucket.x.arn}/*" }]
  })
}

resource "aws_iam_user" "x" {
  name = "someone"
  path = "/people/"
}

resource "aws_iam_group" "x" {
  name = "people"
}

resource "aws_iam_role_policy" "x" {
  role   = aws_iam_role.x.id
  policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}

resource "aws_iam_role_policy_attachment" "x" {
  role       = aws_iam_role.x.name
  policy_arn = aws_iam_policy.x.arn
}

resource "aws_iam_instance_profile" "x" {
  role = aws_iam_role.x.name
}

resource "aws_iam_access_key" "x" {
  user   = aws_iam_user.x.name
  status = "Inactive"
}

resource "aws_iam_openid_connect_provider" "x" {
  url            = "https://token.actions.githubusercontent.com"
  client_id_list = ["sts.amazonaws.com"]
}

resource "aws_iam_group_membership" "x" {
  name  = "people"
  group = aws_iam_group.x.name
  users = [aws_iam_user.x.name]
}

resource "aws_iam_account_password_policy" "x" {
  minimum_password_length = 12
}

# --- Lambda

resource "aws_lambda_function" "x" {
  function_name = "worker"
  role          = aws_iam_role.x.arn
  handler       = "main.handler"
  runtime       = "python3.12"
  filename      = "worker.zip"
  environment {
    variables = { QUEUE = aws_sqs_queue.x.url }
  }
}

resource "aws_lambda_permission" "x" {
  function_name = aws_lambda_function.x.function_name
  action        = "lambda:InvokeFunction"
  principal     = "s3.amazonaws.com"
  source_arn    = aws_s3_bucket.x.arn
}

resource "aws_lambda_alias" "x" {
  name             = "live"
  function_name    = aws_lambda_function.x.arn
  function_version = "$LATEST"
}

resource "aws_lambda_event_source_mapping" "x" {
  function_name    = aws_lambda_function.x.arn
  event_source_arn = aws_sqs_queue.x.arn
  batch_size       = 10
}

resource "aws_lambda_layer_version" "x" {
  layer_name          = "common"
  filename            = "layer.zip"
  compatible_runtimes = ["python3.12"]
}

resource "aws_lambda_function_url" "x" {
  function_name      = aws_lambda_function.x.function_name
  authorization_type = "AWS_IAM"
}

# --- DynamoDB

resource "aws_dynamodb_table" "x" {
  name         = "things"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"
  attribute {
    name = "id"
    type = "S"
  }
}

resource "aws_dynamodb_table_item" "x" {
  table_name = aws_dynamodb_table.x.name
  hash_key   = aws_dynamodb_table.x.hash_key
  item       = jsonencode({ id = { S = "a" } })
}

# --- EC2

resource "aws_vpc" "x" {
  cidr_block           = "10.0.0.0/16"
  enable_dns_hostnames = true
}

resource "aws_subnet" "x" {
  count             = length(local.azs)
  vpc_id            = aws_vpc.x.id
  cidr_block        = cidrsubnet(aws_vpc.x.cidr_block, 8, count.index)
  availability_zone = local.azs[count.index]
}

resource "aws_security_group" "x" {
  name_prefix = "web-"
  vpc_id      = aws_vpc.x.id
  ingress {
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
  egress = []
}

resource "aws_security_group_rule" "x" {
  security_group_id = aws_security_group.x.id
  type              = "egress"
  from_port         = 0
  to_port           = 0
  protocol          = "-1"
  cidr_blocks       = ["0.0.0.0/0"]
}

resource "aws_vpc_security_group_ingress_rule" "x" {
  security_group_id = aws_security_group.x.id
  ip_protocol       = "tcp"
  from_port         = 80
  to_port           = 80
  cidr_ipv4         = "10.0.0.0/8"
}

resource "aws_route_table" "x" {
  vpc_id = aws_vpc.x.id
  route {
    cidr_block = "0.0.0.0/0"
    gateway_id = aws_internet_gateway.x.id
  }
}

resource "aws_route" "x" {
  route_table_id         = aws_route_table.x.id
  destination_cidr_block = "10.1.0.0/16"
  gateway_id             = aws_internet_gateway.x.id
}

resource "aws_route_table_association" "x" {
  route_table_id = aws_route_table.x.id
  subnet_id      = aws_subnet.x[0].id
}

resource "aws_internet_gateway" "x" {
  vpc_id = aws_vpc.x.id
}

resource "aws_nat_gateway" "x" {
  subnet_id     = aws_subnet.x[0].id
  allocation_id = aws_eip.x.id
}

resource "aws_eip" "x" {
  domain = "vpc"
}

resource "aws_instance" "x" {
  ami           = "ami-0123456789abcdef0"
  instance_type = "t3.micro"
  subnet_id     = one(slice(aws_subnet.x, 0, 1)).id
  root_block_device {
    volume_size = 20
  }
  lifecycle {
    ignore_changes = [ami]
  }
}

resource "aws_ebs_volume" "x" {
  availability_zone = local.azs[0]
  size              = 10
}

resource "aws_volume_attachment" "x" {
  device_name = "/dev/sdh"
  instance_id = aws_instance.x.id
  volume_id   = aws_ebs_volume.x.id
}

resource "aws_key_pair" "x" {
  key_name   = "key"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample someone"
}

resource "aws_launch_template" "x" {
  image_id      = "ami-0123456789abcdef0"
  instance_type = "t3.micro"
  dynamic "tag_specifications" {
    for_each = toset(["instance", "volume"])
    content {
      resource_type = tag_specifications.value
      tags          = var.tags
    }
  }
}

resource "aws_placement_group" "x" {
  name     = "close"
  strategy = "cluster"
}

resource "aws_vpc_endpoint" "x" {
  vpc_id            = aws_vpc.x.id
  service_name      = "com.amazonaws.eu-central-1.s3"
  vpc_endpoint_type = "Gateway"
}

resource "aws_vpc_peering_connection" "x" {
  vpc_id      = aws_vpc.x.id
  peer_vpc_id = "vpc-0123456789abcdef0"
}

resource "aws_flow_log" "x" {
  vpc_id          = aws_vpc.x.id
  traffic_type    = "ALL"
  log_destination = aws_cloudwatch_log_group.x.arn
  iam_role_arn    = aws_iam_role.x.arn
}

resource "aws_network_acl" "x" {
  vpc_id = aws_vpc.x.id
}

resource "aws_network_acl_rule" "x" {
  network_acl_id = aws_network_acl.x.id
  rule_number    = 100
  protocol       = "tcp"
  rule_action    = "allow"
  cidr_block     = "10.0.0.0/8"
  from_port      = 80
  to_port        = 80
}

# --- Databases

resource "aws_db_instance" "x" {
  identifier          = "main"
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  username            = "someone"
  password_wo         = "only an example"
  password_wo_version = 1
}

resource "aws_db_subnet_group" "x" {
  name       = "main"
  subnet_ids = aws_subnet.x[*].id
}

resource "aws_db_parameter_group" "x" {
  family = "postgres16"
  parameter {
    name  = "log_connections"
    value = "1"
  }
}

resource "aws_rds_cluster" "x" {
  cluster_identifier          = "main"
  engine                      = "aurora-postgresql"
  master_username             = "someone"
  manage_master_user_password = true
}

resource "aws_rds_cluster_instance" "x" {
  cluster_identifier = aws_rds_cluster.x.id
  engine             = aws_rds_cluster.x.engine
  instance_class     = "db.r6g.large"
}

resource "aws_elasticache_cluster" "x" {
  cluster_id      = "cache"
  engine          = "redis"
  node_type       = "cache.t3.micro"
  num_cache_nodes = 1
}

resource "aws_elasticache_subnet_group" "x" {
  name       = "cache"
  subnet_ids = [for subnet in aws_subnet.x : subnet.id]
}

resource "aws_redshift_cluster" "x" {
  cluster_identifier = "warehouse"
  node_type          = "dc2.large"
}

resource "aws_opensearch_domain" "x" {
  domain_name = "search"
  cluster_config {
    instance_type = "r6g.large.search"
  }
}

# --- Containers

resource "aws_ecs_cluster" "x" {
  name = "main"
  setting {
    name  = "containerInsights"
    value = "enabled"
  }
}

resource "aws_ecs_service" "x" {
  name            = "web"
  cluster         = aws_ecs_cluster.x.id
  task_definition = aws_ecs_task_definition.x.arn
  desired_count   = 2
  launch_type     = "FARGATE"
}

resource "aws_ecs_task_definition" "x" {
  family                = "web"
  container_definitions = jsonencode([{ name = "web", image = "nginx", memory = 128, essential = true }])
}

resource "aws_ecr_repository" "x" {
  name                 = "web"
  image_tag_mutability = "IMMUTABLE"
}

resource "aws_ecr_lifecycle_policy" "x" {
  repository = aws_ecr_repository.x.name
  policy     = jsonencode({ rules = [] })
}

resource "aws_eks_cluster" "x" {
  name     = "main"
  role_arn = aws_iam_role.x.arn
  vpc_config {
    subnet_ids = aws_subnet.x[*].id
  }
}

resource "aws_eks_node_group" "x" {
  cluster_name  = aws_eks_cluster.x.name
  node_role_arn = aws_iam_role.x.arn
  subnet_ids    = aws_subnet.x[*].id
  scaling_config {
    desired_size = 1
    max_size     = 3
    min_size     = 1
  }
}

resource "aws_eks_addon" "x" {
  cluster_name = aws_eks_cluster.x.name
  addon_name   = "coredns"
}

resource "aws_batch_job_definition" "x" {
  name                 = "job"
  type                 = "container"
  container_properties = jsonencode({ image = "busybox", vcpus = 1, memory = 128, command = ["true"] })
}

# --- CloudWatch

resource "aws_cloudwatch_log_group" "x" {
  name              = "/app"
  retention_in_days = 14
}

resource "aws_cloudwatch_metric_alarm" "x" {
  alarm_name          = "busy"
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 2
  metric_name         = "CPUUtilization"
  namespace           = "AWS/EC2"
  period              = 60
  statistic           = "Average"
  threshold           = 80
}

resource "aws_cloudwatch_event_rule" "x" {
  schedule_expression = "rate(5 minutes)"
}

resource "aws_cloudwatch_event_target" "x" {
  rule = aws_cloudwatch_event_rule.x.name
  arn  = aws_lambda_function.x.arn
}

resource "aws_cloudwatch_log_metric_filter" "x" {
  name           = "errors"
  log_group_name = aws_cloudwatch_log_group.x.name
  pattern        = "ERROR"
  metric_transformation {
    name      = "Errors"
    namespace = "App"
    value     = "1"
  }
}

resource "aws_cloudwatch_dashboard" "x" {
  dashboard_name = "main"
  dashboard_body = jsonencode({ widgets = [] })
}

# --- KMS, Secrets Manager, SSM

resource "aws_kms_key" "x" {
  deletion_window_in_days = 7
  enable_key_rotation     = true
}

resource "aws_kms_alias" "x" {
  name          = "alias/main"
  target_key_id = aws_kms_key.x.key_id
}

resource "aws_secretsmanager_secret" "x" {
  name                    = "token"
  recovery_window_in_days = 0
}

resource "aws_secretsmanager_secret_version" "x" {
  secret_id                = aws_secretsmanager_secret.x.id
  secret_string_wo         = "only an example"
  secret_string_wo_version = 1
}

resource "aws_ssm_parameter" "x" {
  name  = "/app/url"
  type  = "String"
  value = "https://example.com"
}

resource "aws_ssm_document" "x" {
  name          = "run"
  document_type = "Command"
  content       = jsonencode({ schemaVersion = "2.2", mainSteps = [] })
}

# --- Route 53, ACM, CloudFront

resource "aws_route53_zone" "x" {
  name = "example.com"
}

resource "aws_route53_record" "x" {
  zone_id = aws_route53_zone.x.zone_id
  name    = "www"
  type    = "A"
  alias {
    name                   = aws_lb.x.dns_name
    zone_id                = aws_lb.x.zone_id
    evaluate_target_health = true
  }
}

resource "aws_acm_certificate" "x" {
  domain_name       = "example.com"
  validation_method = "DNS"
}

resource "aws_cloudfront_origin_access_control" "x" {
  name                              = "main"
  origin_access_control_origin_type = "s3"
  signing_behavior                  = "always"
  signing_protocol                  = "sigv4"
}

resource "aws_cloudfront_distribution" "x" {
  enabled = true
  origin {
    domain_name = aws_s3_bucket.x.bucket_regional_domain_name
    origin_id   = "s3"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "s3"
    viewer_protocol_policy = "redirect-to-https"
  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
}

# --- API Gateway

resource "aws_api_gateway_rest_api" "x" {
  name = "api"
}

resource "aws_api_gateway_resource" "x" {
  rest_api_id = aws_api_gateway_rest_api.x.id
  parent_id   = aws_api_gateway_rest_api.x.root_resource_id
  path_part   = "things"
}

resource "aws_api_gateway_method" "x" {
  rest_api_id   = aws_api_gateway_rest_api.x.id
  resource_id   = aws_api_gateway_resource.x.id
  http_method   = "GET"
  authorization = "NONE"
}

resource "aws_api_gateway_integration" "x" {
  rest_api_id = aws_api_gateway_rest_api.x.id
  resource_id = aws_api_gateway_resource.x.id
  http_method = aws_api_gateway_method.x.http_method
  type        = "MOCK"
}

resource "aws_apigatewayv2_api" "x" {
  name          = "http"
  protocol_type = "HTTP"
}

resource "aws_apigatewayv2_route" "x" {
  api_id    = aws_apigatewayv2_api.x.id
  route_key = "GET /things"
}

# --- Load balancing, scaling

resource "aws_lb" "x" {
  name               = "web"
  load_balancer_type = "application"
  subnets            = aws_subnet.x[*].id
}

resource "aws_lb_target_group" "x" {
  name     = "web"
  port     = 80
  protocol = "HTTP"
  vpc_id   = aws_vpc.x.id
}

resource "aws_lb_listener" "x" {
  load_balancer_arn = aws_lb.x.arn
  port              = 80
  protocol          = "HTTP"
  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.x.arn
  }
}

resource "aws_lb_listener_rule" "x" {
  listener_arn = aws_lb_listener.x.arn
  action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.x.arn
  }
  condition {
    path_pattern {
      values = ["/things/*"]
    }
  }
}

resource "aws_autoscaling_group" "x" {
  min_size            = 1
  max_size            = 3
  vpc_zone_identifier = aws_subnet.x[*].id
  launch_template {
    id = aws_launch_template.x.id
  }
}

resource "aws_autoscaling_policy" "x" {
  name                   = "grow"
  autoscaling_group_name = aws_autoscaling_group.x.name
  adjustment_type        = "ChangeInCapacity"
  scaling_adjustment     = 1
}

# --- Others

resource "aws_kinesis_stream" "x" {
  name        = "clicks"
  shard_count = 1
}

resource "aws_sfn_state_machine" "x" {
  name       = "flow"
  role_arn   = aws_iam_role.x.arn
  definition = jsonencode({ StartAt = "End", States = { End = { Type = "Succeed" } } })
}

resource "aws_cognito_user_pool" "x" {
  name = "people"
  password_policy {
    minimum_length = 12
  }
}

resource "aws_cognito_user_pool_client" "x" {
  name         = "web"
  user_pool_id = aws_cognito_user_pool.x.id
}

resource "aws_wafv2_ip_set" "x" {
  name               = "office"
  scope              = "REGIONAL"
  ip_address_version = "IPV4"
  addresses          = ["192.0.2.0/24"]
}

resource "aws_efs_file_system" "x" {
  encrypted = true
}

resource "aws_efs_mount_target" "x" {
  file_system_id = aws_efs_file_system.x.id
  subnet_id      = aws_subnet.x[1].id
}

resource "aws_glue_job" "x" {
  name     = "import"
  role_arn = aws_iam_role.x.arn
  command {
    script_location = "s3://${aws_s3_bucket.x.bucket}/import.py"
  }
}

resource "aws_budgets_budget" "x" {
  budget_type  = "COST"
  time_unit    = "MONTHLY"
  limit_amount = "100"
  limit_unit   = "USD"
}

resource "aws_scheduler_schedule" "x" {
  schedule_expression = "rate(1 hours)"
  flexible_time_window {
    mode = "OFF"
  }
  target {
    arn      = aws_sqs_queue.x.arn
    role_arn = aws_iam_role.x.arn
  }
}

resource "aws_cloudtrail" "x" {
  name           = "all"
  s3_bucket_name = aws_s3_bucket.x.bucket
}
