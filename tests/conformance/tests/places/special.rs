//! Places where the expected diagnostics depend on the source.

use conformance::World;

use super::sources::{REMOTE, SOURCES, VARIABLE};

/// Compares the diagnostics of a place for each source with `expected`.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let mut found = Vec::new();
    for source in SOURCES {
        let text = text.replace("@@", source.object).replace('@', source.expr);
        let mut world = World::new(&format!("{text}\n{}", source.declarations));
        world.remote_secret("remote", REMOTE);
        if source.declarations.contains("variable \"e\"") {
            world.set("e", VARIABLE);
        }
        let said = world.validate();
        let mut said: Vec<String> =
            said.iter().filter(|it| it.is_error()).map(|it| it.summary.to_string()).collect();
        if said.is_empty() {
            said.extend(world.apply().iter().map(|it| it.summary.to_string()));
        }
        found.push(format!("{}: {}", source.name, said.join(", ")));
    }
    assert_eq!(found, expected);
}

#[test]
fn depends_on_takes_whole_objects() {
    check(
        "resource \"playground_secret\" \"p\" {\n  name = \"p\"\n  depends_on = [@@]\n}\n",
        &[
            "ephemeral variable: ",
            "ephemeral output of a module: ",
            "local made of one: ",
            "attribute of an ephemeral resource: ",
            "ephemeral resource that is not known at plan: ",
            "tofu.applying: Invalid depends_on reference",
            "terraform.applying: Invalid depends_on reference",
        ],
    );
}

#[test]
fn depends_on_takes_no_attributes() {
    check(
        "output \"p\" {\n  value = 1\n  depends_on = [@]\n}\n",
        &[
            "ephemeral variable: ",
            "ephemeral output of a module: ",
            "local made of one: ",
            "attribute of an ephemeral resource: Invalid depends_on reference",
            "ephemeral resource that is not known at plan: Invalid depends_on reference",
            "tofu.applying: Invalid depends_on reference",
            "terraform.applying: Invalid depends_on reference",
        ],
    );
}

#[test]
fn only_managed_resources_trigger_replacements() {
    check(
        "resource \"playground_secret\" \"p\" {\n  name = \"p\"\n  lifecycle {\n    \
         replace_triggered_by = [@]\n  }\n}\n",
        &[
            "ephemeral variable: Invalid reference in replace_triggered_by expression",
            "ephemeral output of a module: Invalid reference in replace_triggered_by expression",
            "local made of one: Invalid reference in replace_triggered_by expression",
            "attribute of an ephemeral resource: Invalid replace_triggered_by expression",
            "ephemeral resource that is not known at plan: Invalid replace_triggered_by expression",
            "tofu.applying: Invalid reference in replace_triggered_by expression",
            "terraform.applying: Invalid reference in replace_triggered_by expression",
        ],
    );
}

#[test]
fn ephemeral_validation_message_is_not_shown() {
    let mut world = World::new(
        r#"
variable "e" {
  type      = string
  ephemeral = true
  validation {
    condition     = var.e == "right"
    error_message = "not ${var.e}"
  }
}
"#,
    );
    world.set("e", VARIABLE);
    let said: Vec<String> =
        world.validate().iter().map(|it| format!("{:?}: {}", it.severity(), it.summary)).collect();
    assert_eq!(
        said,
        ["Warning: Error message refers to ephemeral values"],
        "validate knows no value"
    );
    let planned = world.plan();
    let said: Vec<String> = planned
        .diagnostics
        .iter()
        .map(|it| format!("{:?}: {}", it.severity(), it.summary))
        .collect();
    assert_eq!(
        said,
        ["Error: Error message refers to ephemeral values", "Error: Invalid value for variable"]
    );
    assert!(!format!("{:?}", planned.diagnostics).contains(VARIABLE));
}
