//! Compares rendered plans and states with recordings of Terraform 1.11.4, from whose renderer OpenTofu's is
//! derived: each test reads recorded JSON, renders it, and compares the text with Terraform's.
//!
//! `tests/data/NAME.plan.json` is the output of `terraform show -json` for a saved plan, and `NAME.plan.txt` that
//! of `terraform show -no-color`; `NAME.state.*` are the same for the state. The schemas of the providers are in
//! `*.schemas.json`. The name of the product and the few differing words are replaced before the comparison. The
//! recordings contain no changed lists of equal length, which Terraform and OpenTofu compare differently.

mod configuration;
mod document;
mod schema;

use std::sync::Arc;

use addr::ProviderSource;
use provider::ProviderSchemas;
use render::{PlanJson, PlanView, StateJson, Style};
use serde_json::Value as Json;
use sorted::TreeMap;
use state::{Plan, PlanMode};

/// The style that the recordings use for output to a pipe.
const PIPE: Style = Style { color: false, width: Some(78), box_drawing: false, names_rules: false };

type AllSchemas = TreeMap<ProviderSource, Arc<ProviderSchemas>>;

fn parse(text: &str) -> Json {
    serde_json::from_str(text).expect("recorded JSON")
}

/// Terraform's text in OpenTofu's words.
fn ours(text: &str) -> String {
    text.replace("Terraform", "OpenTofu")
        .replace("terraform apply", "tofu apply")
        .replace("  ~ update in-place\n", "  ~ update in-place (current -> planned)\n")
        .replace("is tainted, so must be", "is tainted, so it must be")
        .replace("same will be imported\n", "same will be imported\n  # (imported from \"imp2\")\n")
}

/// Panics with the place of the first difference, because the texts are long.
#[track_caller]
fn assert_same(name: &str, got: &str, expected: &str) {
    if got == expected {
        return;
    }
    let (mut left, mut right) = (got.lines().enumerate(), expected.lines());
    let place = loop {
        match (left.next(), right.next()) {
            (Some((_, a)), Some(b)) if a == b => {}
            (Some((i, _)), _) => break i,
            (None, _) => break expected.lines().count().min(got.lines().count()),
        }
    };
    let around = |text: &str| {
        let lines: Vec<&str> = text.lines().skip(place.saturating_sub(12)).take(24).collect();
        lines.join("\n")
    };
    panic!(
        "{name}, line {}\n--- got\n{}\n--- expected\n{}",
        place + 1,
        around(got),
        around(expected)
    );
}

#[track_caller]
fn check_mode(mode: PlanMode, name: &str, schemas: &AllSchemas, json: &str, text: &str) {
    let plan = Plan { mode, ..document::plan(&parse(json), schemas) };
    let find = |source: &ProviderSource| schemas.get(source).cloned();
    let view = PlanView { plan: &plan, schemas: &find, show_sensitive: false };
    assert_same(name, &without_overview(&render::plan(&view, &PIPE)), &ours(text));
}

/// The text of a plan without the counts of its modules, which the reference does not have.
fn without_overview(text: &str) -> String {
    let Some((before, rest)) = text.split_once("\nChanges by module:\n") else {
        return text.to_owned();
    };
    let after = rest.split_once("\n\n").map_or(String::new(), |(_, after)| format!("\n{after}"));
    format!("{before}{after}")
}

#[track_caller]
fn check_plan(name: &str, schemas: &AllSchemas, json: &str, text: &str) {
    check_mode(PlanMode::Normal, name, schemas, json, text);
}

#[track_caller]
fn check_refresh_only(name: &str, schemas: &AllSchemas, json: &str, text: &str) {
    check_mode(PlanMode::RefreshOnly, name, schemas, json, text);
}

#[track_caller]
fn check_destroy(name: &str, schemas: &AllSchemas, json: &str, text: &str) {
    check_mode(PlanMode::Destroy, name, schemas, json, text);
}

