//! Test doubles: objects whose values a test gives or that are made up, instead of a provider's.
//!
//! ```text
//!   engine ─► provider_for(object) ─┬─► provider                      no double
//!                                   └─► Double ─► validate, upgrade ─► provider
//!                                          └──── read, plan, apply: composed values
//! ```
//!
//! **Invariant:** a double asks its provider only for what changes nothing: to validate a configuration, to upgrade
//! a stored object, to call a function.

mod compose;

use std::sync::Arc;

use addr::{ResourceInstance, ResourceMode, Target};
use hir::{
    item::ProviderConfig,
    test_item::{ConstValues, MockProvider, ObjectOverride},
};
use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, BoxFuture, CallFunctionRequest,
    CloseEphemeralRequest, ConfigureRequest, FunctionFault, FunctionSignature,
    ImportResourceStateRequest, ImportResourceStateResponse, MoveResourceStateRequest,
    MoveResourceStateResponse, OpenEphemeralRequest, OpenEphemeralResponse, OpenedEphemeral,
    PlanResourceChangeRequest, PlanResourceChangeResponse, Private, Provider, ProviderDiagnostic,
    ProviderSchemas, ReadDataSourceRequest, ReadDataSourceResponse, ReadResourceRequest,
    ReadResourceResponse, RenewEphemeralRequest, RenewEphemeralResponse, Schema, StateResponse,
    UpgradeResourceIdentityRequest, UpgradeResourceIdentityResponse, UpgradeResourceStateRequest,
    ValidateRequest,
};
use sorted::SortedMap;
use values::{Str, Value};

use self::compose::Composer;
use crate::{
    graph::{NodeIx, NodeKind, template::Declared},
    resource::subject::Subject,
    schedule::Failed,
    walk::{context::Walk, modules::ModuleRun, outcome::ProviderInstance},
};

impl Walk<'_> {
    /// The mock of a provider configuration; `None` if it is not mocked.
    pub(crate) fn mock_of(
        &self,
        module: &ModuleRun,
        config: &ProviderConfig,
    ) -> Option<&Arc<MockProvider>> {
        let doubles = &self.config.program.doubles;
        if doubles.mocks.is_empty() || module.caller.is_some() {
            return None;
        }
        doubles.mocks.get(&(config.local_name.clone(), config.alias.clone()))
    }

    fn mock_of_node(&self, node: NodeIx) -> Option<Arc<MockProvider>> {
        let NodeKind::Declared { module, local } = self.nodes.kind(node) else { return None };
        let module = self.module(module);
        match &module.template.nodes[local as usize] {
            Declared::Provider(entry) => self.mock_of(&module, entry.provider_config()).cloned(),
            _ => None,
        }
    }

    /// Returns the provider for the calls about one object: its double in a test, or the started provider.
    ///
    /// # Errors
    /// Fails, after a single report, if the provider cannot be started or configured.
    pub(crate) async fn provider_for(
        &self,
        subject: &Subject,
    ) -> Result<Arc<dyn Provider>, Failed> {
        let provider = self.provider(&subject.provider_instance()).await?;
        let Some(values) = self.double_values(subject.provider_node, subject.address()) else {
            return Ok(provider);
        };
        let schema = Arc::clone(&subject.schema);
        Ok(Arc::new(Double { provider, schema, values }))
    }

    /// Returns the provider for the calls about an ephemeral resource: its double in a test, or the started
    /// provider.
    ///
    /// # Errors
    /// Fails, after a single report, if the provider cannot be started or configured.
    pub(crate) async fn ephemeral_provider(
        &self,
        instance: &ProviderInstance,
        address: &ResourceInstance,
    ) -> Result<Arc<dyn Provider>, Failed> {
        let provider = self.provider(instance).await?;
        let values = self.double_values(instance.node, address);
        let schemas = self.schemas(&self.provider_ref(instance.node).source);
        let type_name = address.resource.type_name.as_str();
        let schema = schemas.and_then(|it| it.of_mode(ResourceMode::Ephemeral, type_name));
        Ok(match values.zip(schema) {
            Some((values, schema)) => Arc::new(Double { provider, schema, values }),
            None => provider,
        })
    }

    /// The given values of an object that a test replaces. `None` if the object is real.
    fn double_values(&self, node: NodeIx, address: &ResourceInstance) -> Option<ConstValues> {
        let doubles = &self.config.program.doubles;
        let mock = self.mock_of_node(node);
        let of_object = most_specific(&doubles.overrides, address);
        if mock.is_none() && of_object.is_none() {
            return None;
        }
        let resource = &address.resource;
        let of_type = mock
            .iter()
            .flat_map(|it| &it.objects)
            .find(|it| it.mode == resource.mode && *it.type_name == *resource.type_name.as_str());
        let of_mock = mock.as_ref().and_then(|it| most_specific(&it.overrides, address));
        let values = of_object.or(of_mock).map(|it| &it.values);
        Some(values.or(of_type.map(|it| &it.defaults)).cloned().unwrap_or_default())
    }
}

