//! Tests of the states that applying, reading, importing and upgrading return.

use expect_test::{Expect, expect};
use provider::{
    ApplyResourceChangeRequest, ImportResourceStateRequest, ImportTarget, MoveResourceStateRequest,
    Private, Provider, RawState, ReadDataSourceRequest, ReadResourceRequest, SourceIdentity,
    UpgradeResourceStateRequest,
};
use values::{Str, Value};

use super::{Server, configured, said_of, schema, shown, text_of, thing::Things, value};
use crate::Diagnostic;

fn outcome(state: Option<&Value>, said: &[Diagnostic]) -> String {
    let state = state.map_or("none".to_owned(), shown);
    format!("{state}\n{}", said_of(said)).trim_end().to_owned()
}

async fn check_apply(prior: &str, planned: &str, config: &str, expected: Expect) {
    let schema = schema().await;
    let request = ApplyResourceChangeRequest {
        type_name: "test_thing".into(),
        prior_state: value(&schema, prior),
        planned_state: value(&schema, planned),
        config: value(&schema, config),
        planned_private: Private::default(),
        provider_meta: None,
        planned_identity: None,
    };
    let response = configured().await.apply_resource_change(request).await;
    expected.assert_eq(&outcome(response.new_state.as_ref(), &response.diagnostics));
}

