//! Objects keep their identity when `count` or `enabled` is added to their block or removed from it.

use serde_json::{Value as Json, json};

use crate::{bench::Bench, reference};

const BEFORE: &str = r#"
resource "terraform_data" "to_count" { input = 1 }
resource "terraform_data" "from_count" {
  count = 2
  input = 1
}
resource "terraform_data" "to_enabled" { count = 1 }
resource "terraform_data" "updated" { input = 1 }
resource "terraform_data" "to_none" { input = 1 }
resource "terraform_data" "to_for_each" { input = 1 }
module "to_count" { source = "./m" }
module "from_count" {
  source = "./m"
  count  = 2
}
module "to_enabled" { source = "./m" }
"#;

const AFTER: &str = r#"
resource "terraform_data" "to_count" {
  count = 2
  input = 1
}
resource "terraform_data" "from_count" { input = 1 }
resource "terraform_data" "to_enabled" {
  lifecycle { enabled = true }
}
resource "terraform_data" "updated" {
  count = 1
  input = 2
}
resource "terraform_data" "to_none" {
  count = 0
  input = 1
}
resource "terraform_data" "to_for_each" {
  for_each = toset(["0"])
  input    = 1
}
module "to_count" {
  source = "./m"
  count  = 1
}
module "from_count" { source = "./m" }
module "to_enabled" {
  source = "./m"
  lifecycle { enabled = true }
}
"#;

const MODULE: &str = r#"
resource "terraform_data" "in" {}
module "inner" { source = "../inner" }
"#;

fn bench() -> Bench {
    let bench = Bench::with_main(BEFORE);
    bench.write("m/main.tf", MODULE);
    bench.write("inner/main.tf", "resource \"terraform_data\" \"deep\" {}\n");
    bench
}

/// The address, actions, previous address and reason of each planned change.
fn changes(plan: &Json) -> Vec<Json> {
    let changes = plan["resource_changes"].as_array().expect("are there").iter();
    let told = changes.map(|it| {
        json!([it["address"], it["change"]["actions"], it["previous_address"], it["action_reason"]])
    });
    told.collect()
}

#[test]
fn adding_count_moves_and_keeps_the_object() {
    let bench = bench();
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let id = |name: &str| {
        let state = bench.state(".");
        let resources = state["resources"].as_array().expect("are there").iter();
        let mut found = resources.filter(|it| it["name"] == name);
        found.next().map(|it| it["instances"][0]["attributes"]["id"].clone())
    };
    let before = id("to_count");
    bench.write("main.tf", AFTER);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan", "-out=saved.plan"]).succeeds().shows(&[
        "# terraform_data.from_count[0] has moved to terraform_data.from_count\n",
        "# terraform_data.to_count has moved to terraform_data.to_count[0]\n",
        "# terraform_data.updated[0] will be updated in-place\n  # (moved from terraform_data.updated)\n",
        "# module.to_count.module.inner.terraform_data.deep has moved to \
         module.to_count[0].module.inner.terraform_data.deep\n",
        "Plan: 2 to add, 1 to change, 5 to destroy.",
    ]);
    let plan = bench.mayfly(".", ["show", "-json", "saved.plan"]).succeeds().json();
    let moved = json!(["terraform_data.to_count[0]", ["no-op"], "terraform_data.to_count", null]);
    assert!(changes(&plan).contains(&moved), "{plan:#}");
    bench.mayfly(".", ["apply", "saved.plan"]).succeeds();
    assert!(before.is_some() && id("to_count") == before);
    let listed = bench.mayfly(".", ["state", "list"]).succeeds().out;
    assert!(listed.contains("terraform_data.to_count[0]\n"), "{listed}");
    bench.mayfly(".", ["plan"]).succeeds().shows(&["No changes."]);
}

#[test]
fn planned_moves_match_opentofu() {
    let Some(tofu) = reference::tofu("planned_moves_match_opentofu") else {
        return;
    };
    let plans = [env!("CARGO_BIN_EXE_mayfly"), &tofu].map(|program| {
        let bench = bench();
        bench.program(program, ".", ["init"]).succeeds();
        bench.program(program, ".", ["apply", "-auto-approve"]).succeeds();
        bench.write("main.tf", AFTER);
        bench.program(program, ".", ["init"]).succeeds();
        bench.program(program, ".", ["plan", "-out=saved.plan"]).succeeds();
        let plan = bench.program(program, ".", ["show", "-json", "saved.plan"]).succeeds().json();
        changes(&plan)
    });
    assert_eq!(plans[0], plans[1]);
}

const TAKEN: &str = r#"{"version":4,"terraform_version":"1.12.0","serial":1,"lineage":"a","outputs":{},"resources":[
{"mode":"managed","type":"terraform_data","name":"x","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[
{"schema_version":0,"attributes":{"id":"1","input":null,"output":null,"triggers_replace":null}},
{"index_key":0,"schema_version":0,"attributes":{"id":"2","input":null,"output":null,"triggers_replace":null}}]}]}"#;

#[test]
fn blocked_move_is_a_warning() {
    let bench = Bench::with_main("resource \"terraform_data\" \"x\" { count = 1 }\n");
    bench.write("terraform.tfstate", TAKEN);
    bench.mayfly(".", ["plan"]).succeeds().shows(&[
        "# terraform_data.x will be destroyed\n  # (because resource uses count or for_each)\n",
        "Warning: Unresolved resource instance address changes",
        "- terraform_data.x could not move to terraform_data.x[0]",
    ]);
}
