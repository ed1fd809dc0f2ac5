//! Tests of identities, imports, moves and upgrades.

use expect_test::{Expect, expect};
use provider::{
    ImportResourceStateRequest, ImportTarget, MoveResourceStateRequest, Private, Provider,
    RawState, SourceIdentity, UpgradeResourceIdentityRequest, UpgradeResourceStateRequest,
};
use values::{Type, Value};

use super::{items::Items, said_of, shown};
use crate::Diagnostic;

fn outcome(state: Option<&Value>, identity: Option<&Value>, said: &[Diagnostic]) -> String {
    let [state, identity] = [state, identity].map(|it| it.map_or("none".to_owned(), shown));
    format!("{state} as {identity}\n{}", said_of(said)).trim_end().to_owned()
}

async fn check_import(target: ImportTarget, expected: Expect) {
    let request = ImportResourceStateRequest { type_name: "test_item".into(), target };
    let response = Items::server().await.import_resource_state(request).await;
    let imported = response.imported.first();
    let (state, identity) =
        (imported.map(|it| &it.state), imported.and_then(|it| it.identity.as_ref()));
    expected.assert_eq(&outcome(state, identity, &response.diagnostics));
}

fn identity(id: &str, region: Option<&str>) -> Value {
    let region = region.map_or_else(|| Value::null(Type::String), Value::string);
    let shard = Value::null(Type::Number);
    Value::object_from([("id", Value::string(id)), ("region", region), ("shard", shard)])
}

