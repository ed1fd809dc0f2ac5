//! What runs again after an edit, and what does not.

use expect_test::expect;

use crate::world::{actions, summaries, world};

const CONFIG: &str = r#"
variable "s" { ephemeral = true }
ephemeral "test_secret" "s" { name = "s" }
locals { zone = "z" }
data "test_lookup" "d" { name = "d" }
resource "test_thing" "a" {
  name      = "a"
  zone      = local.zone
  secret_wo = ephemeral.test_secret.s.value
}
resource "test_thing" "b" {
  name      = data.test_lookup.d.result
  secret_wo = var.s
}
output "o" { value = test_thing.a.name }
"#;

#[test]
fn an_unchanged_program_sends_the_provider_nothing() {
    let mut world = world(CONFIG);
    world.set("s", "a-secret");
    let first = world.plan();
    assert_eq!(summaries(&first.diagnostics), "");
    assert!(!world.calls().is_empty());
    world.log();
    let second = world.plan();
    assert_eq!(world.calls(), Vec::<String>::new());
    expect![[r#"
        Plan: 2 added, 0 changed, 0 destroyed
    "#]]
    .assert_eq(&world.log());
    assert_eq!(actions(&first.plan), actions(&second.plan));
    assert_eq!(first.refreshed, second.refreshed);
}

#[test]
fn only_what_an_edit_touches_runs_again() {
    let mut world = world(CONFIG);
    world.set("s", "a-secret");
    world.plan();
    world.calls();
    world.edit("main.tf", &CONFIG.replace("zone = \"z\" }", "zone = \"y\" }"));
    let edited = world.plan();
    assert_eq!(summaries(&edited.diagnostics), "");
    expect![[r#"
        #2 configure token=null region=null
        #2 validate s
        #2 open s
        #2 plan a
        #2 close s
        #2 end"#]]
    .assert_eq(&world.calls().join("\n"));
    // A comment changes no item.
    world.edit(
        "main.tf",
        &format!("{}\n# a comment\n", CONFIG.replace("zone = \"z\" }", "zone = \"y\" }")),
    );
    world.plan();
    assert_eq!(world.calls(), Vec::<String>::new());
}

#[test]
fn an_equal_value_ends_the_change() {
    let mut world = world(CONFIG);
    world.set("s", "a-secret");
    world.plan();
    world.calls();
    world.edit("main.tf", &CONFIG.replace("zone = \"z\" }", "zone = lower(\"Z\") }"));
    world.plan();
    assert_eq!(world.calls(), Vec::<String>::new());
}

#[test]
fn another_ephemeral_value_runs_its_users_again() {
    let mut world = world(CONFIG);
    world.set("s", "a-secret");
    world.plan();
    world.calls();
    world.set("s", "b-secret");
    world.plan();
    expect![[r#"
        #2 configure token=null region=null
        #2 plan found-d
        #2 end"#]]
    .assert_eq(&world.calls().join("\n"));
}

#[test]
fn another_state_is_planned_again() {
    let mut world = world(CONFIG);
    world.set("s", "a-secret");
    assert_eq!(summaries(&world.apply()), "");
    world.calls();
    world.plan();
    let calls = world.calls();
    assert!(calls.iter().any(|it| it.ends_with("plan a")), "{calls:?}");
    world.plan();
    assert_eq!(world.calls(), Vec::<String>::new());
}

#[test]
fn another_instance_of_an_ephemeral_resource_is_noticed() {
    let config = |count: u32| {
        format!(
            "ephemeral \"test_secret\" \"s\" {{\n  count = {count}\n  name  = \"s\"\n}}\nresource \"test_thing\" \"a\" {{\n  name      = \"a\"\n  secret_wo = ephemeral.test_secret.s[{}].value\n}}\n",
            count - 1
        )
    };
    let mut world = world(&config(1));
    world.plan();
    world.calls();
    world.edit("main.tf", &config(2));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    assert_eq!(world.calls().iter().filter(|it| it.contains("open s")).count(), 2);
}