/// The override with the most instance keys among those that cover an object.
fn most_specific<'o>(
    overrides: &'o [ObjectOverride],
    address: &ResourceInstance,
) -> Option<&'o ObjectOverride> {
    let keys = |target: &Target| {
        let of_module = target.module().steps().iter().filter(|it| !it.key.is_none()).count();
        of_module + usize::from(matches!(target, Target::Instance(_)))
    };
    overrides.iter().filter(|it| it.target.covers(address)).max_by_key(|it| keys(&it.target))
}

/// The double of one object.
struct Double {
    provider: Arc<dyn Provider>,
    schema: Arc<Schema>,
    values: ConstValues,
}

impl Double {
    fn compose(&self, type_name: &Str, config: &Value) -> (Value, Vec<ProviderDiagnostic>) {
        let mut composer = Composer::new(type_name);
        let values = self.values.iter().map(|(name, it)| (name.clone(), it.0.clone())).collect();
        let value = composer.block(self.schema.block(), config, &values);
        (value, composer.finish())
    }

    fn plan(&self, request: PlanResourceChangeRequest) -> PlanResourceChangeResponse {
        let (planned, diagnostics) = match request.config.is_null() {
            true => (request.proposed_new_state, Vec::new()),
            false => {
                let config = compose::without_computed(self.schema.block(), &request.config);
                self.compose(&request.type_name, &config)
            }
        };
        PlanResourceChangeResponse {
            planned_state: Some(planned),
            requires_replace: Vec::new(),
            planned_private: request.prior_private,
            planned_identity: request.prior_identity,
            legacy_type_system: false,
            diagnostics,
        }
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}

impl Provider for Double {
    fn schemas(&self) -> BoxFuture<'_, Result<Arc<ProviderSchemas>, Vec<ProviderDiagnostic>>> {
        self.provider.schemas()
    }

    fn functions(
        &self,
    ) -> BoxFuture<'_, Result<SortedMap<Str, FunctionSignature>, Vec<ProviderDiagnostic>>> {
        self.provider.functions()
    }

    fn validate_provider_config(&self, _: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        ready(Vec::new())
    }

    fn configure(&self, _: ConfigureRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        ready(Vec::new())
    }

    fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        self.provider.validate_resource_config(request)
    }

    fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        self.provider.validate_data_config(request)
    }

    fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        self.provider.validate_ephemeral_config(request)
    }

    fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> BoxFuture<'_, StateResponse> {
        self.provider.upgrade_resource_state(request)
    }

    fn upgrade_resource_identity(
        &self,
        request: UpgradeResourceIdentityRequest,
    ) -> BoxFuture<'_, UpgradeResourceIdentityResponse> {
        self.provider.upgrade_resource_identity(request)
    }

    fn move_resource_state(
        &self,
        request: MoveResourceStateRequest,
    ) -> BoxFuture<'_, MoveResourceStateResponse> {
        self.provider.move_resource_state(request)
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
        ready(ApplyResourceChangeResponse {
            new_state: Some(request.planned_state),
            is_undelivered: false,
            private: request.planned_private,
            new_identity: request.planned_identity,
            legacy_type_system: false,
            diagnostics: Vec::new(),
        })
    }

    fn import_resource_state(
        &self,
        request: ImportResourceStateRequest,
    ) -> BoxFuture<'_, ImportResourceStateResponse> {
        self.provider.import_resource_state(request)
    }

    fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> BoxFuture<'_, ReadDataSourceResponse> {
        let (state, diagnostics) = self.compose(&request.type_name, &request.config);
        ready(ReadDataSourceResponse { state: Some(state), diagnostics })
    }

    fn open_ephemeral(
        &self,
        request: OpenEphemeralRequest,
    ) -> BoxFuture<'_, OpenEphemeralResponse> {
        let (result, diagnostics) = self.compose(&request.type_name, &request.config);
        let opened = OpenedEphemeral { result, renew_at: None, private: Private::default() };
        ready(OpenEphemeralResponse { opened: Some(opened), diagnostics })
    }

    fn renew_ephemeral(
        &self,
        request: RenewEphemeralRequest,
    ) -> BoxFuture<'_, RenewEphemeralResponse> {
        let private = request.private;
        ready(RenewEphemeralResponse { renew_at: None, private, diagnostics: Vec::new() })
    }

    fn close_ephemeral(&self, _: CloseEphemeralRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        ready(Vec::new())
    }

    fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> BoxFuture<'_, Result<Value, FunctionFault>> {
        self.provider.call_function(request)
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), String>> {
        self.provider.stop()
    }

    // The engine closes the provider itself, which other objects use too.
    fn close(&self) -> BoxFuture<'_, ()> {
        ready(())
    }
}
