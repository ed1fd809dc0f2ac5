//! A small provider for the tests of this crate, served as a plugin.
//!
//! Every call writes one line to its log, so that tests can count the calls that reached the plugin. Two resource
//! names provoke faults: planning a thing called `crash` ends the process, and planning one called `panic` panics.

use std::{
    ffi::OsString,
    process::ExitCode,
    sync::{Arc, OnceLock},
    time::{Duration, SystemTime},
};

use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, Attribute, AttributeType, Block,
    BoxFuture, CallFunctionRequest, Capabilities, CloseEphemeralRequest, ConfigureRequest,
    FunctionFault, FunctionParameter, FunctionSignature, ImportResourceStateRequest,
    ImportResourceStateResponse, ImportTarget, ImportedResource, MoveResourceStateRequest,
    MoveResourceStateResponse, NestedBlock, NestedObject, Nesting, ObjectNesting,
    OpenEphemeralRequest, OpenEphemeralResponse, OpenedEphemeral, PlanResourceChangeRequest,
    PlanResourceChangeResponse, Private, Provider, ProviderDiagnostic, ProviderSchemas, RawState,
    ReadDataSourceRequest, ReadDataSourceResponse, ReadResourceRequest, ReadResourceResponse,
    RenewEphemeralRequest, RenewEphemeralResponse, Schema, SchemaTypes, StateResponse,
    UpgradeResourceIdentityRequest, UpgradeResourceIdentityResponse, UpgradeResourceStateRequest,
    ValidateRequest,
};
use sorted::SortedMap;
use values::{Path, Str, Type, Value, json};

fn main() -> ExitCode {
    // The tests also start it as the launcher of a sandbox.
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let arguments = match plugin::hidden_mode(&arguments) {
        plugin::HiddenMode::Done(code) => return code,
        plugin::HiddenMode::Run(arguments) => arguments,
        plugin::HiddenMode::None => arguments,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let provider = Arc::new(Peer { schemas: Arc::new(schemas()), prefix: OnceLock::new() });
    let is_debugged = arguments.get(1).is_some_and(|it| it == "--debug");
    let served = match (runtime, is_debugged) {
        (Ok(runtime), true) => {
            runtime.block_on(plugin::serve_debug(provider, "example.com/tests/peer"))
        }
        (Ok(runtime), _) => runtime.block_on(plugin::serve(provider)),
        (Err(error), _) => return fail(&error.to_string()),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string()),
    }
}

#[expect(clippy::print_stderr, reason = "what is wrong with the start of a plugin is for people")]
fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}

/// Writes one log line in hclog's JSON format.
#[expect(clippy::print_stderr, reason = "stderr is a plugin's log")]
fn log(call: &str, detail: &str) {
    eprintln!(
        "{}",
        serde_json::json!({"@level": "info", "@message": call, "@module": "peer", "detail": detail})
    );
}

struct Peer {
    schemas: Arc<ProviderSchemas>,
    /// The configured prefix. With one, the provider offers the function `prefixed`.
    prefix: OnceLock<String>,
}

fn block(attributes: Vec<(&str, Attribute)>) -> Block {
    let attributes = attributes.into_iter().map(|(name, it)| (Str::from(name), it)).collect();
    Block::new(attributes, SortedMap::new())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the environment is how a test speaks to this process"
)]
fn thing() -> Schema {
    let mut attributes: SortedMap<Str, Attribute> = [
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::required(Type::String)),
        ("size", Attribute::optional(Type::Number)),
        ("tags", Attribute::optional(Type::map(Type::String))),
        ("secret", Attribute { write_only: true, ..Attribute::optional(Type::String) }),
        ("password", Attribute { sensitive: true, ..Attribute::optional_computed(Type::String) }),
    ]
    .map(|(name, it)| (name.into(), it))
    .into();
    if std::env::var_os("PEER_NESTED").is_some() {
        let parts = [("label".into(), Attribute::required(Type::String))].into();
        let parts = AttributeType::Nested(NestedObject::new(ObjectNesting::List, parts));
        attributes.insert("parts".into(), Attribute { optional: true, ..Attribute::new(parts) });
    }
    let rule =
        NestedBlock::new(Nesting::Set, block(vec![("port", Attribute::required(Type::Number))]));
    Schema::new(3, Block::new(attributes, [("rule".into(), rule)].into()))
}