#[tokio::test]
async fn create_fills_unknown_values_and_keeps_no_write_only_value() {
    let planned =
        r#"{"id": "?", "name": "n", "size": 1, "label": "?", "revision": "?", "rule": []}"#;
    let expected =
        expect![[r#"{id="t-n", label="t-n", name="n", revision="t-n", rule=[], size=1}"#]];
    check_apply("null", planned, r#"{"name": "n", "pass_wo": "s", "rule": []}"#, expected).await;
}

#[tokio::test]
async fn failed_create_returns_the_partial_state() {
    let planned = r#"{"name": "half-made", "rule": []}"#;
    let expected = expect![[r#"
        {id="t-half-made", label="t-half-made", name="half-made", revision="t-half-made", rule=[], size=1}
        Made only half of it"#]];
    check_apply("null", planned, planned, expected).await;
}

#[tokio::test]
async fn create_that_keeps_nothing_returns_no_state() {
    let planned = r#"{"name": "unmade", "rule": []}"#;
    let expected = expect![[r#"
        null
        Made nothing of it"#]];
    check_apply("null", planned, planned, expected).await;
}

#[tokio::test]
async fn value_left_unknown_by_create_is_an_error_and_null() {
    let planned = r#"{"id": "?", "name": "unknown-left", "rule": []}"#;
    let config = r#"{"name": "unknown-left", "rule": []}"#;
    let expected = expect![[r#"
        {id="t-unknown-left", label="t-unknown-left", name="unknown-left", rule=[], size=1}
        .revision: Provider returned invalid result object after apply"#]];
    check_apply("null", planned, config, expected).await;
}

#[tokio::test]
async fn failed_update_returns_the_prior_state() {
    let prior = r#"{"id": "i", "name": "stuck", "rule": []}"#;
    let expected = expect![[r#"
        {id="i", name="stuck", rule=[]}
        Cannot be changed"#]];
    let planned = r#"{"id": "i", "name": "stuck", "note": "a", "rule": []}"#;
    let config = r#"{"name": "stuck", "note": "a", "rule": []}"#;
    check_apply(prior, planned, config, expected).await;
    let expected = expect![[
        r#"{id="i", label="updated", name="n", note="a", revision="updated", rule=[], size=1}"#
    ]];
    let planned = r#"{"id": "i", "name": "n", "note": "a", "revision": "?", "rule": []}"#;
    let config = config.replace("stuck", "n");
    check_apply(&prior.replace("stuck", "n"), planned, &config, expected).await;
}

#[tokio::test]
async fn delete_returns_null_unless_it_fails() {
    check_apply(r#"{"id": "i", "name": "n", "rule": []}"#, "null", "null", expect!["null"]).await;
    let expected = expect![[r#"
        {id="i", name="stuck", rule=[]}
        Cannot be deleted"#]];
    check_apply(r#"{"id": "i", "name": "stuck", "rule": []}"#, "null", "null", expected).await;
}

#[tokio::test]
async fn calls_before_configure_are_errors() {
    let schema = schema().await;
    let request = ReadResourceRequest {
        type_name: "test_thing".into(),
        current_state: value(&schema, r#"{"name": "n", "rule": []}"#),
        private: Private::new(&b"kept"[..]),
        provider_meta: None,
        identity: None,
    };
    let response = Server::new(Things).read_resource(request).await;
    assert_eq!(said_of(&response.diagnostics), "Provider Not Configured");
    assert!(response.new_state.is_none() && response.private.as_bytes() == b"kept");
}

async fn check_read(name: &str, expected: Expect) {
    let schema = schema().await;
    let request = ReadResourceRequest {
        type_name: "test_thing".into(),
        current_state: value(&schema, &format!(r#"{{"name": {name:?}, "rule": []}}"#)),
        private: Private::default(),
        provider_meta: None,
        identity: None,
    };
    let response = configured().await.read_resource(request).await;
    let private = text_of(&response.private);
    let outcome = outcome(response.new_state.as_ref(), &response.diagnostics);
    expected.assert_eq(&format!("{outcome} {private}"));
}

#[tokio::test]
async fn read_returns_state_null_or_error() {
    check_read("n", expect![[r#"{name="n", rule=[], size=1} {"reads":"MQ=="}"#]]).await;
    check_read("gone", expect![[r#"null {"reads":"MQ=="}"#]]).await;
    check_read("unreadable", expect!["none\nCannot be read "]).await;
}

#[tokio::test]
async fn data_source_result_contains_configuration_and_computed_values() {
    let config = Value::object_from([
        ("name", Value::string("n")),
        ("found", Value::null(values::Type::String)),
    ]);
    let request =
        ReadDataSourceRequest { type_name: "test_thing".into(), config, provider_meta: None };
    let response = configured().await.read_data_source(request).await;
    expect![[r#"{found="t-n", name="n"}"#]]
        .assert_eq(&outcome(response.state.as_ref(), &response.diagnostics));
}

#[tokio::test]
async fn import_returns_one_object_with_private_state() {
    let target = ImportTarget::Id("x".into());
    let request = ImportResourceStateRequest { type_name: "test_thing".into(), target };
    let response = configured().await.import_resource_state(request).await;
    let [imported] = response.imported.as_slice() else { panic!("one object") };
    assert_eq!(shown(&imported.state), r#"{id="x", name="x", rule=[], size=1}"#);
    assert_eq!(text_of(&imported.private), r#"{"imported":"dHJ1ZQ=="}"#);
    let target = ImportTarget::Identity(Value::empty_object());
    let request = ImportResourceStateRequest { type_name: "test_thing".into(), target };
    let response = configured().await.import_resource_state(request).await;
    assert!(response.imported.is_empty());
    assert_eq!(said_of(&response.diagnostics), "Incomplete Identity");
}

async fn check_upgrade(version: i64, json: &str, expected: Expect) {
    let raw_state = RawState::Json(json.as_bytes().into());
    let request =
        UpgradeResourceStateRequest { type_name: Str::from("test_thing"), version, raw_state };
    let response = Server::new(Things).upgrade_resource_state(request).await;
    expected.assert_eq(&outcome(response.state.as_ref(), &response.diagnostics));
}

#[tokio::test]
async fn upgrade_converts_state_by_the_schema() {
    let same = expect![[r#"{any=12345678901234567890.125, id="i", name="n", rule=[{name="r"}]}"#]];
    let stored = r#"{"id": "i", "name": "n", "dropped": {"x": 1}, "pass_wo": "leak",
        "any": {"value": 12345678901234567890.125, "type": "number"}, "rule": [{"name": "r", "old": true}]}"#;
    check_upgrade(2, stored, same).await;
    check_upgrade(1, r#"{"title": "n", "rule": []}"#, expect![[r#"{name="n", rule=[]}"#]]).await;
    check_upgrade(
        0,
        "{}",
        expect![[r#"
        none
        Unable to Upgrade Resource State"#]],
    )
    .await;
    check_upgrade(2, "{", expect!["none\nUnable to Read Previously Saved State"]).await;
    check_upgrade(2, r#"{"name": {}}"#, expect!["none\nUnable to Read Previously Saved State"])
        .await;
}

#[tokio::test]
async fn move_state_accepts_known_source_types() {
    let request = |source: &str| MoveResourceStateRequest {
        source_provider_address: "registry.opentofu.org/old/test".into(),
        source_type_name: source.into(),
        source_schema_version: 0,
        source_state: RawState::Json(br#"{"title": "n"}"#[..].into()),
        source_private: Private::default(),
        source_identity: Some(SourceIdentity {
            json: br#"{"title": "old"}"#[..].into(),
            schema_version: 3,
        }),
        target_type_name: "test_thing".into(),
    };
    let moved = Server::new(Things).move_resource_state(request("test_old")).await;
    assert_eq!(
        outcome(moved.state.as_ref(), &moved.diagnostics),
        r#"{id="moved", name="n", rule=[]}"#
    );
    let name = moved.identity.and_then(|it| it.get_attr("name"));
    assert_eq!(name, Some(Value::string("n")));
    let refused = Server::new(Things).move_resource_state(request("test_strange")).await;
    assert!(refused.identity.is_none());
    assert_eq!(
        outcome(refused.state.as_ref(), &refused.diagnostics),
        "none\nUnable to Move Resource State"
    );
}
