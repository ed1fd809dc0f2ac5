//! Configurations in JSON syntax mean the same as native ones, and errors in them have the right location.

use crate::bench::Bench;

const NATIVE: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
variable "names" {
  type    = map(string)
  default = { a = "${"$"}{x}", b = "two" }
}
locals {
  greeting = "Hello, ${var.names.b}!\n\"${upper("quoted")}\""
}
resource "playground_vault" "v" {
  name   = "v"
  login  = { user = "u" }
  logins = [{ user = "a" }, { user = "b" }]
  primary {
    name = "p"
  }
  replica {
    name = "r0"
  }
  dynamic "replica" {
    for_each = var.names
    content {
      name = replica.value
    }
  }
  region "eu" {
    name = "e"
  }
  lifecycle {
    ignore_changes = [logins]
  }
}
resource "terraform_data" "d" {
  for_each   = var.names
  input      = { key = each.key, list = [1, 2.50, true, null], "${local.greeting}" = "k" }
  depends_on = [playground_vault.v]
}
output "greeting" {
  value = local.greeting
}
"#;

const JSON: &str = r#"{
  "//": "the same",
  "terraform": {
    "required_providers": {"playground": {"source": "registry.opentofu.org/mayfly/playground"}}
  },
  "variable": {"names": {"type": "map(string)", "default": {"a": "${x}", "b": "two"}}},
  "locals": [{"greeting": "Hello, ${var.names.b}!\n\"${upper(\"quoted\")}\""}],
  "resource": {
    "playground_vault": {
      "v": {
        "name": "v",
        "login": {"user": "u"},
        "logins": [{"user": "a"}, {"user": "b"}],
        "primary": {"name": "p"},
        "replica": [{"name": "r0"}],
        "dynamic": {"replica": {"for_each": "${var.names}", "content": {"name": "${replica.value}"}}},
        "region": {"eu": {"name": "e"}},
        "lifecycle": {"ignore_changes": ["logins"]}
      }
    },
    "terraform_data": {
      "d": {
        "for_each": "${var.names}",
        "input": {"key": "${each.key}", "list": [1, 2.50, true, null], "${local.greeting}": "k"},
        "depends_on": ["playground_vault.v"]
      }
    }
  },
  "output": {"greeting": {"value": "${local.greeting}"}}
}
"#;

#[test]
fn json_and_native_configurations_plan_the_same() {
    let plan = |file: &str, text: &str| {
        let bench = Bench::with_main("");
        std::fs::remove_file(bench.path("main.tf")).expect("was written");
        bench.write(file, text);
        bench.mayfly(".", ["plan", "-out=p"]).succeeds();
        let mut plan = bench.mayfly(".", ["show", "-json", "p"]).succeeds().json();
        plan.as_object_mut().expect("is one").remove("timestamp");
        (bench, plan)
    };
    let ((_, native), (bench, json)) = (plan("main.tf", NATIVE), plan("main.tf.json", JSON));
    assert_eq!(native["resource_changes"], json["resource_changes"]);
    assert_eq!(native["planned_values"], json["planned_values"]);
    bench.mayfly(".", ["apply", "p"]).succeeds().shows(&["3 added"]);
    bench.mayfly(".", ["plan", "-detailed-exitcode"]).succeeds();
}

#[test]
fn errors_of_json_configurations_name_file_and_line() {
    let bench = Bench::with_main("");
    std::fs::remove_file(bench.path("main.tf")).expect("was written");
    bench.write(
        "main.tf.json",
        "{\n  \"resource\": {\n    \"playground_vault\": {\n      \"v\": {\n        \"name\": \
         \"v\",\n        \"primary\": {\"nam\": \"p\"},\n        \"colour\": \"red\"\n      }\n    \
         }\n  },\n  \"output\": {\"o\": {\"value\": \"\\u0041 ${local.b}\"}},\n  \"terraform\": \
         {\"required_providers\": {\"playground\": {\"source\": \"registry.opentofu.org/mayfly/playground\"}}}\n}\n",
    );
    bench.mayfly(".", ["validate"]).fails().shows(&[
        "main.tf.json line 6, in resource \"playground_vault\" \"v\"",
        "No argument or block type is named \"nam\". Did you mean \"name\"?",
        "main.tf.json line 7",
        "No argument or block type is named \"colour\".",
        "Reference to undeclared local value",
        "main.tf.json line 11, in output \"o\"",
    ]);
}

/// `x.tofu.json` replaces `x.tf.json`, as `x.tofu` replaces `x.tf`.
#[test]
fn json_and_native_files_form_one_module() {
    let bench = Bench::with_main("locals {\n  a = \"native\"\n}\n");
    bench.write("x.tf.json", r#"{"output": {"old": {"value": 1}}}"#);
    bench.write("x.tofu.json", r#"{"output": {"o": {"value": "${local.a}"}}}"#);
    let ended = bench.mayfly(".", ["plan"]).succeeds();
    ended.shows(&["+ o = \"native\""]);
    ended.lacks(&["old"]);
}
