//! Compares the `configuration` part of a plan's JSON with Terraform's output for the same text.

use std::{path::PathBuf, sync::Arc};

use db::{MemorySystem, System, fixture::split_fixture};
use engine::builtin;
use hir::Program;
use project::{Configure as _, Project};
use render::{PlanJson, PlanView};
use serde_json::Value as Json;
use sorted::TreeMap;

use crate::{document, parse, pretty};

fn program(fixture: &str) -> Program {
    let system = Arc::new(MemorySystem::new());
    for (path, text) in split_fixture(fixture) {
        system.write(path, text);
    }
    let mut project = Project::load(system as Arc<dyn System>, PathBuf::from("."), TreeMap::new())
        .expect("readable");
    project.set_schemas(builtin::source(), builtin::schemas());
    project.program()
}

fn plan_json(fixture: &str) -> Json {
    let program = program(fixture);
    let plan = document::plan(&parse("{}"), &TreeMap::new());
    let view = PlanView { plan: &plan, schemas: &|_| None, show_sensitive: false };
    parse(&render::plan_json(&PlanJson { view, prior_state: None, program: Some(&program) }))
}

/// Removes the variable fields `type` and `required`, which OpenTofu writes and the recording by Terraform lacks.
fn without_opentofu_facts(module: &mut Json) {
    let variables = module.get_mut("variables").and_then(Json::as_object_mut);
    for variable in variables.into_iter().flat_map(|it| it.values_mut()) {
        for fact in ["type", "required"] {
            drop(variable.as_object_mut().and_then(|it| it.shift_remove(fact)));
        }
    }
    for (name, part) in module.as_object_mut().into_iter().flatten() {
        if name == "root_module" {
            without_opentofu_facts(part);
        }
        if name == "module_calls" {
            let calls = part.as_object_mut().into_iter().flat_map(|it| it.values_mut());
            calls.for_each(|call| without_opentofu_facts(&mut call["module"]));
        }
    }
}

#[test]
fn configuration_json_matches_the_recorded_one() {
    let mut got = plan_json(include_str!("../data/configuration.tf.txt"))["configuration"].clone();
    without_opentofu_facts(&mut got);
    let expected = parse(include_str!("../data/configuration.json"));
    crate::assert_same("configuration", &pretty(&got), &pretty(&expected));
}

#[test]
fn plan_json_omits_defaults_of_ephemeral_variables() {
    let json = plan_json(
        "variable \"a\" {\n default = \"plain\"\n}\nvariable \"b\" {\n default = \"hunter2\"\n ephemeral = true\n}\n",
    );
    assert_eq!(json["variables"], parse(r#"{"a": {"value": "plain"}}"#));
    assert_eq!(
        json["configuration"]["root_module"]["variables"],
        parse(r#"{"a": {"default": "plain"}, "b": {"ephemeral": true}}"#)
    );
}

#[test]
fn configuration_json_has_the_value_of_a_decided_conditional() {
    let json = plan_json(
        r#"
resource "terraform_data" "a" {}
resource "terraform_data" "b" { input = true ? "x" : terraform_data.a.id }
resource "terraform_data" "c" { input = true ? terraform_data.a.id : "x" }
"#,
    );
    let resources = &json["configuration"]["root_module"]["resources"];
    let references = r#""references": ["terraform_data.a.id", "terraform_data.a"]"#;
    let input = |at: usize| &resources[at]["expressions"]["input"];
    assert_eq!(*input(1), parse(&format!(r#"{{"constant_value": "x", {references}}}"#)));
    assert_eq!(*input(2), parse(&format!("{{{references}}}")));
}

#[test]
fn configuration_json_lists_references_from_longest_to_shortest() {
    let json = plan_json(
        r#"
        variable "v" { default = {} }
        resource "terraform_data" "a" { count = 1 }
        locals { k = "x" }
        output "o" {
          value = {
            deep    = terraform_data.a[0].output.x
            splat   = terraform_data.a[*].id
            indexed = var.v[local.k].y
            for     = [for it in var.v.list : it.name if it.ok]
            text    = "${terraform.workspace}-${path.module}"
            call    = upper("constant")
          }
        }
        output "constant" { value = [1, "a", { b = null }] }
        output "neither" { value = upper("a") }
        "#,
    );
    let outputs = &json["configuration"]["root_module"]["outputs"];
    let expected = [
        "terraform_data.a[0].output.x",
        "terraform_data.a[0].output",
        "terraform_data.a[0]",
        "terraform_data.a",
        "terraform_data.a",
        "var.v",
        "local.k",
        "var.v.list",
        "var.v",
        "terraform.workspace",
        "path.module",
    ];
    assert_eq!(outputs["o"]["expression"]["references"], serde_json::json!(expected));
    assert_eq!(
        outputs["constant"]["expression"],
        parse(r#"{"constant_value": [1, "a", {"b": null}]}"#)
    );
    assert_eq!(outputs["neither"]["expression"], parse("{}"));
}

#[test]
fn configuration_json_resolves_providers_through_module_calls() {
    let json = plan_json(
        r#"
//- /main.tf
provider "terraform" { alias = "west" }
module "m" {
  source    = "./m"
  providers = { terraform = terraform.west }
}
module "n" { source = "./m" }
//- /m/main.tf
resource "terraform_data" "a" {}
        "#,
    );
    let calls = &json["configuration"]["root_module"]["module_calls"];
    let key = |call: &str| calls[call]["module"]["resources"][0]["provider_config_key"].clone();
    assert_eq!((key("m"), key("n")), ("terraform.west".into(), "terraform".into()));
}
