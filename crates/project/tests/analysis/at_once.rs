//! Tests of large configurations, whose items are inferred on several threads.

use std::{fmt::Write as _, path::PathBuf, sync::Arc};

use db::MemorySystem;
use project::{EditableProject, Project};
use sorted::TreeMap;

/// Enough locals for the worker pool to start threads.
const MANY: usize = 600;

/// Checks that a command, which uses all threads, gets the same result as an editor, which queries each item.
/// Returns the summaries of the diagnostics.
#[track_caller]
fn check(more: &str) -> Vec<String> {
    let summaries = check_files(|index| index.saturating_sub(1), &[("more.tf", more)]);
    // The depth of the dependencies decides how the items are shared among the threads, so both kinds are checked.
    assert_eq!(summaries, check_files(|index| index % 7, &[("more.tf", more)]));
    summaries
}

/// Does the check with these files and a file of locals, in which local `index` refers to local `before(index)`.
#[track_caller]
fn check_files(before: impl Fn(usize) -> usize, files: &[(&str, &str)]) -> Vec<String> {
    let mut text = String::from("locals {\n  l0 = \"first\"\n}\n");
    for index in 1..MANY {
        let other = if before(index) < index { before(index) } else { 0 };
        let _ = write!(text, "locals {{\n  l{index} = \"<${{local.l{other}}}>\"\n}}\n");
    }
    let system = MemorySystem::new();
    system.write("main.tf", text);
    files.iter().for_each(|(path, text)| system.write(path, *text));
    system.write(
        "m/main.tf",
        "locals {\n  inner = \"i\"\n}\noutput \"o\" {\n  value = local.inner\n}\n",
    );
    let system = Arc::new(system);
    let root = || PathBuf::from("/");
    let command = Project::load(system.clone(), root(), TreeMap::new());
    let editor = EditableProject::load(system.clone(), root(), TreeMap::new());
    let (command, editor) =
        (command.expect("has a root module"), editor.expect("has a root module"));
    let (found, program) = command.checked();
    assert_eq!(found, hir::diagnostics::diagnostics(editor.db(), editor.workspace()));
    assert_eq!(found, editor.checked().0);
    assert_eq!(command.provider_requirements(), editor.provider_requirements());
    let locals = |program: &hir::Program| -> Vec<Vec<String>> {
        let of_module = |it: &Arc<hir::Module>| it.locals.keys().map(ToString::to_string).collect();
        program.modules.iter().map(of_module).collect()
    };
    assert_eq!(locals(&program), locals(&editor.program()));
    assert!(locals(&program)[0].len() >= MANY, "all are there");
    found.into_iter().map(|it| it.summary.to_string()).collect()
}

#[test]
fn valid_configuration_has_no_diagnostics() {
    assert_eq!(check(""), [""; 0]);
}

#[test]
fn error_of_one_item_among_many_is_reported() {
    assert_eq!(
        check("output \"o\" {\n  value = local.nowhere\n}\n"),
        ["Reference to undeclared local value"]
    );
}

#[test]
fn cycle_among_many_items_is_reported() {
    assert_eq!(
        check("locals {\n  a = local.b\n  b = local.a\n}\n"),
        ["Cycle: local.a, local.b", "Cycle: local.a, local.b"]
    );
    assert_eq!(check("locals {\n  a = local.a\n}\n"), ["Self-referencing local value"]);
}

#[test]
fn duplicate_declaration_among_many_items_is_reported() {
    assert_eq!(check("locals {\n  l7 = 1\n}\n"), ["Duplicate local value definition"]);
}

#[test]
fn syntax_error_beside_valid_items_is_reported() {
    assert_eq!(check("locals {\n  a = \n}\n"), ["Invalid expression"]);
}

#[test]
fn called_modules_have_their_own_locals() {
    let calls = "module \"a\" {\n  source = \"./m\"\n}\nmodule \"b\" {\n  source = \"./m\"\n}\n";
    assert_eq!(check(calls), [""; 0]);
}

#[test]
fn locals_block_resolves_each_item() {
    let several = "locals {\n  a = local.b\n  b = local.l1\n  c = local.nowhere\n}\n";
    assert_eq!(check(several), ["Reference to undeclared local value"]);
}

#[test]
fn implied_providers_of_resources_are_known() {
    let named = "resource \"x_y\" \"a\" {}\nresource \"x_z\" \"a\" {}\nprovider \"w\" {}\n";
    assert_eq!(check(named), [""; 0]);
}

#[test]
fn override_files_are_checked_among_many_files() {
    let override_file =
        "locals {\n  l1 = local.nowhere\n}\nresource \"x_y\" \"a\" {\n  provider = w.v\n}\n";
    let files = [("more.tf", "resource \"x_y\" \"a\" {}\n"), ("override.tf", override_file)];
    assert_eq!(
        check_files(|index| index - 1, &files),
        ["Reference to undeclared local value", "Provider configuration not present"]
    );
}

#[test]
fn recheck_reports_an_error_after_an_edit() {
    let system = MemorySystem::new();
    system.write("main.tf", "locals {\n  a = 1\n}\n");
    let project = EditableProject::load(Arc::new(system), PathBuf::from("/"), TreeMap::new());
    let mut project = project.expect("has a root module");
    assert_eq!(project.recheck().0, []);
    project.set_text("main.tf", "locals {\n  a = local.b\n}\n");
    assert_eq!(project.recheck().0.len(), 1);
}
