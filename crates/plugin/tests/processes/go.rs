//! Tests of the client against a provider made with the public Go framework (`tests/peers/go-provider`).
//!
//! Ignored by default, because the peer must be built first: `cd tests/peers/go-provider && go build -o
//! bin/terraform-provider-gopeer .`

use std::{path::PathBuf, process::Command};

use expect_test::expect;
use plugin::{OutputChannel, PluginEvent, ProtocolVersion, TlsMode};
use provider::{
    ApplyResourceChangeRequest, CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest,
    ImportResourceStateRequest, ImportTarget, OpenEphemeralRequest, PlanResourceChangeRequest,
    Private, Provider, RawState, ReadDataSourceRequest, ReadResourceRequest, RenewEphemeralRequest,
    UpgradeResourceStateRequest,
};
use values::{Number, Str, Type, Value};

use crate::support::{Heard, end, start, texts};

pub(crate) fn go_peer() -> Command {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(root.join("tests/peers/go-provider/bin/terraform-provider-gopeer"))
}

fn thing(name: &str, id: Value) -> Value {
    let port = |port| Value::object_from([("port", Value::int(port))]);
    let part = |label| Value::object_from([("label", Value::string(label))]);
    let (ports, parts) =
        (Type::object([("port", Type::Number)]), Type::object([("label", Type::String)]));
    Value::object_from([
        ("id", id),
        ("name", Value::string(name)),
        ("size", Value::number(Number::parse("0.1").expect("a number"))),
        (
            "tags",
            Value::map(Type::String, [(Str::from("k"), Value::string("v"))].into_iter().collect()),
        ),
        ("secret", Value::string("hunter2")),
        ("parts", Value::list(parts, vec![part("a"), part("é")])),
        ("rule", Value::set(ports, vec![port(443), port(80)])),
    ])
}

fn creation(name: &str) -> PlanResourceChangeRequest {
    let config = thing(name, Value::null(Type::String));
    let mut proposed = config.as_map().cloned().unwrap_or_default();
    proposed.insert("id".into(), Value::null(Type::String));
    PlanResourceChangeRequest {
        type_name: "gopeer_thing".into(),
        prior_state: Value::null(config.ty()),
        proposed_new_state: Value::object(proposed),
        config,
        prior_private: Private::default(),
        provider_meta: None,
        prior_identity: None,
    }
}

