//! Tests of managed resources and the data source.

use provider::{ImportResourceStateRequest, ImportTarget};
use providers::playground::store::Entry;

use crate::core::{Action, Core, State};

/// Returns the last ledger entry that records an effect.
fn last(core: &Core) -> Entry {
    core.ledger().into_iter().rfind(|it| it.event != "rpc").expect("something was done")
}

async fn write_only_idiom(core: &Core) {
    let kind = "playground_secret";
    let config = |value: &str, version: i64| {
        format!(r#"{{"name": "s", "value_wo": {value:?}, "value_wo_version": {version}}}"#)
    };
    let (action, state) = core.apply(kind, None, &config("first-secret", 1)).await;
    assert_eq!(action, Action::Create);
    assert_eq!(last(core).received["value_wo"], core.fingerprint("first-secret"));
    let unchanged = core.plan(kind, Some(&state), Some(&config("second-secret", 1))).await;
    assert!(
        unchanged.planned_state.is_some_and(|it| it == state.value),
        "the value alone plans nothing"
    );
    let (action, raised) = core.apply(kind, Some(&state), &config("second-secret", 2)).await;
    assert_eq!((action, raised.text("version").as_str()), (Action::Update, "2"));
    assert_eq!(raised.text("id"), state.text("id"));
    assert_eq!(last(core).received["value_wo"], core.fingerprint("second-secret"));
    let opened = core.open(kind, r#"{"secret_id": "s"}"#).await.opened.expect("opens");
    assert_eq!(opened.result.get_attr("value").expect("has it").as_str(), Some("second-secret"));
    let described = config("third-secret", 2).replace('}', r#", "description": "d"}"#);
    core.apply(kind, Some(&raised), &described).await;
    assert!(last(core).received.is_empty(), "without a new version the value is not looked at");
    core.delete(kind, &raised).await;
    assert!(core.read(kind, &raised).await.is_none());
}

#[tokio::test]
async fn write_only_value_is_set_with_a_raised_version() {
    write_only_idiom(&Core::in_process("{}").await).await;
    write_only_idiom(&Core::launched("{}", &[]).await).await;
}

/// Creates an object, checks that the plan after a refresh is empty, changes the object, and deletes it.
async fn check(core: &Core, kind: &str, config: &str, changed: &str, action: Action) {
    crate::core::assert_no_errors(&core.validate(kind, config).await);
    let (_, created) = core.apply(kind, None, config).await;
    let read = core.read(kind, &created).await.expect("is there");
    let again = core.plan(kind, Some(&read), Some(config)).await;
    assert!(
        again.planned_state.is_some_and(|it| it == read.value),
        "{kind}: the second plan is empty"
    );
    let (planned, _) = if action == Action::Replace {
        let plan = core.plan(kind, Some(&read), Some(changed)).await;
        assert!(!plan.requires_replace.is_empty());
        (Action::Replace, read.clone())
    } else {
        core.apply(kind, Some(&read), changed).await
    };
    assert_eq!(planned, action, "{kind}");
    core.delete(kind, &read).await;
    assert!(core.read(kind, &read).await.is_none());
}

#[tokio::test]
async fn every_managed_type_has_a_full_lifecycle() {
    let core = Core::launched("{}", &[]).await;
    let secret = r#"{"secret_name": "s", "value": "v"}"#;
    check(
        &core,
        "playground_secret",
        secret,
        r#"{"secret_name": "t", "value": "v"}"#,
        Action::Replace,
    )
    .await;
    let (_, holder) = core.apply("playground_secret", None, r#"{"name": "h"}"#).await;
    let version = |number: i64| {
        let id = holder.text("arn");
        format!(
            r#"{{"secret_id": {id:?}, "secret_string_wo": "w", "secret_string_wo_version": {number}}}"#
        )
    };
    check(&core, "playground_secret_version", &version(1), &version(2), Action::Update).await;
    let parameter = r#"{"name": "p", "type": "String", "value": "v"}"#;
    let changed = r#"{"name": "p", "type": "SecureString", "value_wo": "w"}"#;
    check(&core, "playground_parameter", parameter, changed, Action::Update).await;
    let database = r#"{"identifier": "d", "password_wo": "w", "password_wo_version": 1}"#;
    let changed = r#"{"identifier": "d", "allocated_storage": 30, "password_wo": "x", "password_wo_version": 2}"#;
    check(&core, "playground_database", database, changed, Action::Update).await;
    let changed = r#"{"identifier": "d", "engine": "mysql"}"#;
    check(&core, "playground_database", database, changed, Action::Replace).await;
    let ids: Vec<String> =
        core.ledger().into_iter().filter(|it| it.event == "created").map(|it| it.id).collect();
    assert!(
        ids.iter().all(|id| ids.iter().filter(|it| *it == id).count() == 1),
        "every create has a new id"
    );
}

const VAULT: &str = r#"{
    "name": "v", "secrets_version": 1, "secret_wo": "hush-top", "codes_wo": ["hush-a", "hush-b"],
    "any_wo": {"type": ["map", "string"], "value": {"k": "hush-any"}},
    "login": {"user": "u", "password_wo": "hush-login"},
    "logins": [{"user": "u0", "password_wo": "hush-list"}],
    "logins_by_role": {"admin": {"user": "u1", "password_wo": "hush-map"}},
    "primary": {"name": "p", "token_wo": "hush-single"},
    "replica": [{"name": "r0", "token_wo": "hush-replica"}, {"name": "r1"}],
    "region": {"eu": {"name": "e", "token_wo": "hush-region"}},
    "fallback": {"note": null, "token_wo": "hush-group"}
}"#;

#[tokio::test]
async fn write_only_values_are_received_everywhere_and_returned_nowhere() {
    let core = Core::launched("{}", &[]).await;
    let kind = "playground_vault";
    let (_, state) = core.apply(kind, None, VAULT).await;
    let received = last(&core).received;
    let expected = [
        ("any_wo", r#"{"k":"hush-any"}"#),
        ("codes_wo", r#"["hush-a","hush-b"]"#),
        ("fallback.token_wo", "hush-group"),
        ("login.password_wo", "hush-login"),
        ("logins[0].password_wo", "hush-list"),
        ("logins_by_role[\"admin\"].password_wo", "hush-map"),
        ("primary.token_wo", "hush-single"),
        ("region[\"eu\"].token_wo", "hush-region"),
        ("replica[0].token_wo", "hush-replica"),
        ("secret_wo", "hush-top"),
    ];
    let expected = expected.map(|(place, secret)| (place.to_owned(), core.fingerprint(secret)));
    assert_eq!(received.into_iter().collect::<Vec<_>>(), expected);
    assert_stable(&core, kind, &state).await;
    let raised = VAULT.replace(r#""secrets_version": 1"#, r#""secrets_version": 2"#);
    let (action, updated) = core.apply(kind, Some(&state), &raised).await;
    assert_eq!(action, Action::Update);
    assert_eq!(last(&core).received.len(), 10);
    let slot = |it: &State| {
        it.value.get_attr("replica").and_then(|it| it.as_slice()?[0].get_attr("slot_id"))
    };
    assert!(
        slot(&updated).is_some() && slot(&updated) == slot(&state),
        "what was chosen once stays"
    );
}

async fn assert_stable(core: &Core, kind: &str, state: &State) {
    let read = core.read(kind, state).await.expect("is there");
    let again = core.plan(kind, Some(&read), Some(VAULT)).await;
    assert!(again.planned_state.is_some_and(|it| it == state.value));
    let others = VAULT.replace("hush-", "other-");
    let again = core.plan(kind, Some(&read), Some(&others)).await;
    assert!(
        again.planned_state.is_some_and(|it| it == state.value),
        "other write-only values plan nothing"
    );
}

/// An object with a secret that is write-only from its creation, and one that becomes write-only.
#[tokio::test]
async fn write_only_value_without_a_version_is_sent_and_in_no_state() {
    let core = Core::in_process("{}").await;
    for (kind, name, extra, secret) in [
        ("playground_secret", "name", "", "value"),
        ("playground_parameter", "name", r#""type": "SecureString", "#, "value"),
        ("playground_database", "identifier", "", "password"),
    ] {
        let config = |given: &str| format!(r#"{{"{name}": "n", {extra}{given}}}"#);
        let write_only = |it: &str| config(&format!(r#""{secret}_wo": "{it}""#));
        let check = |state: &State, sent: &str| {
            assert!(state.value.get_attr(secret).is_some_and(|it| it.is_null()), "{kind}");
            assert_eq!(last(&core).received[&format!("{secret}_wo")], core.fingerprint(sent));
        };
        let (_, created) = core.apply(kind, None, &write_only("hush")).await;
        check(&created, "hush");
        let read = core.read(kind, &created).await.expect("is there");
        assert!(read.value == created.value, "{kind}");
        core.delete(kind, &read).await;

        let (_, plain) = core.apply(kind, None, &config(&format!(r#""{secret}": "a""#))).await;
        assert_eq!(plain.text(secret), "a");
        let (action, changed) = core.apply(kind, Some(&plain), &write_only("hush")).await;
        assert_eq!(action, Action::Update);
        check(&changed, "hush");
        core.delete(kind, &changed).await;
    }
}

#[tokio::test]
async fn changed_version_of_a_write_only_key_requires_replacement() {
    let core = Core::launched("{}", &[]).await;
    let config =
        |version: i64| format!(r#"{{"name": "v", "key_wo": "k", "key_version": {version}}}"#);
    let (_, state) = core.apply("playground_vault", None, &config(1)).await;
    let plan = core.plan("playground_vault", Some(&state), Some(&config(2))).await;
    let paths: Vec<String> = plan.requires_replace.iter().map(ToString::to_string).collect();
    assert_eq!(paths, [".key_wo"]);
}

#[tokio::test]
async fn conflicting_playground_arguments_are_errors() {
    let core = Core::in_process("{}").await;
    for (kind, config, expected) in [
        ("playground_secret", r#"{"name": "n", "value": "v", "value_wo": "w"}"#, ".value_wo"),
        ("playground_secret", r#"{"name": "n", "value_wo_version": 1}"#, ".value_wo_version"),
        ("playground_secret", "{}", ".name"),
        ("playground_parameter", r#"{"name": "n", "type": "String"}"#, ".value"),
        ("playground_parameter", r#"{"name": "n", "type": "Text", "value": "v"}"#, ".type"),
        (
            "playground_secret",
            r#"{"name": "n", "fault": {"on": "x", "kind": "fail"}}"#,
            ".fault.on",
        ),
    ] {
        let said = core.validate(kind, config).await;
        let [it] = said.as_slice() else { panic!("{kind} {config}: {} said", said.len()) };
        assert_eq!(
            it.path.as_ref().map(ToString::to_string).as_deref(),
            Some(expected),
            "{config}"
        );
    }
    let unknown = r#"{"name": "?", "value_wo": "?", "value_wo_version": 1}"#;
    assert!(core.validate("playground_secret", unknown).await.is_empty());
}

#[tokio::test]
async fn refresh_finds_changed_and_removed_objects() {
    let core = Core::in_process("{}").await;
    let config = r#"{"name": "n", "description": "mine", "value": "v"}"#;
    let (_, state) = core.apply("playground_secret", None, config).await;
    core.store().update("secret", "n", |it| it.set("description", "theirs")).expect("updates");
    let read = core.read("playground_secret", &state).await.expect("is there");
    assert_eq!(read.text("description"), "theirs");
    let (action, _) = core.apply("playground_secret", Some(&read), config).await;
    assert_eq!(action, Action::Update);
    core.store().remove("secret", "n").expect("removes");
    core.apply("playground_secret", None, config).await;
    assert!(
        core.read("playground_secret", &state).await.is_none(),
        "another object of that name is another"
    );
    let config = r#"{"identifier": "d", "allocated_storage": 7}"#;
    let (_, state) = core.apply("playground_database", None, config).await;
    core.store().update("database", "d", |it| it.set("allocated_storage", "9")).expect("updates");
    let read = core.read("playground_database", &state).await.expect("is there");
    let (action, _) = core.apply("playground_database", Some(&read), config).await;
    assert_eq!(action, Action::Update, "another size is found");
}

#[tokio::test]
async fn store_and_ledger_contain_no_plain_secret() {
    let core = Core::launched(r#"{"access_key": "hush-key", "secret_key": "hush-key"}"#, &[]).await;
    core.apply("playground_vault", None, VAULT).await;
    core.apply("playground_secret", None, r#"{"name": "s", "value": "hush-value"}"#).await;
    for name in ["store/ledger.jsonl", "store/objects/vault/v.json", "store/objects/secret/s.json"]
    {
        let store = core.store();
        let path = store.root().parent().expect("has a parent").join(name);
        let text = std::fs::read_to_string(path).expect("is there");
        assert!(!text.contains("hush"), "{name}");
    }
}

/// Imports an object by `id` and reads it.
async fn imported(core: &Core, kind: &str, id: &str) -> State {
    let target = ImportTarget::Id(id.into());
    let request = ImportResourceStateRequest { type_name: kind.into(), target };
    let response = core.provider.import_resource_state(request).await;
    crate::core::assert_no_errors(&response.diagnostics);
    let [it] = response.imported.as_slice() else { panic!("one object is imported") };
    core.read(kind, &State { value: it.state.clone(), private: it.private.clone() })
        .await
        .expect("is there")
}

#[tokio::test]
async fn imported_object_has_an_empty_plan() {
    let core = Core::launched("{}", &[]).await;
    for (kind, id, config) in [
        ("playground_secret", "s", r#"{"name": "s", "description": "d"}"#),
        ("playground_parameter", "p", r#"{"name": "p", "type": "String", "value": "v"}"#),
        ("playground_database", "d", r#"{"identifier": "d", "allocated_storage": 7}"#),
    ] {
        core.apply(kind, None, config).await;
        let state = imported(&core, kind, id).await;
        let plan = core.plan(kind, Some(&state), Some(config)).await;
        assert!(
            plan.planned_state.is_some_and(|it| it == state.value),
            "{kind}: the plan is empty"
        );
    }
    let target = ImportTarget::Id("none".into());
    let request = ImportResourceStateRequest { type_name: "playground_secret".into(), target };
    assert_eq!(
        core.provider.import_resource_state(request).await.diagnostics[0].summary,
        "Not found"
    );
}

#[tokio::test]
async fn secret_data_source_reads_the_value() {
    let core = Core::launched("{}", &[]).await;
    core.apply("playground_secret", None, r#"{"name": "s", "value": "v"}"#).await;
    let response = core.read_data("playground_secret", r#"{"name": "s"}"#).await;
    crate::core::assert_no_errors(&response.diagnostics);
    let state = response.state.expect("is read");
    assert_eq!(
        state.get_attr("value").and_then(|it| it.as_str().map(str::to_owned)).as_deref(),
        Some("v")
    );
}

#[tokio::test]
async fn every_playground_schema_is_valid_except_write_only_in_set() {
    let core = Core::launched("{}", &[("PLAYGROUND_WRITE_ONLY_IN_SET", "1")]).await;
    let schemas = core.provider.schemas().await.expect("has schemas");
    let refused: Vec<&str> = schemas
        .managed_types()
        .filter(|name| schemas.managed(name).is_some_and(|it| it.write_only_in_set().is_some()))
        .collect();
    assert_eq!(refused, ["playground_write_only_in_set"]);
    let managed = schemas.managed_types().filter_map(|it| schemas.managed(it));
    let ephemeral = schemas.ephemeral_types().filter_map(|it| schemas.ephemeral(it));
    let data = schemas.data_types().filter_map(|it| schemas.data(it));
    assert!(managed.chain(ephemeral).chain(data).all(|it| it.problems().is_empty()));
    assert!(schemas.provider.problems().is_empty());
}
