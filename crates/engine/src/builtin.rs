//! The built-in provider `terraform.io/builtin/terraform`, with the resource type `terraform_data` and functions.

pub(crate) mod functions;

use std::sync::{Arc, LazyLock};

use addr::{ProviderSource, ResourceMode};
use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, Attribute, Block, BoxFuture,
    CallFunctionRequest, Capabilities, CloseEphemeralRequest, ConfigureRequest, FunctionFault,
    FunctionSignature, ImportResourceStateRequest, ImportResourceStateResponse, ImportTarget,
    ImportedResource, MoveResourceStateRequest, MoveResourceStateResponse, OpenEphemeralRequest,
    OpenEphemeralResponse, PlanResourceChangeRequest, PlanResourceChangeResponse, Private,
    Provider, ProviderDiagnostic, ProviderSchemas, RawState, ReadDataSourceRequest,
    ReadDataSourceResponse, ReadResourceRequest, ReadResourceResponse, RenewEphemeralRequest,
    RenewEphemeralResponse, Schema, SchemaTypes, StateResponse, UpgradeResourceStateRequest,
    ValidateRequest,
};
use sorted::SortedMap;
use values::{Path, Refinements, Str, Type, Value, ValueMap, json};

const TYPE_NAME: &str = "terraform_data";

/// The resource type of the provider `null` whose objects can become objects of [`TYPE_NAME`].
const NULL_RESOURCE: &str = "null_resource";

static SCHEMAS: LazyLock<Arc<ProviderSchemas>> = LazyLock::new(|| {
    let attributes = [
        ("input", Attribute::optional(Type::Dynamic)),
        ("output", Attribute::computed(Type::Dynamic)),
        ("triggers_replace", Attribute::optional(Type::Dynamic)),
        ("id", Attribute::computed(Type::String)),
    ];
    let attributes = attributes.into_iter().map(|(name, it)| (Str::from(name), it)).collect();
    let data = Arc::new(Schema::new(0, Block::new(attributes, SortedMap::new())));
    let managed = SortedMap::from([(Str::from(TYPE_NAME), data)]);
    let types = SchemaTypes { managed, ..SchemaTypes::default() };
    let provider = Schema::new(0, Block::new(SortedMap::new(), SortedMap::new()));
    let capabilities =
        Capabilities { get_provider_schema_optional: true, ..Capabilities::default() };
    Arc::new(ProviderSchemas::new(provider, types, functions::signatures(), capabilities))
});

/// Returns the source address of the built-in provider.
pub fn source() -> ProviderSource {
    ProviderSource::builtin("terraform")
}

/// Returns the built-in provider with this address; `None` if there is none.
pub fn builtin_provider(address: &ProviderSource) -> Option<Arc<dyn Provider>> {
    (*address == source()).then(|| Arc::new(Terraform::new()) as Arc<dyn Provider>)
}

/// Returns true if the built-in provider accepts every well-typed configuration of a resource of this mode, so
/// that it need not be called for validation.
pub(crate) fn objects_to_nothing(source: &ProviderSource, mode: ResourceMode) -> bool {
    mode == ResourceMode::Managed && *source == self::source()
}

/// Returns the schemas of the built-in provider.
pub fn schemas() -> Arc<ProviderSchemas> {
    Arc::clone(&SCHEMAS)
}

/// The built-in provider.
pub struct Terraform {
    ty: Type,
}

impl Default for Terraform {
    fn default() -> Terraform {
        Terraform::new()
    }
}

impl Terraform {
    /// Creates the provider, which keeps no state between calls.
    pub fn new() -> Terraform {
        let ty = SCHEMAS.managed(TYPE_NAME).map_or(Type::Dynamic, |it| it.implied_type().clone());
        Terraform { ty }
    }

    fn upgrade(&self, raw_state: &RawState) -> StateResponse {
        let failed = |detail: String| StateResponse {
            state: None,

            diagnostics: vec![ProviderDiagnostic::error(
                "Unable to read the stored object",
                detail,
            )],
        };
        match raw_state {
            RawState::Json(text) => match json::decode(text, &self.ty) {
                Ok(state) => StateResponse { state: Some(state), diagnostics: Vec::new() },
                Err(error) => failed(format!(
                    "The stored attributes of {TYPE_NAME} are not as expected: {error}."
                )),
            },
            RawState::Flatmap(_) => {
                failed(format!("{TYPE_NAME} never had attributes in this form."))
            }
        }
    }

