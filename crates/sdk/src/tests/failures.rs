//! Tests of calls that fail half way, and of what a call sees beside the object.

use expect_test::{Expect, expect};
use provider::{
    ApplyResourceChangeRequest, PlanResourceChangeRequest, Private, Provider, ReadResourceRequest,
    objchange::proposed_new,
};
use values::Value;

use super::{items::Items, said_of, shown, text_of, value};

/// Applies a change from one state to a configuration, whose plan is made before.
async fn check(prior: &str, config: &str, expected: Expect) {
    let (server, schema) = (Items::server().await, Items::schema());
    let (prior, config) = (value(&schema, prior), value(&schema, config));
    let mut planned = Value::null(schema.implied_type().clone());
    let prior_private = Private::new(&br#"{"before":"MQ=="}"#[..]);
    if !config.is_null() {
        let request = PlanResourceChangeRequest {
            type_name: "test_item".into(),
            proposed_new_state: proposed_new(schema.block(), &prior, &config),
            prior_state: prior.clone(),
            config: config.clone(),
            prior_private: prior_private.clone(),
            provider_meta: None,
            prior_identity: None,
        };
        planned = server.plan_resource_change(request).await.planned_state.expect("is planned");
    }
    let request = ApplyResourceChangeRequest {
        type_name: "test_item".into(),
        prior_state: prior,
        planned_state: planned,
        config,
        planned_private: prior_private,
        provider_meta: None,
        planned_identity: None,
    };
    let response = server.apply_resource_change(request).await;
    let state = response.new_state.as_ref().map_or("none".to_owned(), shown);
    let identity = response.new_identity.as_ref().map_or("none".to_owned(), shown);
    let private = text_of(&response.private);
    let said = said_of(&response.diagnostics);
    expected.assert_eq(&format!("{state} as {identity}\n{private}\n{said}"));
}

const PRIOR: &str = r#"{"id": "i", "region": "r", "note": "old", "size": 5, "tag": []}"#;

fn config(note: &str) -> String {
    format!(r#"{{"region": "r", "note": "{note}", "secret_wo": "hidden", "tag": []}}"#)
}

#[tokio::test]
async fn failed_creation_keeps_only_the_kept_object() {
    check(
        "null",
        &config("fine"),
        expect![[r#"
        {id="i-1", note="fine", region="r", size=5, tag=[]} as {id="i-1", region="r"}
        {"before":"MQ==","step":"MQ=="}
        warning: Slow"#]],
    )
    .await;
    check(
        "null",
        &config("fail"),
        expect![[r#"
        null as none
        {"before":"MQ==","step":"MQ=="}
        warning: Slow
        Failed"#]],
    )
    .await;
    check(
        "null",
        &config("keep, fail"),
        expect![[r#"
        {id="i-1", note="keep, fail", region="r", size=5, tag=[]} as {id="i-1", region="r"}
        {"before":"MQ==","step":"MQ=="}
        warning: Slow
        Failed"#]],
    )
    .await;
    check(
        "null",
        &config("keep, fail early"),
        expect![[r#"
        {note="keep, fail early", region="r", size=5, tag=[]} as none
        {"before":"MQ==","step":"MQ=="}
        warning: Slow
        Failed"#]],
    )
    .await;
    check(
        "null",
        &config("keep"),
        expect![[r#"
        {id="i-1", note="keep", region="r", size=5, tag=[]} as {id="i-1", region="r"}
        {"before":"MQ==","step":"MQ=="}
        warning: Slow"#]],
    )
    .await;
}

#[tokio::test]
async fn failed_update_keeps_the_prior_or_the_kept_object() {
    check(
        PRIOR,
        &config("fine"),
        expect![[r#"
        {id="i", note="fine", region="r", size=5, tag=[]} as {id="i", region="r"}
        {"before":"MQ==","step":"MQ=="}
        warning: Slow"#]],
    )
    .await;
    check(
        PRIOR,
        &config("fail"),
        expect![[r#"
        {id="i", note="old", region="r", size=5, tag=[]} as none
        {"before":"MQ==","step":"MQ=="}
        warning: Slow
        Failed"#]],
    )
    .await;
    check(
        PRIOR,
        &config("keep, fail"),
        expect![[r#"
        {id="i", note="keep, fail", region="r", size=5, tag=[]} as {id="i", region="r"}
        {"before":"MQ==","step":"MQ=="}
        warning: Slow
        Failed"#]],
    )
    .await;
}

#[tokio::test]
async fn failed_deletion_keeps_the_prior_or_the_kept_object() {
    check(
        PRIOR,
        "null",
        expect![[r#"
        null as none

        warning: Slow"#]],
    )
    .await;
    check(
        &PRIOR.replace("old", "fail"),
        "null",
        expect![[r#"
        {id="i", note="fail", region="r", size=5, tag=[]} as none
        {"before":"MQ==","step":"MQ=="}
        warning: Slow
        Failed"#]],
    )
    .await;
    // An error among the diagnostics counts as one that is returned.
    check(&PRIOR.replace("old", "keep, complain"), "null", expect![[r#"
        {id="i", note="keep, complain, half deleted", region="r", size=5, tag=[]} as {id="i", region="r"}
        {"before":"MQ==","step":"MQ=="}
        warning: Slow
        Complained"#]]).await;
    check(&PRIOR.replace("old", "keep, fail"), "null", expect![[r#"
        {id="i", note="keep, fail, half deleted", region="r", size=5, tag=[]} as {id="i", region="r"}
        {"before":"MQ==","step":"MQ=="}
        warning: Slow
        Failed"#]]).await;
}

#[tokio::test]
async fn plan_of_a_deletion_can_be_refused() {
    let (server, schema) = (Items::server().await, Items::schema());
    let null = || Value::null(schema.implied_type().clone());
    for (note, expected) in [("protected", "Protected"), ("n", "")] {
        let request = PlanResourceChangeRequest {
            type_name: "test_item".into(),
            prior_state: value(&schema, &PRIOR.replace("old", note)),
            proposed_new_state: null(),
            config: null(),
            prior_private: Private::new(&br#"{"before":"MQ=="}"#[..]),
            provider_meta: None,
            prior_identity: None,
        };
        let plan = server.plan_resource_change(request).await;
        assert_eq!(said_of(&plan.diagnostics), expected);
        assert_eq!(plan.planned_state, expected.is_empty().then(null));
        assert_eq!(plan.planned_private.is_empty(), !expected.is_empty());
    }
}

/// Values that were unknown while the configuration was validated are known at the change.
#[tokio::test]
async fn values_are_validated_again_before_a_change() {
    let (server, schema) = (Items::server().await, Items::schema());
    let planned = value(&schema, r#"{"id": "?", "region": "r", "size": 99, "tag": []}"#);
    let request = ApplyResourceChangeRequest {
        type_name: "test_item".into(),
        prior_state: Value::null(schema.implied_type().clone()),
        config: value(&schema, r#"{"region": "r", "size": 99, "tag": []}"#),
        planned_state: planned,
        planned_private: Private::default(),
        provider_meta: None,
        planned_identity: None,
    };
    let response = server.apply_resource_change(request).await;
    assert_eq!(said_of(&response.diagnostics), ".size: Invalid Attribute Value");
    assert!(response.new_state.is_some_and(|it| it.is_null()) && response.private.is_empty());
}

#[tokio::test]
async fn calls_see_the_meta_values_of_the_module() {
    let (server, schema) = (Items::server().await, Items::schema());
    assert!(server.schemas().await.expect("are valid").provider_meta.is_some());
    for (meta, note) in
        [(None, "n"), (Some(Value::object_from([("module", Value::string("m"))])), "m")]
    {
        let request = ReadResourceRequest {
            type_name: "test_item".into(),
            current_state: value(&schema, r#"{"id": "i", "region": "r", "note": "n", "tag": []}"#),
            private: Private::default(),
            provider_meta: meta,
            identity: None,
        };
        let state = server.read_resource(request).await.new_state.expect("is read");
        assert_eq!(state.get_attr("note"), Some(Value::string(note)));
    }
}