#[track_caller]
fn check_state(name: &str, schemas: &AllSchemas, json: &str, text: &str) {
    let state = document::state(&parse(json), schemas);
    let find = |source: &ProviderSource| schemas.get(source).cloned();
    assert_same(name, &render::state(&state, &find, false, &PIPE), &ours(text));
}

/// Compares the parts of the document that depend only on the plan with the recording, including their order.
#[track_caller]
fn check_plan_json(name: &str, schemas: &AllSchemas, json: &str, _: &str) {
    let recorded = parse(json);
    let plan = document::plan(&recorded, schemas);
    let find = |source: &ProviderSource| schemas.get(source).cloned();
    let view = PlanView { plan: &plan, schemas: &find, show_sensitive: false };
    let document = render::plan_json(&PlanJson { view, prior_state: None, program: None });
    let got = parse(&document);
    for part in ["resource_changes", "resource_drift", "output_changes", "timestamp", "errored"] {
        assert_same(name, &pretty(&got[part]), &pretty(&recorded[part]));
    }
}

#[track_caller]
fn check_state_json(name: &str, schemas: &AllSchemas, json: &str, _: &str) {
    let recorded = parse(json);
    let state = document::state(&recorded, schemas);
    let find = |source: &ProviderSource| schemas.get(source).cloned();
    let written_by = recorded["terraform_version"].as_str().expect("a version");
    let got = render::state_json(&StateJson { state: Some(&state), written_by, schemas: &find });
    assert_same(name, &pretty(&parse(&got)), &pretty(&recorded));
}

fn pretty(json: &Json) -> String {
    serde_json::to_string_pretty(json).expect("JSON")
}

macro_rules! recorded {
    ($($test:ident: $check:ident($schemas:literal, $name:literal, $kind:literal);)*) => {
        $(
            #[test]
            fn $test() {
                let schemas = schema::all(&parse(include_str!(concat!("../data/", $schemas, ".schemas.json"))));
                $check(
                    $name,
                    &schemas,
                    include_str!(concat!("../data/", $name, ".", $kind, ".json")),
                    include_str!(concat!("../data/", $name, ".", $kind, ".txt")),
                );
            }
        )*
    };
}

recorded! {
    every_shape_of_schema_and_change: check_plan("shapes", "shapes", "plan");
    every_shape_in_a_state: check_state("shapes", "shapes", "state");
    every_action_and_its_reason: check_plan("shapes", "actions", "plan");
    outputs_of_every_kind: check_plan("shapes", "outputs", "plan");
    outputs_in_a_state: check_state("shapes", "outputs", "state");
    outputs_alone: check_plan("shapes", "outputs_only", "plan");
    an_object_of_which_all_is_hidden: check_plan("shapes", "nothing", "plan");
    sensitive_parts: check_plan("shapes", "sensitive", "plan");
    sensitive_parts_in_a_state: check_state("shapes", "sensitive", "state");
    what_changed_outside: check_plan("shapes", "drift", "plan");
    what_changed_outside_and_does_not_matter: check_plan("shapes", "drift_irrelevant", "plan");
    refresh_only: check_refresh_only("shapes", "refresh_only", "plan");
    refresh_only_after_sensitivity_changed: check_refresh_only("shapes", "refresh_only_nothing", "plan");
    destroying_everything: check_destroy("shapes", "destroy", "plan");
    shapes_as_json: check_plan_json("shapes", "shapes", "plan");
    actions_as_json: check_plan_json("shapes", "actions", "plan");
    sensitive_parts_as_json: check_plan_json("shapes", "sensitive", "plan");
    drift_as_json: check_plan_json("shapes", "drift", "plan");
    a_state_as_json: check_state_json("shapes", "shapes", "state");
    sensitive_parts_of_a_state_as_json: check_state_json("shapes", "sensitive", "state");
    outputs_of_a_state_as_json: check_state_json("shapes", "outputs", "state");
}

#[test]
fn schema_json_matches_the_recorded_one() {
    let recorded = parse(include_str!("../data/shapes.schemas.json"));
    let got = parse(&render::providers_schema_json(&schema::all(&recorded)));
    assert_same("schemas", &pretty(&got), &pretty(&recorded));
}
