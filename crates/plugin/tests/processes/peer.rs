//! Tests of the client against the server, over real processes.

use std::{
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::support::{Heard, end, eventually, exists, options, peer, peer_speaking, start, texts};
use expect_test::expect;
use plugin::{
    GrpcProvider, LaunchOptions, PluginEvent, Processes, ProtocolVersion, TlsMode, parse_reattach,
};
use provider::{
    ApplyResourceChangeRequest, CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest,
    ImportResourceStateRequest, ImportTarget, MoveResourceStateRequest, OpenEphemeralRequest,
    PlanResourceChangeRequest, Private, Provider, RawState, ReadDataSourceRequest,
    ReadResourceRequest, RenewEphemeralRequest, SourceIdentity, UpgradeResourceIdentityRequest,
    UpgradeResourceStateRequest, ValidateRequest,
};
use values::{Path, Str, Type, Value};

fn thing(name: &str) -> Value {
    let rule = Type::object([("port", Type::Number)]);
    Value::object_from([
        ("id", Value::null(Type::String)),
        ("name", Value::string(name)),
        ("size", Value::int(3)),
        (
            "tags",
            Value::map(Type::String, [(Str::from("k"), Value::string("v"))].into_iter().collect()),
        ),
        ("secret", Value::string("hunter2")),
        ("password", Value::null(Type::String)),
        ("rule", Value::set(rule, vec![Value::object_from([("port", Value::int(80))])])),
    ])
}

/// A null value of the type of [`thing`].
fn no_thing() -> Value {
    Value::null(thing("").ty())
}

fn plan_of(prior: Value, proposed: Value) -> PlanResourceChangeRequest {
    PlanResourceChangeRequest {
        type_name: "peer_thing".into(),
        prior_state: prior,
        config: proposed.clone(),
        proposed_new_state: proposed,
        prior_private: Private::default(),
        provider_meta: None,
        prior_identity: None,
    }
}

/// Runs through the life of a resource and returns the exchanged values as text.
async fn live(provider: &GrpcProvider) -> Vec<String> {
    let mut seen = Vec::new();
    let config = Value::object_from([("prefix", Value::string("p"))]);
    seen.extend(texts(&provider.validate_provider_config(config.clone()).await));
    seen.extend(texts(
        &provider.configure(ConfigureRequest { core_version: "1.13.0".into(), config }).await,
    ));
    let request = ValidateRequest { type_name: "peer_thing".into(), config: thing("bad") };
    seen.extend(texts(&provider.validate_resource_config(request).await));
    let plan = provider.plan_resource_change(plan_of(no_thing(), thing("a"))).await;
    let planned = plan.planned_state.expect("planned");
    seen.push(format!("{planned:?} {:?} {:?}", plan.requires_replace, plan.planned_identity));
    let applied = provider
        .apply_resource_change(ApplyResourceChangeRequest {
            type_name: "peer_thing".into(),
            prior_state: no_thing(),
            planned_state: planned,
            config: thing("a"),
            planned_private: plan.planned_private,
            provider_meta: None,
            planned_identity: plan.planned_identity,
        })
        .await;
    seen.extend(texts(&applied.diagnostics));
    let state = applied.new_state.expect("applied");
    seen.push(format!("{state:?} {:?}", applied.new_identity));
    let read = ReadResourceRequest {
        type_name: "peer_thing".into(),
        current_state: state.clone(),
        private: applied.private,
        provider_meta: None,
        identity: applied.new_identity,
    };
    let read = provider.read_resource(read).await;
    assert!(read.new_state.is_some_and(|it| it.raw_equals(&state)));
    let destroy = provider.plan_resource_change(plan_of(state, no_thing())).await;
    seen.push(format!("{:?}", destroy.planned_state));
    seen
}

#[tokio::test]
async fn resource_lifecycle_works_in_both_protocols_with_and_without_tls() {
    let expected = expect![[r#"
        Error: Bad name: The name "bad" is bad. at .name
        {"id" = (known after apply), "name" = "a", "password" = (known after apply), "rule" = toset([{"port" = 80}]), "secret" = tostring(null), "size" = 3, "tags" = tomap({"k" = "v"})} [Path([Attr("tags"), Index("k")])] Some({"name" = "a"})
        Warning: Applied: with ***
        {"id" = "id-a", "name" = "a", "password" = "made", "rule" = toset([{"port" = 80}]), "secret" = tostring(null), "size" = 3, "tags" = tomap({"k" = "v"})} Some({"name" = "a"})
        Some(null /* object */)
        [
            "schemas",
            "validate provider p",
            "configure 1.13.0 p",
            "validate peer_thing",
            "plan a",
            "apply {\"p\":1} ***",
            "read {\"p\":1}",
            "plan",
        ]"#]];
    let mut runs = Vec::new();
    for (version, tls) in
        [("5", TlsMode::Auto), ("5", TlsMode::Off), ("6", TlsMode::Auto), ("5,6", TlsMode::Off)]
    {
        let heard = Heard::default();
        let provider = start(peer_speaking(version), tls, &heard).await;
        let spoken = if version == "5" { ProtocolVersion::V5 } else { ProtocolVersion::V6 };
        assert_eq!(provider.protocol(), spoken);
        let mut seen = live(&provider).await;
        end(&provider).await;
        seen.push(format!("{:#?}", heard.calls()));
        runs.push(seen.join("\n"));
    }
    expected.assert_eq(&runs[0]);
    assert!(runs.iter().all(|it| *it == runs[0]), "{runs:#?}");
}

#[tokio::test]
async fn provider_schemas_round_trip() {
    let mut nested = Command::new(peer());
    nested.env("PEER_NESTED", "1");
    let provider = start(nested, TlsMode::Off, &Heard::default()).await;
    let schemas = provider.schemas().await.expect("it has schemas");
    let thing = schemas.managed("peer_thing").expect("it has things");
    expect![[r#"
        3
        object({ id = string, name = string, parts = list(object({ label = string })), password = string, rule = set(object({ port = number })), secret = string, size = number, tags = map(string) })"#]].assert_eq(&format!("{}\n{}", thing.version(), thing.implied_type()));
    assert!(thing.block().attributes()["secret"].write_only);
    assert!(thing.block().attributes()["password"].sensitive);
    assert!(thing.block().attributes()["parts"].nested().is_some());
    let identity = schemas.identity("peer_thing").expect("things have identities");
    assert!(identity.block().attributes()["name"].required);
    assert_eq!(schemas.functions["join"].parameters.len(), 1);
    assert!(schemas.capabilities.plan_destroy);
    end(&provider).await;
}

#[tokio::test]
async fn nested_attributes_exclude_protocol_5() {
    let mut nested = peer_speaking("5");
    nested.env("PEER_NESTED", "1");
    let provider = start(nested, TlsMode::Auto, &Heard::default()).await;
    assert_eq!(provider.protocol(), ProtocolVersion::V6);
    end(&provider).await;
}

#[tokio::test]
async fn import_upgrade_move_and_data_source_calls_work_in_both_protocols() {
    for version in ["5", "6"] {
        check_import_upgrade_move_and_data_source(version).await;
    }
}

async fn check_import_upgrade_move_and_data_source(version: &str) {
    let heard = Heard::default();
    let provider = start(peer_speaking(version), TlsMode::Off, &heard).await;
    let mut seen = Vec::new();
    let identity = Value::object_from([("name", Value::string("by-identity"))]);
    for target in [ImportTarget::Id("by-id".into()), ImportTarget::Identity(identity)] {
        let request = ImportResourceStateRequest { type_name: "peer_thing".into(), target };
        let mut imported = provider.import_resource_state(request).await.imported;
        let one = imported.remove(0);
        assert_eq!(one.private.as_bytes(), b"imported");
        seen.push(format!("{:?} {:?}", one.state.get_attr("name"), one.identity));
    }
    let json = br#"{"id":"1","name":"old","size":null,"tags":null,"secret":"hunter2","password":null,"rule":[]}"#;
    let upgraded = provider
        .upgrade_resource_state(UpgradeResourceStateRequest {
            type_name: "peer_thing".into(),
            version: 2,
            raw_state: RawState::Json(json[..].into()),
        })
        .await;
    // The peer returns the write-only value, which is an error; the value must not be passed on.
    seen.extend(texts(&upgraded.diagnostics));
    seen.push(format!("{:?}", upgraded.state));
    let request = UpgradeResourceIdentityRequest {
        type_name: "peer_thing".into(),
        version: 3,
        raw_identity: br#"{"name":"old"}"#[..].into(),
    };
    let identity = provider.upgrade_resource_identity(request).await;
    assert_eq!(texts(&identity.diagnostics), Vec::<String>::new());
    let name = identity.identity.and_then(|it| it.get_attr("name"));
    assert_eq!(name, Some(Value::string(r#"{"name":"old"} of version 3"#)));
    let moved = provider
        .move_resource_state(MoveResourceStateRequest {
            source_provider_address: "example.com/tests/other".into(),
            source_type_name: "other_thing".into(),
            source_schema_version: 1,
            source_state: RawState::Flatmap([("id".into(), "1".into())].into()),
            source_private: Private::new(*b"kept"),
            source_identity: Some(SourceIdentity {
                json: br#"{"k":1}"#[..].into(),
                schema_version: 4,
            }),
            target_type_name: "peer_thing".into(),
        })
        .await;
    let name = moved.identity.and_then(|it| it.get_attr("name"));
    assert_eq!(name, Some(Value::string(r#"{"k":1} of version 4"#)));
    seen.extend(texts(&moved.diagnostics));
    assert_eq!(moved.private.map(|it| it.as_bytes().to_vec()), Some(b"kept".to_vec()));
    let input = Value::tuple(vec![Value::int(1), Value::string("x"), Value::null(Type::Dynamic)]);
    let config = Value::object_from([("input", input), ("output", Value::null(Type::Dynamic))]);
    let request =
        ReadDataSourceRequest { type_name: "peer_echo".into(), config, provider_meta: None };
    seen.push(format!("{:?}", provider.read_data_source(request).await.state));
    end(&provider).await;
    expect![[r#"
        Some("by-id") Some({"name" = "by-id"})
        Some("by-identity") Some({"name" = "by-identity"})
        Error: Invalid provider response: Resource type "peer_thing" returned an actual value for the write-only attribute ".secret", which must be null in every answer. This is an issue in the provider. The provider example.com/tests/peer returned it in its answer to plugin.(*GRPCProvider).UpgradeResourceState.
        Some({"id" = "1", "name" = "old", "password" = tostring(null), "rule" = toset([]), "secret" = tostring(null), "size" = tonumber(null), "tags" = tomap(null) /* of string */})
        Error: Cannot upgrade: 1 flat keys
        Some({"input" = [1, "x", null], "output" = [1, "x", null]})"#]].assert_eq(&seen.join("\n").replace("plugin6.", "plugin."));
    expect![[r#"["schemas", "import peer_thing", "import peer_thing", "upgrade 2", "move example.com/tests/other other_thing", "read data peer_echo"]"#]].assert_eq(&format!("{:?}", heard.calls()));
}

#[tokio::test]
async fn ephemeral_resources_open_renew_and_close_in_both_protocols() {
    for version in ["5", "6"] {
        check_ephemeral_resource(version).await;
    }
}

async fn check_ephemeral_resource(version: &str) {
    let heard = Heard::default();
    let provider = start(peer_speaking(version), TlsMode::Auto, &heard).await;
    let config =
        Value::object_from([("length", Value::int(6)), ("value", Value::null(Type::String))]);
    let request = OpenEphemeralRequest { type_name: "peer_token".into(), config };
    let opened = provider.open_ephemeral(request).await.opened.expect("opened");
    assert_eq!(
        opened.result.get_attr("value").and_then(|it| it.as_str().map(str::to_owned)).as_deref(),
        Some("t0ken")
    );
    assert_eq!(opened.renew_at, Some(SystemTime::UNIX_EPOCH + Duration::new(1_900_000_000, 500)));
    let type_name = Str::from("peer_token");
    let request = RenewEphemeralRequest { type_name: type_name.clone(), private: opened.private };
    let renewed = provider.renew_ephemeral(request).await;
    assert_eq!(renewed.renew_at, None);
    let request = CloseEphemeralRequest { type_name, private: renewed.private };
    assert!(provider.close_ephemeral(request).await.is_empty());
    end(&provider).await;
    assert_eq!(heard.calls()[1..], ["open peer_token", "renew lease", "close lease2"]);
}

#[tokio::test]
async fn configured_provider_offers_more_functions_in_both_protocols() {
    for version in ["5", "6"] {
        let heard = Heard::default();
        let provider = start(peer_speaking(version), TlsMode::Auto, &heard).await;
        let config = Value::object_from([("prefix", Value::string("p"))]);
        let request = ConfigureRequest { core_version: "1.13.0".into(), config };
        assert_eq!(texts(&provider.configure(request).await), Vec::<String>::new());
        let offered = provider.functions().await.expect("it answers");
        assert_eq!(offered.keys().map(|it| &**it).collect::<Vec<_>>(), ["join", "prefixed"]);
        let arguments = vec![Value::string("-"), Value::string("a")];
        let request = CallFunctionRequest { name: "prefixed".into(), arguments };
        let answer = provider.call_function(request).await;
        assert_eq!(answer.map_err(|it| it.message), Ok(Value::string("p-a")));
        assert_eq!(provider.stop().await, Ok(()));
        end(&provider).await;
        assert_eq!(heard.calls().last().map(String::as_str), Some("stop"));
    }
}

#[tokio::test]
async fn validation_of_data_sources_and_ephemeral_resources_works_in_both_protocols() {
    for version in ["5", "6"] {
        let heard = Heard::default();
        let provider = start(peer_speaking(version), TlsMode::Off, &heard).await;
        let null = Value::null(Type::Dynamic);
        let config = Value::object_from([("input", null.clone()), ("output", null)]);
        let request = ValidateRequest { type_name: "peer_echo".into(), config };
        assert!(provider.validate_data_config(request).await.is_empty());
        let null = Value::null(Type::String);
        let config = Value::object_from([("length", Value::int(1)), ("value", null)]);
        let request = ValidateRequest { type_name: "peer_token".into(), config };
        assert!(provider.validate_ephemeral_config(request).await.is_empty());
        end(&provider).await;
        let calls = heard.calls();
        assert_eq!(calls[1..], ["validate data peer_echo", "validate ephemeral peer_token"]);
    }
}

#[tokio::test]
async fn provider_functions_accept_null_and_name_the_faulty_argument() {
    let provider = start(Command::new(peer()), TlsMode::Off, &Heard::default()).await;
    let call = async |arguments: Vec<Value>| {
        let request = CallFunctionRequest { name: "join".into(), arguments };
        match provider.call_function(request).await {
            Ok(value) => format!("{value:?}"),
            Err(fault) => format!("{:?}: {}", fault.argument, fault.message),
        }
    };
    let text = Value::string;
    assert_eq!(call(vec![text("-"), text("a"), text("b")]).await, "\"a-b\"");
    assert_eq!(call(vec![text("-"), Value::null(Type::String)]).await, "Some(1): a part is null");
    assert_eq!(call(vec![]).await, "None: not enough arguments");
    end(&provider).await;
}

#[tokio::test]
async fn provider_messages_and_events_are_redacted() {
    let heard = Heard::default();
    let provider = start(Command::new(peer()), TlsMode::Off, &heard).await;
    let seen = live(&provider).await;
    end(&provider).await;
    assert!(seen.iter().any(|it| it.contains("Applied: with ***")), "{seen:?}");
    assert!(!format!("{:?}{seen:?}", heard.events()).contains("hunter2"));
}

#[tokio::test]
async fn provider_crash_is_a_diagnostic_and_leaves_no_process() {
    let heard = Heard::default();
    let provider = start(Command::new(peer()), TlsMode::Auto, &heard).await;
    let plan = provider.plan_resource_change(plan_of(no_thing(), thing("crash"))).await;
    assert!(plan.planned_state.is_none());
    assert_eq!(
        texts(&plan.diagnostics),
        ["Error: Plugin did not respond: The provider example.com/tests/peer encountered an \
             error, and failed to respond to the plugin6.(*GRPCProvider).PlanResourceChange call. \
             The plugin logs may contain more details. Its process has ended (exit status: 7)."]
    );
    provider.close().await;
    let ended = heard.events().into_iter().find_map(|it| match it {
        PluginEvent::Exited { status } => status.code(),
        _ => None,
    });
    assert_eq!(ended, Some(7));
}

#[tokio::test]
async fn panic_in_a_provider_call_ends_only_that_call() {
    let provider = start(Command::new(peer()), TlsMode::Off, &Heard::default()).await;
    let plan = provider.plan_resource_change(plan_of(no_thing(), thing("panic"))).await;
    assert_eq!(
        texts(&plan.diagnostics),
        [
            "Error: Plugin error: The provider example.com/tests/peer returned an unexpected error from \
          plugin6.(*GRPCProvider).PlanResourceChange: panic in PlanResourceChange"
        ]
    );
    assert!(
        provider
            .plan_resource_change(plan_of(no_thing(), thing("a")))
            .await
            .planned_state
            .is_some()
    );
    end(&provider).await;
}

#[tokio::test]
async fn known_schemas_are_not_requested_again() {
    let heard = Heard::default();
    let provider = start(Command::new(peer()), TlsMode::Off, &heard).await;
    let schemas = provider.schemas().await.expect("it has schemas");
    end(&provider).await;
    let heard = Heard::default();
    let process = plugin::launch(Command::new(peer()), options(&heard)).await.expect("it starts");
    let provider = GrpcProvider::new(process, Some(schemas));
    assert!(
        provider
            .plan_resource_change(plan_of(no_thing(), thing("a")))
            .await
            .planned_state
            .is_some()
    );
    end(&provider).await;
    // The server itself needs the schemas, so it makes one call.
    assert_eq!(heard.calls(), ["schemas", "plan a"]);
}

#[tokio::test]
async fn dropped_provider_kills_its_process_and_removes_its_socket() {
    let provider = start(Command::new(peer()), TlsMode::Off, &Heard::default()).await;
    let id = provider.process().and_then(|it| it.id()).expect("it runs");
    let socket = std::env::temp_dir().join(format!("plugin{id}"));
    assert!(socket.exists());
    drop(provider);
    assert!(!socket.exists());
    eventually("the process is reaped", || !exists(id)).await;
}

#[test]
fn panic_and_end_of_the_runtime_leave_no_process() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let (sender, receiver) = std::sync::mpsc::channel();
    let task = runtime.spawn(async move {
        let provider = start(Command::new(peer()), TlsMode::Off, &Heard::default()).await;
        sender.send(provider.process().and_then(|it| it.id())).expect("somebody listens");
        panic!("this is what the test does");
    });
    assert!(runtime.block_on(task).is_err());
    let first = receiver.recv().expect("sent").expect("it runs");
    runtime.block_on(eventually("the process is reaped", || !exists(first)));
    let provider = runtime.block_on(start(Command::new(peer()), TlsMode::Off, &Heard::default()));
    let second = provider.process().and_then(|it| it.id()).expect("it runs");
    drop(runtime);
    drop(provider);
    let gone = || {
        std::fs::read_to_string(format!("/proc/{second}/stat"))
            .map_or(true, |it| it.contains(") Z "))
    };
    let begin = std::time::Instant::now();
    while !gone() {
        assert!(begin.elapsed() < Duration::from_secs(5), "process {second} still runs");
    }
}

#[tokio::test]
async fn plugin_ignores_an_interrupt_of_its_process_group() {
    let provider = start(Command::new(peer()), TlsMode::Off, &Heard::default()).await;
    let id = provider.process().and_then(|it| it.id()).and_then(|it| i32::try_from(it).ok());
    let id = id.and_then(rustix::process::Pid::from_raw).expect("it runs");
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("ours to interrupt");
    let plan = provider.plan_resource_change(plan_of(no_thing(), thing("a"))).await;
    assert!(plan.planned_state.is_some());
    end(&provider).await;
}

#[tokio::test]
async fn plugin_ends_after_its_core_is_killed() {
    // The shell acts as the core: it starts the peer as go-plugin does, waits for its handshake, and exits.
    let script = "\"$0\" > \"$1\" & echo $! ; while ! [ -s \"$1\" ]; do sleep 0.01; done";
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(peer())
        .arg(folder.path().join("line"))
        .env(
            "TF_PLUGIN_MAGIC_COOKIE",
            "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
        )
        .stderr(Stdio::null())
        .output()
        .expect("the shell runs");
    let id: u32 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a process id");
    let gone = || {
        std::fs::read_to_string(format!("/proc/{id}/stat")).map_or(true, |it| it.contains(") Z "))
    };
    eventually("the peer ends", gone).await;
}

#[tokio::test]
async fn plugin_ends_when_its_output_pipe_is_closed() {
    // The parent lives on. Only the pipe shows that a core has ended that started the plugin through another
    // process.
    let mut child = Command::new(peer())
        .env(
            "TF_PLUGIN_MAGIC_COOKIE",
            "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2",
        )
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut output = std::io::BufReader::new(child.stdout.take().expect("is piped"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut output, &mut line).expect("it says where it listens");
    assert!(line.starts_with("1|"), "{line}");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(child.try_wait().expect("is ours"), None, "it serves");
    drop(output);
    let mut ended = None;
    eventually("the peer ends", || {
        ended = child.try_wait().expect("is ours");
        ended.is_some()
    })
    .await;
    assert!(ended.is_some_and(|it| it.success()), "in good order: {ended:?}");
}

#[tokio::test]
async fn kill_all_ends_all_plugins_without_destructors() {
    let processes = Processes::default();
    let in_list = |processes: &Processes| LaunchOptions {
        tls: TlsMode::Off,
        processes: processes.clone(),
        ..options(&Heard::default())
    };
    let launched = async |processes| {
        plugin::launch(Command::new(peer()), in_list(processes)).await.expect("it starts")
    };
    let (first, second) = (launched(&processes).await, launched(&processes).await);
    let other = launched(&Processes::default()).await;
    processes.kill_all();
    for process in [first, second] {
        eventually("it is dead", || process.exit_status().is_some()).await;
    }
    assert!(other.exit_status().is_none(), "a list of another session is left alone");
}

#[test]
fn plugin_without_the_cookie_prints_an_explanation() {
    let output =
        Command::new(peer()).env_remove("TF_PLUGIN_MAGIC_COOKIE").output().expect("it runs");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("This binary is a plugin."));
}

#[tokio::test]
async fn reattached_provider_is_used_and_not_ended() {
    let mut child = tokio::process::Command::new(peer())
        .arg("--debug")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let stdout = tokio::io::BufReader::new(child.stdout.take().expect("piped"));
    let line = tokio::io::AsyncBufReadExt::lines(stdout)
        .next_line()
        .await
        .expect("readable")
        .expect("a line");
    let config = line.trim_start_matches("TF_REATTACH_PROVIDERS='").trim_end_matches('\'');
    let (source, reattach) =
        parse_reattach(config).expect("understood").pop_first().expect("one provider");
    assert_eq!(source.to_string(), "example.com/tests/peer");
    let sink = Arc::new(|_: &str, _: PluginEvent| {});
    let redact = Arc::new(|text: &str| text.to_owned());
    for _walk in 0..2 {
        let (sink, redact) = (sink.clone(), redact.clone());
        let provider = GrpcProvider::attach(&reattach, "peer", sink, redact, None).await;
        let provider = provider.unwrap_or_else(|error| panic!("{error}"));
        let plan = provider.plan_resource_change(plan_of(no_thing(), thing("a"))).await;
        assert_eq!(plan.requires_replace, [Path::root().attr("tags").index(Value::string("k"))]);
        provider.close().await;
    }
    assert_eq!(child.try_wait().expect("ours to wait for"), None);
}
