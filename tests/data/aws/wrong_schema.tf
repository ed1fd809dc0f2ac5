# Resources of `right.tf` with a mistake each, that the schema or the configuration tells.

resource "aws_s3_bucket" "wrong" {
  bucket        = "mayfly-example"
  force_destroy = "perhaps"
  tags          = var.tags
}

resource "aws_s3_bucket_lifecycle_configuration" "wrong" {
  bucket = aws_s3_bucket.x.id
  rule {
    id     = "old"
    state  = "Enabled"
    filter {
      prefix = "logs/"
    }
    expiration {
      days = 30
    }
  }
}

resource "aws_s3_bucket_public_access_block" "wrong" {
  bucket                  = aws_s3_bucket.x.id
  block_public_acl        = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_object" "wrong" {
  for_each = toset(["a.txt", "b.txt"])
  bucket   = aws_s3_bucket.x.bucket
  content  = "content of ${each.value}"
}

resource "aws_s3_bucket_notification" "wrong" {
  bucket = aws_s3_bucket.x.id
  queue {
    queue_arn = aws_sqs_queue.x.arn
  }
}

resource "aws_s3_bucket_cors_configuration" "wrong" {
  bucket = aws_s3_bucket.x.id
}

resource "aws_s3_bucket_website_configuration" "wrong" {
  bucket = aws_s3_bucket.x.id
  index_document = { suffix = "index.html" }
}

resource "aws_sqs_queue_policy" "wrong" {
  queue_url = aws_sqs_queue.x.uri
  policy    = jsonencode({ Version = "2012-10-17", Statement = [] })
}

resource "aws_sns_topic" "wrong" {
  name       = "events.fifo"
  fifo_topic = ["true"]
}

resource "aws_iam_user" "wrong" {
  name = "someone"
  path = { a = 1 }
}

resource "aws_iam_group" "wrong" {
  title = "people"
}

resource "aws_iam_role_policy" "wrong" {
  policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}

resource "aws_iam_instance_profile" "wrong" {
  role = aws_iam_role.y.name
}

resource "aws_iam_openid_connect_provider" "wrong" {
  url            = "https://token.actions.githubusercontent.com"
  client_id_list = { a = "b" }
}

resource "aws_iam_group_membership" "wrong" {
  name  = "people"
  group = aws_iam_group.x.name
  user  = aws_iam_user.x.name
}

resource "aws_iam_account_password_policy" "wrong" {
  minimum_password_length = "many"
}

resource "aws_lambda_function" "wrong" {
  function_name = "worker"
  role          = aws_iam_role.x.arn
  handler       = "main.handler"
  runtime       = "python3.12"
  filename      = "worker.zip"
  surroundings {
    variables = { QUEUE = aws_sqs_queue.x.url }
  }
}

resource "aws_lambda_permission" "wrong" {
  function_name = aws_lambda_function.x.function_name
  action        = "lambda:InvokeFunction"
  source_arn    = aws_s3_bucket.x.arn
}

resource "aws_lambda_alias" "wrong" {
  name             = "live"
  function_name    = aws_lambda_function.x.arn
}

resource "aws_lambda_event_source_mapping" "wrong" {
  function_name    = aws_lambda_function.x.arn
  event_source_arn = aws_sqs_queue.x.arn
  batch_size       = "ten"
}

resource "aws_subnet" "wrong" {
  count             = length(local.azs)
  vpc_id            = aws_vpc.x.id
  cidr_block        = cidrsubnet(aws_vpc.x.cidr_block, 8, count.index)
  availability_zone = local.zones[count.index]
}

resource "aws_vpc_security_group_ingress_rule" "wrong" {
  security_group_id = aws_security_group.x.id
  ip_protocol       = "tcp"
  from_port         = "http"
  to_port           = 80
  cidr_ipv4         = "10.0.0.0/8"
}

resource "aws_route_table" "wrong" {
  route {
    cidr_block = "0.0.0.0/0"
    gateway_id = aws_internet_gateway.x.id
  }
}

resource "aws_internet_gateway" "wrong" {
  vpc_id = aws_vpc.x.name
}

resource "aws_nat_gateway" "wrong" {
  allocation_id = aws_eip.x.id
}

resource "aws_instance" "wrong" {
  ami           = "ami-0123456789abcdef0"
  instance_type = "t3.micro"
  subnet_id     = one(slice(aws_subnet.x, 0, 1)).id
  root_block_device {
    volume_size = "twenty"
  }
  lifecycle {
    ignore_changes = [ami]
  }
}

resource "aws_ebs_volume" "wrong" {
  size              = 10
}

resource "aws_volume_attachment" "wrong" {
  device      = "/dev/sdh"
  instance_id = aws_instance.x.id
  volume_id   = aws_ebs_volume.x.id
}

