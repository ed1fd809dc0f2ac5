//! Providers in tests: provider blocks, mocks and overrides.

use crate::bench::Bench;

const MAIN: &str = r#"
terraform {
  required_providers {
    local = { source = "mayfly/local" }
  }
}
resource "local_file" "f" {
  filename = "${path.module}/made.txt"
  content  = "real"
}
module "m" { source = "./m" }
output "digest" { value = local_file.f.content_sha256 }
output "from_module" { value = module.m.out }
"#;

const MODULE: &str = r#"
resource "terraform_data" "in" { input = "real" }
output "out" { value = terraform_data.in.output }
output "id" { value = terraform_data.in.id }
"#;

fn bench(test: &str) -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("m/main.tf", MODULE);
    bench.write("main.tftest.hcl", test);
    bench.mayfly(".", ["init", "-input=false"]).succeeds();
    bench
}

#[test]
fn mocked_provider_makes_up_values_and_touches_nothing() {
    let bench = bench(
        r#"
        mock_provider "local" {
          mock_resource "local_file" {
            defaults = { content_sha256 = "mocked" }
          }
        }
        run "mocked" {
          assert {
            condition     = output.digest == "mocked" && length(local_file.f.content_md5) >= 4
            error_message = output.digest
          }
        }
        run "again" {
          command = plan
          assert {
            condition     = local_file.f.id == local_file.f.id && output.digest == "mocked"
            error_message = "changed"
          }
        }
        "#,
    );
    bench.mayfly(".", ["test"]).succeeds().shows(&["2 passed, 0 failed"]);
    assert!(!bench.path("made.txt").exists());
}

#[test]
fn overrides_of_run_and_file_replace_objects_and_modules() {
    let bench = bench(
        r#"
        mock_provider "local" {}
        override_resource {
          target = local_file.f
          values = { content_sha256 = "file" }
        }
        run "of_file" {
          assert {
            condition     = output.digest == "file"
            error_message = output.digest
          }
        }
        run "of_run" {
          override_resource {
            target = module.m.terraform_data.in
            values = { id = "given" }
          }
          assert {
            condition     = module.m.id == "given" || output.from_module == "real"
            error_message = module.m.id
          }
        }
        run "of_module" {
          command = plan
          override_module {
            target  = module.m
            outputs = { out = "overridden" }
          }
          assert {
            condition     = output.from_module == "overridden" && module.m.id == null
            error_message = output.from_module
          }
        }
        "#,
    );
    bench.mayfly(".", ["test"]).succeeds().shows(&["3 passed, 0 failed"]);
}

#[test]
fn doubles_of_unknown_objects_and_attributes_are_errors() {
    let bench = bench(
        r#"
        override_resource { target = local_file.nothing }
        run "unknown" { command = plan }
        "#,
    );
    bench.mayfly(".", ["test"]).fails().shows(&["Resource not found: local_file.nothing"]);
    bench.write(
        "main.tftest.hcl",
        r#"
        run "mode" {
          command = plan
          override_data { target = local_file.f }
        }
        "#,
    );
    bench
        .mayfly(".", ["test"])
        .fails()
        .shows(&["Unsupported `resource` target in `override_data` block"]);
    bench.write(
        "main.tftest.hcl",
        r#"
        mock_provider "local" {
          mock_resource "local_file" { defaults = { content = "no", nowhere = 1 } }
        }
        run "values" { command = plan }
        "#,
    );
    bench.mayfly(".", ["test"]).fails().shows(&[
        "Invalid mock/override field `content`",
        "Invalid override for block field `nowhere`",
    ]);
}

#[test]
fn run_chooses_providers_of_its_file() {
    let bench = bench(
        r#"
        mock_provider "local" {
          alias = "fake"
          mock_resource "local_file" { defaults = { content_sha256 = "fake" } }
        }
        run "chosen" {
          providers = { local = local.fake }
          assert {
            condition     = output.digest == "fake"
            error_message = output.digest
          }
        }
        run "real" {
          assert {
            condition     = length(output.digest) == 64
            error_message = output.digest
          }
        }
        run "missing" {
          providers = { local = local.none }
        }
        "#,
    );
    let ended = bench.mayfly(".", ["test"]).fails();
    ended.shows(&[
        "run \"chosen\"... pass",
        "run \"real\"... pass",
        "Missing provider definition for local.none",
    ]);
    assert!(!bench.path("made.txt").exists(), "the real file is destroyed");
}

#[test]
fn mock_provider_has_instances() {
    let main = r#"
terraform {
  required_providers {
    playground = { source = "mayfly/playground" }
  }
}
variable "keys" {
  type    = set(string)
  default = ["a", "b"]
}
provider "playground" {
  alias        = "by"
  for_each     = var.keys
  require_keys = true
}
resource "playground_parameter" "p" {
  for_each = var.keys
  provider = playground.by[each.key]
  name     = each.key
  type     = "String"
  value    = "v"
}
"#;
    let bench = Bench::with_main(main);
    bench.mayfly(".", ["init", "-input=false"]).succeeds();
    let test = r#"
mock_provider "playground" {
  alias    = "by"
  for_each = var.keys
  mock_resource "playground_parameter" {
    defaults = { arn = "mocked" }
  }
}
run "mocked" {
  assert {
    condition     = length(playground_parameter.p) == 2 && playground_parameter.p["b"].arn == "mocked"
    error_message = "not mocked"
  }
}
"#;
    bench.write("main.tftest.hcl", test);
    bench.mayfly(".", ["test"]).succeeds().shows(&["run \"mocked\"... pass"]);
    // An object needs its own instance of the mock.
    bench.write("main.tftest.hcl", &test.replace("= var.keys", "= toset([\"b\"])"));
    bench.mayfly(".", ["test"]).fails().shows(&["Provider instance not present"]);
}
