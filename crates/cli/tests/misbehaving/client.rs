//! Calls of the real plugin client, without a command.

use std::{
    fmt::Write,
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use plugin::{
    GrpcProvider, GrpcProvisioner, LaunchOptions, PluginEvent, PluginStdin, Processes, Redact,
    launch,
};
use provider::{
    ApplyResourceChangeRequest, CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest,
    ImportResourceStateRequest, ImportTarget, MoveResourceStateRequest, OpenEphemeralRequest,
    PlanResourceChangeRequest, Private, Provider, ProviderDiagnostic, ProvisionRequest,
    Provisioner, RawState, ReadDataSourceRequest, ReadResourceRequest, RenewEphemeralRequest,
    Severity, SourceIdentity, UpgradeResourceIdentityRequest, UpgradeResourceStateRequest,
    ValidateRequest,
};
use values::{Type, Value};

use crate::good::{self, data, empty, thing, token, with};

/// A request of the client to the plugin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ask {
    Schemas,
    ValidateProvider,
    ValidateResource,
    ValidateData,
    ValidateEphemeral,
    Configure,
    Upgrade,
    UpgradeIdentity,
    Move,
    Read,
    Plan,
    Apply,
    Import,
    ReadData,
    Open,
    Renew,
    Close,
    Functions,
    Function,
    Stop,
    /// The calls of a provisioner.
    ProvisionerSchema,
    ValidateProvisioner,
    Provision,
    StopProvisioner,
}

impl Ask {
    pub(crate) const ALL: [Ask; 20] = [
        Ask::Schemas,
        Ask::ValidateProvider,
        Ask::ValidateResource,
        Ask::ValidateData,
        Ask::ValidateEphemeral,
        Ask::Configure,
        Ask::Upgrade,
        Ask::UpgradeIdentity,
        Ask::Move,
        Ask::Read,
        Ask::Plan,
        Ask::Apply,
        Ask::Import,
        Ask::ReadData,
        Ask::Open,
        Ask::Renew,
        Ask::Close,
        Ask::Functions,
        Ask::Function,
        Ask::Stop,
    ];

    pub(crate) const OF_PROVISIONERS: [Ask; 4] =
        [Ask::ProvisionerSchema, Ask::ValidateProvisioner, Ask::Provision, Ask::StopProvisioner];

    /// The name of the RPC in protocol 6. Two calls of provisioners have the names of calls of providers in protocol 5,
    /// and others here.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Ask::Schemas => "GetProviderSchema",
            Ask::ValidateProvider => "ValidateProviderConfig",
            Ask::ValidateResource => "ValidateResourceConfig",
            Ask::ValidateData => "ValidateDataResourceConfig",
            Ask::ValidateEphemeral => "ValidateEphemeralResourceConfig",
            Ask::Configure => "ConfigureProvider",
            Ask::Upgrade => "UpgradeResourceState",
            Ask::UpgradeIdentity => "UpgradeResourceIdentity",
            Ask::Move => "MoveResourceState",
            Ask::Read => "ReadResource",
            Ask::Plan => "PlanResourceChange",
            Ask::Apply => "ApplyResourceChange",
            Ask::Import => "ImportResourceState",
            Ask::ReadData => "ReadDataSource",
            Ask::Open => "OpenEphemeralResource",
            Ask::Renew => "RenewEphemeralResource",
            Ask::Close => "CloseEphemeralResource",
            Ask::Functions => "GetFunctions",
            Ask::Function => "CallFunction",
            Ask::Stop => "StopProvider",
            Ask::ProvisionerSchema => "GetProvisionerSchema",
            Ask::ValidateProvisioner => "ValidateProvisionerConfig",
            Ask::Provision => "ProvisionResource",
            Ask::StopProvisioner => "StopProvisioner",
        }
    }

    /// The name of the RPC in messages of OpenTofu and Mayfly.
    pub(crate) fn named(self) -> &'static str {
        match self {
            Ask::ValidateEphemeral => "ValidateEphemeralConfig",
            Ask::Stop | Ask::StopProvisioner => "Stop",
            Ask::ProvisionerSchema => "GetSchema",
            other => other.method(),
        }
    }
}

/// A redactor that knows one secret.
struct Known;

impl Redact for Known {
    fn redact(&self, text: &str) -> String {
        text.replace("hunter2", "(redacted)")
    }
}