#[tokio::test]
async fn identity_consists_of_the_marked_attributes() {
    let schemas = Items::server().await.schemas().await.expect("are valid");
    let identity = schemas.identity("test_item").expect("there is one");
    let parts: Vec<_> = identity.block().attributes().iter().collect();
    let parts = parts.iter().map(|(name, it)| (&***name, it.required, it.optional, it.computed));
    let expected =
        [("id", true, false, false), ("region", true, false, false), ("shard", false, true, false)];
    assert_eq!(parts.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn objects_are_imported_by_id_or_identity() {
    check_import(
        ImportTarget::Id("x".into()),
        expect![[r#"{id="x", region="default", size=5, tag=[]} as {id="x", region="default"}"#]],
    )
    .await;
    check_import(
        ImportTarget::Identity(identity("x", Some("r"))),
        expect![[r#"{id="x", region="r", size=5, tag=[]} as {id="x", region="r"}"#]],
    )
    .await;
    check_import(
        ImportTarget::Identity(identity("x", None)),
        expect![[r#"
        none as none
        Incomplete Identity"#]],
    )
    .await;
    check_import(
        ImportTarget::Id("missing".into()),
        expect![[r#"
        none as none
        Cannot Import Non-Existent Object"#]],
    )
    .await;
    check_import(
        ImportTarget::Identity(identity("missing", Some("r"))),
        expect![[r#"
        none as none
        Cannot Import Non-Existent Object"#]],
    )
    .await;
}

async fn check_move(provider: &str, type_name: &str, state: &str, expected: Expect) {
    let request = MoveResourceStateRequest {
        source_provider_address: provider.into(),
        source_type_name: type_name.into(),
        source_schema_version: 7,
        source_state: RawState::Json(state.as_bytes().into()),
        source_private: Private::new(&b"not ours"[..]),
        source_identity: Some(SourceIdentity { json: b"{}"[..].into(), schema_version: 0 }),
        target_type_name: "test_item".into(),
    };
    let moved = Items::server().await.move_resource_state(request).await;
    let text = outcome(moved.state.as_ref(), moved.identity.as_ref(), &moved.diagnostics);
    expected.assert_eq(&text);
    assert!(moved.private.is_none_or(|it| it.is_empty()));
}

const OLD: &str = r#"{"id": "i", "zone": "z", "size": null, "extra": [1]}"#;

#[tokio::test]
async fn moves_depend_on_the_end_of_the_provider_address() {
    let registry = "registry.opentofu.org/example/old";
    check_move(
        registry,
        "old_item",
        OLD,
        expect![[
            r#"{id="i", note="from version 7", region="z", size=5, tag=[]} as {id="i", region="z"}"#
        ]],
    )
    .await;
    check_move(
        "example/old",
        "old_item",
        OLD,
        expect![[
            r#"{id="i", note="from version 7", region="z", size=5, tag=[]} as {id="i", region="z"}"#
        ]],
    )
    .await;
    check_move(
        "registry.opentofu.org/evilexample/old",
        "old_item",
        OLD,
        expect![[r#"
        none as none
        Unable to Move Resource State"#]],
    )
    .await;
    check_move(
        "registry.opentofu.org/example/older",
        "old_item",
        OLD,
        expect![[r#"
        none as none
        Unable to Move Resource State"#]],
    )
    .await;
    check_move(
        registry,
        "old_thing",
        OLD,
        expect![[r#"
        none as none
        Unable to Move Resource State"#]],
    )
    .await;
    let other = "registry.terraform.io/example/other";
    check_move(
        other,
        "old_item",
        r#"{"name": "n"}"#,
        expect![[r#"{id="n", region="other", tag=[]} as {id="n", region="other"}"#]],
    )
    .await;
    check_move(other, "old_item", "{}", expect![[r#"{region="other", tag=[]} as none"#]]).await;
    check_move(
        other,
        "old_item",
        "[]",
        expect![[r#"
        none as none
        Unable to Read Previously Saved State"#]],
    )
    .await;
    check_move(
        registry,
        "old_item",
        r#"{"zone": 1}"#,
        expect![[r#"{note="from version 7", region="1", size=5, tag=[]} as none"#]],
    )
    .await;
}

async fn check_upgrade(version: i64, state: &str, expected: Expect) {
    let raw_state = RawState::Json(state.as_bytes().into());
    let type_name = "test_item".into();
    let request = UpgradeResourceStateRequest { type_name, version, raw_state };
    let response = Items::server().await.upgrade_resource_state(request).await;
    expected.assert_eq(&outcome(response.state.as_ref(), None, &response.diagnostics));
}

#[tokio::test]
async fn states_are_upgraded_from_each_version() {
    check_upgrade(
        1,
        r#"{"id": "i", "zone": "z", "size": "7", "gone": {"a": [1]}}"#,
        expect![[r#"{id="i", region="z", size=7, tag=[]} as none"#]],
    )
    .await;
    check_upgrade(1, r#"{"zone": "z"}"#, expect![[r#"{region="z", size=5, tag=[]} as none"#]])
        .await;
    check_upgrade(
        2,
        r#"{"id": "i", "region": "r", "size": 3, "secret_wo": "leaked"}"#,
        expect![[r#"{id="i", note="upgraded", region="r", size=3, tag=[]} as none"#]],
    )
    .await;
    check_upgrade(
        0,
        "{}",
        expect![[r#"
        none as none
        Unable to Upgrade Resource State"#]],
    )
    .await;
    check_upgrade(
        4,
        "{}",
        expect![[r#"
        none as none
        Unable to Upgrade Resource State"#]],
    )
    .await;
}

/// A newer version of a provider may add attributes and blocks without another version of the schema.
#[tokio::test]
async fn states_may_lack_attributes_and_blocks_or_have_more() {
    check_upgrade(
        3,
        r#"{"id": "i", "region": "r"}"#,
        expect![[r#"{id="i", region="r", tag=[]} as none"#]],
    )
    .await;
    check_upgrade(
        3,
        r#"{"region": "r", "tag": [{"key": "k"}, {"key": "l", "inner": [{}]}]}"#,
        expect![[r#"{region="r", tag=[{inner=[], key="k"}, {inner=[{}], key="l"}]} as none"#]],
    )
    .await;
    check_upgrade(
        3,
        r#"{"region": "r", "tag": null, "more": 1, "part": {"more": {}}}"#,
        expect![[r#"{part={}, region="r", tag=[]} as none"#]],
    )
    .await;
}

#[tokio::test]
async fn unsuitable_states_are_errors_without_their_content() {
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    for state in [
        "",
        "{",
        "null",
        "1",
        "[]",
        "\"hidden\"",
        "\u{0}",
        r#"{"region": ["hidden"]}"#,
        r#"{"region": "r", "size": "hidden"}"#,
        r#"{"region": "r", "tag": {"key": "hidden"}}"#,
        r#"{"region": "r", "tag": ["hidden"]}"#,
        r#"{"region": "r"} hidden"#,
        &deep,
        &format!(r#"{{"region": {deep}}}"#),
    ] {
        for version in [1, 2, 3] {
            let raw_state = RawState::Json(state.as_bytes().into());
            let type_name = "test_item".into();
            let request = UpgradeResourceStateRequest { type_name, version, raw_state };
            let response = Items::server().await.upgrade_resource_state(request).await;
            let start = &state[..state.len().min(40)];
            let error = response.diagnostics.first().expect("is refused");
            assert!(response.state.is_none(), "{start}");
            assert!(!format!("{}{}", error.summary, error.detail).contains("hidden"), "{start}");
        }
    }
}

async fn check_identity(version: i64, identity: &str, expected: Expect) {
    let request = UpgradeResourceIdentityRequest {
        type_name: "test_item".into(),
        version,
        raw_identity: identity.as_bytes().into(),
    };
    let response = Items::server().await.upgrade_resource_identity(request).await;
    expected.assert_eq(&outcome(None, response.identity.as_ref(), &response.diagnostics));
}

#[tokio::test]
async fn identities_of_other_versions_or_types_are_errors() {
    check_identity(
        0,
        r#"{"id": "i", "region": "r"}"#,
        expect![[r#"none as {id="i", region="r"}"#]],
    )
    .await;
    check_identity(
        1,
        r#"{"id": "i", "region": "r"}"#,
        expect![[r#"
        none as none
        Unable to Upgrade Resource Identity"#]],
    )
    .await;
    check_identity(
        0,
        r#"{"id": ["hidden"]}"#,
        expect![[r#"
        none as none
        Unable to Read Previously Saved State"#]],
    )
    .await;
    check_identity(
        0,
        "{",
        expect![[r#"
        none as none
        Unable to Read Previously Saved State"#]],
    )
    .await;
}
