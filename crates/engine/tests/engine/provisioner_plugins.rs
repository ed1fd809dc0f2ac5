//! Tests of provisioner plugins, with a plugin in memory that records its calls.

use std::sync::{Arc, Mutex};

use engine::{Call, CancelToken, PluginName, Question, Verdicts};
use expect_test::{Expect, expect};
use provider::{Attribute, Block, BoxFuture, ProviderDiagnostic, ProvisionRequest, Provisioner};
use sorted::SortedMap;
use values::{Path, Str, Type, Value};

use crate::world::{World, block_on, summaries, world};

/// Prints its text and its connection, and fails if the text is `fail`. If the text is `wait`, the user interrupts it.
/// The text `bad` is invalid.
pub(crate) struct Echo {
    pub(crate) calls: Arc<Mutex<Vec<String>>>,
    pub(crate) cancel: CancelToken,
}

pub(crate) fn schema() -> Block {
    let text = (Str::from("text"), Attribute::required(Type::String));
    Block::new([text].into_iter().collect(), SortedMap::new())
}

impl Echo {
    fn call(&self, what: &str) {
        self.calls.lock().expect("not poisoned").push(what.to_owned());
    }
}

impl Provisioner for Echo {
    fn schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Vec<ProviderDiagnostic>>> {
        Box::pin(async { Ok(Arc::new(schema())) })
    }

    fn validate(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        let text = config.get_attr("text").filter(Value::is_known);
        let text = text.as_ref().and_then(Value::as_str).unwrap_or("unknown");
        self.call(&format!("validate {text}"));
        let invalid = ProviderDiagnostic::error("Echo is invalid", "The text is bad.");
        let found =
            Vec::from_iter((text == "bad").then(|| invalid.at(Path::default().attr("text"))));
        Box::pin(async move { found })
    }

    fn provision<'a>(
        &'a self,
        request: ProvisionRequest,
        output: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Vec<ProviderDiagnostic>> {
        Box::pin(async move {
            let text = request.config.get_attr("text");
            let text = text.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
            self.call(&format!("run {text}"));
            output(&format!("text: {text}\nsecond line"));
            let set = request.connection.as_map().into_iter().flatten();
            for (name, value) in set.filter(|(_, it)| !it.is_null()) {
                output(&format!("{name}={}", value.as_str().unwrap_or_default()));
            }
            if text == "wait" {
                self.cancel.cancel();
                tokio::task::yield_now().await;
            }
            let failed = || ProviderDiagnostic::error("Echo failed", format!("It was {text}."));
            Vec::from_iter(["fail", "wait"].contains(&text.as_str()).then(failed))
        })
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), String>> {
        self.call("stop");
        Box::pin(async { Ok(()) })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.call("close");
        Box::pin(async {})
    }
}

#[track_caller]
fn check(fixture: &str, expected: Expect) -> World {
    let mut world = world(fixture);
    world.set("s", "canary-secret");
    let diagnostics = world.apply();
    let details: Vec<&str> = diagnostics.iter().map(|it| it.detail.as_str()).collect();
    let calls = world.commands.lock().expect("not poisoned").join("\n");
    let (log, found) = (world.log(), summaries(&diagnostics));
    expected.assert_eq(&format!("{log}---\n{found}{}\n---\n{calls}", details.join("\n")));
    world
}

