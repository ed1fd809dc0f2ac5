//! Places where the ephemeral resources RFC allows an ephemeral value: no diagnostic is reported, and nothing of
//! the value is stored.

use super::judge::{Place, Plan, Verdict, check};

fn place(name: &str, text: &str) -> (Place, Verdict, Plan) {
    (Place::new(name, text), Verdict::Fine, Plan::Agrees)
}

#[test]
fn write_only_attributes() {
    check(&[
        place(
            "write-only attribute",
            r#"
resource "playground_secret" "p" {
  name             = "p"
  value_wo         = @
  value_wo_version = 1
}
"#,
        ),
        place(
            "write-only attribute of an expression",
            r#"
resource "playground_secret" "p" {
  name             = "p"
  value_wo         = jsonencode({ secret = "x${@}" })
  value_wo_version = 1
}
"#,
        ),
        place(
            "write-only attribute of any type",
            r#"
resource "playground_vault" "p" {
  name   = "p"
  any_wo = { inside = @, plain = "b", deeper = [@] }
}
"#,
        ),
        place(
            "write-only set",
            r#"
resource "playground_vault" "p" {
  name     = "p"
  codes_wo = ["${@}", "b"]
}
"#,
        ),
    ]);
}

#[test]
fn write_only_attributes_of_nested_attributes() {
    check(&[
        place(
            "write-only attribute of a nested attribute",
            r#"
resource "playground_vault" "p" {
  name  = "p"
  login = { user = "u", password_wo = @ }
}
"#,
        ),
        place(
            "write-only attribute of a nested attribute of a list",
            r#"
resource "playground_vault" "p" {
  name   = "p"
  logins = [{ user = "a" }, { user = "b", password_wo = @ }]
}
"#,
        ),
        place(
            "write-only attribute of a nested attribute of a map",
            r#"
resource "playground_vault" "p" {
  name           = "p"
  logins_by_role = { admin = { user = "a", password_wo = @ } }
}
"#,
        ),
        place(
            "write-only attributes of nested attributes made by a loop",
            r#"
resource "playground_vault" "p" {
  name   = "p"
  logins = [for user in ["a", "b"] : { user = user, password_wo = @ }]
}
"#,
        ),
    ]);
}

#[test]
fn write_only_attributes_in_blocks() {
    check(&[
        place(
            "write-only attribute in a single block",
            r#"
resource "playground_vault" "p" {
  name = "p"
  primary {
    name     = "x"
    token_wo = @
  }
}
"#,
        ),
        place(
            "write-only attribute in blocks of a list",
            r#"
resource "playground_vault" "p" {
  name = "p"
  replica {
    name = "x"
  }
  replica {
    name     = "y"
    token_wo = @
  }
}
"#,
        ),
        place(
            "write-only attribute in a block of a map",
            r#"
resource "playground_vault" "p" {
  name = "p"
  region "eu" {
    name     = "x"
    token_wo = @
  }
}
"#,
        ),
        place(
            "write-only attribute in a group",
            r#"
resource "playground_vault" "p" {
  name = "p"
  fallback {
    note     = "x"
    token_wo = @
  }
}
"#,
        ),
        place(
            "write-only attribute in a dynamic block",
            r#"
resource "playground_vault" "p" {
  name = "p"
  dynamic "replica" {
    for_each = { a = @, b = "plain" }
    content {
      name     = replica.key
      token_wo = replica.value
    }
  }
}
"#,
        ),
    ]);
}

#[test]
fn ephemeral_resources_and_provider_configurations() {
    check(&[
        place(
            "argument of an ephemeral resource",
            r#"
ephemeral "playground_secret" "p" {
  name      = "${@}" == "" ? "remote" : "other"
}
resource "playground_secret" "q" {
  name     = "q"
  value_wo = ephemeral.playground_secret.p.value
  value_wo_version = 1
}
"#,
        ),
        place(
            "argument of a provider block",
            r#"
provider "playground" {
  alias      = "p"
  store      = "$STORE"
  access_key = @
  secret_key = "x${@}"
}
resource "playground_secret" "p" {
  provider = playground.p
  name     = "p"
}
"#,
        ),
    ]);
}

#[test]
fn provisioners_and_connections() {
    check(&[
        place(
            "argument of a provisioner",
            r#"
resource "playground_secret" "p" {
  name = "p"
  provisioner "local-exec" {
    command = "echo ${@}"
  }
}
"#,
        ),
        place(
            "environment of a provisioner",
            r#"
resource "playground_secret" "p" {
  name = "p"
  provisioner "local-exec" {
    command     = "echo x"
    environment = { SECRET = @ }
  }
}
"#,
        ),
        place(
            "connection of a resource",
            r#"
resource "playground_secret" "p" {
  name = "p"
  connection {
    host     = "localhost"
    password = @
  }
  provisioner "local-exec" {
    command = "echo x"
  }
}
"#,
        ),
        place(
            "connection of a provisioner",
            r#"
resource "playground_secret" "p" {
  name = "p"
  provisioner "local-exec" {
    command = "echo x"
    connection {
      host     = "localhost"
      password = @
    }
  }
}
"#,
        ),
    ]);
}

