//! The provider under the engine, and under the programs in `PROVIDER_TEST_PROGRAMS`.

use std::path::Path;

use mayfly_sdk_testing::{Action, Case, Step};
use tempfile::TempDir;
use terraform_provider_notes::{
    NotesProvider,
    store::{Store, Stored},
};

fn case() -> Case {
    Case::new(|| NotesProvider).executable(env!("CARGO_BIN_EXE_terraform-provider-notes"))
}

/// Adds the configuration of the provider.
fn in_directory(directory: &Path, configuration: &str) -> String {
    format!("provider \"notes\" {{\n  directory = {directory:?}\n}}\n{configuration}")
}

const MILK: &str = r#"resource "notes_note" "a" { title = "Milk" }"#;
const MILK_AND_BREAD: &str = r#"
    resource "notes_note" "a" {
      title = "Milk"
      body  = "and bread"
    }
"#;

#[test]
fn note_is_created_updated_replaced_imported_and_removed() {
    let directory = TempDir::new().expect("can be made");
    let of = |configuration| in_directory(directory.path(), configuration);
    let tea = r#"resource "notes_note" "a" { title = "Tea" }"#;
    case()
        .step(
            Step::apply(&of(MILK))
                .action("notes_note.a", Action::Create)
                .attribute("notes_note.a", "body", "")
                .attribute("notes_note.a", "revision", 1),
        )
        .step(
            Step::apply(&of(MILK_AND_BREAD))
                .action("notes_note.a", Action::Update)
                .attribute("notes_note.a", "body", "and bread")
                .attribute("notes_note.a", "revision", 2),
        )
        .step(Step::import("notes_note.a", "Milk"))
        .step(Step::apply(&of(tea)).action("notes_note.a", Action::Replace))
        .run();
    let left = std::fs::read_dir(directory.path()).expect("is there").count();
    assert_eq!(left, 0, "the test destroys what it has created");
}

#[test]
fn mistakes_are_found_before_an_apply() {
    let directory = TempDir::new().expect("can be made");
    let of = |configuration| in_directory(directory.path(), configuration);
    let nameless = r#"resource "notes_note" "a" { title = "?!" }"#;
    let versioned = r#"
        resource "notes_note" "a" {
          title          = "Milk"
          pin_wo_version = 1
        }
    "#;
    case()
        .step(Step::fails(&of(nameless), "it has no letters and digits"))
        .step(Step::fails(&of(versioned), "pin_wo_version is set, so pin_wo must be set too"))
        .run();
}

#[test]
fn taken_title_is_an_error_of_the_plan() {
    let directory = TempDir::new().expect("can be made");
    let store = Store::open(directory.path().to_owned()).expect("can be made");
    let (title, body) = ("Milk".to_owned(), String::new());
    store.create(&Stored { title, body, pin: None, revision: 1 }).expect("can be written");
    let configuration = in_directory(directory.path(), MILK);
    case().step(Step::fails(&configuration, "The title is taken")).run();
}

#[test]
fn data_source_and_function_return_values() {
    let directory = TempDir::new().expect("can be made");
    let configuration = format!(
        r#"{MILK_AND_BREAD}
        data "notes_note" "a" {{ title = notes_note.a.title }}
        output "body" {{ value = data.notes_note.a.body }}
        output "slug" {{ value = provider::notes::slug("A Title") }}
        "#
    );
    let configuration = in_directory(directory.path(), &configuration);
    let step = Step::apply(&configuration).output("body", "and bread").output("slug", "a-title");
    case().step(step).run();
}

#[test]
fn pin_goes_from_note_to_note_and_is_stored_only_there() {
    let directory = TempDir::new().expect("can be made");
    let first = r#"
        resource "notes_note" "a" {
          title          = "First"
          pin_wo         = "correct horse"
          pin_wo_version = 1
        }
    "#;
    // A core may open an ephemeral resource while planning, so the note has to exist before.
    let second = r#"
        ephemeral "notes_pin" "a" { title = notes_note.a.title }
        resource "notes_note" "b" {
          title          = "Second"
          pin_wo         = ephemeral.notes_pin.a.pin
          pin_wo_version = 1
        }
    "#;
    let store = Store::open(directory.path().to_owned()).expect("can be made");
    let has_pin = move |_: &_| {
        let pin = store.find("Second").ok().flatten().and_then(|it| it.pin);
        if pin.as_deref() == Some("correct horse") { Ok(()) } else { Err("no PIN".to_owned()) }
    };
    let of = |configuration: &str| in_directory(directory.path(), configuration);
    case()
        .secret("correct horse")
        .step(Step::apply(&of(first)))
        .step(Step::apply(&of(&format!("{first}{second}"))).check(has_pin))
        .run();
}