fn schemas() -> ProviderSchemas {
    let token = block(vec![
        ("length", Attribute::required(Type::Number)),
        ("value", Attribute { sensitive: true, ..Attribute::computed(Type::String) }),
    ]);
    let echo = block(vec![
        ("input", Attribute::required(Type::Dynamic)),
        ("output", Attribute::computed(Type::Dynamic)),
    ]);
    let identity = block(vec![("name", Attribute::required(Type::String))]);
    let types = SchemaTypes {
        managed: [("peer_thing".into(), Arc::new(thing()))].into(),
        data: [("peer_echo".into(), Arc::new(Schema::new(0, echo)))].into(),
        ephemeral: [("peer_token".into(), Arc::new(Schema::new(0, token)))].into(),
        identities: [("peer_thing".into(), Arc::new(Schema::new(1, identity)))].into(),
    };
    let provider = Schema::new(0, block(vec![("prefix", Attribute::optional(Type::String))]));
    let capabilities = Capabilities {
        plan_destroy: true,
        get_provider_schema_optional: true,
        move_resource_state: true,
    };
    ProviderSchemas::new(provider, types, functions(), capabilities)
}

fn functions() -> SortedMap<Str, FunctionSignature> {
    let parameter = |name: &str| FunctionParameter {
        name: name.into(),
        ty: Type::String,
        allow_null_value: true,
        allow_unknown_values: false,
        description: "A text.".into(),
        description_kind: Default::default(),
    };
    let join = FunctionSignature {
        parameters: vec![parameter("separator")],
        variadic: Some(parameter("parts")),
        returns: Type::String,
        summary: "Joins texts".into(),
        description: "Joins texts.".into(),
        description_kind: Default::default(),
        deprecation_message: "".into(),
    };
    [("join".into(), join)].into()
}

/// Returns `value` with some attributes replaced.
fn with(value: &Value, changes: &[(&str, Value)]) -> Value {
    let mut attributes = value.as_map().cloned().unwrap_or_default();
    attributes.extend(changes.iter().map(|(name, value)| (Str::from(*name), value.clone())));
    Value::object(attributes)
}

fn text(value: &Value, name: &str) -> String {
    value.get_attr(name).and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default()
}

fn done<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(async { value })
}

impl Peer {
    fn stored(&self, state: &RawState) -> StateResponse {
        let schema = self.schemas.managed("peer_thing").expect("it is in schemas()");
        let failed = |text: String| StateResponse {
            state: None,

            diagnostics: vec![ProviderDiagnostic::error("Cannot upgrade", text)],
        };
        match state {
            RawState::Json(text) => match json::decode(text, schema.implied_type()) {
                Ok(state) => StateResponse { state: Some(state), diagnostics: Vec::new() },
                Err(error) => failed(error.to_string()),
            },
            RawState::Flatmap(map) => failed(format!("{} flat keys", map.len())),
        }
    }

    fn name_identity(state: &Value) -> Option<Value> {
        (!state.is_null())
            .then(|| Value::object_from([("name", Value::string(text(state, "name")))]))
    }
}

