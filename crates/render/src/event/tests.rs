use std::time::Duration;

use addr::{ProviderSource, ResourceInstance};
use db::{Diagnostic, Sources, Summary};
use engine::{
    ApplyAction, ChangeCounts, DeferReason, EphemeralAction, Event, LogLevel, ObjectId, Operation,
    PluginName,
};
use expect_test::{Expect, expect};
use state::ObjectAddress;

use super::*;
use crate::Style;

fn address(text: &str) -> ResourceInstance {
    addr::parse_resource_instance(text).expect("an address")
}

fn managed() -> ResourceInstance {
    address("module.m[\"k\"].terraform_data.a[0]")
}

fn ephemeral() -> ResourceInstance {
    address("ephemeral.playground_random.password")
}

fn id() -> Option<ObjectId> {
    Some(ObjectId { key: "id".to_owned(), value: "i-1".to_owned() })
}

const TEN: Duration = Duration::from_secs(10);

/// Every event, some more than once.
fn events() -> Vec<Event> {
    let (create, read) = (ApplyAction::Create, ApplyAction::Read);
    let open = EphemeralAction::Open;
    let elapsed = Duration::from_millis(65_400);
    let shell = || "local-exec".to_owned();
    let counts = ChangeCounts { import: 1, add: 2, change: 3, destroy: 4, forget: 5 };
    vec![
        Event::RefreshStart { address: managed().into(), id: id() },
        Event::RefreshComplete { address: managed().into(), id: id() },
        Event::Planned { address: managed().into(), action: state::Action::Create, reason: None },
        Event::ApplyStart { address: managed().into(), action: create, id: None },
        Event::ApplyStart { address: managed().into(), action: ApplyAction::Update, id: id() },
        Event::ApplyStart { address: managed().into(), action: ApplyAction::Delete, id: id() },
        Event::ApplyStart { address: address("data.a.b").into(), action: read, id: None },
        Event::ApplyProgress { address: managed().into(), action: create, id: None, elapsed: TEN },
        Event::ApplyProgress {
            address: managed().into(),
            action: ApplyAction::Delete,
            id: id(),
            elapsed: TEN,
        },
        Event::ApplyComplete { address: managed().into(), action: create, id: id(), elapsed },
        Event::ApplyErrored { address: managed().into(), action: create, elapsed },
        Event::ApplyErrored { address: address("data.a.b").into(), action: read, elapsed },
        Event::ProvisionStart { address: managed(), provisioner: shell() },
        Event::ProvisionOutput {
            address: managed(),
            provisioner: shell(),
            line: "a\u{1b}[1mb".to_owned(),
        },
        Event::ProvisionComplete { address: managed(), provisioner: shell() },
        Event::ProvisionErrored { address: managed(), provisioner: shell() },
        Event::EphemeralStart { address: ephemeral(), action: open },
        Event::EphemeralProgress { address: ephemeral(), action: open, elapsed: TEN },
        Event::EphemeralComplete { address: ephemeral(), action: open, elapsed: Duration::ZERO },
        Event::EphemeralStart { address: ephemeral(), action: EphemeralAction::Renew },
        Event::EphemeralComplete {
            address: ephemeral(),
            action: EphemeralAction::Close,
            elapsed: Duration::ZERO,
        },
        Event::EphemeralErrored { address: ephemeral(), action: EphemeralAction::Renew, elapsed },
        Event::Deferred { address: ephemeral(), reason: DeferReason::ConfigUnknown },
        Event::Deferred { address: ephemeral(), reason: DeferReason::DependencyPending },
        Event::ProviderStarted { provider: ProviderSource::default_for("a"), serial: 1 },
        Event::ProviderEnded { provider: ProviderSource::default_for("a"), serial: 1 },
        Event::PluginLog {
            plugin: PluginName::Provider(ProviderSource::default_for("a")),
            level: LogLevel::Warn,
            message: "m".to_owned(),
        },
        Event::Diagnostic(Diagnostic::new(Summary::provider_warning("Look"), "At this.")),
        Event::Stopping,
        Event::Summary { operation: Operation::Plan, counts },
        Event::Summary { operation: Operation::Apply, counts },
        Event::Summary {
            operation: Operation::Destroy,
            counts: ChangeCounts { destroy: 4, ..Default::default() },
        },
    ]
}

