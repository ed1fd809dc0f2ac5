//! Tests of incremental plans: the provider calls that an edit causes.

use expect_test::{Expect, expect};

use crate::world::{World, actions, summaries, world};

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
fn unchanged_program_sends_no_request_to_the_provider() {
    let mut world = world(CONFIG).watch();
    world.set("s", "a-secret");
    let first = world.plan();
    assert_eq!(summaries(&first.diagnostics), "");
    assert!(!world.calls().is_empty() && world.asked() > 0);
    world.log();
    let second = world.plan();
    assert_eq!(world.asked(), 0);
    expect![[r#"
        Plan: 2 added, 0 changed, 0 destroyed
    "#]]
    .assert_eq(&world.log());
    assert_eq!(actions(&first.plan), actions(&second.plan));
    assert_eq!(first.refreshed, second.refreshed);
}

#[test]
fn edit_reruns_only_affected_nodes() {
    let mut world = world(CONFIG).watch();
    world.set("s", "a-secret");
    world.plan();
    world.calls();
    world.edit("main.tf", &CONFIG.replace("zone = \"z\" }", "zone = \"y\" }"));
    let edited = world.plan();
    assert_eq!(summaries(&edited.diagnostics), "");
    expect![[r#"
        #1 validate s
        #1 open s
        #1 plan a
        #1 close s"#]]
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
fn edit_with_an_equal_value_sends_no_request() {
    let mut world = world(CONFIG).watch();
    world.set("s", "a-secret");
    world.plan();
    world.calls();
    world.edit("main.tf", &CONFIG.replace("zone = \"z\" }", "zone = lower(\"Z\") }"));
    world.plan();
    assert_eq!(world.calls(), Vec::<String>::new());
}

#[test]
fn changed_ephemeral_value_reruns_its_dependents() {
    let mut world = world(CONFIG).watch();
    world.set("s", "a-secret");
    world.plan();
    world.calls();
    world.set("s", "b-secret");
    world.plan();
    expect!["#1 plan found-d"].assert_eq(&world.calls().join("\n"));
}

#[test]
fn changed_state_is_planned_again() {
    let mut world = world(CONFIG).watch();
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
fn added_instance_of_an_ephemeral_resource_is_opened() {
    let config = |count: u32| {
        format!(
            "ephemeral \"test_secret\" \"s\" {{\n  count = {count}\n  name  = \"s\"\n}}\nresource \
             \"test_thing\" \"a\" {{\n  name      = \"a\"\n  secret_wo = ephemeral.test_secret.s[{}].value\n}}\n",
            count - 1
        )
    };
    let mut world = world(&config(1)).watch();
    world.plan();
    world.calls();
    world.edit("main.tf", &config(2));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    assert_eq!(world.calls().iter().filter(|it| it.contains("open s")).count(), 2);
}

/// Plans, applies `edit`, plans again, and compares the provider calls after the edit.
#[track_caller]
fn check(config: &str, prepare: impl Fn(&mut World), edit: impl Fn(&mut World), expected: Expect) {
    let mut world = world(config).watch();
    prepare(&mut world);
    assert_eq!(summaries(&world.plan().diagnostics), "");
    world.calls();
    edit(&mut world);
    let edited = world.plan();
    let problems = summaries(&edited.diagnostics);
    expected.assert_eq(&format!("{problems}{}", world.calls().join("\n")));
    // The incremental plan equals a fresh plan.
    let mut fresh = crate::world::world(&world.text());
    fresh.state = world.state.clone();
    fresh.variables = world.variables.clone();
    let whole = fresh.plan();
    assert_eq!(actions(&edited.plan), actions(&whole.plan));
    assert_eq!(edited.refreshed, whole.refreshed);
    // A plan without an edit makes no calls.
    world.asked();
    world.plan();
    assert_eq!(world.asked(), 0);
}

fn applied(world: &mut World) {
    let planner = world.planner.take();
    assert_eq!(summaries(&world.apply()), "");
    world.planner = planner;
}

const TWO: &str = r#"
resource "test_thing" "a" {
  name = "a"
}
resource "test_thing" "b" {
  name = "b"
  zone = test_thing.a.name
}
resource "test_thing" "c" {
  name = "c"
}
"#;

#[test]
fn edit_replans_the_resource_and_readers_of_the_changed_value() {
    check(
        TWO,
        applied,
        |world| world.edit("main.tf", &TWO.replace("= \"a\"", "= \"aa\"")),
        expect![[r#"
            #3 plan aa
            #3 plan b
            #3 plan b"#]],
    );
}

#[test]
fn readers_of_an_unchanged_attribute_are_not_replanned() {
    check(
        TWO,
        applied,
        |world| {
            world.edit("main.tf", &TWO.replace("= \"a\"", "= \"a\"\n  tags = { k = \"v\" }"));
        },
        expect!["#3 plan a"],
    );
}

#[test]
fn a_removed_resource_is_planned_once() {
    let without = TWO.split("resource \"test_thing\" \"c\"").next().expect("is there");
    check(TWO, applied, |world| world.edit("main.tf", without), expect!["#3 plan-destroy c"]);
}

#[test]
fn instance_beyond_a_lowered_count_is_planned_once() {
    let config = "resource \"test_thing\" \"a\" {\n  count = 2\n  name  = \"a${count.index}\"\n}\n";
    check(
        config,
        applied,
        |world| world.edit("main.tf", &config.replace("= 2", "= 1")),
        expect!["#3 plan-destroy a1"],
    );
}

#[test]
fn changed_variable_replans_its_dependents() {
    let config = "variable \"zone\" {}\nresource \"test_thing\" \"a\" {\n  name = \"a\"\n  zone = \
                  var.zone\n}\nresource \"test_thing\" \"b\" {\n  name = \"b\"\n}\n";
    check(
        config,
        |world| {
            world.set("zone", "z");
        },
        |world| {
            world.set("zone", "y");
        },
        expect!["#1 plan a"],
    );
}

#[test]
fn object_removed_from_the_state_is_planned_again() {
    check(
        TWO,
        applied,
        |world| {
            let address = addr::parse_resource_instance("test_thing.c").expect("parses");
            assert!(world.state.remove_current(&address).is_some());
        },
        expect!["#3 plan c"],
    );
}

#[test]
fn changed_condition_is_checked_without_provider_requests() {
    let config = "variable \"v\" { default = 1 }\nresource \"test_thing\" \"a\" {\n  name = \
                  \"a\"\n  lifecycle {\n    postcondition {\n      condition     = self.name == \
                  \"a\" && var.v < 3\n      error_message = \"no\"\n    }\n  }\n}\n";
    let mut world = world(config).watch();
    world.plan();
    world.asked();
    world.edit("main.tf", &config.replace("= 1 }", "= 2 }"));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    assert_eq!(world.asked(), 0);
    world.edit("main.tf", &config.replace("= 1 }", "= 3 }"));
    assert_eq!(summaries(&world.plan().diagnostics), "error: Resource postcondition failed\n");
    assert_eq!(world.asked(), 0);
}

#[test]
fn explicit_refresh_reads_all_objects_again() {
    let mut world = world(TWO).watch();
    applied(&mut world);
    world.plan();
    world.calls();
    world.with_shared(|it| it.gone.push("c".to_owned()));
    world.plan();
    assert_eq!(world.calls(), Vec::<String>::new());
    world.planner.as_mut().expect("is watched").read_again();
    let planned = world.plan();
    expect![[r#"
        #3 read a
        #3 plan a
        #3 read c
        #3 plan c
        #3 read b
        #3 plan b"#]]
    .assert_eq(&world.calls().join("\n"));
    assert!(actions(&planned.plan).contains("test_thing.c Create"));
}

const FED: &str = r#"
provider "test" {
  alias = "vault"
}
ephemeral "test_secret" "token" {
  provider = test.vault
  name     = "token"
}
provider "test" {
  token = ephemeral.test_secret.token.value
}
resource "test_thing" "a" {
  name = "a"
}
"#;

#[test]
fn ephemeral_of_a_running_provider_stays_open_until_it_ends() {
    let mut world = world(FED).watch();
    assert_eq!(summaries(&world.plan().diagnostics), "");
    expect![[r#"
        #1 configure token=null region=null
        #1 validate token
        #1 open token
        #2 configure token=canary-of-token region=null
        #2 plan a"#]]
    .assert_eq(&world.calls().join("\n"));
    world.edit("main.tf", &FED.replace("= \"a\"", "= \"aa\""));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    assert_eq!(world.calls(), ["#2 plan aa"]);
    // A changed configuration needs a new process. The ephemeral resource of the old process is closed while the
    // process that opened it still runs.
    world.edit("main.tf", &FED.replace("token = ", "region = \"r\"\n  token = "));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    expect![[r#"
        #1 validate token
        #1 open token
        #3 configure token=canary-of-token region=r
        #3 plan a
        #2 end
        #1 close token"#]]
    .assert_eq(&world.calls().join("\n"));
    assert_eq!(world.shared.lock().expect("not poisoned").open, 1);
    assert_eq!(summaries(&world.close()), "");
    expect![[r#"
        #3 end
        #1 close token
        #1 end"#]]
    .assert_eq(&world.calls().join("\n"));
    assert_eq!(world.shared.lock().expect("not poisoned").open, 0);
}

#[test]
fn open_ephemerals_are_renewed_and_closed_when_idle() {
    let mut world = world(FED).watch();
    world.with_shared(|it| it.renew_after = Some(60));
    world.plan();
    world.calls();
    world.idle(59);
    assert_eq!(world.calls(), Vec::<String>::new());
    world.idle(61);
    let calls = world.calls();
    assert!(!calls.is_empty() && calls.iter().all(|it| it == "#1 renew token"), "{calls:?}");
    world.idle(301);
    let calls = world.calls();
    assert_eq!(calls.last().map(String::as_str), Some("#1 end"), "{calls:?}");
    assert_eq!(world.shared.lock().expect("not poisoned").open, 0);
    // The next edit starts all processes again.
    world.edit("main.tf", &FED.replace("= \"a\"", "= \"aa\""));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    let calls = world.calls();
    assert!(calls.iter().any(|it| it.ends_with("open token")), "{calls:?}");
    assert!(calls.iter().any(|it| it.ends_with("plan aa")), "{calls:?}");
}

#[test]
fn provider_is_restarted_after_its_token_expired() {
    let mut world = world(FED).watch();
    world.with_shared(|it| it.renew_after = Some(60));
    world.plan();
    world.fault("renew token");
    assert_eq!(summaries(&world.idle(61)), "error: renew token failed\n");
    world.mend();
    world.calls();
    world.edit("main.tf", &FED.replace("= \"a\"", "= \"aa\""));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    let calls = world.calls();
    assert!(
        calls.iter().any(|it| it.ends_with("configure token=canary-of-token region=null")),
        "{calls:?}"
    );
    assert!(calls.contains(&"#2 end".to_owned()), "{calls:?}");
}

#[test]
fn failed_provider_process_is_not_reused() {
    let mut world = world(TWO).watch();
    world.fault("plan c");
    assert_eq!(summaries(&world.plan().diagnostics), "error: plan c failed\n");
    assert!(world.calls().contains(&"#1 end".to_owned()));
    world.mend();
    assert_eq!(summaries(&world.plan().diagnostics), "");
    assert_eq!(world.calls(), ["#2 configure token=null region=null", "#2 plan c"]);
}

#[test]
fn unused_provider_process_ends() {
    let mut world = world(TWO).watch();
    world.plan();
    world.calls();
    world.edit("main.tf", "locals { a = 1 }\n");
    world.plan();
    assert_eq!(world.calls(), ["#1 end"]);
}

#[test]
fn secret_of_an_unchanged_node_stays_redacted() {
    let config = "variable \"v\" { ephemeral = true }\nlocals { inner = var.v }\nresource \
                  \"test_thing\" \"a\" {\n  name      = \"a\"\n  secret_wo = \
                  local.inner\n}\nresource \"test_thing\" \"b\" {\n  name = \"b\"\n}\n";
    let mut world = world(config).watch();
    world.set("v", "hunter-two");
    world.plan();
    let after = |world: &World| world.redactor.redact("it says hunter-two");
    assert_eq!(after(&world), "it says (redacted)");
    world.edit("main.tf", &config.replace("= \"b\"", "= \"bb\""));
    world.plan();
    assert_eq!(after(&world), "it says (redacted)");
    world.close();
    assert_eq!(after(&world), "it says hunter-two");
}

#[test]
fn changed_content_of_a_read_file_replans_its_dependents() {
    let config = "locals { text = trimspace(file(\"note.txt\")) }\nresource \"test_thing\" \"a\" \
                  {\n  name = local.text\n}\nresource \"test_thing\" \"b\" {\n  name = trimspace(file(\"b.txt\"))\n}\n";
    let mut world =
        world(&format!("//- /main.tf\n{config}//- /note.txt\none\n//- /b.txt\nb\n")).watch();
    assert_eq!(summaries(&world.plan().diagnostics), "");
    world.calls();
    world.plan();
    assert_eq!(world.calls(), Vec::<String>::new());
    world.write("note.txt", "two");
    world.plan();
    assert_eq!(world.calls(), ["#1 plan two"]);
    world.write("b.txt", "b\n\n");
    world.plan();
    assert_eq!(world.calls(), Vec::<String>::new());
    let read = world.planner.as_ref().expect("is watched").files_read();
    assert_eq!(
        read.iter().map(|it| it.to_string_lossy()).collect::<Vec<_>>(),
        ["b.txt", "note.txt"]
    );
}