impl Provider for Peer {
    fn schemas(&self) -> BoxFuture<'_, Result<Arc<ProviderSchemas>, Vec<ProviderDiagnostic>>> {
        log("schemas", "");
        done(Ok(Arc::clone(&self.schemas)))
    }

    fn functions(
        &self,
    ) -> BoxFuture<'_, Result<SortedMap<Str, FunctionSignature>, Vec<ProviderDiagnostic>>> {
        log("functions", "");
        let mut offered = self.schemas.functions.clone();
        if self.prefix.get().is_some() {
            let join = offered["join"].clone();
            offered.insert("prefixed".into(), join);
        }
        done(Ok(offered))
    }

    fn validate_provider_config(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        log("validate provider", &text(&config, "prefix"));
        done(Vec::new())
    }

    fn configure(&self, request: ConfigureRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        let prefix = text(&request.config, "prefix");
        log("configure", &format!("{} {prefix}", request.core_version));
        if !prefix.is_empty() {
            // A second configuration of one process is not tested.
            let _ = self.prefix.set(prefix);
        }
        done(Vec::new())
    }

    fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        log("validate", &request.type_name);
        let name = text(&request.config, "name");
        let path = Path::root().attr("name");
        done(match name.as_str() {
            "bad" => vec![
                ProviderDiagnostic::error("Bad name", format!("The name {name:?} is bad."))
                    .at(path),
            ],
            _ => vec![ProviderDiagnostic::warning("Odd name", "").at(path)],
        })
    }

    fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        log("validate data", &request.type_name);
        done(Vec::new())
    }

    fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        log("validate ephemeral", &request.type_name);
        done(Vec::new())
    }

    fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> BoxFuture<'_, StateResponse> {
        log("upgrade", &request.version.to_string());
        done(self.stored(&request.raw_state))
    }

    fn upgrade_resource_identity(
        &self,
        request: UpgradeResourceIdentityRequest,
    ) -> BoxFuture<'_, UpgradeResourceIdentityResponse> {
        let text = String::from_utf8_lossy(&request.raw_identity).into_owned();
        let name = format!("{text} of version {}", request.version);
        let identity = Value::object_from([("name", Value::string(name))]);
        done(UpgradeResourceIdentityResponse { identity: Some(identity), diagnostics: Vec::new() })
    }

    fn move_resource_state(
        &self,
        request: MoveResourceStateRequest,
    ) -> BoxFuture<'_, MoveResourceStateResponse> {
        log("move", &format!("{} {}", request.source_provider_address, request.source_type_name));
        let identity = request.source_identity.map(|it| {
            let text = String::from_utf8_lossy(&it.json).into_owned();
            let name = format!("{text} of version {}", it.schema_version);
            Value::object_from([("name", Value::string(name))])
        });
        let StateResponse { state, diagnostics } = self.stored(&request.source_state);
        let private = Some(request.source_private);
        done(MoveResourceStateResponse { state, private, identity, diagnostics })
    }

    fn read_resource(&self, request: ReadResourceRequest) -> BoxFuture<'_, ReadResourceResponse> {
        log("read", &String::from_utf8_lossy(request.private.as_bytes()));
        let gone = text(&request.current_state, "name") == "gone";
        let null = Value::null(request.current_state.ty());
        done(ReadResourceResponse {
            new_state: Some(if gone { null } else { request.current_state }),
            private: request.private,
            identity: request.identity,
            diagnostics: Vec::new(),
        })
    }

    fn plan_resource_change(
        &self,
        request: PlanResourceChangeRequest,
    ) -> BoxFuture<'_, PlanResourceChangeResponse> {
        log("plan", &text(&request.config, "name"));
        match text(&request.config, "name").as_str() {
            "crash" => std::process::exit(7),
            "panic" => panic!("this is what the test asks for"),
            _ => {}
        }
        let create = request.prior_state.is_null() && !request.proposed_new_state.is_null();
        let unknown =
            [("id", Value::unknown(Type::String)), ("password", Value::unknown(Type::String))];
        let nothing = [("secret", Value::null(Type::String))];
        let planned = match (create, request.proposed_new_state.is_null()) {
            (_, true) => request.proposed_new_state,
            (true, _) => with(&with(&request.proposed_new_state, &unknown), &nothing),
            (false, _) => with(&request.proposed_new_state, &nothing),
        };
        done(PlanResourceChangeResponse {
            planned_identity: Self::name_identity(&planned),
            planned_state: Some(planned),
            requires_replace: vec![Path::root().attr("tags").index(Value::string("k"))],
            planned_private: Private::new(*b"{\"p\":1}"),
            legacy_type_system: false,
            diagnostics: Vec::new(),
        })
    }

    fn apply_resource_change(
        &self,
        request: ApplyResourceChangeRequest,
    ) -> BoxFuture<'_, ApplyResourceChangeResponse> {
        let secret = text(&request.config, "secret");
        log(
            "apply",
            &format!("{} {secret}", String::from_utf8_lossy(request.planned_private.as_bytes())),
        );
        let name = text(&request.planned_state, "name");
        let made =
            [("id", Value::string(format!("id-{name}"))), ("password", Value::string("made"))];
        let state = match request.planned_state.is_null() {
            true => request.planned_state,
            false => with(&request.planned_state, &made),
        };
        done(ApplyResourceChangeResponse {
            new_identity: Self::name_identity(&state),
            new_state: Some(state),
            is_undelivered: false,
            private: request.planned_private,
            legacy_type_system: false,
            diagnostics: vec![ProviderDiagnostic::warning("Applied", format!("with {secret}"))],
        })
    }

    fn import_resource_state(
        &self,
        request: ImportResourceStateRequest,
    ) -> BoxFuture<'_, ImportResourceStateResponse> {
        log("import", &request.type_name);
        let schema = self.schemas.managed("peer_thing").expect("it is in schemas()");
        let name = match request.target {
            ImportTarget::Id(id) => Value::string(id),
            ImportTarget::Identity(identity) => {
                identity.get_attr("name").unwrap_or_else(Value::dynamic)
            }
        };
        let state = with(&schema.block().empty_value(), &[("name", name)]);
        let imported = ImportedResource {
            type_name: request.type_name,
            identity: Self::name_identity(&state),
            state,
            private: Private::new(*b"imported"),
        };
        done(ImportResourceStateResponse { imported: vec![imported], diagnostics: Vec::new() })
    }

    fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> BoxFuture<'_, ReadDataSourceResponse> {
        log("read data", &request.type_name);
        let input = request.config.get_attr("input").unwrap_or_else(Value::dynamic);
        let state = with(&request.config, &[("output", input)]);
        done(ReadDataSourceResponse { state: Some(state), diagnostics: Vec::new() })
    }

    fn open_ephemeral(
        &self,
        request: OpenEphemeralRequest,
    ) -> BoxFuture<'_, OpenEphemeralResponse> {
        log("open", &request.type_name);
        let opened = OpenedEphemeral {
            result: with(&request.config, &[("value", Value::string("t0ken"))]),
            renew_at: Some(SystemTime::UNIX_EPOCH + Duration::new(1_900_000_000, 500)),
            private: Private::new(*b"lease"),
        };
        done(OpenEphemeralResponse { opened: Some(opened), diagnostics: Vec::new() })
    }

    fn renew_ephemeral(
        &self,
        request: RenewEphemeralRequest,
    ) -> BoxFuture<'_, RenewEphemeralResponse> {
        log("renew", &String::from_utf8_lossy(request.private.as_bytes()));
        done(RenewEphemeralResponse {
            renew_at: None,
            private: Private::new(*b"lease2"),
            diagnostics: Vec::new(),
        })
    }

    fn close_ephemeral(
        &self,
        request: CloseEphemeralRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        log("close", &String::from_utf8_lossy(request.private.as_bytes()));
        done(Vec::new())
    }

    fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> BoxFuture<'_, Result<Value, FunctionFault>> {
        log("call", &request.name);
        let mut texts = request.arguments.iter().map(Value::as_str);
        let separator = texts.next().flatten().unwrap_or_default();
        let parts: Option<Vec<&str>> = texts.collect();
        done(match parts {
            Some(parts) if &*request.name == "prefixed" => {
                let prefix = self.prefix.get().map_or("", String::as_str);
                Ok(Value::string(format!("{prefix}{separator}{}", parts.join(separator))))
            }
            Some(parts) => Ok(Value::string(parts.join(separator))),
            None => Err(FunctionFault { argument: Some(1), message: "a part is null".to_owned() }),
        })
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), String>> {
        log("stop", "");
        done(Ok(()))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        done(())
    }
}