#[test]
fn conditions() {
    check(&[
        place(
            "condition of a precondition",
            r#"
resource "playground_secret" "p" {
  name = "p"
  lifecycle {
    precondition {
      condition     = "${@}" != ""
      error_message = "no"
    }
  }
}
"#,
        ),
        place(
            "condition of a postcondition",
            r#"
resource "playground_secret" "p" {
  name = "p"
  lifecycle {
    postcondition {
      condition     = "${@}" != self.arn
      error_message = "no"
    }
  }
}
"#,
        ),
        place(
            "conditions of an ephemeral resource",
            r#"
ephemeral "playground_secret" "p" {
  name = "other"
  lifecycle {
    precondition {
      condition     = "${@}" != ""
      error_message = "no"
    }
    postcondition {
      condition     = "${@}" != self.value
      error_message = "no"
    }
  }
}
"#,
        ),
        place(
            "condition of an output",
            r#"
output "p" {
  value = "plain"
  precondition {
    condition     = "${@}" != ""
    error_message = "no"
  }
}
"#,
        ),
        place(
            "condition of a check",
            r#"
check "p" {
  assert {
    condition     = "${@}" != ""
    error_message = "no"
  }
}
"#,
        ),
        place(
            "condition of a variable in a module",
            r#"
module "m" {
  source = "./m"
  in     = @
}
//- /m/main.tf
variable "in" {
  ephemeral = true
  validation {
    condition     = "${var.in}" != ""
    error_message = "no"
  }
}
"#,
        ),
    ]);
}

#[test]
fn locals_variables_and_outputs() {
    check(&[
        place(
            "local",
            r#"
locals {
  a = { part = @, plain = "b" }
  b = "${local.a.part}!"
}
output "plain" {
  value = local.a.plain
}
resource "playground_secret" "p" {
  name             = local.a.plain
  value_wo         = local.b
  value_wo_version = 1
}
"#,
        ),
        place(
            "argument of a module that is declared ephemeral",
            r#"
module "m" {
  source = "./m"
  in     = @
}
//- /m/main.tf
variable "in" {
  ephemeral = true
}
resource "playground_secret" "p" {
  name             = "p"
  value_wo         = var.in
  value_wo_version = 1
}
"#,
        ),
        place(
            "output of a module that is declared ephemeral",
            r#"
module "m" {
  source = "./m"
  in     = @
}
resource "playground_secret" "p" {
  name             = "p"
  value_wo         = module.m.out
  value_wo_version = 1
}
//- /m/main.tf
variable "in" {
  ephemeral = true
}
output "out" {
  value     = "x${var.in}"
  ephemeral = true
}
"#,
        ),
        place(
            "root output through ephemeralasnull",
            r#"
output "p" {
  value = ephemeralasnull({ secret = @, plain = "b" })
}
"#,
        ),
    ]);
}

#[test]
fn elements_of_for_each() {
    check(&[
        place(
            "values of a for_each map",
            r#"
resource "playground_secret" "p" {
  for_each         = { a = @, b = "plain" }
  name             = each.key
  value_wo         = each.value
  value_wo_version = 1
}
"#,
        ),
        place(
            "values of a module's for_each map",
            r#"
module "m" {
  for_each = { a = @ }
  source   = "./m"
  name     = each.key
  in       = each.value
}
//- /m/main.tf
variable "name" {
  type = string
}
variable "in" {
  ephemeral = true
}
resource "playground_secret" "p" {
  name             = var.name
  value_wo         = var.in
  value_wo_version = 1
}
"#,
        ),
        place(
            "values of an ephemeral resource's for_each map",
            r#"
ephemeral "playground_secret" "p" {
  for_each = { remote = @ }
  name     = each.key
}
resource "playground_secret" "q" {
  name             = "q"
  value_wo         = ephemeral.playground_secret.p["remote"].value
  value_wo_version = 1
}
"#,
        ),
    ]);
}

#[test]
fn length_and_keys_of_ephemeral_collections_are_not_ephemeral() {
    check(&[
        place("length of a tuple of one", "output \"p\" {\n  value = length([@, 1])\n}\n"),
        place("keys of an object of one", "output \"p\" {\n  value = keys({ a = @ })\n}\n"),
        place(
            "count from the length of a tuple of one",
            r#"
resource "playground_secret" "p" {
  count = length([@, 1])
  name  = "p${count.index}"
}
"#,
        ),
        place(
            "a plain part of an object of one",
            "output \"p\" {\n  value = { a = @, b = 1 }.b\n}\n",
        ),
        place("whether it is sensitive", "output \"p\" {\n  value = issensitive(@)\n}\n"),
    ]);
}
