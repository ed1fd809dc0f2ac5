//! Tests of incrementality: the queries that run again after an edit, from the events of the database.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use addr::ProviderSource;
use db::MemorySystem;
use expect_test::{Expect, expect};
use project::{Configure as _, Database, EditableProject};
use sorted::TreeMap;

use crate::fixture::schemas;

/// An editor session with a configuration that has been analysed once.
pub(crate) struct Session {
    project: EditableProject,
    executed: Arc<Mutex<Vec<String>>>,
    texts: TreeMap<String, String>,
}

impl Session {
    pub(crate) fn new(fixture: &str) -> Session {
        let executed: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&executed);
        let db = Database::with_events(move |event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind {
                log.lock().expect("not poisoned").push(format!("{database_key:?}"));
            }
        });
        let system = MemorySystem::new();
        let texts: TreeMap<String, String> =
            db::fixture::split_fixture(fixture).into_iter().collect();
        for (path, text) in &texts {
            system.write(path, text.as_str());
        }
        let mut project =
            EditableProject::load_into(db, Arc::new(system), PathBuf::from("/"), TreeMap::new())
                .expect("has a root module");
        project.set_schemas(ProviderSource::implied_for("test"), Arc::new(schemas()));
        let session = Session { project, executed, texts };
        session.analyse();
        session.executed.lock().expect("not poisoned").clear();
        session
    }

    pub(crate) fn analyse(&self) -> Vec<db::Diagnostic> {
        // Query every item, as an editor does; a command would use the shortcuts of a single check.
        project::infer(self.project.db(), self.project.workspace());
        let diagnostics =
            hir::diagnostics::diagnostics(self.project.db(), self.project.workspace());
        drop(self.project.program());
        diagnostics
    }

    /// Replaces a text in a file, analyses the configuration again, and returns the number of executions of each
    /// query.
    #[track_caller]
    pub(crate) fn edit(&mut self, path: &str, from: &str, to: &str) -> String {
        let text = self.texts.get_mut(path).expect("is a file");
        assert_eq!(text.matches(from).count(), 1, "{from:?} is there once");
        *text = text.replace(from, to);
        assert!(self.project.set_text(path, text), "{path} is part of the configuration");
        self.analyse();
        let mut counts: TreeMap<String, usize> = TreeMap::new();
        for key in std::mem::take(&mut *self.executed.lock().expect("not poisoned")) {
            let name = key.split('(').next().unwrap_or_default().to_owned();
            *counts.entry(name).or_default() += 1;
        }
        counts.iter().map(|(name, count)| format!("{name} {count}\n")).collect()
    }

    /// Edits like [`Session::edit`] and compares the result.
    #[track_caller]
    pub(crate) fn check(&mut self, path: &str, from: &str, to: &str, expected: Expect) {
        expected.assert_eq(&self.edit(path, from, to));
    }
}

const MODULE: &str = r#"
//- /main.tf
variable "e" {
  ephemeral = true
}

locals {
  # The first.
  a = "a"
  b = "${local.a}-b"
  c = "c"
}

locals {
  d = local.b
}

resource "test_thing" "r" {
  value = local.d # with a comment
}

resource "test_thing" "other" {
  value = local.c
}

module "m" {
  source = "./m"
  in     = local.c
}

output "o" {
  value = module.m.out
}
//- /m/main.tf
variable "in" {
  type = string
}

locals {
  inner = "x-${var.in}"
}

output "out" {
  value = local.inner
}
"#;

