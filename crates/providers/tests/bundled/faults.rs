//! Tests of requested faults.

use std::time::{Duration, SystemTime};

use provider::ProviderDiagnostic;
use tokio::time::timeout;
use values::Value;

use crate::core::{Core, State};

/// A timeout that is long enough for any answer of a local process and short enough for calls that hang.
const PATIENCE: Duration = Duration::from_millis(300);

fn secret(fault: &str) -> String {
    format!(
        r#"{{"name": "s", "description": "d", "value_wo": "w", "value_wo_version": 1, "fault": {fault}}}"#
    )
}

fn said(diagnostics: &[ProviderDiagnostic]) -> String {
    diagnostics.iter().map(|it| it.summary.as_str()).collect::<Vec<_>>().join(", ")
}

async fn existing(core: &Core, fault: &str) -> State {
    core.apply("playground_secret", None, &secret(fault)).await.1
}

#[tokio::test]
async fn fault_fail_strikes_before_or_after_the_effect() {
    let core = Core::launched("{}", &[]).await;
    let config = secret(r#"{"on": "create", "kind": "fail"}"#);
    let (_, response) = core.change("playground_secret", None, Some(&config)).await;
    assert_eq!(said(&response.diagnostics), "Provoked fault");
    assert!(response.new_state.is_none_or(|it| it.is_null()));
    assert_eq!(core.count("created", ""), 0);
    let config = secret(r#"{"on": "create", "kind": "fail", "late": true}"#);
    let (_, response) = core.change("playground_secret", None, Some(&config)).await;
    assert_eq!(said(&response.diagnostics), "Provoked fault");
    assert!(response.new_state.is_some_and(|it| !it.is_null()));
    assert_eq!(core.count("created", ""), 1);
}

#[tokio::test]
async fn fault_hang_and_wait_block_the_call() {
    let core = Core::launched("{}", &[]).await;
    let hang = secret(r#"{"on": "plan", "kind": "hang"}"#);
    assert!(timeout(PATIENCE, core.plan("playground_secret", None, Some(&hang))).await.is_err());
    let wait = secret(r#"{"on": "plan", "kind": "wait"}"#);
    let stop = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        core.provider.stop().await
    };
    let (response, stopped) = tokio::join!(core.plan("playground_secret", None, Some(&wait)), stop);
    assert_eq!((said(&response.diagnostics).as_str(), stopped), ("Provoked fault", Ok(())));
    timeout(Duration::from_secs(4), core.provider.close())
        .await
        .expect("a hanging call is no hindrance");
}

#[tokio::test]
async fn fault_die_ends_the_process_before_or_after_the_effect() {
    for (fault, created) in [
        (r#"{"on": "create", "kind": "die"}"#, 0),
        (r#"{"on": "create", "kind": "die", "late": true}"#, 1),
    ] {
        let core = Core::launched("{}", &[]).await;
        let (_, response) = core.change("playground_secret", None, Some(&secret(fault))).await;
        assert_eq!(said(&response.diagnostics), "Plugin did not respond");
        assert!(response.new_state.is_none());
        assert_eq!(core.count("created", ""), created);
        assert_eq!(core.count("faulted", "create"), 1);
    }
}

#[tokio::test]
async fn fault_panic_fails_only_one_call() {
    let core = Core::launched("{}", &[]).await;
    let config = secret(r#"{"on": "plan", "kind": "panic"}"#);
    let response = core.plan("playground_secret", None, Some(&config)).await;
    assert_eq!(response.diagnostics.len(), 1);
    core.apply("playground_secret", None, &secret("null")).await;
}

#[tokio::test]
async fn fault_after_counts_calls_across_processes() {
    let core = Core::launched("{}", &[]).await;
    let config = r#"{"path": "p", "fault": {"on": "open", "kind": "fail", "after": 2}}"#;
    for expected in ["", "", "Provoked fault", "Provoked fault"] {
        assert_eq!(said(&core.open("playground_lease", config).await.diagnostics), expected);
    }
}

#[tokio::test]
async fn fault_can_be_set_in_the_provider_block_or_environment() {
    let core = Core::launched(r#"{"fault": {"on": "renew", "kind": "fail"}}"#, &[]).await;
    let opened = core.open("playground_lease", r#"{"path": "p"}"#).await.opened.expect("opens");
    let renewed = core.renew("playground_lease", &opened.private).await;
    assert_eq!(said(&renewed.diagnostics), "Provoked fault");
    assert_eq!(
        said(&core.close("playground_lease", &renewed.private).await),
        "",
        "the close still knows what to close"
    );
    let fault = r#"{"on": "close", "kind": "fail", "type": "playground_random"}"#;
    let core = Core::launched("{}", &[("PLAYGROUND_FAULT", fault)]).await;
    let lease = core.open("playground_lease", r#"{"path": "p"}"#).await.opened.expect("opens");
    assert_eq!(said(&core.close("playground_lease", &lease.private).await), "");
    let random = core.open("playground_random", "{}").await.opened.expect("opens");
    assert_eq!(said(&core.close("playground_random", &random.private).await), "Provoked fault");
}

#[tokio::test]
async fn environment_variable_without_a_fault_is_an_error() {
    let refused = async |text: &str| {
        let provider = Core::process(&[("PLAYGROUND_FAULT", text)]).await;
        provider.schemas().await.err().map(|it| format!("{}: {}", it[0].summary, it[0].detail))
    };
    let said = refused(r#"{"on": "opne", "kind": "fail"}"#).await.expect("is refused");
    assert!(said.starts_with("Invalid PLAYGROUND_FAULT: "), "{said}");
    assert!(said.contains("unknown variant `opne`") && said.contains("Unset it"), "{said}");
    assert_eq!(refused("").await, None, "an empty variable counts as not set");
}

#[tokio::test]
async fn fault_past_returns_a_renewal_time_in_the_past() {
    let core = Core::launched("{}", &[]).await;
    let config = r#"{"path": "p", "fault": {"on": "renew", "kind": "past"}}"#;
    let opened = core.open("playground_lease", config).await.opened.expect("opens");
    assert!(opened.renew_at > Some(SystemTime::now()));
    assert!(
        core.renew("playground_lease", &opened.private).await.renew_at < Some(SystemTime::now())
    );
}

/// Returns the answers to a read and to an open with this fault.
async fn spoiled(kind: &str) -> (Option<Value>, Option<Value>) {
    let core = Core::in_process("{}").await;
    let state = existing(&core, "null").await;
    let mut faulty = state.clone();
    let fault = format!(r#"{{"name": "s", "fault": {{"on": "read", "kind": {kind:?}}}}}"#);
    let fault = core.object("playground_secret", Some(&fault)).get_attr("fault").expect("is there");
    faulty.value = faulty.value.with_part(&values::Step::Attr("fault".into()), |_| fault);
    let read = core
        .provider
        .read_resource(provider::ReadResourceRequest {
            type_name: "playground_secret".into(),
            current_state: faulty.value,
            private: faulty.private,
            provider_meta: None,
            identity: None,
        })
        .await;
    let open = format!(r#"{{"name": "s", "fault": {{"on": "open", "kind": {kind:?}}}}}"#);
    let opened = core.open("playground_secret", &open).await.opened;
    (read.new_state, opened.map(|it| it.result))
}

#[tokio::test]
async fn fault_kinds_return_each_wrong_response() {
    let attribute =
        |value: &Option<Value>, name: &str| value.as_ref().and_then(|it| it.get_attr(name));
    let (read, opened) = spoiled("inconsistent").await;
    assert_eq!(attribute(&read, "description"), Some(Value::string("changed by a fault")));
    assert_eq!(attribute(&opened, "name"), Some(Value::string("changed by a fault")));
    let (read, opened) = spoiled("unknown").await;
    assert!(
        read.is_some_and(|it| !it.is_wholly_known())
            && opened.is_some_and(|it| !it.is_wholly_known())
    );
    let (read, opened) = spoiled("null").await;
    assert!(read.is_some_and(|it| it.is_null()) && opened.is_some_and(|it| it.is_null()));
    let (read, opened) = spoiled("wrong_type").await;
    assert!(
        read.is_some_and(|it| it.as_str().is_some())
            && opened.is_some_and(|it| it.as_str().is_some())
    );
    let (read, _) = spoiled("write_only").await;
    assert!(attribute(&read, "value_wo").is_some_and(|it| !it.is_null()));
}

#[tokio::test]
async fn latency_delays_every_call() {
    let core = Core::in_process(r#"{"latency_ms": 20}"#).await;
    let before = std::time::Instant::now();
    existing(&core, "null").await;
    assert!(before.elapsed() >= Duration::from_millis(40));
}
