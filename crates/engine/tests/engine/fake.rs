//! A provider in memory. It records its calls, and tests can make calls fail or change their results.

use std::{
    sync::{Arc, Mutex, OnceLock},
    time::{Duration, SystemTime},
};

use provider::*;
use sorted::SortedMap;
use values::{Path, Step, Str, Type, Value, ValueMap};

/// The state that all processes of the fake provider share.
#[derive(Default)]
pub(crate) struct Shared {
    /// The recorded calls, in order.
    pub(crate) calls: Vec<String>,
    /// Calls that fail, such as `apply a` or `open s`.
    pub(crate) faults: Vec<&'static str>,
    /// The time in seconds after which ephemeral resources must be renewed. May be negative.
    pub(crate) renew_after: Option<i64>,
    /// Changes that end without a response, as if the process had died.
    pub(crate) silent: Vec<&'static str>,
    /// Changes that fail before the provider receives the request.
    pub(crate) undelivered: Vec<&'static str>,
    /// Calls that never return.
    pub(crate) hangs: Vec<&'static str>,
    /// A call that returns after this time.
    pub(crate) slow: Option<(&'static str, Duration)>,
    pub(crate) processes: u32,
    /// The names of objects that no longer exist when they are read.
    pub(crate) gone: Vec<String>,
    /// Invalid results: the call (`plan`, `apply` or `read`), the attribute or `private`, and the text to put
    /// there.
    pub(crate) lies: Vec<(&'static str, &'static str, &'static str)>,
    /// A warning in the response to each apply.
    pub(crate) mutters: &'static str,
    /// The answer to an import of the ID `strange`: `none`, `two`, `null` or `other`.
    pub(crate) strange_import: &'static str,
    pub(crate) open: i64,
    /// The number of calls of any kind, including calls that are not in `calls`.
    pub(crate) asked: u32,
    pub(crate) ids: u32,
}

pub(crate) type SharedRef = Arc<Mutex<Shared>>;

/// A process of the fake provider.
pub(crate) struct Fake {
    serial: u32,
    shared: SharedRef,
    now: SystemTime,
    /// The configured region, if it was known.
    region: OnceLock<String>,
}

impl Fake {
    pub(crate) fn new(shared: SharedRef, now: SystemTime) -> Fake {
        let serial = {
            let mut shared = shared.lock().expect("no test panics with the lock");
            shared.processes += 1;
            shared.processes
        };
        Fake { serial, shared, now, region: OnceLock::new() }
    }

    fn count(&self) {
        self.shared.lock().expect("no test panics with the lock").asked += 1;
    }

    /// Records a call. Fails, blocks or waits if the test has requested that.
    async fn call(&self, what: String) -> Vec<ProviderDiagnostic> {
        let (fails, hangs, slow) = {
            let mut shared = self.shared.lock().expect("no test panics with the lock");
            shared.asked += 1;
            shared.calls.push(format!("#{} {what}", self.serial));
            let named = |list: &[&str]| list.iter().any(|it| what == *it);
            let slow = shared.slow.filter(|(slow, _)| *slow == what);
            (named(&shared.faults), named(&shared.hangs), slow)
        };
        if let Some((_, time)) = slow {
            tokio::time::sleep(time).await;
        }
        if hangs {
            std::future::pending::<()>().await;
        }
        if fails {
            vec![ProviderDiagnostic::error(format!("{what} failed"), "as told")]
        } else {
            Vec::new()
        }
    }

    fn next_id(&self) -> String {
        let mut shared = self.shared.lock().expect("no test panics with the lock");
        shared.ids += 1;
        format!("id{}", shared.ids)
    }

    /// Changes the result of a call as `lies` requests.
    fn twisted(&self, call: &str, object: Value, private: Private) -> (Value, Private) {
        let (mut object, mut private) = (object, private);
        let lies = self.shared.lock().expect("not poisoned").lies.clone();
        for (_, name, text) in lies.into_iter().filter(|(it, ..)| *it == call) {
            if name == "private" {
                private = Private::new(format!("{{\"k\":\"{text}\"}}").into_bytes());
                continue;
            }
            let value = match name {
                "tags" | "notes" => Value::map(
                    Type::String,
                    [(text.into(), Value::from("v"))].into_iter().collect(),
                ),
                _ => Value::string(text),
            };
            object = object.with_part(&Step::Attr(name.into()), |_| value.clone());
        }
        (object, private)
    }

    /// Plans the computed attributes as unknown that an apply will lie about.
    fn plan_lies(&self, planned: &mut ValueMap) {
        let lies = self.shared.lock().expect("not poisoned").lies.clone();
        let computed = [("note", Type::String), ("notes", Type::map(Type::String))];
        for (name, ty) in computed {
            if lies.iter().any(|it| it.0 == "apply" && it.1 == name) {
                planned.insert(Str::from(name), Value::unknown(ty));
            }
        }
    }

    fn renew_at(&self) -> Option<SystemTime> {
        let after = self.shared.lock().expect("no test panics with the lock").renew_after?;
        let seconds = Duration::from_secs(after.unsigned_abs());
        if after < 0 { self.now.checked_sub(seconds) } else { self.now.checked_add(seconds) }
    }
}

fn name_of(value: &Value) -> String {
    value
        .get_attr("name")
        .and_then(|it| it.as_str().map(str::to_owned))
        .unwrap_or_else(|| "?".to_owned())
}

fn attributes(list: Vec<(&str, Attribute)>) -> Block {
    Block::new(list.into_iter().map(|(name, it)| (Str::from(name), it)).collect(), SortedMap::new())
}

fn write_only(ty: Type) -> Attribute {
    Attribute { write_only: true, ..Attribute::optional(ty) }
}

/// Returns the schemas of the fake provider.
pub(crate) fn schemas() -> Arc<ProviderSchemas> {
    let thing = attributes(vec![
        ("id", Attribute::computed(Type::String)),
        ("name", Attribute::required(Type::String)),
        ("zone", Attribute::optional(Type::String)),
        ("size", Attribute::optional_computed(Type::Number)),
        ("tags", Attribute::optional(Type::map(Type::String))),
        ("password", Attribute { sensitive: true, ..Attribute::optional(Type::String) }),
        ("note", Attribute::computed(Type::String)),
        ("notes", Attribute::computed(Type::map(Type::String))),
        ("secret_wo", write_only(Type::String)),
        ("secret_wo_version", Attribute::optional(Type::Number)),
    ]);
    let lookup = attributes(vec![
        ("name", Attribute::required(Type::String)),
        ("result", Attribute::computed(Type::String)),
    ]);
    let secret = attributes(vec![
        ("name", Attribute::required(Type::String)),
        ("value", Attribute::computed(Type::String)),
    ]);
    let provider = attributes(vec![
        ("token", Attribute::optional(Type::String)),
        ("region", Attribute::optional(Type::String)),
    ]);
    let one =
        |name: &str, block| SortedMap::from([(Str::from(name), Arc::new(Schema::new(0, block)))]);
    let types = SchemaTypes {
        managed: one("test_thing", thing),
        data: one("test_lookup", lookup),
        ephemeral: one("test_secret", secret),
        identities: SortedMap::from([(Str::from("test_thing"), Arc::new(identity_schema()))]),
    };
    let capabilities = Capabilities {
        get_provider_schema_optional: true,
        plan_destroy: true,
        ..Capabilities::default()
    };
    Arc::new(ProviderSchemas::new(Schema::new(0, provider), types, functions(), capabilities))
}

fn identity_schema() -> Schema {
    Schema::new(1, attributes(vec![("id", Attribute::required(Type::String))]))
}

fn object_type() -> Type {
    schemas().managed("test_thing").expect("has it").implied_type().clone()
}

/// The object with an ID, as an import returns it. Its name is the ID up to the first slash, its zone the rest.
fn imported_object(id: &str) -> Value {
    let (name, zone) = id.split_once('/').map_or((id, None), |(name, zone)| (name, Some(zone)));
    let text = |it: Option<&str>| it.map_or_else(|| Value::null(Type::String), Value::string);
    let null = |ty: Type| Value::null(ty);
    Value::object_from([
        ("id", Value::string(format!("id-of-{name}"))),
        ("name", Value::string(name)),
        ("zone", text(zone)),
        ("size", Value::int(1)),
        ("tags", null(Type::map(Type::String))),
        ("password", text((name == "secret").then_some("hunter2hunter2"))),
        ("note", null(Type::String)),
        ("notes", null(Type::map(Type::String))),
        ("secret_wo", null(Type::String)),
        ("secret_wo_version", null(Type::Number)),
    ])
}

/// Returns the signatures of `joined` and `failing`, which join their arguments. Both fail for an argument that
/// starts with `bad`; the error of `joined` names the argument. A provider that is configured with a region offers
/// `regional` too, whose result begins with the region.
fn functions() -> SortedMap<Str, FunctionSignature> {
    let text = |name: &str| FunctionParameter {
        name: name.into(),
        ty: Type::String,
        allow_null_value: false,
        allow_unknown_values: false,
        description: Str::default(),
        description_kind: DescriptionKind::Plain,
    };
    let signature = FunctionSignature {
        parameters: vec![text("first")],
        variadic: Some(text("rest")),
        returns: Type::String,
        summary: Str::default(),
        description: Str::default(),
        description_kind: DescriptionKind::Plain,
        deprecation_message: Str::default(),
    };
    SortedMap::from([("joined".into(), signature.clone()), ("failing".into(), signature)])
}

/// Returns the value of an ephemeral resource, which tests search for in all output.
pub(crate) fn secret_value(name: &str) -> String {
    format!("canary-of-{name}")
}

impl Provider for Fake {
    fn schemas(&self) -> BoxFuture<'_, Result<Arc<ProviderSchemas>, Vec<ProviderDiagnostic>>> {
        self.count();
        Box::pin(async { Ok(schemas()) })
    }

    fn functions(
        &self,
    ) -> BoxFuture<'_, Result<SortedMap<Str, FunctionSignature>, Vec<ProviderDiagnostic>>> {
        Box::pin(async {
            if self.shared.lock().expect("not poisoned").faults.contains(&"functions") {
                return Err(vec![ProviderDiagnostic::error("functions failed", "as told")]);
            }
            let mut offered = functions();
            if self.region.get().is_some() {
                let joined = offered["joined"].clone();
                offered.insert("regional".into(), joined);
            }
            Ok(offered)
        })
    }