resource "aws_launch_template" "wrong" {
  image_id      = "ami-0123456789abcdef0"
  instance_type = ["t3.micro"]
  dynamic "tag_specifications" {
    for_each = toset(["instance", "volume"])
    content {
      resource_type = tag_specifications.value
      tags          = var.tags
    }
  }
}

resource "aws_vpc_peering_connection" "wrong" {
  vpc_id      = aws_vpc.x.id
}

resource "aws_db_instance" "wrong" {
  identifier          = "main"
  engine              = "postgres"
  allocated_storage   = 20
  username            = "someone"
  password_wo         = "only an example"
  password_wo_version = 1
}

resource "aws_db_subnet_group" "wrong" {
  name       = "main"
  subnet_ids = "subnets"
}

resource "aws_db_parameter_group" "wrong" {
  family = "postgres16"
  parameter {
    name  = "log_connections"
  }
}

resource "aws_rds_cluster_instance" "wrong" {
  cluster_identifier = aws_rds_cluster.x.id
  engine             = aws_rds_cluster.x.motor
  instance_class     = "db.r6g.large"
}

resource "aws_elasticache_cluster" "wrong" {
  cluster_id      = "cache"
  engine          = "redis"
  node_type       = "cache.t3.micro"
  num_cache_nodes = [1]
}

resource "aws_elasticache_subnet_group" "wrong" {
  subnet_ids = [for subnet in aws_subnet.x : subnet.id]
}

resource "aws_ecr_lifecycle_policy" "wrong" {
  repository = aws_ecr_repository.x.name
  policy     = { rules = [] }
}

resource "aws_eks_cluster" "wrong" {
  name     = "main"
  role_arn = aws_iam_role.x.arn
}

resource "aws_eks_node_group" "wrong" {
  cluster_name  = aws_eks_cluster.x.name
  node_role_arn = aws_iam_role.x.arn
  subnet_ids    = aws_subnet.x[*].id
  scaling_config {
    desired_size = 1
    min_size     = 1
  }
}

resource "aws_eks_addon" "wrong" {
  cluster_name = aws_eks_cluster.x.name
  addon        = "coredns"
}

resource "aws_cloudwatch_event_target" "wrong" {
  rule = aws_cloudwatch_event_rule.x.name
  arn  = aws_lambda_functions.x.arn
}

resource "aws_cloudwatch_log_metric_filter" "wrong" {
  name           = "errors"
  log_group_name = aws_cloudwatch_log_group.x.name
  pattern        = "ERROR"
}

resource "aws_route53_zone" "wrong" {
  name = ["example.com"]
}

resource "aws_route53_record" "wrong" {
  zone_id = aws_route53_zone.x.zone_id
  name    = "www"
  type    = "A"
  alias {
    name                   = aws_lb.x.dns_name
    zone_id                = aws_lb.x.zone_id
  }
}

resource "aws_cloudfront_distribution" "wrong" {
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
  viewer_certificate {
    cloudfront_default_certificate = true
  }
}

resource "aws_api_gateway_resource" "wrong" {
  rest_api_id = aws_api_gateway_rest_api.x.id
  parent_id   = aws_api_gateway_rest_api.x.root
  path_part   = "things"
}

resource "aws_apigatewayv2_route" "wrong" {
  api_id    = aws_apigatewayv2_api.x.id
}

resource "aws_lb_listener" "wrong" {
  load_balancer_arn = aws_lb.x.arn
  port              = 80
  protocol          = "HTTP"
}

resource "aws_lb_listener_rule" "wrong" {
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

resource "aws_autoscaling_group" "wrong" {
  min_size            = 1
  vpc_zone_identifier = aws_subnet.x[*].id
  launch_template {
    id = aws_launch_template.x.id
  }
}

resource "aws_autoscaling_policy" "wrong" {
  name                   = "grow"
  autoscaling_group_name = aws_autoscaling_group.x.name
  adjustment_type        = "ChangeInCapacity"
  scaling_adjustment     = "one more"
}

resource "aws_kinesis_stream" "wrong" {
  name        = "clicks"
  shards      = 1
}

resource "aws_sfn_state_machine" "wrong" {
  name       = "flow"
  role_arn   = aws_iam_role.x.arn
  definition = ["End"]
}

resource "aws_cognito_user_pool_client" "wrong" {
  name         = "web"
  user_pool_id = aws_cognito_user_pool.x["id"].id
}

resource "aws_efs_file_system" "wrong" {
  encrypted = "very"
}

resource "aws_efs_mount_target" "wrong" {
  file_system_id = aws_efs_file_system.x.id.value
  subnet_id      = aws_subnet.x[1].id
}

resource "aws_glue_job" "wrong" {
  name     = "import"
  role_arn = aws_iam_role.x.arn
  command {
    script = "s3://${aws_s3_bucket.x.bucket}/import.py"
  }
}

resource "aws_cloudtrail" "wrong" {
  name           = "all"
}
