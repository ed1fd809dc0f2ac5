//! The dependencies in the state, and the order in which objects are destroyed.

use serde_json::Value as Json;

use crate::{bench::Bench, reference};

const MAIN: &str = r#"
resource "terraform_data" "bucket" { input = "b" }
resource "terraform_data" "number" { input = 1 }
resource "terraform_data" "first" { input = "f" }
locals { keys = toset([terraform_data.bucket.input]) }
resource "terraform_data" "object" {
  for_each = local.keys
  input    = each.key
}
module "m" {
  source     = "./m"
  count      = terraform_data.number.input
  depends_on = [terraform_data.first]
  x          = terraform_data.bucket.input
}
resource "terraform_data" "of_output" { input = module.m[0].out }
resource "terraform_data" "of_whole" { input = length(module.m) }
resource "terraform_data" "after" {
  depends_on = [module.m]
  connection { host = terraform_data.first.input }
}
"#;

const MODULE: &str = r#"
variable "x" {}
resource "terraform_data" "alone" {}
resource "terraform_data" "of_x" { input = var.x }
module "inner" {
  source   = "../inner"
  for_each = terraform_data.alone.input == null ? toset(["k"]) : toset([])
}
output "out" { value = terraform_data.of_x.id }
"#;

const INNER: &str = "resource \"terraform_data\" \"deep\" {}\n";

fn bench() -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("m/main.tf", MODULE);
    bench.write("inner/main.tf", INNER);
    bench
}

/// The objects of a state with their dependencies.
fn dependencies(state: &Json) -> Vec<String> {
    let resources = state["resources"].as_array().expect("are there").iter();
    let lines = resources.flat_map(|it| {
        let address = format!("{}.{}", it["module"], it["name"]);
        let instances = it["instances"].as_array().expect("are there").iter();
        instances.map(move |it| format!("{address}{}: {}", it["index_key"], it["dependencies"]))
    });
    lines.collect()
}

#[test]
fn bucket_is_destroyed_after_the_objects_of_its_for_each() {
    let bench = bench();
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let listed = dependencies(&bench.state("."));
    let object = "null.\"object\"\"b\": [\"terraform_data.bucket\"]";
    assert!(listed.iter().any(|it| it == object), "{listed:#?}");
    // The blocks are removed, so the order comes from the state alone.
    bench.write("main.tf", "");
    let log = bench.mayfly(".", ["apply", "-auto-approve", "-parallelism=1"]).succeeds().out;
    let begun = |address: &str| {
        let line = format!("{address}: Destroying...");
        log.find(&line).unwrap_or_else(|| panic!("{line} is not in\n{log}"))
    };
    let pairs = [
        ("terraform_data.object[\"b\"]", "terraform_data.bucket"),
        ("module.m[0].terraform_data.of_x", "terraform_data.bucket"),
        ("module.m[0].module.inner[\"k\"].terraform_data.deep", "module.m[0].terraform_data.alone"),
        ("module.m[0].terraform_data.alone", "terraform_data.number"),
        ("terraform_data.after", "module.m[0].module.inner[\"k\"].terraform_data.deep"),
    ];
    for (dependent, dependency) in pairs {
        assert!(begun(dependent) < begun(dependency), "{dependent} is destroyed late:\n{log}");
    }
}

#[test]
fn state_dependencies_match_opentofu() {
    let Some(tofu) = reference::tofu("state_dependencies_match_opentofu") else {
        return;
    };
    let (ours, theirs) = (bench(), bench());
    for arguments in [&["init"][..], &["apply", "-auto-approve"]] {
        ours.mayfly(".", arguments).succeeds();
        theirs.program(&tofu, ".", arguments).succeeds();
    }
    assert_eq!(dependencies(&ours.state(".")), dependencies(&theirs.state(".")));
}