    fn validate_provider_config(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        self.count();
        let region = config.get_attr("region").filter(Value::is_known);
        let region = region.as_ref().and_then(Value::as_str).unwrap_or_default();
        let detail = format!("There is no region {region}.");
        let invalid = ProviderDiagnostic::error("Invalid region", detail);
        let invalid = invalid.at(Path::default().attr("region"));
        let found = Vec::from_iter(region.starts_with("nowhere").then_some(invalid));
        Box::pin(async move { found })
    }

    fn configure(&self, request: ConfigureRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        if let Some(region) = request.config.get_attr("region").filter(Value::is_known) {
            region.as_str().map(|it| self.region.set(it.to_owned()));
        }
        let shown = |name: &str| match request.config.get_attr(name) {
            Some(it) if !it.is_known() => "unknown".to_owned(),
            Some(it) => it.as_str().map_or_else(|| "null".to_owned(), str::to_owned),
            None => "absent".to_owned(),
        };
        Box::pin(self.call(format!(
            "configure token={} region={}",
            shown("token"),
            shown("region")
        )))
    }

    fn validate_resource_config(
        &self,
        _: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        self.count();
        Box::pin(async { Vec::new() })
    }

    fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        self.count();
        let what = format!("validate data {}", name_of(&request.config));
        let fails = self.shared.lock().expect("not poisoned").faults.iter().any(|it| *it == what);
        let error = || ProviderDiagnostic::error(format!("{what} failed"), "as told");
        let found = fails.then(error).into_iter().collect();
        Box::pin(async { found })
    }

    fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(self.call(format!("validate {}", name_of(&request.config))))
    }

    fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> BoxFuture<'_, StateResponse> {
        self.count();
        let RawState::Json(text) = request.raw_state else { unreachable!("tests store JSON") };
        let ty = schemas().managed("test_thing").expect("has it").implied_type().clone();
        let state = values::json::decode(&text, &ty).expect("stored by tests");
        Box::pin(async move { StateResponse { state: Some(state), diagnostics: Vec::new() } })
    }

    fn upgrade_resource_identity(
        &self,
        request: UpgradeResourceIdentityRequest,
    ) -> BoxFuture<'_, UpgradeResourceIdentityResponse> {
        let text = String::from_utf8_lossy(&request.raw_identity).into_owned();
        Box::pin(async move {
            let diagnostics = self.call(format!("identity {} {text}", request.version)).await;
            let id = text.contains("old").then(|| Value::string("new"));
            let identity = id.map(|id| Value::object_from([("id", id)]));
            UpgradeResourceIdentityResponse { identity, diagnostics }
        })
    }

    /// Makes an object with the name of the source's ID. The new identity has the version and the text of the old one;
    /// the answer to the source `bare` has none.
    fn move_resource_state(
        &self,
        request: MoveResourceStateRequest,
    ) -> BoxFuture<'_, MoveResourceStateResponse> {
        Box::pin(async move {
            let identity = request.source_identity.map_or_else(
                || "none".to_owned(),
                |it| format!("{} {}", it.schema_version, String::from_utf8_lossy(&it.json)),
            );
            let diagnostics = self.call(format!("move identity {identity}")).await;
            let RawState::Json(text) = request.source_state else {
                unreachable!("tests store JSON")
            };
            let ty = Type::object([("id", Type::String)]);
            let id = values::json::decode(&text, &ty).expect("stored by tests");
            let id = id.get_attr("id").and_then(|it| it.as_str().map(str::to_owned));
            let id = id.expect("stored by tests");
            let identity = (id != "bare").then(|| Value::string(format!("was {identity}")));
            MoveResourceStateResponse {
                state: Some(imported_object(&id)),
                private: Some(request.source_private),
                identity: identity.map(|it| Value::object_from([("id", it)])),
                diagnostics,
            }
        })
    }

    fn read_resource(&self, request: ReadResourceRequest) -> BoxFuture<'_, ReadResourceResponse> {
        Box::pin(async move {
            let name = name_of(&request.current_state);
            let diagnostics = self.call(format!("read {name}")).await;
            let gone = self.shared.lock().expect("not poisoned").gone.contains(&name);
            let state =
                if gone { Value::null(request.current_state.ty()) } else { request.current_state };
            let (state, private) = match gone {
                true => (state, request.private),
                false => self.twisted("read", state, request.private),
            };
            let new_state = diagnostics.is_empty().then_some(state);
            ReadResourceResponse { new_state, private, identity: None, diagnostics }
        })
    }

    fn plan_resource_change(
        &self,
        request: PlanResourceChangeRequest,
    ) -> BoxFuture<'_, PlanResourceChangeResponse> {
        Box::pin(async move {
            let proposed = &request.proposed_new_state;
            let prior = &request.prior_state;
            let mut answer = PlanResourceChangeResponse {
                planned_state: None,
                requires_replace: vec![Path::root().attr("zone")],
                planned_private: Private::new(*b"planned"),
                planned_identity: None,
                legacy_type_system: false,
                diagnostics: Vec::new(),
            };
            if proposed.is_null() {
                answer.diagnostics = self.call(format!("plan-destroy {}", name_of(prior))).await;
                answer.planned_state = Some(proposed.clone());
                return answer;
            }
            answer.diagnostics = self.call(format!("plan {}", name_of(proposed))).await;
            let mut planned = proposed.as_map().cloned().expect("an object");
            if prior.is_null() {
                planned.insert(Str::from("id"), Value::unknown(Type::String));
            }
            if planned.get("size").is_none_or(Value::is_null) {
                let size = if prior.is_null() {
                    Value::unknown(Type::Number)
                } else {
                    prior.get_attr("size").expect("has it")
                };
                planned.insert(Str::from("size"), size);
            }
            planned.insert(Str::from("secret_wo"), Value::null(Type::String));
            if prior.is_null() {
                self.plan_lies(&mut planned);
            }
            let planned = Value::object(planned);
            let (planned, private) = self.twisted("plan", planned, answer.planned_private);
            (answer.planned_state, answer.planned_private) = (Some(planned), private);
            answer
        })
    }

    fn apply_resource_change(
        &self,
        request: ApplyResourceChangeRequest,
    ) -> BoxFuture<'_, ApplyResourceChangeResponse> {
        Box::pin(async move {
            let planned = &request.planned_state;
            let answer = |state, diagnostics| ApplyResourceChangeResponse {
                new_state: Some(state),
                is_undelivered: false,
                private: Private::new(*b"applied"),
                new_identity: None,
                legacy_type_system: false,
                diagnostics,
            };
            if planned.is_null() {
                let diagnostics =
                    self.call(format!("destroy {}", name_of(&request.prior_state))).await;
                let left = if diagnostics.is_empty() { planned } else { &request.prior_state };
                return answer(left.clone(), diagnostics);
            }
            let secret =
                request.config.get_attr("secret_wo").and_then(|it| it.as_str().map(str::to_owned));
            let secret = secret.map(|it| format!(" secret={it}")).unwrap_or_default();
            let verb = if request.prior_state.is_null() { "create" } else { "update" };
            let recorded = format!("{verb} {}", name_of(planned));
            let (is_silent, is_undelivered) = {
                let shared = self.shared.lock().expect("not poisoned");
                let is_among = |calls: &[&str]| calls.contains(&&*recorded);
                (is_among(&shared.silent), is_among(&shared.undelivered))
            };
            if is_undelivered {
                let error = ProviderDiagnostic::error("Nobody is there", "as told");
                let answer = answer(Value::null(planned.ty()), vec![error]);
                return ApplyResourceChangeResponse { new_state: None, is_undelivered, ..answer };
            }
            let mut diagnostics = self.call(recorded).await;
            if is_silent {
                let error = ProviderDiagnostic::error("The connection broke", "as told");
                let answer = answer(Value::null(planned.ty()), vec![error]);
                return ApplyResourceChangeResponse { new_state: None, ..answer };
            }
            if !secret.is_empty() {
                diagnostics.extend(self.call(format!("got{secret}")).await);
            }
            let mut state = planned.as_map().cloned().expect("an object");
            if !state.get("id").is_some_and(Value::is_known) {
                state.insert(Str::from("id"), Value::string(self.next_id()));
            }
            if !state.get("size").is_some_and(Value::is_known) {
                state.insert(Str::from("size"), Value::int(1));
            }
            if !diagnostics.is_empty() && request.prior_state.is_null() {
                return answer(Value::null(planned.ty()), diagnostics);
            }
            let mutters = self.shared.lock().expect("not poisoned").mutters;
            if !mutters.is_empty() {
                diagnostics.push(ProviderDiagnostic::warning("Muttering", mutters));
            }
            let answer = answer(Value::object(state), diagnostics);
            let (state, private) =
                self.twisted("apply", answer.new_state.expect("given"), answer.private);
            ApplyResourceChangeResponse { new_state: Some(state), private, ..answer }
        })
    }

    fn import_resource_state(
        &self,
        request: ImportResourceStateRequest,
    ) -> BoxFuture<'_, ImportResourceStateResponse> {
        Box::pin(async move {
            let text = |it: &Value| it.as_str().unwrap_or("?").to_owned();
            let (id, by) = match &request.target {
                ImportTarget::Id(id) => (id.to_string(), "import"),
                ImportTarget::Identity(it) => {
                    (it.get_attr("id").map_or_else(String::new, |it| text(&it)), "import-identity")
                }
            };
            let diagnostics = self.call(format!("{by} {id}")).await;
            let strange = self.shared.lock().expect("not poisoned").strange_import;
            let object = match strange {
                "null" => Value::null(object_type()),
                _ => imported_object(&id),
            };
            let type_name = if strange == "other" { "test_other" } else { "test_thing" };
            let one = ImportedResource {
                type_name: type_name.into(),
                state: object,
                private: Private::new(*b"imported"),
                identity: None,
            };
            let imported = match strange {
                _ if !diagnostics.is_empty() => Vec::new(),
                "none" => Vec::new(),
                "two" => vec![one.clone(), one],
                _ => vec![one],
            };
            ImportResourceStateResponse { imported, diagnostics }
        })
    }

    fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> BoxFuture<'_, ReadDataSourceResponse> {
        Box::pin(async move {
            let name = name_of(&request.config);
            let diagnostics = self.call(format!("lookup {name}")).await;
            let result = Value::string(format!("found-{name}"));
            let state = Value::object_from([("name", Value::string(name)), ("result", result)]);
            ReadDataSourceResponse { state: diagnostics.is_empty().then_some(state), diagnostics }
        })
    }

    fn open_ephemeral(
        &self,
        request: OpenEphemeralRequest,
    ) -> BoxFuture<'_, OpenEphemeralResponse> {
        Box::pin(async move {
            let name = name_of(&request.config);
            let diagnostics = self.call(format!("open {name}")).await;
            if !diagnostics.is_empty() {
                return OpenEphemeralResponse { opened: None, diagnostics };
            }
            self.shared.lock().expect("not poisoned").open += 1;
            let value = match name.as_str() {
                "unknown" => Value::unknown(Type::String),
                _ => Value::string(secret_value(&name)),
            };
            let told =
                if name == "liar" { Value::string("truth") } else { Value::string(name.as_str()) };
            let result = Value::object_from([("name", told), ("value", value)]);
            let private = Private::new(name.into_bytes());
            let opened = OpenedEphemeral { result, renew_at: self.renew_at(), private };
            OpenEphemeralResponse { opened: Some(opened), diagnostics }
        })
    }

    fn renew_ephemeral(
        &self,
        request: RenewEphemeralRequest,
    ) -> BoxFuture<'_, RenewEphemeralResponse> {
        Box::pin(async move {
            let name = String::from_utf8_lossy(request.private.as_bytes()).into_owned();
            let diagnostics = self.call(format!("renew {name}")).await;
            RenewEphemeralResponse {
                renew_at: self.renew_at(),
                private: request.private,
                diagnostics,
            }
        })
    }

    fn close_ephemeral(
        &self,
        request: CloseEphemeralRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async move {
            let name = String::from_utf8_lossy(request.private.as_bytes()).into_owned();
            let diagnostics = self.call(format!("close {name}")).await;
            self.shared.lock().expect("not poisoned").open -= 1;
            diagnostics
        })
    }

    fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> BoxFuture<'_, Result<Value, FunctionFault>> {
        Box::pin(async move {
            let texts = request.arguments.iter().map(|it| it.as_str().unwrap_or("?").to_owned());
            let texts: Vec<String> = texts.collect();
            self.call(format!("{} {}", request.name, texts.join(" "))).await;
            match texts.iter().position(|it| it.starts_with("bad")) {
                Some(position) => Err(FunctionFault {
                    argument: (&*request.name != "failing").then_some(position),
                    message: format!("{} is of no use", texts[position]),
                }),
                None if &*request.name == "regional" => {
                    let region = self.region.get().map_or("?", String::as_str);
                    Ok(Value::string(format!("{region}:{}", texts.join("+"))))
                }
                None => Ok(Value::string(texts.join("+"))),
            }
        })
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async {
            self.call("stop".to_owned()).await;
            Ok(())
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.call("end".to_owned()).await;
        })
    }
}
