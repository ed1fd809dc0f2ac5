//! The implementation of [`Provider`] for a definition.

mod ephemeral;
mod managed;
mod reading;
mod upgrade;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, BoxFuture, CallFunctionRequest,
    Capabilities, CloseEphemeralRequest, ConfigureRequest, FunctionFault, FunctionSignature,
    ImportResourceStateRequest, ImportResourceStateResponse, MoveResourceStateRequest,
    MoveResourceStateResponse, OpenEphemeralRequest, OpenEphemeralResponse,
    PlanResourceChangeRequest, PlanResourceChangeResponse, Provider, ProviderDiagnostic,
    ProviderSchemas, ReadDataSourceRequest, ReadDataSourceResponse, ReadResourceRequest,
    ReadResourceResponse, RenewEphemeralRequest, RenewEphemeralResponse, SchemaTypes,
    StateResponse, UpgradeResourceIdentityRequest, UpgradeResourceIdentityResponse,
    UpgradeResourceStateRequest, ValidateRequest,
};
use sorted::{SortedMap, TreeMap};
use values::{Path, Str, Value};

use crate::{
    data::Object,
    definition::{ConfigureCall, Definition, Types},
    diagnostics::{Diagnostic, Diagnostics},
    erased::{DataSource, EphemeralResource, Resource},
    function::Function,
    model::{Model, Unknowns},
    schema::Schema,
    stop::Stopper,
    validation::validate_block,
};

/// The server of a [`Definition`].
pub struct Server<D: Definition> {
    definition: D,
    own: WithSchema<()>,
    resources: TreeMap<&'static str, Managed<D::Client>>,
    data_sources: TreeMap<&'static str, Data<D::Client>>,
    ephemeral_resources: TreeMap<&'static str, Ephemeral<D::Client>>,
    functions: TreeMap<Str, Function>,
    schemas: Arc<ProviderSchemas>,
    /// The types and functions that the definition names twice.
    repeated: Vec<String>,
    problems: OnceLock<Vec<Diagnostic>>,
    /// The client of the last configuration: a provider that is debugged is configured by each run.
    client: RwLock<Option<Arc<D::Client>>>,
    stopper: Stopper,
}

type Managed<C> = WithSchema<Box<dyn Resource<C>>>;
type Data<C> = WithSchema<Box<dyn DataSource<C>>>;
type Ephemeral<C> = WithSchema<Box<dyn EphemeralResource<C>>>;

/// A part of the definition with its schema, both in the SDK's form and in the protocol's.
struct WithSchema<T> {
    of: T,
    written: Schema,
    schema: Arc<provider::Schema>,
}

impl<T> WithSchema<T> {
    fn new(of: T, written: Schema) -> WithSchema<T> {
        let schema = Arc::new(written.to_provider());
        WithSchema { of, written, schema }
    }

    /// The mistakes in the schema.
    fn problems(&self, name: &str) -> Vec<Diagnostic> {
        let problem = |what: String| {
            Diagnostic::error("Invalid Schema", format!("The schema of {name} is wrong: {what}"))
        };
        let mut mistakes = Vec::new();
        self.written.block.mistakes(&Path::root(), &mut mistakes);
        let mistakes = mistakes.into_iter().map(|it| problem(it.detail));
        let problems = self.schema.problems();
        problems.into_iter().map(|it| problem(format!("{it}."))).chain(mistakes).collect()
    }

    /// Validates against the schema first, then calls `more`. A null configuration is valid.
    fn validate(
        &self,
        config: Value,
        more: impl FnOnce(&T, &Object, &mut Diagnostics),
    ) -> Vec<Diagnostic> {
        let mut diagnostics = Diagnostics::default();
        if !config.is_null() {
            validate_block(&self.written.block, &config, &mut diagnostics);
            more(&self.of, &Object::new(config), &mut diagnostics);
        }
        diagnostics.into_vec()
    }
}

impl<D: Definition> Server<D> {
    /// Creates a server. The parts of `definition` are requested only here.
    #[must_use]
    pub fn new(definition: D) -> Server<D> {
        let own = WithSchema::new((), definition.schema());
        let meta = definition.meta_schema().map(|it| Arc::new(it.to_provider()));
        let mut parts = Types::new();
        definition.types(&mut parts);
        let repeated = parts.repeated();
        let resources = index(parts.resources, |it| (it.type_name(), it.schema()));
        let data_sources = index(parts.data_sources, |it| (it.type_name(), it.schema()));
        let ephemeral_resources =
            index(parts.ephemeral_resources, |it| (it.type_name(), it.schema()));
        let functions: TreeMap<_, _> =
            parts.functions.into_iter().map(|it| (it.name.clone(), it)).collect();
        let types = SchemaTypes {
            managed: schemas_of(&resources),
            data: schemas_of(&data_sources),
            ephemeral: schemas_of(&ephemeral_resources),
            identities: resources
                .iter()
                .filter_map(|(name, it)| Some((Str::from(*name), identity_of(it)?)))
                .collect(),
        };
        let capabilities = Capabilities {
            plan_destroy: true,
            get_provider_schema_optional: true,
            move_resource_state: true,
        };
        let signatures = signatures(functions.values());
        let mut schemas =
            ProviderSchemas::new((*own.schema).clone(), types, signatures, capabilities);
        schemas.provider_meta = meta;
        Server {
            definition,
            own,
            resources,
            data_sources,
            ephemeral_resources,
            functions,
            schemas: Arc::new(schemas),
            repeated,
            problems: OnceLock::new(),
            client: RwLock::new(None),
            stopper: Stopper::new(),
        }
    }