    /// Makes an object of a `null_resource`: the id stays, and the triggers become `triggers_replace`.
    fn take_over(&self, request: &MoveResourceStateRequest) -> MoveResourceStateResponse {
        let failed = |detail: String| MoveResourceStateResponse {
            state: None,
            private: None,
            identity: None,
            diagnostics: vec![ProviderDiagnostic::error("Unsupported move", detail)],
        };
        if &*request.source_type_name != NULL_RESOURCE || &*request.target_type_name != TYPE_NAME {
            return failed(format!(
                "An object of {} cannot become one of {}: only a {NULL_RESOURCE} can become a {TYPE_NAME}.",
                request.source_type_name, request.target_type_name
            ));
        }
        let old = match &request.source_state {
            RawState::Json(text) => {
                json::decode(text, &null_resource()).map_err(|it| it.to_string())
            }
            RawState::Flatmap(_) => Err("they are in the form of version 0.11".to_owned()),
        };
        let old = match old {
            Ok(old) => old,
            Err(why) => {
                return failed(format!(
                    "The stored attributes of {NULL_RESOURCE} are not as expected: {why}."
                ));
            }
        };
        let triggers = old.get_attr("triggers").filter(|it| !it.is_null());
        let triggers = triggers.and_then(|it| Some(Value::object(it.as_map()?.clone())));
        let dynamic = || Value::null(Type::Dynamic);
        let attributes = [
            ("id", old.get_attr("id").unwrap_or_else(|| Value::null(Type::String))),
            ("input", dynamic()),
            ("output", dynamic()),
            ("triggers_replace", triggers.unwrap_or_else(dynamic)),
        ];
        let attributes = attributes.map(|(name, value)| (Str::from(name), value));
        MoveResourceStateResponse {
            state: Some(Value::object(attributes.into_iter().collect())),
            private: Some(request.source_private.clone()),
            identity: None,
            diagnostics: Vec::new(),
        }
    }

    fn plan(&self, request: PlanResourceChangeRequest) -> PlanResourceChangeResponse {
        let PlanResourceChangeRequest {
            prior_state: prior,
            proposed_new_state: proposed,
            prior_private,
            ..
        } = request;
        let mut response = PlanResourceChangeResponse {
            planned_state: None,
            requires_replace: Vec::new(),
            planned_private: prior_private,
            planned_identity: None,
            legacy_type_system: false,
            diagnostics: Vec::new(),
        };
        if proposed.is_null() {
            response.planned_state = Some(proposed);
            return response;
        }
        let part =
            |object: &Value, name: &str| object.get_attr(name).unwrap_or_else(Value::dynamic);
        let mut attributes = proposed.as_map().cloned().unwrap_or_default();
        let input = part(&proposed, "input");
        let creates = prior.is_null();
        let triggers = "triggers_replace";
        let replaces = !creates && !same(&part(&prior, triggers), &part(&proposed, triggers));
        if replaces {
            response.requires_replace.push(Path::root().attr(triggers));
        }
        if creates || replaces {
            let id = Value::unknown_with(Type::String, Refinements::non_null());
            set(&mut attributes, "id", id);
        }
        if creates || replaces || !same(&part(&prior, "input"), &input) {
            // OpenTofu plans an unknown output for an update to null.
            let is_null = input.is_null() && (creates || replaces);
            let output = if is_null { input } else { Value::unknown(input.ty()) };
            set(&mut attributes, "output", output);
        }
        response.planned_state = Some(Value::object(attributes));
        response
    }

    fn apply(&self, request: ApplyResourceChangeRequest) -> ApplyResourceChangeResponse {
        let planned = request.planned_state;
        let new_state = if planned.is_null() {
            planned
        } else {
            let mut attributes = planned.as_map().cloned().unwrap_or_default();
            let input = planned.get_attr("input").unwrap_or_else(Value::dynamic);
            set(&mut attributes, "output", input);
            if planned.get_attr("id").is_none_or(|id| id.as_str().is_none()) {
                set(&mut attributes, "id", Value::string(uuid::Uuid::new_v4().to_string()));
            }
            Value::object(attributes)
        };
        ApplyResourceChangeResponse {
            new_state: Some(new_state),
            is_undelivered: false,
            private: request.planned_private,
            new_identity: None,
            legacy_type_system: false,
            diagnostics: Vec::new(),
        }
    }

    fn import(&self, request: ImportResourceStateRequest) -> ImportResourceStateResponse {
        let ImportTarget::Id(id) = request.target else {
            let problem = ProviderDiagnostic::error(
                "Missing import id",
                format!("{TYPE_NAME} is imported by its id."),
            );
            return ImportResourceStateResponse {
                imported: Vec::new(),
                diagnostics: vec![problem],
            };
        };
        let null = || Value::null(Type::Dynamic);
        let state = Value::object_from([
            ("id", Value::string(id)),
            ("input", null()),
            ("output", null()),
            ("triggers_replace", null()),
        ]);
        let object = ImportedResource {
            type_name: request.type_name,
            state,
            private: Private::default(),
            identity: None,
        };
        ImportResourceStateResponse { imported: vec![object], diagnostics: Vec::new() }
    }
}

