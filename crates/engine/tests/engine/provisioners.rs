//! Tests of `local-exec` provisioners.

use expect_test::{Expect, expect};

use crate::world::{World, summaries, world};

#[track_caller]
fn check(fixture: &str, prepare: impl Fn(&mut World), expected: Expect) -> World {
    let mut world = world(fixture);
    prepare(&mut world);
    let diagnostics = world.apply();
    let details: Vec<&str> = diagnostics.iter().map(|it| it.detail.as_str()).collect();
    let commands = world.commands.lock().expect("not poisoned").join("\n");
    expected.assert_eq(&format!(
        "{}---\n{}{}\n---\n{commands}",
        world.log(),
        summaries(&diagnostics),
        details.join("\n")
    ));
    world
}

#[test]
fn provisioner_may_refer_to_its_own_resource_and_self() {
    check(
        r#"
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" { command = "echo ${test_thing.a.id} ${self.name}" }
}
"#,
        |it| it.prints = "printed",
        expect![[r#"
            Plan: 1 added, 0 changed, 0 destroyed
            test_thing.a: Creating...
            test_thing.a: Provisioning with 'local-exec'...
            test_thing.a (local-exec): Executing: ["/bin/sh" "-c" "echo id1 a"]
            test_thing.a (local-exec): printed
            test_thing.a: Creating complete [id=id1]
            Apply: 1 added, 0 changed, 0 destroyed
            ---

            ---
            /bin/sh -c echo id1 a"#]],
    );
}

#[test]
fn provisioner_output_with_secrets_in_its_configuration_is_suppressed() {
    check(
        r#"
variable "s" { sensitive = true }
ephemeral "test_secret" "s" { name = "s" }
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" { command = "echo ${var.s}" }
  provisioner "local-exec" { command = "echo ${ephemeral.test_secret.s.value}" }
  provisioner "local-exec" {
    command     = "echo"
    environment = { S = ephemeral.test_secret.s.value }
  }
}
"#,
        |it| {
            it.set("s", "sensitive-value");
            it.prints = "line 1\nline 2";
        },
        expect![[r#"
            Plan: 1 added, 0 changed, 0 destroyed
            ephemeral.test_secret.s: Opening...
            ephemeral.test_secret.s: Opening complete
            test_thing.a: Creating...
            test_thing.a: Provisioning with 'local-exec'...
            test_thing.a (local-exec): (output suppressed due to sensitive value in config)
            test_thing.a (local-exec): (output suppressed due to sensitive value in config)
            test_thing.a (local-exec): (output suppressed due to sensitive value in config)
            test_thing.a: Provisioning with 'local-exec'...
            test_thing.a (local-exec): (output suppressed due to ephemeral value in config)
            test_thing.a (local-exec): (output suppressed due to ephemeral value in config)
            test_thing.a (local-exec): (output suppressed due to ephemeral value in config)
            test_thing.a: Provisioning with 'local-exec'...
            test_thing.a (local-exec): (output suppressed due to ephemeral value in config)
            test_thing.a (local-exec): (output suppressed due to ephemeral value in config)
            test_thing.a (local-exec): (output suppressed due to ephemeral value in config)
            test_thing.a: Creating complete [id=id1]
            ephemeral.test_secret.s: Closing...
            ephemeral.test_secret.s: Closing complete
            Apply: 1 added, 0 changed, 0 destroyed
            ---

            ---
            /bin/sh -c echo sensitive-value
            /bin/sh -c echo canary-of-s
            /bin/sh -c echo"#]],
    );
}

#[test]
fn failed_provisioner_taints_the_object_and_shows_no_secret() {
    let mut world = check(
        r#"
ephemeral "test_secret" "s" { name = "s" }
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" { command = "echo ${ephemeral.test_secret.s.value}" }
}
"#,
        |it| {
            it.prints = "it is canary-of-s, or Y2FuYXJ5LW9mLXM=";
            it.fails = true;
        },
        expect![[r#"
            Plan: 1 added, 0 changed, 0 destroyed
            ephemeral.test_secret.s: Opening...
            ephemeral.test_secret.s: Opening complete
            test_thing.a: Creating...
            test_thing.a: Provisioning with 'local-exec'...
            test_thing.a (local-exec): (output suppressed due to ephemeral value in config)
            test_thing.a (local-exec): (output suppressed due to ephemeral value in config)
            test_thing.a: provisioner errored
            Error: local-exec provisioner error
            test_thing.a: Creating errored
            ephemeral.test_secret.s: Closing...
            ephemeral.test_secret.s: Closing complete
            ---
            error: local-exec provisioner error
            Error running a command whose configuration holds secrets: exit status 3. Its output, without them: it is (redacted), or (redacted)=

            ---
            /bin/sh -c echo canary-of-s"#]],
    );
    world.fails = false;
    world.log();
    let plan = world.plan();
    expect![[r#"
        test_thing.a DeleteThenCreate (replace_because_tainted)
    "#]]
    .assert_eq(&crate::world::actions(&plan.plan));
}

#[test]
fn object_is_saved_as_tainted_while_provisioners_run() {
    let mut world = world(
        r#"
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" { command = "true" }
}
"#,
    );
    world.command_aborts = true;
    let planned = world.plan();
    let diagnostics = world.apply_plan(planned.plan, planned.refreshed);
    assert_eq!(summaries(&diagnostics), "error: execution halted\n");
    let status = |world: &World| {
        let entry = world.state.instances().next()?;
        entry.instance.current.as_ref().map(|it| it.status)
    };
    assert_eq!(status(&world), Some(state::Status::Tainted));
    world.command_aborts = false;
    world.cancel = engine::CancelToken::new();
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(status(&world), Some(state::Status::Ready));
    let persisted = world.persisted.lock().expect("not poisoned").len();
    assert_eq!(persisted, 4, "created; destroyed, created, provisioned");
}

#[test]
fn short_secret_hides_the_whole_provisioner_output() {
    check(
        r#"
variable "pin" { ephemeral = true }
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" { command = "pin ${var.pin}" }
}
"#,
        |it| {
            it.set("pin", "1234");
            it.prints = "12345 is wrong";
            it.fails = true;
        },
        expect![[r#"
            Plan: 1 added, 0 changed, 0 destroyed
            test_thing.a: Creating...
            test_thing.a: Provisioning with 'local-exec'...
            test_thing.a (local-exec): (output suppressed due to ephemeral value in config)
            test_thing.a (local-exec): (output suppressed due to ephemeral value in config)
            test_thing.a: provisioner errored
            Error: local-exec provisioner error
            test_thing.a: Creating errored
            ---
            error: local-exec provisioner error
            Error running a command whose configuration holds secrets: exit status 3. Its output is not shown, because one of the secrets is too short to be redacted.
            ---
            /bin/sh -c pin 1234"#]],
    );
}

#[test]
fn on_failure_continue_ignores_a_failed_provisioner() {
    check(
        r#"
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" {
    command    = "false"
    on_failure = continue
    quiet      = true
  }
}
"#,
        |it| it.fails = true,
        expect![[r#"
            Plan: 1 added, 0 changed, 0 destroyed
            test_thing.a: Creating...
            test_thing.a: Provisioning with 'local-exec'...
            test_thing.a (local-exec): local-exec: Executing: Suppressed by quiet=true
            test_thing.a: provisioner errored
            Warning: local-exec provisioner error
            test_thing.a: Creating complete [id=id1]
            Apply: 1 added, 0 changed, 0 destroyed
            ---
            warning: local-exec provisioner error
            Error running command 'false': exit status 3. Output: 
            ---
            /bin/sh -c false"#]],
    );
}

#[test]
fn destroy_provisioner_runs_before_and_can_prevent_destruction() {
    let mut world = world(
        r#"
resource "test_thing" "a" {
  count = 1
  name  = "a"
  provisioner "local-exec" {
    when    = destroy
    command = "bye ${self.id} ${count.index}"
  }
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    world.mode = state::PlanMode::Destroy;
    world.fails = true;
    assert_eq!(summaries(&world.apply()), "error: local-exec provisioner error\n");
    assert_eq!(world.state.instances().count(), 1);
    world.fails = false;
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.state.is_empty());
    assert_eq!(
        world.commands.lock().expect("not poisoned").join("\n"),
        "/bin/sh -c bye id1 0\n/bin/sh -c bye id1 0"
    );
}

#[test]
fn ephemeral_used_only_by_a_provisioner_opens_only_if_it_runs() {
    let fixture = r#"
ephemeral "test_secret" "s" { name = "s" }
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" { command = "echo ${ephemeral.test_secret.s.value}" }
}
"#;
    let mut world = world(fixture);
    world.plan();
    assert!(!world.log().contains("Opening"), "not in plan");
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.log().contains("Opening"), "it runs at creation");
    assert_eq!(summaries(&world.apply()), "");
    assert!(!world.log().contains("Opening"), "it does not run again");
}

/// Checks the diagnostic of a command that fails after it has printed.
#[track_caller]
fn check_failure(command: &str, prints: &'static str, expected: &str) {
    let mut world = world(&format!(
        r#"
variable "e" {{ ephemeral = true }}
resource "test_thing" "a" {{
  name     = "a"
  password = "sensitive-pass"
  provisioner "local-exec" {{ command = {command} }}
}}
"#
    ));
    world.set("e", r#"{"user":"admin","password":"hunter2-hunter2"}"#);
    (world.prints, world.fails) = (prints, true);
    let diagnostics = world.apply();
    assert_eq!(summaries(&diagnostics), "error: local-exec provisioner error\n", "{command}");
    let said =
        "Error running a command whose configuration holds secrets: exit status 3. Its output";
    let detail = diagnostics[0].detail.strip_prefix(said).expect("the usual beginning");
    assert_eq!(detail.trim_end(), expected, "{command}");
}

#[test]
fn secret_parts_of_a_provisioner_command_are_redacted() {
    check_failure(
        r#""echo admin:${jsondecode(var.e).password}""#,
        "tried admin:hunter2-hunter2",
        ", without them: tried admin:(redacted)",
    );
    check_failure(
        r#""echo ${upper(self.password)}""#,
        "SENSITIVE-PASS and sensitive-pass",
        ", without them: (redacted) and (redacted)",
    );
    check_failure(
        r#""echo ${join(" ", [for it in split("-", self.password) : "<${upper(it)}>"])}""#,
        "SENSITIVE",
        " is not shown, because one of the secrets is too short to be redacted.",
    );
    check_failure(
        r#""echo ${join(" ", [for it in split("ive-", self.password) : "<${upper(it)}${upper(it)}>"])}""#,
        "SENSITSENSIT",
        " is not shown, because one of the secrets is too short to be redacted.",
    );
    check_failure(
        r#""echo ${join(" ", [for it in split("+", self.password) : "<${upper(it)}>"])}""#,
        "SENSITIVE-PASS",
        ", without them: (redacted)",
    );
    check_failure(
        r#""echo ${substr(self.password, 0, 4)}""#,
        "sens",
        " is not shown, because one of the secrets is too short to be redacted.",
    );
}

#[test]
fn secrets_behind_locals_and_inputs_of_a_command_are_redacted() {
    for passed in ["local.header", r#""Bearer ${upper(var.pw)}""#] {
        let mut world = world(&format!(
            r#"
//- /main.tf
variable "pw" {{ sensitive = true }}
locals {{ header = "Bearer ${{upper(var.pw)}}" }}
module "m" {{
  source = "./m"
  header = {passed}
}}
//- /m/main.tf
variable "header" {{}}
resource "test_thing" "a" {{
  name = "a"
  provisioner "local-exec" {{ command = "curl -H '${{var.header}}'" }}
}}
"#
        ));
        world.set("pw", "hunter2-hunter2");
        (world.prints, world.fails) = ("refused HUNTER2-HUNTER2", true);
        // The apply must learn the secrets itself, because a plan may run in another process.
        let planned = world.plan();
        world.redactor.forget();
        let diagnostics = world.apply_plan(planned.plan, planned.refreshed);
        assert_eq!(summaries(&diagnostics), "error: local-exec provisioner error\n", "{passed}");
        let detail = &diagnostics[0].detail;
        assert!(detail.trim_end().ends_with("without them: refused (redacted)"), "{detail}");
    }
}

#[test]
fn secrets_rendered_by_a_template_file_are_redacted() {
    let mut world = world(
        r#"
//- /main.tf
variable "e" { ephemeral = true }
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" { command = templatefile("run.tpl", { it = var.e }) }
}
//- /run.tpl
login ${upper(it)}
"#,
    );
    world.set("e", "ephemeral-pass");
    (world.prints, world.fails) = ("EPHEMERAL-PASS", true);
    let diagnostics = world.apply();
    assert!(diagnostics[0].detail.ends_with("without them: (redacted)\n"), "{diagnostics:?}");
}

#[test]
fn destroy_plan_refuses_unknown_destroy_provisioners() {
    let mut world = world(r#"resource "test_thing" "a" { name = "a" }"#);
    assert_eq!(summaries(&world.apply()), "");
    world.edit(
        "main.tf",
        r#"
resource "test_thing" "a" {
  name = "a"
  provisioner "chef" {
    when   = destroy
    inline = ["true"]
  }
}
"#,
    );
    world.mode = state::PlanMode::Destroy;
    let planned = world.plan();
    assert_eq!(summaries(&planned.diagnostics), "error: Not supported yet\n");
    let detail = &planned.diagnostics[0].detail;
    assert!(detail.contains("the provisioner \"chef\""), "{detail}");
}

#[test]
fn invalid_references_of_destroy_provisioners_are_errors_in_plan_and_destroy() {
    const SUMMARY: &str = "error: Invalid reference from destroy provisioner\n";
    const THING: &str = r#"resource "test_thing" "a" { name = "a" }"#;
    const WITH_PROVISIONER: &str = r#"
variable "v" { default = "v" }
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${var.v}"
  }
}
"#;
    let mut world = world(THING);
    assert_eq!(summaries(&world.apply()), "");
    world.mode = state::PlanMode::Destroy;
    let planned = world.plan();
    world.edit("main.tf", WITH_PROVISIONER);
    assert_eq!(summaries(&world.apply_plan(planned.plan, planned.refreshed)), SUMMARY);
    assert_eq!(summaries(&world.plan().diagnostics), SUMMARY);
}

#[test]
fn postconditions_are_checked_after_a_failed_provisioner() {
    let mut world = world(
        r#"
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" { command = "echo" }
  lifecycle {
    postcondition {
      condition     = self.id != "id1"
      error_message = "The first."
    }
  }
}
"#,
    );
    world.fails = true;
    let found = summaries(&world.apply());
    assert_eq!(
        found,
        "error: local-exec provisioner error\nerror: Resource postcondition failed\n"
    );
}