    /// The definition that is served.
    #[must_use]
    pub fn definition(&self) -> &D {
        &self.definition
    }

    /// The client. `None` until the provider is configured.
    #[must_use]
    pub fn client(&self) -> Option<Arc<D::Client>> {
        self.client.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The problems that make a schema unusable. The first call, which requests the schemas, reports them to the
    /// provider's author.
    fn schema_problems(&self) -> Vec<Diagnostic> {
        let managed = self.resources.iter().map(|(name, it)| it.problems(name));
        let data = self.data_sources.iter().map(|(name, it)| it.problems(name));
        let ephemeral = self.ephemeral_resources.iter().map(|(name, it)| it.problems(name));
        let all = managed.chain(data).chain(ephemeral).chain([self.own.problems("provider")]);
        let repeated = self.repeated.iter().map(|it| {
            Diagnostic::error("Repeated Name", format!("The provider has more than one {it}."))
        });
        let functions = self.functions.values().filter_map(|it| {
            let detail = format!("The function {} is wrong: {}.", it.name, it.problem()?);
            Some(Diagnostic::error("Invalid Function", detail))
        });
        all.flatten().chain(functions).chain(repeated).collect()
    }

    fn configured(&self) -> Result<Arc<D::Client>, Diagnostic> {
        let detail = "The provider was asked before it was configured. This is a bug in the calling program.";
        self.client().ok_or_else(|| Diagnostic::error("Provider Not Configured", detail))
    }

    fn unknown_type(&self, what: &str, type_name: &str) -> Diagnostic {
        let detail = format!(
            "The provider {} has no {what} type named {type_name:?}.",
            self.definition.source()
        );
        Diagnostic::error("Unknown Type", detail)
    }

    fn resource(&self, type_name: &str) -> Result<&Managed<D::Client>, Diagnostic> {
        self.resources.get(type_name).ok_or_else(|| self.unknown_type("resource", type_name))
    }

    fn ephemeral(&self, type_name: &str) -> Result<&Ephemeral<D::Client>, Diagnostic> {
        let unknown = || self.unknown_type("ephemeral resource", type_name);
        self.ephemeral_resources.get(type_name).ok_or_else(unknown)
    }

    fn data_source(&self, type_name: &str) -> Result<&Data<D::Client>, Diagnostic> {
        self.data_sources.get(type_name).ok_or_else(|| self.unknown_type("data source", type_name))
    }

    async fn configure_once(&self, request: ConfigureRequest) -> Vec<Diagnostic> {
        let mut call = ConfigureCall {
            core_version: request.core_version,
            diagnostics: Diagnostics::default(),
        };
        let config = Object::new(request.config);
        let client = match D::Config::decode(&config, Unknowns::Refused) {
            Ok(config) => self.definition.configure(config, &mut call).await,
            Err(diagnostic) => Err(diagnostic),
        };
        match client {
            Ok(client) => {
                let mut configured = self.client.write().unwrap_or_else(PoisonError::into_inner);
                *configured = Some(Arc::new(client));
            }
            Err(diagnostic) => call.diagnostics.push(diagnostic),
        }
        call.diagnostics.into_vec()
    }

    /// The functions that the configuration adds to those of the schema. Empty before the provider is configured.
    fn configured_functions(&self) -> Vec<Function> {
        let client = self.client();
        client.map(|it| self.definition.configured_functions(&it)).unwrap_or_default()
    }

    fn call_function_of(&self, request: &CallFunctionRequest) -> Result<Value, FunctionFault> {
        if let Some(function) = self.functions.get(&request.name) {
            return function.call(&request.arguments);
        }
        let configured = self.configured_functions();
        match configured.iter().find(|it| it.name == request.name) {
            Some(function) => function.call(&request.arguments),
            None => Err(FunctionFault {
                argument: None,
                message: format!("there is no function {:?}", request.name),
            }),
        }
    }
}

fn signatures<'a>(
    functions: impl IntoIterator<Item = &'a Function>,
) -> SortedMap<Str, FunctionSignature> {
    functions.into_iter().map(|it| (it.name.clone(), it.signature.clone())).collect()
}

