//! Tests that a case fails for each kind of mistake, with the step and the reason.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use mayfly_sdk::{
    Call, ConfigureCall, Definition, Diagnostic, Import, Model, Resource, Secret, Types,
};
use mayfly_sdk_testing::{Action, Case, Step};

/// A provider whose only type can make mistakes.
#[derive(Clone, Default)]
struct Faulty {
    reads: Arc<AtomicI64>,
}

impl Definition for Faulty {
    type Config = ();
    type Client = Arc<AtomicI64>;

    fn source(&self) -> &'static str {
        "registry.opentofu.org/example/faulty"
    }

    async fn configure(&self, (): (), _: &mut ConfigureCall) -> Result<Arc<AtomicI64>, Diagnostic> {
        Ok(Arc::clone(&self.reads))
    }

    fn types(&self, types: &mut Types<Arc<AtomicI64>>) {
        types.resource(ThingType);
    }
}

#[derive(Model)]
struct Thing {
    name: String,
    #[attribute(write_only)]
    key_wo: Option<Secret>,
    #[attribute(computed)]
    reads: Option<i64>,
}

struct ThingType;

impl Resource<Arc<AtomicI64>> for ThingType {
    type Model = Thing;

    fn type_name(&self) -> &'static str {
        "faulty_thing"
    }

    /// Puts a key into the private state, where it does not belong.
    async fn create(
        &self,
        _: &Arc<AtomicI64>,
        planned: Thing,
        call: &mut Call,
    ) -> Result<Thing, Diagnostic> {
        call.private.set("derived", format!("k-{}", planned.name));
        if let Some(key) = &planned.key_wo {
            call.private.set("key", key.reveal());
        }
        call.diagnostics.push(Diagnostic::warning("Made", "A thing was made."));
        Ok(Thing { reads: Some(0), ..planned })
    }

    /// Counts the reads of a thing with the name "restless".
    async fn read(
        &self,
        reads: &Arc<AtomicI64>,
        state: Thing,
        _: &mut Call,
    ) -> Result<Option<Thing>, Diagnostic> {
        match state.name.as_str() {
            "restless" => {
                let name = format!("restless {}", reads.fetch_add(1, Ordering::Relaxed));
                Ok(Some(Thing { name, ..state }))
            }
            _ => Ok(Some(state)),
        }
    }

    async fn update(
        &self,
        _: &Arc<AtomicI64>,
        prior: Thing,
        planned: Thing,
        _: &mut Call,
    ) -> Result<Thing, Diagnostic> {
        Ok(Thing { reads: prior.reads, ..planned })
    }

    async fn delete(
        &self,
        _: &Arc<AtomicI64>,
        state: Thing,
        _: &mut Call,
    ) -> Result<(), Diagnostic> {
        match state.name.as_str() {
            "stuck" => Err(Diagnostic::error("Stuck", "The thing cannot be deleted.")),
            _ => Ok(()),
        }
    }

    async fn import(
        &self,
        _: &Arc<AtomicI64>,
        _: Import,
        _: &mut Call,
    ) -> Result<Option<Thing>, Diagnostic> {
        Ok(Some(Thing { name: "another".to_owned(), key_wo: None, reads: Some(0) }))
    }
}

fn thing(name: &str) -> String {
    format!("resource \"faulty_thing\" \"a\" {{ name = {name:?} }}")
}

/// Runs steps, which must fail with an error that contains `expected`.
#[track_caller]
fn check(steps: impl IntoIterator<Item = Step>, expected: &str) {
    let case = Case::new(Faulty::default).secret("k-12345678");
    let case = steps.into_iter().fold(case, Case::step);
    let failure = case.try_run().expect_err("the case must fail");
    assert!(failure.contains(expected), "{failure}");
}

#[test]
fn correct_case_passes() {
    Case::new(Faulty::default)
        .step(
            Step::apply(&thing("a"))
                .action("faulty_thing.a", Action::Create)
                .attribute("faulty_thing.a", "name", "a")
                .attribute_is_set("faulty_thing.a", "reads")
                .warns("Made: A thing was made."),
        )
        .step(Step::plan(&thing("b")).action("faulty_thing.a", Action::Update))
        .step(Step::import("faulty_thing.a", "x").ignoring("name"))
        .run();
}

#[test]
fn wrong_attributes_actions_and_outputs_fail() {
    let apply = || Step::apply(&thing("a"));
    let expected =
        "step 1 under the engine in this process: faulty_thing.a: name is \"a\", not \"b\"";
    check([apply().attribute("faulty_thing.a", "name", "b")], expected);
    check([apply().attribute_is_set("faulty_thing.a", "key_wo")], "key_wo is not set");
    let null = serde_json::Value::Null;
    check([apply().attribute("faulty_thing.a", "nam", null.clone())], "nam is missing, not null");
    check([apply().output("x", null)], "output x is missing, not null");
    let expected = "the planned action is Some(Create), not Update";
    check([apply().action("faulty_thing.a", Action::Update)], expected);
    check([apply().output("x", 1)], "output x is missing, not 1");
    check([apply().warns("other")], "no warning has the text \"other\"");
}

#[test]
fn unexpected_and_missing_errors_fail() {
    check([Step::apply("resource \"faulty_thing\" \"a\" {}")], "Missing required argument");
    check([Step::fails(&thing("a"), "some error")], "no error, but one");
    let other = Step::fails("resource \"faulty_thing\" \"a\" {}", "some error");
    check([other], "no error has the text \"some error\"");
}

#[test]
fn unsettled_object_fails() {
    check([Step::apply(&thing("restless"))], "a second plan has changes: faulty_thing.a: Update");
    Case::new(Faulty::default).step(Step::apply(&thing("restless")).unsettled()).run();
}

#[test]
fn different_imported_object_fails() {
    let steps = [Step::apply(&thing("a")), Step::import("faulty_thing.a", "x")];
    check(
        steps,
        "step 2 under the engine in this process: faulty_thing.a: the import found \"another\"",
    );
}

#[test]
fn secret_in_private_data_or_in_a_state_fails() {
    let secret = r#"resource "faulty_thing" "a" {
      name   = "a"
      key_wo = "k-12345678"
    }"#;
    check([Step::apply(secret)], "Provider returned a secret");
    check([Step::apply(&thing("12345678"))], "secret 1 was written to a file or a message");
    check([Step::apply(&thing("k-12345678"))], "secret 1 was written to a file or a message");
}

#[test]
fn object_of_a_failed_first_step_is_destroyed() {
    let half = r#"
        resource "faulty_thing" "a" { name = "a" }
        resource "faulty_thing" "b" {
          name   = "b"
          key_wo = faulty_thing.a.nothing
        }
    "#;
    Case::new(Faulty::default).step(Step::fails(half, "Unsupported attribute")).run();
    let stuck = thing("stuck").replace("stuck\" }", "stuck\"\n key_wo = \"k-12345678\"\n}");
    let stuck = stuck.replace("{ name", "{\n name");
    let steps = [Step::fails(&stuck, "Provider returned a secret")];
    check(steps, "the destruction under the engine in this process: Stuck");
}

#[test]
fn failed_destruction_fails() {
    check(
        [Step::apply(&thing("stuck"))],
        "the destruction under the engine in this process: Stuck",
    );
}
