//! Tests of saved plans: plans that are written to a file and read again.

use db::Diagnostic;
use engine::{VariableValues, check_planned_files, variables_for_saved_plan};
use state::{ConfigSnapshot, Plan, PlanFile, PlannedFile, StateFile};

use crate::world::{World, summaries, world};

const CONFIG: &str = r#"
variable "plain" { default = "d" }
variable "unset" { default = "dflt" }
variable "secret" { ephemeral = true }
variable "optional" {
  ephemeral = true
  default   = "dflt"
}
ephemeral "test_secret" "s" { name = "s" }
resource "test_thing" "a" {
  name      = var.plain
  secret_wo = "${var.secret}${var.optional}${ephemeral.test_secret.s.value}"
}
"#;

/// Plans, writes the plan file and reads it.
fn saved(world: &mut World) -> (Plan, state::State, Vec<u8>) {
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), "");
    let lineage = "11111111-2222-3333-4444-555555555555";
    let file = PlanFile {
        plan: Plan { made_by: "test".to_owned(), ..outcome.plan },
        prior_state: StateFile { state: outcome.refreshed, ..StateFile::new(lineage.to_owned()) },
        previous_state: StateFile::new(lineage.to_owned()),
        locks: Vec::new(),
        config: ConfigSnapshot { modules: Default::default() },
        temp: Vec::new(),
    };
    let bytes = file.write().expect("writes");
    let read = PlanFile::read(&bytes, "test").expect("reads");
    (read.plan, read.prior_state.state, bytes)
}

fn variables(
    world: &World,
    plan: &Plan,
    given: &[(&str, &str)],
) -> Result<VariableValues, Vec<Diagnostic>> {
    let mut values = VariableValues::new();
    for (name, value) in given {
        values.set(*name, values::Value::string(*value), engine::ValueSource::CommandLine);
    }
    variables_for_saved_plan(&world.program(), plan, &values)
}

#[test]
fn saved_plan_needs_ephemeral_variables_again_and_allows_other_values() {
    let mut world = world(CONFIG);
    world.set("plain", "p").set("secret", "first-secret");
    let (plan, state, _) = saved(&mut world);
    assert_eq!(plan.ephemeral_variables.iter().map(|it| &**it).collect::<Vec<_>>(), ["secret"]);
    assert_eq!(
        plan.ephemerals.iter().map(|it| it.addr.to_string()).collect::<Vec<_>>(),
        ["ephemeral.test_secret.s"]
    );
    for (given, expected) in [
        (&[][..], "error: No value for required variable\n"),
        (
            &[("secret", "x"), ("plain", "other")],
            "error: Mismatch between input and plan variable value\n",
        ),
        (&[("secret", "x"), ("plain", "p")], ""),
        (&[("secret", "x"), ("optional", "y")], ""),
        (&[("secret", "x"), ("unset", "dflt")], ""),
        (
            &[("secret", "x"), ("unset", "other")],
            "error: Mismatch between input and plan variable value\n",
        ),
    ] {
        let found = variables(&world, &plan, given).err().unwrap_or_default();
        assert_eq!(summaries(&found), expected, "{given:?}");
    }
    world.variables = variables(&world, &plan, &[("secret", "second-secret")])
        .unwrap_or_else(|_| panic!("accepted"));
    world.calls();
    assert_eq!(summaries(&world.apply_plan(plan, state)), "");
    assert!(world.calls().iter().any(|it| it.contains("got secret=second-secretdfltcanary-of-s")));
}

#[test]
fn saved_plan_needs_a_set_ephemeral_variable_despite_its_default() {
    let mut world = world(CONFIG);
    world.set("secret", "first-secret").set("optional", "set-at-plan");
    let (plan, ..) = saved(&mut world);
    let found = variables(&world, &plan, &[("secret", "x")]).err().unwrap_or_default();
    assert_eq!(summaries(&found), "error: No value for required variable\n");
}