fn index<T>(
    all: Vec<T>,
    describe: impl Fn(&T) -> (&'static str, Schema),
) -> TreeMap<&'static str, WithSchema<T>> {
    let entry = |it: T| {
        let (name, schema) = describe(&it);
        (name, WithSchema::new(it, schema))
    };
    all.into_iter().map(entry).collect()
}

fn schemas_of<T>(
    all: &TreeMap<&'static str, WithSchema<T>>,
) -> SortedMap<Str, Arc<provider::Schema>> {
    all.iter().map(|(name, it)| (Str::from(*name), it.schema.clone())).collect()
}

fn identity_of<C>(resource: &Managed<C>) -> Option<Arc<provider::Schema>> {
    Some(Arc::new(resource.of.identity_schema()?.to_provider()))
}

impl<D: Definition> Provider for Server<D> {
    fn schemas(&self) -> BoxFuture<'_, Result<Arc<ProviderSchemas>, Vec<ProviderDiagnostic>>> {
        Box::pin(async {
            let problems = self.problems.get_or_init(|| self.schema_problems());
            if problems.is_empty() { Ok(self.schemas.clone()) } else { Err(problems.clone()) }
        })
    }

    fn functions(
        &self,
    ) -> BoxFuture<'_, Result<SortedMap<Str, FunctionSignature>, Vec<ProviderDiagnostic>>> {
        Box::pin(async {
            let mut offered = signatures(&self.configured_functions());
            offered.extend(signatures(self.functions.values()));
            Ok(offered)
        })
    }

    fn validate_provider_config(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async {
            self.own.validate(config, |(), config, diagnostics| {
                self.definition.validate(config, diagnostics)
            })
        })
    }

    fn configure(&self, request: ConfigureRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(self.configure_once(request))
    }

    fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async move {
            match self.resource(&request.type_name) {
                Ok(it) => it.validate(request.config, |it, config, said| it.validate(config, said)),
                Err(diagnostic) => vec![diagnostic],
            }
        })
    }

    fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async move {
            match self.data_source(&request.type_name) {
                Ok(it) => it.validate(request.config, |it, config, said| it.validate(config, said)),
                Err(diagnostic) => vec![diagnostic],
            }
        })
    }

    fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(async move {
            match self.ephemeral(&request.type_name) {
                Ok(it) => it.validate(request.config, |it, config, said| it.validate(config, said)),
                Err(diagnostic) => vec![diagnostic],
            }
        })
    }

    fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> BoxFuture<'_, StateResponse> {
        Box::pin(async move { self.upgraded(&request) })
    }

    fn upgrade_resource_identity(
        &self,
        request: UpgradeResourceIdentityRequest,
    ) -> BoxFuture<'_, UpgradeResourceIdentityResponse> {
        Box::pin(async move { self.upgraded_identity(&request) })
    }

    fn move_resource_state(
        &self,
        request: MoveResourceStateRequest,
    ) -> BoxFuture<'_, MoveResourceStateResponse> {
        Box::pin(async move { self.taken_over(&request) })
    }

    fn read_resource(&self, request: ReadResourceRequest) -> BoxFuture<'_, ReadResourceResponse> {
        Box::pin(self.refresh(request))
    }

    fn plan_resource_change(
        &self,
        request: PlanResourceChangeRequest,
    ) -> BoxFuture<'_, PlanResourceChangeResponse> {
        Box::pin(self.plan(request))
    }

    fn apply_resource_change(
        &self,
        request: ApplyResourceChangeRequest,
    ) -> BoxFuture<'_, ApplyResourceChangeResponse> {
        Box::pin(self.apply(request))
    }

    fn import_resource_state(
        &self,
        request: ImportResourceStateRequest,
    ) -> BoxFuture<'_, ImportResourceStateResponse> {
        Box::pin(self.import(request))
    }

    fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> BoxFuture<'_, ReadDataSourceResponse> {
        Box::pin(self.read_data(request))
    }

    fn open_ephemeral(
        &self,
        request: OpenEphemeralRequest,
    ) -> BoxFuture<'_, OpenEphemeralResponse> {
        Box::pin(self.open(request))
    }

    fn renew_ephemeral(
        &self,
        request: RenewEphemeralRequest,
    ) -> BoxFuture<'_, RenewEphemeralResponse> {
        Box::pin(self.renew(request))
    }

    fn close_ephemeral(
        &self,
        request: CloseEphemeralRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        Box::pin(self.close_opened(request))
    }

    fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> BoxFuture<'_, Result<Value, FunctionFault>> {
        Box::pin(async move { self.call_function_of(&request) })
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async {
            self.stopper.fire();
            Ok(())
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { self.stopper.fire() })
    }
}