/// Starts the plugin with `command` and sends a request. Returns the result as text.
pub(crate) async fn run(command: Command, ask: Ask, start_timeout: Duration) -> String {
    let sink = Arc::new(|_: &str, _: PluginEvent| {});
    let mut options =
        LaunchOptions::new("example.com/tests/bad", Processes::default(), sink, Arc::new(Known));
    options.stdin = PluginStdin::Null;
    options.start_timeout = start_timeout;
    let process = match launch(command, options).await {
        Ok(process) => process,
        Err(error) => return error.to_string(),
    };
    if Ask::OF_PROVISIONERS.contains(&ask) {
        let provisioner = GrpcProvisioner::new(process);
        let answer = asked_of_provisioner(&provisioner, ask).await;
        provisioner.close().await;
        return answer;
    }
    let provider = GrpcProvider::new(process, None);
    let answer = asked(&provider, ask).await;
    provider.close().await;
    answer
}

async fn asked_of_provisioner(provisioner: &GrpcProvisioner, ask: Ask) -> String {
    let config = empty(&good::provisioner());
    match ask {
        Ask::ProvisionerSchema => match provisioner.schema().await {
            Ok(_) => "(accepted) the schema".to_owned(),
            Err(diagnostics) => said(&diagnostics),
        },
        Ask::ValidateProvisioner => done(&provisioner.validate(config).await),
        Ask::Provision => {
            let connection = Value::null(Type::map(Type::String));
            let printed = Mutex::new(String::new());
            let output = |text: &str| printed.lock().expect("not poisoned").push_str(text);
            let request = ProvisionRequest { config, connection };
            let answer = done(&provisioner.provision(request, &output).await);
            format!("{answer}{}", printed.into_inner().expect("not poisoned"))
        }
        _ => match provisioner.stop().await {
            Ok(()) => "(accepted)".to_owned(),
            Err(text) => text,
        },
    }
}

fn said(diagnostics: &[ProviderDiagnostic]) -> String {
    let mut text = String::new();
    for it in diagnostics {
        let severity = if it.severity == Severity::Error { "Error" } else { "Warning" };
        let place = it.path.as_ref().map(|path| format!(" (at {path})")).unwrap_or_default();
        let _ = writeln!(text, "{severity}: {}: {}{place}", it.summary, it.detail);
    }
    text
}

/// The diagnostics, and the accepted value if there is one.
fn outcome(diagnostics: &[ProviderDiagnostic], value: Option<String>) -> String {
    let accepted = value.map(|it| format!("(accepted) {it}")).unwrap_or_default();
    said(diagnostics) + &accepted
}

/// The diagnostics of a call that answers no value.
fn done(diagnostics: &[ProviderDiagnostic]) -> String {
    let value = diagnostics.is_empty().then(String::new);
    outcome(diagnostics, value)
}

fn validation() -> ValidateRequest {
    ValidateRequest { type_name: "bad_thing".into(), config: empty(&thing()) }
}

