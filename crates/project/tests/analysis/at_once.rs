//! What a command asks of a large configuration, whose items are worth more than one thread.

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf, sync::Arc};

use db::MemorySystem;
use project::{Database, Project};

/// So many locals that the work is divided.
const MANY: usize = 600;

/// A command's answer is that of an editor, which looks at every item by itself. Gives the summaries.
#[track_caller]
fn check(more: &str) -> Vec<String> {
    let mut text = String::from("locals {\n  l0 = \"first\"\n}\n");
    for index in 1..MANY {
        let _ = write!(text, "locals {{\n  l{index} = \"<${{local.l{}}}>\"\n}}\n", index - 1);
    }
    let system = MemorySystem::new();
    system.write("main.tf", text);
    system.write("more.tf", more);
    system.write(
        "m/main.tf",
        "locals {\n  inner = \"i\"\n}\noutput \"o\" {\n  value = local.inner\n}\n",
    );
    let project = Project::load_into(
        Database::default(),
        Arc::new(system),
        PathBuf::from("/"),
        BTreeMap::new(),
    );
    let project = project.expect("has a root module");
    let (found, program) = project.checked();
    let one_by_one = hir::diagnostics::diagnostics(project.db(), project.workspace());
    assert_eq!(found, one_by_one);
    let locals = |program: &hir::Program| -> Vec<Vec<String>> {
        let of_module = |it: &Arc<hir::Module>| it.locals.keys().map(ToString::to_string).collect();
        program.modules.iter().map(of_module).collect()
    };
    assert_eq!(locals(&program), locals(&project.program()));
    assert!(locals(&program)[0].len() >= MANY, "all are there");
    found.into_iter().map(|it| it.summary).collect()
}

#[test]
fn a_sound_configuration_has_no_problems() {
    assert_eq!(check(""), [""; 0]);
}

#[test]
fn a_problem_of_one_item_among_many_is_told() {
    assert_eq!(
        check("output \"o\" {\n  value = local.nowhere\n}\n"),
        ["Reference to undeclared local value"]
    );
}

#[test]
fn a_ring_among_many_is_told() {
    assert_eq!(
        check("locals {\n  a = local.b\n  b = local.a\n}\n"),
        ["Cycle: local.a, local.b", "Cycle: local.a, local.b"]
    );
    assert_eq!(check("locals {\n  a = local.a\n}\n"), ["Self-referencing local value"]);
}

#[test]
fn a_name_that_is_declared_twice_among_many_is_told() {
    assert_eq!(check("locals {\n  l7 = 1\n}\n"), ["Duplicate local value definition"]);
}

#[test]
fn what_is_no_item_is_told_beside_sound_items() {
    assert_eq!(check("locals {\n  a = \n}\n"), ["Invalid expression"]);
}

#[test]
fn modules_that_are_called_have_their_locals() {
    let calls = "module \"a\" {\n  source = \"./m\"\n}\nmodule \"b\" {\n  source = \"./m\"\n}\n";
    assert_eq!(check(calls), [""; 0]);
}