/// A comment changes only the lowering of the block that contains it.
#[test]
fn comment_edit_reruns_no_inference() {
    let mut session = Session::new(MODULE);
    session.check(
        "main.tf",
        "# with a comment",
        "# with another, longer comment",
        expect![[r#"
        block_content 1
    "#]],
    );
    session.check(
        "main.tf",
        "  # The first.\n",
        "\n\n",
        expect![[r#"
        block_content 1
    "#]],
    );
}

#[test]
fn edited_local_reruns_itself_and_its_dependents() {
    let mut session = Session::new(MODULE);
    // a, b, d and r are inferred again. c, which is in the same block, and its readers are not.
    session.check(
        "main.tf",
        "a = \"a\"",
        "a = \"aa\"",
        expect![[r#"
            block_content 1
            dependencies 1
            item_inference 4
            item_problems 2
            kept_outline 1
            kept_value 3
            one_of_many 3
        "#]],
    );
    // Only b is inferred again: its value does not change.
    session.check(
        "main.tf",
        "\"${local.a}-b\"",
        "join(\"\", [local.a, \"-b\"])",
        expect![[r#"
            block_content 1
            dependencies 1
            item_inference 1
            kept_outline 1
            one_of_many 3
        "#]],
    );
}

#[test]
fn module_edit_with_equal_outputs_reruns_nothing_in_callers() {
    let mut session = Session::new(MODULE);
    session.check(
        "m/main.tf",
        "x-${var.in}",
        "y-${var.in}",
        expect![[r#"
            block_content 1
            dependencies 1
            inputs_of_output 1
            item_inference 1
            kept_outline 1
        "#]],
    );
}

#[test]
fn output_that_becomes_ephemeral_reruns_its_dependents() {
    let mut session = Session::new(MODULE);
    session.check(
        "m/main.tf",
        "value = local.inner",
        "value = local.inner\n  ephemeral = true",
        expect![[r#"
            block_content 1
            dependencies 1
            inputs_of_output 1
            item_inference 3
            item_problems 3
            kept_outline 1
            kept_value 1
            parse 1
            source_maps 2
        "#]],
    );
}

/// The blank line belongs to the next block, and the other blocks do not depend on its position.
#[test]
fn blank_line_reruns_no_inference() {
    let mut session = Session::new(MODULE);
    session.check(
        "main.tf",
        "}\n\nlocals {\n  # The",
        "}\n\n\n# new\nlocals {\n  # The",
        expect![[r#"
        block_content 1
    "#]],
    );
    session.check(
        "m/main.tf",
        "}\n\noutput",
        "}\n\n\n\noutput",
        expect![[r#"
        block_content 1
    "#]],
    );
}

#[test]
fn new_block_reruns_no_other_inference() {
    let mut session = Session::new(MODULE);
    session.check(
        "main.tf",
        "resource \"test_thing\" \"r\"",
        "locals {\n  new = \"new\"\n}\n\nresource \"test_thing\" \"r\"",
        expect![[r#"
            block_content 1
            dependencies 1
            item_inference 1
            item_problems 1
            kept_outline 1
        "#]],
    );
}

#[test]
fn added_or_removed_name_reruns_items_that_looked_it_up() {
    let mut session = Session::new(MODULE);
    // The new block declares nothing, so no other item is affected.
    session.check(
        "main.tf",
        "  c = \"c\"\n}",
        "  c = \"c\"\n}\nlocals {}",
        expect![[r#"
            block_content 1
            item_problems 1
            kept_outline 1
        "#]],
    );
    session.check(
        "main.tf",
        "value = local.c",
        "value = local.later",
        expect![[r#"
            block_content 1
            dependencies 1
            item_inference 1
            item_problems 1
            kept_outline 1
            parse 1
            source_maps 1
        "#]],
    );
    session.check(
        "main.tf",
        "locals {}",
        "locals {\n  later = \"later\"\n}",
        expect![[r#"
            block_content 1
            dependencies 2
            item_inference 2
            item_problems 2
            kept_outline 1
            kept_value 1
        "#]],
    );
    session.check(
        "main.tf",
        "  later = \"later\"\n",
        "",
        expect![[r#"
            block_content 1
            dependencies 1
            item_inference 1
            item_problems 2
            kept_outline 1
        "#]],
    );
}

#[test]
fn variable_description_edit_reruns_nothing_in_callers() {
    let mut session = Session::new(MODULE);
    session.check(
        "m/main.tf",
        "type = string",
        "type = string\n  description = \"what for\"",
        expect![[r#"
            block_content 1
            dependencies 1
            inputs_of_output 1
            item_inference 1
            kept_outline 1
            variable_signature 1
        "#]],
    );
    session.check(
        "m/main.tf",
        "  description",
        "  validation {\n    condition = var.in != \"\"\n    error_message = \"Empty.\"\n  }\n  description",
        expect![[r#"
            block_content 1
            dependencies 1
            inputs_of_output 1
            item_inference 1
            kept_outline 1
            variable_signature 1
        "#]],
    );
    // The nullability of a variable affects the module call.
    session.check(
        "m/main.tf",
        "  description",
        "  nullable = false\n  description",
        expect![[r#"
            block_content 1
            dependencies 1
            inputs_of_output 1
            item_inference 2
            kept_outline 1
            variable_signature 1
        "#]],
    );
}

#[test]
fn unchanged_items_are_equal_after_an_edit() {
    let mut session = Session::new(MODULE);
    let before = session.project.program();
    session.edit("main.tf", "a = \"a\"", "a = \"aa\"");
    session.edit("main.tf", "# with a comment", "# another");
    let after = session.project.program();
    let (before, after) = (before.root(), after.root());
    for (name, entry) in &before.locals {
        assert_eq!(entry.item == after.locals[name].item, &**name != "a", "local.{name}");
    }
    for (name, entry) in &before.resources {
        assert_eq!(entry.item, after.resources[name].item, "{name}");
    }
    for (name, entry) in &before.outputs {
        assert_eq!(entry.item, after.outputs[name].item, "output.{name}");
    }
}

#[test]
fn earlier_failed_lookups_do_not_change_suggestions() {
    let locals: String = (1499..1502).map(|index| format!("  n{index} = 1\n")).collect();
    let text =
        |value: &str| format!("locals {{\n{locals}}}\n\noutput \"o\" {{\n  value = {value}\n}}\n");
    let mut session = Session::new(&text("\"\""));
    // All of these names sort between the intended name and the misspelled one.
    let in_vain: Vec<String> = (0..2100).map(|index| format!("local.n1500a{index:04}")).collect();
    for value in [format!("[{}]", in_vain.join(", ")), "local.n1500z".to_owned()] {
        assert!(session.project.set_text("main.tf", &text(&value)));
        session.analyse();
    }
    let found = session.analyse();
    let fresh = Session::new(&text("local.n1500z")).analyse();
    assert_eq!(found, fresh);
    assert!(found[0].detail.contains("Did you mean \"n1500\"?"), "{}", found[0].detail);
}

/// A configuration in which a variable selects the called module.
const CHOSEN: &str = r#"
//- /main.tf
variable "flavour" {
  default = "small"
}
variable "other" {
  default = "x"
}
locals {
  directory = "./${var.flavour}"
}
module "m" {
  source = local.directory
}
resource "test_thing" "t" {
  name = var.other
}
//- /small/main.tf
locals {
  size = 1
}
//- /large/main.tf
locals {
  size = 2
}
"#;

/// Returns the counts of the queries of static evaluation.
fn static_queries(ran: &str) -> String {
    let names = ["value_of_variable", "value_of_local", "source_of", "modules ", "dynamic_calls"];
    let of_statics = ran.lines().filter(|line| names.iter().any(|it| line.starts_with(it)));
    of_statics.map(|line| format!("{line}\n")).collect()
}

#[test]
fn unrelated_edit_evaluates_no_module_source() {
    let mut session = Session::new(CHOSEN);
    let ran = session.edit("main.tf", "default = \"x\"", "default = \"y\"");
    assert!(ran.contains("item_inference"), "{ran}");
    assert_eq!(static_queries(&ran), "");
    let ran = session.edit("main.tf", "name = var.other", "name = \"a name\"");
    assert_eq!(static_queries(&ran), "");
}

#[test]
fn edit_of_a_source_dependency_evaluates_the_source() {
    let mut session = Session::new(CHOSEN);
    let ran = session.edit("main.tf", "\"./${var.flavour}\"", "\"./${lower(var.flavour)}\"");
    // The value is the same, so no other query runs.
    assert_eq!(static_queries(&ran), "value_of_local 1\n");
    // The set of modules is computed again after the other module is loaded.
    let ran = session.edit("main.tf", "\"small\"", "\"large\"");
    assert_eq!(
        static_queries(&ran),
        "dynamic_calls 1\nmodules 2\nsource_of 1\nvalue_of_local 1\nvalue_of_variable 1\n"
    );
    assert!(session.analyse().iter().all(|it| it.id() != "module-not-installed"));
}

/// The queries that `init` runs before it installs anything.
#[test]
fn setup_errors_are_found_without_resource_inference() {
    let mut session = Session::new("//- /main.tf\nvariable \"v\" {\n  default = 1\n}\n");
    let text = "\
terraform {
  required_providers {
    test = { source = \"test\", version = \"nonsense\" }
  }
}
variable \"wrong\" {
  type    = number
  default = \"x\"
}
locals {
  a = local.b + 1
  b = 1 + \"a\"
}
resource \"test_thing\" \"a\" {
  name = local.a
}
resource \"test_thing\" \"a\" {
  name = var.none
}
output \"o\" {
  value = test_thing.a.nothing
}
module \"m\" {
  source = \"./missing\"
  input  = local.a
}
";
    assert!(session.project.set_text("main.tf", text), "it is part of the configuration");
    session.executed.lock().expect("not poisoned").clear();
    let problems = session.project.setup_problems();
    let found: Vec<&str> = problems.iter().map(|it| it.id().code()).collect();
    assert_eq!(
        found,
        [
            "invalid-version-constraint",
            "invalid-default",
            "duplicate-declaration",
            "module-not-installed"
        ]
    );
    let executed = session.executed.lock().expect("not poisoned");
    let inferred = executed.iter().filter(|it| it.starts_with("item_inference")).count();
    assert_eq!(inferred, 1, "only the settings are inferred: {executed:?}");
}