#[test]
fn plan_file_contains_no_ephemeral_value() {
    let mut world = world(CONFIG);
    world.set("secret", "first-secret-value").set("optional", "other-secret-value");
    let (_, _, bytes) = saved(&mut world);
    for secret in ["first-secret-value", "other-secret-value", "canary-of-s"] {
        assert!(!crate::confidentiality::finds(&bytes, secret), "{secret}");
    }
}

#[test]
fn a_plan_with_errors_is_not_applied() {
    let mut world = world(CONFIG);
    world.set("secret", "s");
    world.fault("plan d");
    let outcome = world.plan();
    assert!(outcome.plan.has_errors && !outcome.plan.is_applyable);
    let diagnostics = world.apply_plan(outcome.plan, outcome.refreshed);
    assert_eq!(summaries(&diagnostics), "error: Cannot apply incomplete plan\n");
}

/// The name of `kept` equals the one in the state. The content of `shared.txt` is used only for a write-only
/// attribute, so the plan contains no value of it.
const FILES: &str = r#"
locals {
  shared = file("shared.txt")
  maybe  = fileexists("maybe.txt") ? "yes" : "no"
}
resource "test_thing" "kept" {
  name = trimspace(file("kept.txt"))
}
resource "test_thing" "new" {
  count = fileexists("counted.txt") ? 1 : 0
  name  = "${file("new.txt")}${file("${path.temp}/x")}"

  secret_wo = local.shared
}
output "o" { value = local.maybe }
"#;

#[test]
fn saved_plan_lists_files_to_read_again_without_their_content() {
    let kept = "resource \"test_thing\" \"kept\" {\n  name = \"kept\"\n}\n";
    let mut world = world(&format!("//- main.tf\n{kept}"));
    assert_eq!(summaries(&world.apply()), "");
    for (path, text) in [
        ("kept.txt", "kept\n"),
        ("shared.txt", "canary-of-a-file"),
        ("new.txt", "new"),
        ("counted.txt", ""),
        (".terraform/tmp/1111/x", "temporary"),
    ] {
        world.write(path, text);
    }
    world.edit("main.tf", &FILES.replace("${path.temp}", ".terraform/tmp/1111"));
    let unsaved = world.plan();
    assert_eq!(summaries(&unsaved.diagnostics), "");
    assert!(unsaved.plan.files.read.is_empty(), "nobody will ask");
    world.is_saved = true;
    let (plan, _, bytes) = saved(&mut world);
    let shown: Vec<String> = plan
        .files
        .read
        .iter()
        .map(|(path, file)| match file {
            PlannedFile::Content(_) => format!("{path}: content"),
            other => format!("{path}: {other:?}"),
        })
        .collect();
    assert_eq!(
        shown,
        ["counted.txt: Exists", "maybe.txt: Missing", "new.txt: content", "shared.txt: content"]
    );
    assert!(!crate::confidentiality::finds(&bytes, "canary-of-a-file"));
    // The digest of the same content differs between plans.
    let (other, ..) = saved(&mut world);
    assert_ne!(plan.files.read["shared.txt"], other.files.read["shared.txt"]);

    let check = |world: &World| {
        let found = check_planned_files(&plan, world.system());
        found.err().map(|it| it.detail).unwrap_or_default()
    };
    assert_eq!(check(&world), "");
    for (path, text) in [("kept.txt", "x"), ("counted.txt", "x"), (".terraform/tmp/1111/x", "x")] {
        world.write(path, text);
    }
    assert_eq!(check(&world), "");
    world.write("shared.txt", "x");
    world.write("maybe.txt", "x");
    let detail = check(&world);
    for part in ["\"maybe.txt\" was created\n", "\"shared.txt\" was changed\n", "Nothing was done"]
    {
        assert!(detail.contains(part), "{detail}");
    }
    assert!(!detail.contains("new.txt"), "{detail}");
}
