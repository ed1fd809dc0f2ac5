//! The time at which data sources are read, and checks whose data source cannot be read.

use serde_json::{Value as Json, json};

use crate::bench::Bench;

const MAIN: &str = r#"
terraform {
  required_providers {
    local = { source = "registry.opentofu.org/mayfly/local" }
  }
}
variable "text" { default = "one" }
resource "local_file" "written" {
  filename = "${path.module}/written.txt"
  content  = var.text
}
data "local_file" "read" { filename = local_file.written.filename }
data "local_file" "after" {
  filename   = "${path.module}/main.tf"
  depends_on = [local_file.written]
}
check "fine" {
  data "local_file" "fine" { filename = "${path.module}/main.tf" }
  assert {
    condition     = data.local_file.fine.content != ""
    error_message = "It is empty."
  }
}
output "read" { value = data.local_file.read.content }
"#;

fn reasons(plan: &Json) -> Vec<Json> {
    let changes = plan["resource_changes"].as_array().expect("are there").iter();
    let reads = changes.filter(|it| it["change"]["actions"] == json!(["read"]));
    reads.map(|it| json!([it["address"], it["action_reason"]])).collect()
}

#[test]
fn data_source_reads_its_dependency_after_apply() {
    let bench = Bench::with_main(MAIN);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds().shows(&["read = \"one\"\n"]);
    // Replacing the file changes no argument of the data source. It could be read during the plan, but the result
    // would be outdated.
    let arguments = ["plan", "-var=text=two", "-out=saved.plan"];
    bench.mayfly(".", arguments).succeeds().shows(&[
        "# data.local_file.fine will be read during apply\n  # (config will be reloaded to verify a check block)\n",
        "# data.local_file.read will be read during apply\n  # (depends on a resource or a module \
         with changes pending)\n",
    ]);
    let plan = bench.mayfly(".", ["show", "-json", "saved.plan"]).succeeds().json();
    let pending = "read_because_dependency_pending";
    let expected = [
        json!(["data.local_file.after", pending]),
        json!(["data.local_file.fine", "read_because_check_nested"]),
        json!(["data.local_file.read", pending]),
    ];
    assert_eq!(reasons(&plan), expected);
    bench.mayfly(".", ["apply", "saved.plan"]).succeeds().shows(&["read = \"two\"\n"]);
}

const FAILING: &str = r#"
terraform {
  required_providers {
    local = { source = "registry.opentofu.org/mayfly/local" }
  }
}
resource "terraform_data" "a" { input = 1 }
check "missing" {
  data "local_file" "missing" { filename = "${path.module}/nothing-here" }
  assert {
    condition     = data.local_file.missing.content != ""
    error_message = "It is empty."
  }
}
"#;

#[test]
fn unreadable_check_data_source_only_warns() {
    let bench = Bench::with_main(FAILING);
    bench.mayfly(".", ["init"]).succeeds();
    let shown = bench.mayfly(".", ["plan", "-out=saved.plan"]).succeeds();
    shown.shows(&[
        "# (config will be reloaded to verify a check block)",
        "Plan: 1 to add, 0 to change, 0 to destroy.",
        "Warning: ",
        "with data.local_file.missing,\n  on main.tf line 9, in check \"missing\":",
    ]);
    let plan = bench.mayfly(".", ["show", "-json", "saved.plan"]).succeeds().json();
    assert_eq!(plan["checks"][0]["status"], "fail");
    let problem = &plan["checks"][0]["instances"][0]["problems"][0]["message"];
    assert!(problem.as_str().is_some_and(|it| it.contains("nothing-here")), "{plan:#}");
    let lines = bench.mayfly(".", ["apply", "-json", "saved.plan"]).succeeds().out;
    let lines = lines.lines().map(|it| serde_json::from_str::<Json>(it).expect("is JSON"));
    let told: Vec<Json> = lines.filter(|it| it["type"] == "diagnostic").collect();
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(told[0]["diagnostic"]["severity"], "warning");
    assert_eq!(told[0]["diagnostic"]["address"], "data.local_file.missing");
    assert_eq!(told[0]["diagnostic"]["snippet"]["context"], "check \"missing\"");
    let state = bench.state(".");
    assert_eq!(state["check_results"][0]["status"], "fail");
    let resources = state["resources"].as_array().expect("are there").iter();
    assert_eq!(resources.map(|it| it["name"].clone()).collect::<Vec<_>>(), [json!("a")]);
}