/// Sets an attribute of an object.
fn set(attributes: &mut ValueMap, name: &str, value: Value) {
    match attributes.get_mut(name) {
        Some(attribute) => *attribute = value,
        None => drop(attributes.insert(Str::from(name), value)),
    }
}

fn same(a: &Value, b: &Value) -> bool {
    a.equals(b).as_bool() == Some(true)
}

/// Returns a future that is ready.
fn ready<'a, T: Send + 'a>(answer: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(answer))
}

/// The type of the stored attributes of a `null_resource`.
fn null_resource() -> Type {
    let triggers = Type::Map(Arc::new(Type::String));
    let attributes = [("id", Type::String), ("triggers", triggers)];
    Type::object(attributes.map(|(name, ty)| (Str::from(name), ty)))
}

/// Returns the diagnostics for a call that the provider does not support.
fn no_such_type(what: &str) -> Vec<ProviderDiagnostic> {
    vec![ProviderDiagnostic::error(
        "Unsupported operation",
        format!("The built-in provider has no {what}."),
    )]
}

impl Provider for Terraform {
    fn schemas(&self) -> BoxFuture<'_, Result<Arc<ProviderSchemas>, Vec<ProviderDiagnostic>>> {
        ready(Ok(schemas()))
    }

    fn functions(
        &self,
    ) -> BoxFuture<'_, Result<SortedMap<Str, FunctionSignature>, Vec<ProviderDiagnostic>>> {
        ready(Ok(SortedMap::new()))
    }

    fn validate_provider_config(&self, _: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        ready(Vec::new())
    }

    fn configure(&self, _: ConfigureRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        ready(Vec::new())
    }

    // The engine does not make this call for managed resources, see `objects_to_nothing`.
    fn validate_resource_config(
        &self,
        _: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        ready(Vec::new())
    }

    fn validate_data_config(&self, _: ValidateRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        ready(no_such_type("data source of this type"))
    }

    fn validate_ephemeral_config(
        &self,
        _: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        ready(no_such_type("ephemeral resource"))
    }

    fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> BoxFuture<'_, StateResponse> {
        ready(self.upgrade(&request.raw_state))
    }

    fn move_resource_state(
        &self,
        request: MoveResourceStateRequest,
    ) -> BoxFuture<'_, MoveResourceStateResponse> {
        ready(self.take_over(&request))
    }

    fn read_resource(&self, request: ReadResourceRequest) -> BoxFuture<'_, ReadResourceResponse> {
        ready(ReadResourceResponse {
            new_state: Some(request.current_state),
            private: request.private,
            identity: request.identity,
            diagnostics: Vec::new(),
        })
    }

    fn plan_resource_change(
        &self,
        request: PlanResourceChangeRequest,
    ) -> BoxFuture<'_, PlanResourceChangeResponse> {
        ready(self.plan(request))
    }

    fn apply_resource_change(
        &self,
        request: ApplyResourceChangeRequest,
    ) -> BoxFuture<'_, ApplyResourceChangeResponse> {
        ready(self.apply(request))
    }

    fn import_resource_state(
        &self,
        request: ImportResourceStateRequest,
    ) -> BoxFuture<'_, ImportResourceStateResponse> {
        ready(self.import(request))
    }

    fn read_data_source(&self, _: ReadDataSourceRequest) -> BoxFuture<'_, ReadDataSourceResponse> {
        ready(ReadDataSourceResponse {
            state: None,
            diagnostics: no_such_type("data source of this type"),
        })
    }

    fn open_ephemeral(&self, _: OpenEphemeralRequest) -> BoxFuture<'_, OpenEphemeralResponse> {
        ready(OpenEphemeralResponse {
            opened: None,
            diagnostics: no_such_type("ephemeral resource"),
        })
    }

    fn renew_ephemeral(
        &self,
        request: RenewEphemeralRequest,
    ) -> BoxFuture<'_, RenewEphemeralResponse> {
        let diagnostics = no_such_type("ephemeral resource");
        ready(RenewEphemeralResponse { renew_at: None, private: request.private, diagnostics })
    }

    fn close_ephemeral(&self, _: CloseEphemeralRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        ready(no_such_type("ephemeral resource"))
    }

    fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> BoxFuture<'_, Result<Value, FunctionFault>> {
        let answer = functions::call(&request.name, &request.arguments);
        ready(answer.map_err(|message| FunctionFault { argument: None, message }))
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), String>> {
        ready(Ok(()))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        ready(())
    }
}