#[track_caller]
fn check(text: String, expected: Expect) {
    expected.assert_eq(&text);
}

#[test]
fn events_print_text_lines() {
    let lines = events().iter().filter_map(|it| event(it, &Style::PLAIN)).collect();
    check(
        lines,
        expect![[r#"
        module.m["k"].terraform_data.a[0]: Refreshing state... [id=i-1]
        module.m["k"].terraform_data.a[0]: Creating...
        module.m["k"].terraform_data.a[0]: Modifying... [id=i-1]
        module.m["k"].terraform_data.a[0]: Destroying... [id=i-1]
        data.a.b: Reading...
        module.m["k"].terraform_data.a[0]: Still creating... [10s elapsed]
        module.m["k"].terraform_data.a[0]: Still destroying... [id=i-1, 10s elapsed]
        module.m["k"].terraform_data.a[0]: Creation complete after 1m5s [id=i-1]
        module.m["k"].terraform_data.a[0]: Provisioning with 'local-exec'...
        module.m["k"].terraform_data.a[0] (local-exec): a\u001b[1mb
        ephemeral.playground_random.password: Opening...
        ephemeral.playground_random.password: Still opening... [10s elapsed]
        ephemeral.playground_random.password: Opening complete after 0s
        ephemeral.playground_random.password: Renewing...
        ephemeral.playground_random.password: Closing complete after 0s
        ephemeral.playground_random.password: Configuration unknown, deferring...
        ephemeral.playground_random.password: Dependencies pending, deferring...
        Stopping operation...

        Apply complete! Resources: 1 imported, 2 added, 3 changed, 4 destroyed, 5 forgotten.

        Destroy complete! Resources: 4 destroyed.
    "#]],
    );
}

#[test]
fn events_print_json_lines() {
    let time = "2026-01-02T03:04:05.000000Z";
    let lines = events()
        .iter()
        .flat_map(|it| event_json(it, time, &Sources::default()))
        .collect::<Vec<_>>();
    let lines = lines
        .join("\n")
        .replace("\"@module\":\"tofu.ui\",\"@timestamp\":\"2026-01-02T03:04:05.000000Z\",", "…,");
    check(
        lines,
        expect![[r#"
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: Refreshing state... [id=i-1]",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"id_key":"id","id_value":"i-1"},"type":"refresh_start"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: Refresh complete [id=i-1]",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"id_key":"id","id_value":"i-1"},"type":"refresh_complete"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: Creating...",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"action":"create"},"type":"apply_start"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: Modifying... [id=i-1]",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"action":"update","id_key":"id","id_value":"i-1"},"type":"apply_start"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: Destroying... [id=i-1]",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"action":"delete","id_key":"id","id_value":"i-1"},"type":"apply_start"}
        {"@level":"info","@message":"data.a.b: Reading...",…,"hook":{"resource":{"addr":"data.a.b","module":"","resource":"data.a.b","implied_provider":"a","resource_type":"a","resource_name":"b","resource_key":null},"action":"read"},"type":"apply_start"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: Still creating... [10s elapsed]",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"action":"create","elapsed_seconds":10},"type":"apply_progress"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: Still destroying... [id=i-1, 10s elapsed]",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"action":"delete","elapsed_seconds":10},"type":"apply_progress"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: Creation complete after 1m5s [id=i-1]",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"action":"create","id_key":"id","id_value":"i-1","elapsed_seconds":65},"type":"apply_complete"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: Creation errored after 65s",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"action":"create","elapsed_seconds":65},"type":"apply_errored"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: Provisioning with 'local-exec'...",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"provisioner":"local-exec"},"type":"provision_start"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: (local-exec): a\u001b[1mb",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"provisioner":"local-exec","output":"a\u001b[1mb"},"type":"provision_progress"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: (local-exec) Provisioning complete",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"provisioner":"local-exec"},"type":"provision_complete"}
        {"@level":"info","@message":"module.m[\"k\"].terraform_data.a[0]: (local-exec) Provisioning errored",…,"hook":{"resource":{"addr":"module.m[\"k\"].terraform_data.a[0]","module":"module.m[\"k\"]","resource":"terraform_data.a[0]","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":0},"provisioner":"local-exec"},"type":"provision_errored"}
        {"@level":"info","@message":"ephemeral.playground_random.password: Opening...",…,"hook":{"Msg":"Opening...","resource":{"addr":"ephemeral.playground_random.password","module":"","resource":"ephemeral.playground_random.password","implied_provider":"playground","resource_type":"playground_random","resource_name":"password","resource_key":null}},"type":"ephemeral_action_started"}
        {"@level":"info","@message":"ephemeral.playground_random.password: Still opening... [10s elapsed]",…,"hook":{"Msg":"Still opening... [10s elapsed]","resource":{"addr":"ephemeral.playground_random.password","module":"","resource":"ephemeral.playground_random.password","implied_provider":"playground","resource_type":"playground_random","resource_name":"password","resource_key":null}},"type":"ephemeral_action_progress"}
        {"@level":"info","@message":"ephemeral.playground_random.password: Open complete",…,"hook":{"Msg":"Open complete","resource":{"addr":"ephemeral.playground_random.password","module":"","resource":"ephemeral.playground_random.password","implied_provider":"playground","resource_type":"playground_random","resource_name":"password","resource_key":null}},"type":"ephemeral_action_complete"}
        {"@level":"info","@message":"ephemeral.playground_random.password: Renewing...",…,"hook":{"Msg":"Renewing...","resource":{"addr":"ephemeral.playground_random.password","module":"","resource":"ephemeral.playground_random.password","implied_provider":"playground","resource_type":"playground_random","resource_name":"password","resource_key":null}},"type":"ephemeral_action_started"}
        {"@level":"info","@message":"ephemeral.playground_random.password: Close complete",…,"hook":{"Msg":"Close complete","resource":{"addr":"ephemeral.playground_random.password","module":"","resource":"ephemeral.playground_random.password","implied_provider":"playground","resource_type":"playground_random","resource_name":"password","resource_key":null}},"type":"ephemeral_action_complete"}
        {"@level":"info","@message":"ephemeral.playground_random.password: Renew errored after 65s",…,"hook":{"Msg":"Renew errored after 65s","resource":{"addr":"ephemeral.playground_random.password","module":"","resource":"ephemeral.playground_random.password","implied_provider":"playground","resource_type":"playground_random","resource_name":"password","resource_key":null}},"type":"ephemeral_action_errored"}
        {"@level":"info","@message":"ephemeral.playground_random.password: Configuration unknown, deferring...",…,"hook":{"Msg":"Configuration unknown, deferring...","resource":{"addr":"ephemeral.playground_random.password","module":"","resource":"ephemeral.playground_random.password","implied_provider":"playground","resource_type":"playground_random","resource_name":"password","resource_key":null}},"type":"ephemeral_action_deferred"}
        {"@level":"info","@message":"ephemeral.playground_random.password: Dependencies pending, deferring...",…,"hook":{"Msg":"Dependencies pending, deferring...","resource":{"addr":"ephemeral.playground_random.password","module":"","resource":"ephemeral.playground_random.password","implied_provider":"playground","resource_type":"playground_random","resource_name":"password","resource_key":null}},"type":"ephemeral_action_deferred"}
        {"@level":"warn","@message":"Warning: Look",…,"diagnostic":{"severity":"warning","summary":"Look","detail":"At this.","id":"provider-diagnostic"},"type":"diagnostic"}
        {"@level":"info","@message":"Stopping operation...",…,"type":"log"}
        {"@level":"info","@message":"Plan: 1 to import, 2 to add, 3 to change, 4 to destroy, 5 to forget.",…,"changes":{"add":2,"change":3,"import":1,"remove":4,"forget":5,"operation":"plan"},"type":"change_summary"}
        {"@level":"info","@message":"Apply complete! Resources: 1 imported, 2 added, 3 changed, 4 destroyed, 5 forgotten.",…,"changes":{"add":2,"change":3,"import":1,"remove":4,"forget":5,"operation":"apply"},"type":"change_summary"}
        {"@level":"info","@message":"Destroy complete! Resources: 4 destroyed.",…,"changes":{"add":0,"change":0,"import":0,"remove":4,"forget":0,"operation":"destroy"},"type":"change_summary"}"#]],
    );
}

#[test]
fn the_key_of_a_deposed_object_is_in_texts_about_a_beginning_as_in_opentofu() {
    let deposed =
        || ObjectAddress { instance: managed(), deposed: state::DeposedKey::parse("0123abcd") };
    let (action, elapsed) = (ApplyAction::Delete, TEN);
    let events = [
        Event::RefreshStart { address: deposed(), id: id() },
        Event::RefreshComplete { address: deposed(), id: id() },
        Event::ApplyStart { address: deposed(), action, id: id() },
        Event::ApplyProgress { address: deposed(), action, id: id(), elapsed },
        Event::ApplyComplete { address: deposed(), action, id: None, elapsed },
        Event::ApplyErrored { address: deposed(), action, elapsed },
    ];
    let text: String = events.iter().filter_map(|it| event(it, &Style::PLAIN)).collect();
    expect![[r#"
        module.m["k"].terraform_data.a[0] (deposed object 0123abcd): Refreshing state... [id=i-1]
        module.m["k"].terraform_data.a[0] (deposed object 0123abcd): Destroying... [id=i-1]
        module.m["k"].terraform_data.a[0] (deposed object 0123abcd): Still destroying... [id=i-1, 10s elapsed]
        module.m["k"].terraform_data.a[0]: Destruction complete after 10s
    "#]].assert_eq(&text);
    let lines = events.iter().flat_map(|it| event_json(it, "", &Sources::default()));
    let messages: Vec<String> = lines
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(&line).expect("is JSON");
            assert_eq!(line["hook"]["resource"]["addr"], managed().to_string());
            line["@message"].as_str().expect("is text").to_owned()
        })
        .collect();
    expect![[r#"
        module.m["k"].terraform_data.a[0]: Refreshing state... [id=i-1]
        module.m["k"].terraform_data.a[0]: Refresh complete [id=i-1]
        module.m["k"].terraform_data.a[0]: Destroying... [id=i-1]
        module.m["k"].terraform_data.a[0]: Still destroying... [id=i-1, 10s elapsed]
        module.m["k"].terraform_data.a[0]: Destruction complete after 10s
        module.m["k"].terraform_data.a[0]: Destruction errored after 10s"#]]
    .assert_eq(&messages.join("\n"));
}

#[test]
fn coloured_event_lines_are_bold() {
    let style = Style { color: true, ..Style::PLAIN };
    let start = Event::EphemeralStart { address: ephemeral(), action: EphemeralAction::Close };
    assert_eq!(
        event(&start, &style).as_deref(),
        Some("\u{1b}[1mephemeral.playground_random.password: Closing...\u{1b}[0m\n")
    );
}

#[test]
fn long_object_ids_are_cut_only_in_progress_lines() {
    let value = format!("{}\n{}", "a".repeat(60), "b".repeat(60));
    let id = Some(ObjectId { key: "id".to_owned(), value });
    let start = Event::RefreshStart { address: managed().into(), id: id.clone() };
    let progress = Event::ApplyProgress {
        address: managed().into(),
        action: ApplyAction::Update,
        id,
        elapsed: TEN,
    };
    let line = |it| event(it, &Style::PLAIN).expect("a line");
    assert!(line(&start).ends_with(&format!("[id={}\\n{}]\n", "a".repeat(60), "b".repeat(60))));
    assert!(line(&progress).ends_with(&format!(
        "[id={}...{}, 10s elapsed]\n",
        "a".repeat(39),
        "b".repeat(38)
    )));
}
