//! The RFC's sections "Checks stored in state", "`provisioner` block" and "`connection` block".

use conformance::{World, state_file};
use expect_test::expect;

use super::summaries;

#[test]
fn check_results_of_ephemeral_resources_are_in_the_state() {
    let mut world = World::new(
        r#"
ephemeral "playground_secret" "test" {
  name = "remote"
  lifecycle {
    precondition {
      condition     = path.module != ""
      error_message = "your message here"
    }
  }
}
"#,
    );
    world.remote_secret("remote", "canary-remote");
    assert_eq!(summaries(&world.apply()), "");
    let state: serde_json::Value =
        serde_json::from_slice(&state_file(&world.state)).expect("a state is JSON");
    expect![[r#"
        [
          {
            "object_kind": "resource",
            "config_addr": "ephemeral.playground_secret.test",
            "status": "pass",
            "objects": [
              {
                "object_addr": "ephemeral.playground_secret.test",
                "status": "pass"
              }
            ]
          }
        ]"#]]
    .assert_eq(
        &serde_json::to_string_pretty(&state["check_results"]).expect("JSON can be written"),
    );
    assert_eq!(state["resources"], serde_json::json!([]), "the resource itself is not there");
}

#[test]
fn failed_postcondition_is_reported_and_the_ephemeral_closed() {
    let mut world = World::new(
        r#"
ephemeral "playground_secret" "test" {
  name = "remote"
  lifecycle {
    postcondition {
      condition     = self.value == "right"
      error_message = "it is ${self.value}"
    }
  }
}
"#,
    );
    world.remote_secret("remote", "canary-remote");
    let said = world.apply();
    expect![[r#"
        Warning: Error message refers to sensitive values
        Error: Resource postcondition failed
    "#]]
    .assert_eq(&summaries(&said));
    assert!(!format!("{said:?}").contains("canary-remote"));
    expect![[r#"
        ephemeral.playground_secret.test: Opening...
        ephemeral.playground_secret.test: Opening complete
        ephemeral.playground_secret.test: Closing...
        ephemeral.playground_secret.test: Closing complete
    "#]]
    .assert_eq(&world.log());
}

const PROVISIONERS: &str = r#"
variable "secret" {
  type      = string
  ephemeral = true
}
resource "playground_parameter" "store" {
  name             = "p"
  type             = "SecureString"
  value_wo         = var.secret
  value_wo_version = 1

  provisioner "local-exec" {
    when    = create
    command = "echo non-ephemeral value: ${playground_parameter.store.arn}"
  }

  provisioner "local-exec" {
    when    = create
    command = "echo ephemeral value: #${var.secret}#"
  }
}
"#;

#[test]
fn provisioner_output_with_ephemeral_values_is_suppressed() {
    let mut world = World::new(PROVISIONERS);
    world.set("secret", "canary-variable");
    assert_eq!(summaries(&world.validate()), "");
    assert_eq!(summaries(&world.apply()), "");
    let log = world.log();
    let arn = log
        .lines()
        .find_map(|it| it.split_once("non-ephemeral value: "))
        .expect("the first one's output is shown")
        .1
        .to_owned();
    expect![[r#"
        Plan: 1 to add, 0 to change, 0 to destroy
        playground_parameter.store: Creating...
        playground_parameter.store: Provisioning with 'local-exec'...
        playground_parameter.store (local-exec): Executing: ["/bin/sh" "-c" "echo non-ephemeral value: ARN"]
        playground_parameter.store (local-exec): non-ephemeral value: ARN
        playground_parameter.store: Provisioning with 'local-exec'...
        playground_parameter.store (local-exec): (output suppressed due to ephemeral value in config)
        playground_parameter.store (local-exec): (output suppressed due to ephemeral value in config)
        playground_parameter.store: Creation complete
        Apply: 1 to add, 0 to change, 0 to destroy
    "#]]
    .assert_eq(&log.replace(arn.trim_end_matches("\"]"), "ARN"));
    let commands = world.commands.lock().expect("not poisoned").clone();
    assert_eq!(commands[1], "echo ephemeral value: #canary-variable#", "the command has the value");
}

#[test]
fn provisioner_cannot_interpolate_a_null_write_only_attribute() {
    let text = PROVISIONERS.replace("#${var.secret}#", "${playground_parameter.store.value_wo}");
    let mut world = World::new(&text);
    world.set("secret", "canary-variable");
    let said = world.validate();
    assert_eq!(summaries(&said), "Error: Invalid template interpolation value\n");
    assert_eq!(
        said[0].detail,
        "The expression result is null. Cannot include a null value in a string template."
    );
    // A run without prior validation finds the same error.
    let said = world.apply();
    assert_eq!(summaries(&said), "Error: Invalid template interpolation value\n");
}

#[test]
fn lifecycle_error_is_located_at_the_argument() {
    for name in
        ["create_before_destroy", "prevent_destroy", "ignore_changes", "replace_triggered_by"]
    {
        let value = if name.ends_with("destroy") { "true" } else { "[]" };
        let world = World::new(&format!(
            "ephemeral \"playground_secret\" \"a\" {{\n  name = \"a\"\n  lifecycle {{\n    {name} = {value}\n  }}\n}}\n"
        ));
        let said = world.validate();
        assert_eq!(
            summaries(&said),
            "Error: Invalid lifecycle configuration for ephemeral resource\n",
            "{name}"
        );
        assert_eq!(
            said[0].detail,
            format!(
                "The lifecycle argument \"{name}\" cannot be used in ephemeral resources. This is \
                 meant to be used strictly in \"resource\" blocks."
            )
        );
        let location = said[0].location.clone().expect("has a place");
        let text = world.program().sources.text(&location.path).expect("is a file");
        assert!(text[location.range.start as usize..].starts_with(name), "{name}");
    }
}
