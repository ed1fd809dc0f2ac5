# Resources of `right.tf` with a mistake each, that only the provider can tell.

resource "aws_s3_bucket_versioning" "wrong" {
  bucket = aws_s3_bucket.x.id
  versioning_configuration {
    status = "On"
  }
}

resource "aws_s3_bucket_policy" "wrong" {
  bucket = aws_s3_bucket.x.id
  policy = "{ not json"
}

resource "aws_s3_bucket_server_side_encryption_configuration" "wrong" {
  bucket = aws_s3_bucket.x.id
  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "rot13"
    }
  }
}

resource "aws_sqs_queue" "wrong" {
  name                       = "jobs"
  visibility_timeout_seconds = 50000
  redrive_policy             = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-central-1:${local.account}:dead", maxReceiveCount = 4 })
}

resource "aws_sns_topic_subscription" "wrong" {
  topic_arn = aws_sns_topic.x.arn
  protocol  = "pigeon"
  endpoint  = aws_sqs_queue.x.arn
}

resource "aws_sns_topic_policy" "wrong" {
  arn    = "topic"
  policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}

resource "aws_iam_role" "wrong" {
  name_prefix          = "runner-"
  assume_role_policy   = local.trust
  max_session_duration = 10
}

resource "aws_iam_policy" "wrong" {
  name = "read all of it"
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = ["s3:GetObject"], Resource = "${aws_s3_bucket.x.arn}/*" }]
  })
}

resource "aws_iam_role_policy_attachment" "wrong" {
  role       = aws_iam_role.x.name
  policy_arn = "read"
}

resource "aws_iam_access_key" "wrong" {
  user   = aws_iam_user.x.name
  status = "Asleep"
}

resource "aws_lambda_layer_version" "wrong" {
  layer_name          = "common"
  filename            = "layer.zip"
  compatible_runtimes = ["cobol"]
}

resource "aws_lambda_function_url" "wrong" {
  function_name      = aws_lambda_function.x.function_name
  authorization_type = "PASSWORD"
}

resource "aws_dynamodb_table" "wrong" {
  name         = "things"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"
  attribute {
    name = "id"
    type = "X"
  }
}

resource "aws_dynamodb_table_item" "wrong" {
  table_name = aws_dynamodb_table.x.name
  hash_key   = aws_dynamodb_table.x.hash_key
  item       = "a"
}

resource "aws_vpc" "wrong" {
  cidr_block           = "10.0.0.0/8"
  enable_dns_hostnames = true
}