#[test]
fn plugin_gets_its_configuration_and_connection_and_is_started_once() {
    check(
        r#"
variable "s" { sensitive = true }
resource "test_thing" "a" {
  name = "a"
  connection {
    host = "h"
    port = 22
  }
  provisioner "echo" { text = self.name }
  provisioner "echo" { text = var.s }
}
"#,
        expect![[r#"
            Plan: 1 added, 0 changed, 0 destroyed
            test_thing.a: Creating...
            test_thing.a: Provisioning with 'echo'...
            test_thing.a (echo): text: a
            test_thing.a (echo): second line
            test_thing.a (echo): host=h
            test_thing.a (echo): port=22
            test_thing.a: Provisioning with 'echo'...
            test_thing.a (echo): (output suppressed due to sensitive value in config)
            test_thing.a (echo): (output suppressed due to sensitive value in config)
            test_thing.a (echo): (output suppressed due to sensitive value in config)
            test_thing.a (echo): (output suppressed due to sensitive value in config)
            test_thing.a: Creating complete [id=id1]
            Apply: 1 added, 0 changed, 0 destroyed
            ---

            ---
            run a
            run canary-secret
            close"#]],
    );
}

#[test]
fn failed_plugin_taints_the_object_unless_the_run_continues() {
    let config = r#"
variable "s" { sensitive = true }
resource "test_thing" "a" {
  name = "a"
  provisioner "echo" { text = "fail" }
}
"#;
    check(
        config,
        expect![[r#"
        Plan: 1 added, 0 changed, 0 destroyed
        test_thing.a: Creating...
        test_thing.a: Provisioning with 'echo'...
        test_thing.a (echo): text: fail
        test_thing.a (echo): second line
        test_thing.a: provisioner errored
        Error: Echo failed
        test_thing.a: Creating errored
        ---
        error: Echo failed
        It was fail.
        ---
        run fail
        close"#]],
    );
    let text = "text = \"fail\"";
    check(
        &config.replace(text, &format!("\n    {text}\n    on_failure = continue\n  ")),
        expect![[r#"
            Plan: 1 added, 0 changed, 0 destroyed
            test_thing.a: Creating...
            test_thing.a: Provisioning with 'echo'...
            test_thing.a (echo): text: fail
            test_thing.a (echo): second line
            test_thing.a: provisioner errored
            Warning: Echo failed
            test_thing.a: Creating complete [id=id1]
            Apply: 1 added, 0 changed, 0 destroyed
            ---
            warning: Echo failed
            It was fail.
            ---
            run fail
            close"#]],
    );
}

#[test]
fn interrupted_plugin_is_asked_to_stop() {
    check(
        r#"
variable "s" { sensitive = true }
resource "test_thing" "a" {
  name = "a"
  provisioner "echo" { text = "wait" }
}
"#,
        expect![[r#"
            Plan: 1 added, 0 changed, 0 destroyed
            test_thing.a: Creating...
            test_thing.a: Provisioning with 'echo'...
            test_thing.a (echo): text: wait
            test_thing.a (echo): second line
            test_thing.a: provisioner errored
            Error: Echo failed
            Error: Provisioner was interrupted
            test_thing.a: Creating errored
            Stopping
            Error: execution halted
            ---
            error: Echo failed
            error: Provisioner was interrupted
            error: execution halted
            It was wait.
            The run was interrupted, so the plugin was asked to stop. Its work may be incomplete.
            The operation was interrupted. Actions that had started were finished; no others were started.
            ---
            run wait
            stop
            close"#]],
    );
}

#[test]
fn plugin_runs_before_a_destruction() {
    let config = r#"
variable "s" { sensitive = true }
resource "test_thing" "a" {
  name = "a"
  provisioner "echo" {
    when = destroy
    text = "bye ${self.name}"
  }
}
"#;
    let mut world = check(
        config,
        expect![[r#"
        Plan: 1 added, 0 changed, 0 destroyed
        test_thing.a: Creating...
        test_thing.a: Creating complete [id=id1]
        Apply: 1 added, 0 changed, 0 destroyed
        ---

        ---
    "#]],
    );
    world.mode = state::PlanMode::Destroy;
    assert_eq!(summaries(&world.apply()), "");
    let calls = world.commands.lock().expect("not poisoned").join("\n");
    expect![[r#"
        run bye a
        close"#]]
    .assert_eq(&calls);
}

/// Accepts what its list has, and adds to it.
#[derive(Default)]
pub(crate) struct Remembered(Mutex<Vec<Vec<u8>>>);

impl Verdicts for Remembered {
    fn has_passed(&self, plugin: &PluginName, question: &Question<'_>) -> bool {
        assert_eq!(
            (plugin.to_string().as_str(), question.call),
            ("provisioner.echo", Call::Provisioner)
        );
        self.0.lock().expect("not poisoned").iter().any(|it| it == question.config)
    }

    fn passed(&self, _: &PluginName, question: &Question<'_>) {
        self.0.lock().expect("not poisoned").push(question.config.to_vec());
    }
}

#[test]
fn plugin_validates_each_block_once() {
    let world = world(
        r#"
variable "s" {}
resource "test_thing" "a" {
  for_each = { x = 1 }
  name     = "a"
  provisioner "echo" { text = "bad" }
  provisioner "echo" { text = "good" }
  provisioner "local-exec" { command = "true" }
}
resource "test_thing" "b" {
  count = 0
  name  = "b"
  provisioner "echo" { text = "${var.s}${self.name}" }
  provisioner "echo" {
    when = destroy
    text = "bye"
  }
}
"#,
    );
    let verdicts = Remembered::default();
    let validate = |counts: fn(&hir::item::Provisioner) -> bool| {
        let (program, environment) = (world.program(), world.environment());
        let workspace = Str::from("default");
        let found = block_on(engine::validate_provisioners(
            &program,
            &environment,
            &workspace,
            &verdicts,
            counts,
        ));
        let line = |it: &db::Diagnostic| {
            let at = it.location.as_ref().map(|it| program.sources.place(it));
            format!("{} at {}: {}", it.summary, at.unwrap_or_default(), it.detail)
        };
        let calls = std::mem::take(&mut *world.commands.lock().expect("not poisoned"));
        format!("{}\n{}", found.iter().map(line).collect::<Vec<_>>().join("\n"), calls.join(", "))
    };
    expect![[r#"

        validate bye, close"#]]
    .assert_eq(&validate(|it| it.at_destroy));
    expect![[r#"
        Echo is invalid at main.tf:6: The text is bad.
        validate bad, validate good, validate unknown, close"#]]
    .assert_eq(&validate(|_| true));
    expect![[r#"
        Echo is invalid at main.tf:6: The text is bad.
        validate bad, close"#]]
    .assert_eq(&validate(|_| true));
}