#[tokio::test]
#[ignore = "needs the Go peer"]
async fn resource_of_the_go_framework_has_a_full_lifecycle() {
    for tls in [TlsMode::Auto, TlsMode::Off] {
        let heard = Heard::default();
        let provider = start(go_peer(), tls, &heard).await;
        assert_eq!(provider.protocol(), ProtocolVersion::V6);
        let mut seen = Vec::new();
        let config = Value::object_from([("prefix", Value::string("p"))]);
        assert!(provider.validate_provider_config(config.clone()).await.is_empty());
        assert!(
            provider
                .configure(ConfigureRequest { core_version: "1.13.0".into(), config })
                .await
                .is_empty()
        );
        let request = creation("a");
        let (prior_state, config) = (request.prior_state.clone(), request.config.clone());
        let plan = provider.plan_resource_change(request).await;
        seen.extend(texts(&plan.diagnostics));
        let planned_state = plan.planned_state.expect("planned");
        seen.push(format!("{planned_state:?} {:?}", plan.requires_replace));
        let applied = provider
            .apply_resource_change(ApplyResourceChangeRequest {
                type_name: "gopeer_thing".into(),
                prior_state,
                planned_state,
                config,
                planned_private: plan.planned_private,
                provider_meta: None,
                planned_identity: None,
            })
            .await;
        seen.extend(texts(&applied.diagnostics));
        let state = applied.new_state.expect("applied");
        seen.push(format!("{state:?}"));
        let read = provider
            .read_resource(ReadResourceRequest {
                type_name: "gopeer_thing".into(),
                current_state: state.clone(),
                private: applied.private,
                provider_meta: None,
                identity: None,
            })
            .await;
        seen.extend(texts(&read.diagnostics));
        assert!(read.new_state.is_some_and(|it| it.raw_equals(&state)), "reading changes nothing");
        end(&provider).await;
        assert!(heard.events().contains(&PluginEvent::Output {
            channel: OutputChannel::Stdout,
            text: "configured for 1.13.0 with p".to_owned(),
        }));
        expect![[r#"
            {"id" = (known after apply), "name" = "a", "parts" = tolist([{"label" = "a"}, {"label" = "é"}]), "rule" = toset([{"port" = 443}, {"port" = 80}]), "secret" = tostring(null), "size" = 0.1, "tags" = tomap({"k" = "v"})} []
            Warning: Created: with ***
            {"id" = "id-a", "name" = "a", "parts" = tolist([{"label" = "a"}, {"label" = "é"}]), "rule" = toset([{"port" = 443}, {"port" = 80}]), "secret" = tostring(null), "size" = 0.1, "tags" = tomap({"k" = "v"})}
            Warning: Read: private {"with":"go"}"#]].assert_eq(&seen.join("\n"));
    }
}

#[tokio::test]
#[ignore = "needs the Go peer"]
async fn diagnostics_panics_and_exits_of_go_are_distinguished() {
    let heard = Heard::default();
    let provider = start(go_peer(), TlsMode::Auto, &heard).await;
    let bad = provider.plan_resource_change(creation("bad")).await;
    expect!["Error: Bad label: It is bad. at .parts[0].label"]
        .assert_eq(&texts(&bad.diagnostics).join("\n"));
    let no_response = "Error: Plugin did not respond: The provider example.com/tests/peer encountered an error, and \
         failed to respond to the plugin6.(*GRPCProvider).PlanResourceChange call. The plugin logs may \
         contain more details. Its process has ended (exit status: 2).";
    // A line that begins like that of a panic is none without the traces of goroutines.
    let exit = provider.plan_resource_change(creation("exit")).await;
    assert_eq!(texts(&exit.diagnostics), [no_response]);
    provider.close().await;
    let provider = start(go_peer(), TlsMode::Auto, &heard).await;
    let panic = provider.plan_resource_change(creation("panic")).await;
    let panic = texts(&panic.diagnostics).join("\n");
    let quoted =
        "\n\nIt panicked, which is a bug in the provider:\n\npanic: this is what the test asks for";
    assert!(panic.starts_with(&format!("{no_response}{quoted}")), "{panic}");
    assert!(panic.contains("\ngoroutine "), "{panic}");
    provider.close().await;
    let lines =
        heard.events().into_iter().filter(|it| matches!(it, PluginEvent::Panicked { .. })).count();
    assert!(lines > 1, "{lines} lines of panics");
}

#[tokio::test]
#[ignore = "needs the Go peer"]
async fn remaining_provider_calls_work_with_go() {
    let provider = start(go_peer(), TlsMode::Auto, &Heard::default()).await;
    let mut seen = Vec::new();
    let target = ImportTarget::Id("there".into());
    let imported = provider
        .import_resource_state(ImportResourceStateRequest {
            type_name: "gopeer_thing".into(),
            target,
        })
        .await;
    seen.extend(texts(&imported.diagnostics));
    seen.extend(imported.imported.iter().map(|it| format!("{:?}", it.state)));
    let json = br#"{"id":"1","name":"old","size":1e2,"tags":null,"secret":null,"parts":null,"rule":[{"port":1}],"gone":1}"#;
    let upgraded = provider
        .upgrade_resource_state(UpgradeResourceStateRequest {
            type_name: "gopeer_thing".into(),
            version: 2,
            raw_state: RawState::Json(json[..].into()),
        })
        .await;
    seen.extend(texts(&upgraded.diagnostics));
    seen.push(format!("{:?}", upgraded.state));
    let input = Value::tuple(vec![Value::int(1), Value::string("x"), Value::empty_object()]);
    let config = Value::object_from([("input", input), ("output", Value::null(Type::Dynamic))]);
    let request =
        ReadDataSourceRequest { type_name: "gopeer_echo".into(), config, provider_meta: None };
    seen.push(format!("{:?}", provider.read_data_source(request).await.state));
    for argument in [Value::string("hey"), Value::null(Type::String)] {
        let request = CallFunctionRequest { name: "shout".into(), arguments: vec![argument] };
        seen.push(match provider.call_function(request).await {
            Ok(value) => format!("{value:?}"),
            Err(fault) => format!("{:?} {}", fault.argument, fault.message),
        });
    }
    let config =
        Value::object_from([("length", Value::int(6)), ("value", Value::null(Type::String))]);
    let opened = provider
        .open_ephemeral(OpenEphemeralRequest { type_name: "gopeer_token".into(), config })
        .await;
    let opened = opened.opened.expect("opened");
    seen.push(format!("{:?} {:?}", opened.result, opened.renew_at));
    let type_name = Str::from("gopeer_token");
    let request = RenewEphemeralRequest { type_name: type_name.clone(), private: opened.private };
    let renewed = provider.renew_ephemeral(request).await;
    seen.extend(texts(&renewed.diagnostics));
    let request = CloseEphemeralRequest { type_name, private: renewed.private };
    seen.extend(texts(&provider.close_ephemeral(request).await));
    assert_eq!(provider.stop().await, Ok(()));
    end(&provider).await;
    expect![[r#"
        {"id" = tostring(null), "name" = "there", "parts" = tolist(null) /* of object */, "rule" = toset([]), "secret" = tostring(null), "size" = tonumber(null), "tags" = tomap(null) /* of string */}
        Some({"id" = "1", "name" = "old", "parts" = tolist(null) /* of object */, "rule" = toset([{"port" = 1}]), "secret" = tostring(null), "size" = 100, "tags" = tomap(null) /* of string */})
        Some({"input" = [1, "x", {}], "output" = [1, "x", {}]})
        "hey!"
        Some(0) there is no text
        {"length" = 6, "value" = "t0ken"} Some(SystemTime { tv_sec: 1900000000, tv_nsec: 500 })
        Warning: Renewed: 1
        Warning: Closed: 2"#]].assert_eq(&seen.join("\n"));
}