resource "aws_security_group" "wrong" {
  name_prefix = "web-"
  vpc_id      = aws_vpc.x.id
  ingress {
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
  egress = []
}

resource "aws_security_group_rule" "wrong" {
  security_group_id = aws_security_group.x.id
  type              = "outside"
  from_port         = 0
  to_port           = 0
  protocol          = "-1"
  cidr_blocks       = ["0.0.0.0/0"]
}

resource "aws_route" "wrong" {
  route_table_id         = aws_route_table.x.id
  destination_cidr_block = "10.1.0.0"
  gateway_id             = aws_internet_gateway.x.id
}

resource "aws_route_table_association" "wrong" {
  route_table_id = aws_route_table.x.id
}

resource "aws_eip" "wrong" {
  domain = "moon"
}

resource "aws_key_pair" "wrong" {
  key_name   = "key"
  key_name_prefix = "k"
  public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample someone"
}

resource "aws_placement_group" "wrong" {
  name     = "close"
  strategy = "far"
}

resource "aws_vpc_endpoint" "wrong" {
  vpc_id            = aws_vpc.x.id
  service_name      = "com.amazonaws.eu-central-1.s3"
  vpc_endpoint_type = "Door"
}

resource "aws_flow_log" "wrong" {
  vpc_id          = aws_vpc.x.id
  traffic_type    = "SOME"
  log_destination = aws_cloudwatch_log_group.x.arn
  iam_role_arn    = aws_iam_role.x.arn
}

resource "aws_network_acl" "wrong" {
  vpc_id = aws_vpc.x.id
  arn    = "a"
}

resource "aws_network_acl_rule" "wrong" {
  network_acl_id = aws_network_acl.x.id
  rule_number    = 100
  protocol       = "tcp"
  rule_action    = "perhaps"
  cidr_block     = "10.0.0.0/8"
  from_port      = 80
  to_port        = 80
}

resource "aws_rds_cluster" "wrong" {
  cluster_identifier          = "main"
  engine                      = "aurora-postgresql"
  master_username             = "someone"
  manage_master_user_password = true
  master_password             = "only an example"
}

resource "aws_redshift_cluster" "wrong" {
  cluster_identifier = "Ware House"
  node_type          = "dc2.large"
}

resource "aws_opensearch_domain" "wrong" {
  domain_name = "Search!"
  cluster_config {
    instance_type = "r6g.large.search"
  }
}

resource "aws_ecs_cluster" "wrong" {
  name = "main"
  setting {
    name  = "insights"
    value = "enabled"
  }
}

resource "aws_ecs_service" "wrong" {
  name            = "web"
  cluster         = aws_ecs_cluster.x.id
  task_definition = aws_ecs_task_definition.x.arn
  desired_count   = 2
  launch_type     = "ROCKET"
}

resource "aws_ecs_task_definition" "wrong" {
  family                = "web"
  container_definitions = "web"
}

resource "aws_ecr_repository" "wrong" {
  name                 = "web"
  image_tag_mutability = "FROZEN"
}

resource "aws_batch_job_definition" "wrong" {
  name                 = "job"
  type                 = "box"
  container_properties = jsonencode({ image = "busybox", vcpus = 1, memory = 128, command = ["true"] })
}

resource "aws_cloudwatch_log_group" "wrong" {
  name              = "/app"
  retention_in_days = 15
}

resource "aws_cloudwatch_metric_alarm" "wrong" {
  alarm_name          = "busy"
  comparison_operator = "MoreThan"
  evaluation_periods  = 2
  metric_name         = "CPUUtilization"
  namespace           = "AWS/EC2"
  period              = 60
  statistic           = "Average"
  threshold           = 80
}

resource "aws_cloudwatch_event_rule" "wrong" {
  schedule_expression = "rate(5 minutes)"
  state               = "MAYBE"
}

resource "aws_cloudwatch_dashboard" "wrong" {
  dashboard_name = "main"
  dashboard_body = "no widgets"
}

resource "aws_kms_key" "wrong" {
  deletion_window_in_days = 3
  enable_key_rotation     = true
}

resource "aws_kms_alias" "wrong" {
  name          = "main"
  target_key_id = aws_kms_key.x.key_id
}

resource "aws_secretsmanager_secret" "wrong" {
  name                    = "token"
  recovery_window_in_days = 3
}

resource "aws_secretsmanager_secret_version" "wrong" {
  secret_id                = aws_secretsmanager_secret.x.id
  secret_string            = "a"
  secret_binary            = "b"
  secret_string_wo_version = 1
}

resource "aws_ssm_parameter" "wrong" {
  name  = "/app/url"
  type  = "Text"
  value = "https://example.com"
}

resource "aws_ssm_document" "wrong" {
  name          = "run"
  document_type = "Order"
  content       = jsonencode({ schemaVersion = "2.2", mainSteps = [] })
}

resource "aws_acm_certificate" "wrong" {
  domain_name       = "example.com"
  validation_method = "PHONE"
}

resource "aws_cloudfront_origin_access_control" "wrong" {
  name                              = "main"
  origin_access_control_origin_type = "s3"
  signing_behavior                  = "always"
  signing_protocol                  = "sigv9"
}

resource "aws_api_gateway_rest_api" "wrong" {
  name = "api"
  id   = "api"
}

resource "aws_api_gateway_method" "wrong" {
  rest_api_id   = aws_api_gateway_rest_api.x.id
  resource_id   = aws_api_gateway_resource.x.id
  http_method   = "FETCH"
  authorization = "NONE"
}

resource "aws_api_gateway_integration" "wrong" {
  rest_api_id = aws_api_gateway_rest_api.x.id
  resource_id = aws_api_gateway_resource.x.id
  http_method = aws_api_gateway_method.x.http_method
  type        = "JOKE"
}

resource "aws_apigatewayv2_api" "wrong" {
  name          = "http"
  protocol_type = "GOPHER"
}

resource "aws_lb" "wrong" {
  name               = "web"
  load_balancer_type = "heavy"
  subnets            = aws_subnet.x[*].id
}

resource "aws_lb_target_group" "wrong" {
  name     = "web"
  port     = 80000
  protocol = "HTTP"
  vpc_id   = aws_vpc.x.id
}

resource "aws_cognito_user_pool" "wrong" {
  name = "people"
  password_policy {
    minimum_length = 3
  }
}

resource "aws_wafv2_ip_set" "wrong" {
  name               = "office"
  scope              = "GALACTIC"
  ip_address_version = "IPV4"
  addresses          = ["192.0.2.0/24"]
}

resource "aws_budgets_budget" "wrong" {
  budget_type  = "COST"
  time_unit    = "SOMETIMES"
  limit_amount = "100"
  limit_unit   = "USD"
}

resource "aws_scheduler_schedule" "wrong" {
  schedule_expression = "rate(1 hours)"
  flexible_time_window {
    mode = "ASLEEP"
  }
  target {
    arn      = aws_sqs_queue.x.arn
    role_arn = aws_iam_role.x.arn
  }
}
