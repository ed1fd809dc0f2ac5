//! Tests of the journal: its entries and their order among the calls of the provider.

use expect_test::{Expect, expect};
use state::journal::{Intent, IntentAction};

use crate::world::{World, summaries, world};

/// Applies a configuration and compares the journal entries and the calls, except those of reads and plans.
#[track_caller]
fn check(world: &mut World, expected: Expect) {
    world.journals = true;
    world.calls();
    let diagnostics = world.apply();
    let calls = world.calls();
    let is_change = |it: &&String| {
        ["journal", "create", "update", "destroy", "open", "close"]
            .iter()
            .any(|part| it.contains(part))
    };
    let lines: String = calls.iter().filter(is_change).map(|it| format!("{it}\n")).collect();
    expected.assert_eq(&format!("{lines}---\n{}", summaries(&diagnostics)));
}

const CHAIN: &str = r#"
ephemeral "test_secret" "s" { name = "s" }
resource "test_thing" "a" {
  name      = "a"
  secret_wo = ephemeral.test_secret.s.value
}
resource "test_thing" "b" { name = "b-${test_thing.a.id}" }
"#;

#[test]
fn intent_is_durable_before_the_call_and_answer_before_dependents() {
    let mut world = world(CHAIN);
    check(
        &mut world,
        expect![[r#"
        journal: opening 1 ephemeral.test_secret.s
        journal: durable
        #1 open s
        #1 close s
        journal: closed 1
        journal: opening 1 ephemeral.test_secret.s
        journal: durable
        #2 open s
        journal: intent 2 Create test_thing.a name=a
        journal: durable
        #2 create a
        journal: test_thing.a is Ready answers 2
        journal: durable
        #2 close s
        journal: closed 1
        journal: intent 3 Create test_thing.b name=b-id1
        journal: durable
        #2 create b-id1
        journal: test_thing.b is Ready answers 3
        journal: durable
        ---
    "#]],
    );
    world.edit("main.tf", &CHAIN.replace("name      = \"a\"", "name      = \"a\"\n  zone = \"z\""));
    check(
        &mut world,
        expect![[r#"
        journal: opening 1 ephemeral.test_secret.s
        journal: durable
        #3 open s
        #3 close s
        journal: closed 1
        journal: intent 1 Delete test_thing.a id=id1
        journal: opening 2 ephemeral.test_secret.s
        journal: durable
        #4 open s
        journal: durable
        #4 destroy a
        journal: test_thing.a is gone answers 1
        journal: durable
        journal: intent 3 Create test_thing.a name=a
        journal: durable
        #4 create a
        journal: test_thing.a is Ready answers 3
        journal: durable
        #4 close s
        journal: closed 2
        journal: intent 4 Update test_thing.b id=id2
        journal: durable
        #4 update b-id3
        journal: test_thing.b is Ready answers 4
        journal: durable
        ---
    "#]],
    );
    world.mode = state::PlanMode::Destroy;
    check(
        &mut world,
        expect![[r#"
        #5 plan-destroy a
        #5 plan-destroy b-id3
        journal: intent 1 Delete test_thing.b id=id2
        journal: durable
        #6 destroy b-id3
        journal: test_thing.b is gone answers 1
        journal: durable
        journal: intent 2 Delete test_thing.a id=id3
        journal: durable
        #6 destroy a
        journal: test_thing.a is gone answers 2
        journal: durable
        ---
    "#]],
    );
}

#[test]
fn failed_creation_is_answered_in_the_journal_unless_the_response_is_lost() {
    let mut world = world("resource \"test_thing\" \"a\" { name = \"a\" }");
    world.fault("create a");
    check(
        &mut world,
        expect![[r#"
        journal: intent 1 Create test_thing.a name=a
        journal: durable
        #2 create a
        journal: unchanged answers 1
        ---
        error: create a failed
    "#]],
    );
    world.mend();
    world.with_shared(|shared| shared.silent.push("create a"));
    check(
        &mut world,
        expect![[r#"
        journal: intent 1 Create test_thing.a name=a
        journal: durable
        #4 create a
        ---
        error: The connection broke
    "#]],
    );
    assert!(world.state.is_empty(), "nobody knows of it");
}

#[test]
fn undelivered_creation_is_answered_in_the_journal() {
    let mut world = world("resource \"test_thing\" \"a\" { name = \"a\" }");
    world.with_shared(|shared| shared.undelivered.push("create a"));
    check(
        &mut world,
        expect![[r#"
        journal: intent 1 Create test_thing.a name=a
        journal: durable
        journal: unchanged answers 1
        ---
        error: Nobody is there
    "#]],
    );
    assert!(world.state.is_empty());
}

#[test]
fn unwritable_intent_prevents_the_provider_call() {
    let mut world = world(CHAIN);
    world.full = Some("intent 2");
    check(
        &mut world,
        expect![[r#"
        journal: opening 1 ephemeral.test_secret.s
        journal: durable
        #1 open s
        #1 close s
        journal: closed 1
        journal: opening 1 ephemeral.test_secret.s
        journal: durable
        #2 open s
        journal: intent 2 Create test_thing.a name=a
        #2 close s
        journal: closed 1
        ---
        error: Failed to write the journal
        error: execution halted
    "#]],
    );
    assert!(world.state.is_empty());
}

#[test]
fn unwritable_answer_stays_in_the_outcome_and_ends_the_run() {
    let mut world = world(CHAIN);
    world.full = Some("test_thing.a is");
    check(
        &mut world,
        expect![[r#"
        journal: opening 1 ephemeral.test_secret.s
        journal: durable
        #1 open s
        #1 close s
        journal: closed 1
        journal: opening 1 ephemeral.test_secret.s
        journal: durable
        #2 open s
        journal: intent 2 Create test_thing.a name=a
        journal: durable
        #2 create a
        journal: test_thing.a is Ready answers 2
        #2 close s
        journal: closed 1
        ---
        error: Failed to write the journal
        error: execution halted
    "#]],
    );
    let known: Vec<String> = world.state.instances().map(|it| it.address.to_string()).collect();
    assert_eq!(known, ["test_thing.a"]);
}

#[test]
fn built_in_resources_need_no_durable_intent() {
    let text = "resource \"terraform_data\" \"a\" { input = 1 }\nresource \"terraform_data\" \"b\" \
                { input = terraform_data.a.output }";
    check(
        &mut world(text),
        expect![[r#"
        journal: terraform_data.a is Ready
        journal: terraform_data.b is Ready
        ---
    "#]],
    );
}

fn uncertain(address: &str) -> Intent {
    let provider = r#"provider["registry.opentofu.org/hashicorp/test"]"#;
    Intent {
        number: 1,
        object: addr::parse_resource_instance(address).expect("an address").into(),
        action: IntentAction::Create,
        provider: addr::ProviderConfigRef::parse(provider).expect("a provider"),
        named: Some("name=a".to_owned()),
        time: "2026-01-02T03:04:05Z".to_owned(),
    }
}

const TWO: &str = r#"
resource "test_thing" "a" {
  for_each = toset(["k"])
  name     = "a"
}
resource "test_thing" "c" { name = "c" }
"#;

#[test]
fn plan_refuses_creation_at_an_uncertain_address() {
    let mut world = world(TWO);
    world.uncertain.push(uncertain("test_thing.a[\"k\"]"));
    let outcome = world.plan();
    let [found] = outcome.diagnostics.as_slice() else { panic!("one problem") };
    expect![[r#"
        Object may exist already
        test_thing.a["k"] (name=a) was about to be created at 2026-01-02T03:04:05Z by a run that ended before the provider hashicorp/test had responded, so it is unknown whether the object exists. Creating it again could create a duplicate. Check whether it exists, then choose:

          mayfly state adopt 'test_thing.a["k"]' ID    if it exists; the provider's documentation describes the import ID
          mayfly state adopt -gone 'test_thing.a["k"]'    if it does not exist
          -retry-uncertain, as an option of plan, apply or destroy: to create it anyway"#]].assert_eq(&format!("{}\n{}", found.summary, found.detail));
    assert_eq!(crate::world::actions(&outcome.plan), "test_thing.c Create\n", "others go on");
    world.uncertain.clear();
    assert!(world.plan().diagnostics.is_empty());
}

#[test]
fn known_object_at_an_uncertain_address_can_change() {
    let mut world = world(TWO);
    assert!(world.apply().is_empty());
    world.uncertain.push(uncertain("test_thing.a[\"k\"]"));
    world.edit(
        "main.tf",
        &TWO.replace("\"c\" }", "\"c\" }\n").replace("= \"a\"\n", "= \"a\"\n  size     = 7\n"),
    );
    assert!(world.plan().diagnostics.is_empty());
}