fn stored() -> RawState {
    RawState::Json(br#"{"id":"1","name":"new","note":null,"size":null,"secret":null}"#[..].into())
}

async fn asked(provider: &GrpcProvider, ask: Ask) -> String {
    let new = with(&empty(&thing()), &[("name", Value::string("new"))]);
    let nothing = Value::null(thing());
    let token = empty(&token());
    let accepted = |it: Option<Value>| it.map(|value| format!("{value:?}"));
    let done = |diagnostics: Vec<ProviderDiagnostic>| done(&diagnostics);
    match ask {
        Ask::Schemas => match provider.schemas().await {
            Ok(_) => "(accepted) the schemas".to_owned(),
            Err(diagnostics) => said(&diagnostics),
        },
        Ask::ValidateProvider => {
            let config = Value::object_from([("token", Value::null(Type::String))]);
            done(provider.validate_provider_config(config).await)
        }
        Ask::ValidateResource => done(provider.validate_resource_config(validation()).await),
        Ask::ValidateData => {
            let request = ValidateRequest { type_name: "bad_data".into(), config: empty(&data()) };
            done(provider.validate_data_config(request).await)
        }
        Ask::ValidateEphemeral => {
            let request = ValidateRequest { type_name: "bad_token".into(), config: token };
            done(provider.validate_ephemeral_config(request).await)
        }
        Ask::Configure => {
            let config = Value::object_from([("token", Value::null(Type::String))]);
            let request = ConfigureRequest { core_version: "1.12.6".into(), config };
            done(provider.configure(request).await)
        }
        Ask::Upgrade => {
            let request = UpgradeResourceStateRequest {
                type_name: "bad_thing".into(),
                version: 0,
                raw_state: stored(),
            };
            let answer = provider.upgrade_resource_state(request).await;
            outcome(&answer.diagnostics, accepted(answer.state))
        }
        Ask::Move => {
            let request = MoveResourceStateRequest {
                source_provider_address: "example.com/tests/else".into(),
                source_type_name: "else_thing".into(),
                source_schema_version: 0,
                source_state: stored(),
                source_private: Private::default(),
                source_identity: Some(SourceIdentity {
                    json: br#"{"k":"old"}"#[..].into(),
                    schema_version: 1,
                }),
                target_type_name: "bad_thing".into(),
            };
            let answer = provider.move_resource_state(request).await;
            let identity = accepted(answer.identity).unwrap_or_else(|| "no identity".to_owned());
            let state = accepted(answer.state).map(|it| format!("{it}, {identity}"));
            outcome(&answer.diagnostics, state)
        }
        Ask::UpgradeIdentity => {
            let request = UpgradeResourceIdentityRequest {
                type_name: "bad_thing".into(),
                version: 0,
                raw_identity: br#"{"name":"old"}"#[..].into(),
            };
            let answer = provider.upgrade_resource_identity(request).await;
            let identity = accepted(answer.identity);
            let nothing = answer.diagnostics.is_empty().then(|| "no identity".to_owned());
            outcome(&answer.diagnostics, identity.or(nothing))
        }
        Ask::Read => {
            let answer = provider.read_resource(ReadResourceRequest {
                type_name: "bad_thing".into(),
                current_state: new,
                private: Private::default(),
                provider_meta: None,
                identity: None,
            });
            let answer = answer.await;
            outcome(&answer.diagnostics, accepted(answer.new_state))
        }
        Ask::Plan => {
            let answer = provider.plan_resource_change(PlanResourceChangeRequest {
                type_name: "bad_thing".into(),
                prior_state: nothing,
                proposed_new_state: new.clone(),
                config: new,
                prior_private: Private::default(),
                provider_meta: None,
                prior_identity: None,
            });
            let answer = answer.await;
            outcome(&answer.diagnostics, accepted(answer.planned_state))
        }
        Ask::Apply => {
            let answer = provider.apply_resource_change(ApplyResourceChangeRequest {
                type_name: "bad_thing".into(),
                prior_state: nothing,
                planned_state: with(&new, &[("id", Value::unknown(Type::String))]),
                config: new,
                planned_private: Private::default(),
                provider_meta: None,
                planned_identity: None,
            });
            let answer = answer.await;
            outcome(&answer.diagnostics, accepted(answer.new_state))
        }
        Ask::Import => {
            let target = ImportTarget::Id("there".into());
            let request = ImportResourceStateRequest { type_name: "bad_thing".into(), target };
            let answer = provider.import_resource_state(request).await;
            let types = answer.imported.iter().map(|it| it.type_name.to_string());
            outcome(
                &answer.diagnostics,
                Some(types.collect::<Vec<_>>().join(", ")).filter(|it| !it.is_empty()),
            )
        }
        Ask::ReadData => {
            let request = ReadDataSourceRequest {
                type_name: "bad_data".into(),
                config: with(&empty(&data()), &[("name", Value::string("new"))]),
                provider_meta: None,
            };
            let answer = provider.read_data_source(request).await;
            outcome(&answer.diagnostics, accepted(answer.state))
        }
        Ask::Open => {
            let request = OpenEphemeralRequest { type_name: "bad_token".into(), config: token };
            let answer = provider.open_ephemeral(request).await;
            outcome(&answer.diagnostics, answer.opened.map(|_| "a secret".to_owned()))
        }
        Ask::Renew => {
            let request = RenewEphemeralRequest {
                type_name: "bad_token".into(),
                private: Private::new(*b"lease"),
            };
            let answer = provider.renew_ephemeral(request).await;
            done(answer.diagnostics)
        }
        Ask::Close => {
            let request = CloseEphemeralRequest {
                type_name: "bad_token".into(),
                private: Private::new(*b"lease"),
            };
            done(provider.close_ephemeral(request).await)
        }
        Ask::Functions => match provider.functions().await {
            Ok(functions) => {
                format!("(accepted) {}", functions.keys().cloned().collect::<Vec<_>>().join(", "))
            }
            Err(diagnostics) => said(&diagnostics),
        },
        Ask::Function => {
            let request =
                CallFunctionRequest { name: "shout".into(), arguments: vec![Value::string("hey")] };
            match provider.call_function(request).await {
                Ok(value) => format!("(accepted) {value:?}"),
                Err(fault) => format!("argument {:?}: {}", fault.argument, fault.message),
            }
        }
        _ => match provider.stop().await {
            Ok(()) => "(accepted)".to_owned(),
            Err(text) => text,
        },
    }
}
