//! Deposed objects that OpenTofu left in the state.

use serde_json::{Value as Json, json};

use crate::{bench::Bench, reference};

const MAIN: &str = r#"
resource "terraform_data" "kept" { input = 1 }
"#;

/// `kept` has a current and a deposed object, `gone` has a deposed one only.
const STATE: &str = r#"{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"a","outputs":{},"resources":[
{"mode":"managed","type":"terraform_data","name":"gone","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[
{"deposed":"89abcdef","schema_version":0,"attributes":{"id":"g-old","input":null,"output":null,"triggers_replace":null}}]},
{"mode":"managed","type":"terraform_data","name":"kept","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[
{"schema_version":0,"attributes":{"id":"k","input":{"value":1,"type":"number"},"output":{"value":1,"type":"number"},"triggers_replace":null}},
{"deposed":"01234567","schema_version":0,"attributes":{"id":"k-old","input":null,"output":null,"triggers_replace":null}}]}]}"#;

fn bench() -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("terraform.tfstate", STATE);
    bench
}

/// The objects of the state, as ID and deposed key.
fn objects(bench: &Bench) -> Vec<Json> {
    let state = bench.state(".");
    let resources = state["resources"].as_array().expect("are there").iter();
    let instances = resources.flat_map(|it| it["instances"].as_array().expect("are there"));
    instances.map(|it| json!([it["attributes"]["id"], it["deposed"]])).collect()
}

#[test]
fn deposed_objects_are_planned_and_destroyed() {
    let bench = bench();
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan"]).succeeds().shows(&[
        "terraform_data.kept (deposed object 01234567): Refreshing state... [id=k-old]",
        "# terraform_data.gone (deposed object 89abcdef) will be destroyed\n  # (left over from a \
         partially-failed replacement of this instance)\n",
        "# terraform_data.kept (deposed object 01234567) will be destroyed\n",
        "Plan: 0 to add, 0 to change, 2 to destroy.",
    ]);
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds().shows(&[
        "terraform_data.kept (deposed object 01234567): Destroying... [id=k-old]",
        "terraform_data.kept: Destruction complete after 0s",
        "Apply complete! Resources: 0 added, 0 changed, 2 destroyed.",
    ]);
    assert_eq!(objects(&bench), [json!(["k", null])]);
}

#[test]
fn deposed_objects_are_planned_as_opentofu_plans_them() {
    let Some(tofu) = reference::tofu("deposed_objects_are_planned_as_opentofu_plans_them") else {
        return;
    };
    let all = [env!("CARGO_BIN_EXE_mayfly"), &tofu].map(|program| {
        [vec!["plan", "-out=saved.plan"], vec!["plan", "-destroy", "-out=saved.plan"]].map(
            |arguments| {
                let bench = bench();
                bench.program(program, ".", ["init"]).succeeds();
                bench.program(program, ".", arguments).succeeds();
                let show = ["show", "-json", "saved.plan"];
                let plan = bench.program(program, ".", show).succeeds().json();
                bench.program(program, ".", ["apply", "saved.plan"]).succeeds();
                let prior = plan["prior_state"]["values"].clone();
                (plan["resource_changes"].clone(), prior, objects(&bench))
            },
        )
    });
    assert_eq!(all[0], all[1]);
}
