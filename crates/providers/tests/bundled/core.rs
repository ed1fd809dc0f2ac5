//! A miniature core: it plans and applies like a real one, and checks every answer by the rules of a core.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use mayfly_sdk::Secret;
use plugin::{GrpcProvider, LaunchOptions, PluginEvent, Processes, launch};
use provider::{
    ApplyResourceChangeRequest, ApplyResourceChangeResponse, Block, CloseEphemeralRequest,
    ConfigureRequest, OpenEphemeralRequest, OpenEphemeralResponse, PlanResourceChangeRequest,
    PlanResourceChangeResponse, Private, Provider, ProviderDiagnostic, ProviderSchemas,
    ReadDataSourceRequest, ReadDataSourceResponse, ReadResourceRequest, RenewEphemeralRequest,
    RenewEphemeralResponse, Schema, ValidateRequest,
    objchange::{object_compatible, plan_valid, proposed_new},
    write_only_values_present,
};
use providers::playground::{
    self,
    store::{Entry, Ledger, Store},
};
use serde_json::Value as Json;
use tempfile::TempDir;
use values::{Value, json};

/// A configured provider with its own directory, which is the store of the playground or the place of files.
pub(crate) struct Core {
    pub(crate) provider: Arc<dyn Provider>,
    schemas: Arc<ProviderSchemas>,
    directory: TempDir,
}

/// A managed object with its private data, as in a state file.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) value: Value,
    pub(crate) private: Private,
}

impl State {
    pub(crate) fn text(&self, name: &str) -> String {
        let value = self.value.get_attr(name).expect("the attribute is there");
        value.as_str().map_or_else(|| format!("{value:?}"), str::to_owned)
    }
}

impl Core {
    /// Creates a playground in this process, configured with `config`.
    pub(crate) async fn in_process(config: &str) -> Core {
        Core::configured(Arc::new(playground::provider()), config, store_directory()).await
    }

    /// Creates a playground in a separate process.
    pub(crate) async fn launched(config: &str, environment: &[(&str, &str)]) -> Core {
        let directory = store_directory();
        let executable = env!("CARGO_BIN_EXE_terraform-provider-playground");
        let provider = process(executable, directory.path(), environment).await;
        Core::configured(provider, config, directory).await
    }

    /// Starts a playground in a separate process and leaves it without configuration.
    pub(crate) async fn process(environment: &[(&str, &str)]) -> Arc<dyn Provider> {
        let executable = env!("CARGO_BIN_EXE_terraform-provider-playground");
        process(executable, store_directory().path(), environment).await
    }

    /// Creates a core for another provider in this process, without configuration.
    pub(crate) async fn of(provider: impl Provider + 'static) -> Core {
        Core::without_store(Arc::new(provider), store_directory()).await
    }

    /// Creates a core for another provider in a separate process. Its working directory is that of [`Core::path`].
    pub(crate) async fn launched_from(executable: &str) -> Core {
        let directory = store_directory();
        let provider = process(executable, directory.path(), &[]).await;
        Core::without_store(provider, directory).await
    }

    async fn without_store(provider: Arc<dyn Provider>, directory: TempDir) -> Core {
        let schemas = provider.schemas().await.expect("has schemas");
        let config = object(schemas.provider.block(), "{}");
        assert_no_errors(&provider.validate_provider_config(config.clone()).await);
        let request = ConfigureRequest { core_version: "1.13.0".into(), config };
        assert_no_errors(&provider.configure(request).await);
        Core { provider, schemas, directory }
    }

    /// Returns a path in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Configures another instance of the provider with the same store.
    pub(crate) async fn another(
        &self,
        config: &str,
    ) -> Result<Arc<dyn Provider>, Vec<ProviderDiagnostic>> {
        let provider = Arc::new(playground::provider());
        let said = configure(&*provider, &self.schemas, config, self.directory.path()).await;
        if said.is_empty() { Ok(provider) } else { Err(said) }
    }

    async fn configured(provider: Arc<dyn Provider>, config: &str, directory: TempDir) -> Core {
        let schemas = provider.schemas().await.expect("has schemas");
        let said = configure(&*provider, &schemas, config, directory.path()).await;
        assert_no_errors(&said);
        Core { provider, schemas, directory }
    }

    pub(crate) fn managed(&self, type_name: &str) -> Arc<Schema> {
        self.schemas.managed(type_name).expect("the type is there")
    }

    /// Parses the object of a block with these members. Null if there is no block.
    pub(crate) fn object(&self, type_name: &str, config: Option<&str>) -> Value {
        let schema = self.managed(type_name);
        match config {
            Some(config) => object(schema.block(), config),
            None => Value::null(schema.implied_type().clone()),
        }
    }

    pub(crate) async fn validate(&self, type_name: &str, config: &str) -> Vec<ProviderDiagnostic> {
        let config = self.object(type_name, Some(config));
        let request = ValidateRequest { type_name: type_name.into(), config };
        self.provider.validate_resource_config(request).await
    }

    pub(crate) async fn validate_data(
        &self,
        type_name: &str,
        config: &str,
    ) -> Vec<ProviderDiagnostic> {
        let schema = self.schemas.data(type_name).expect("the type is there");
        let config = object(schema.block(), config);
        let request = ValidateRequest { type_name: type_name.into(), config };
        self.provider.validate_data_config(request).await
    }

    pub(crate) async fn plan(
        &self,
        type_name: &str,
        prior: Option<&State>,
        config: Option<&str>,
    ) -> PlanResourceChangeResponse {
        let schema = self.managed(type_name);
        let config = self.object(type_name, config);
        let null = Value::null(schema.implied_type().clone());
        let prior_state = prior.map_or(null.clone(), |it| it.value.clone());
        let proposed_new_state = match config.is_null() {
            true => null,
            false => proposed_new(schema.block(), &prior_state, &config),
        };
        let response = self
            .provider
            .plan_resource_change(PlanResourceChangeRequest {
                type_name: type_name.into(),
                prior_state: prior_state.clone(),
                proposed_new_state,
                config: config.clone(),
                prior_private: prior.map_or_else(Private::default, |it| it.private.clone()),
                provider_meta: None,
                prior_identity: None,
            })
            .await;
        if let Some(planned) =
            response.planned_state.as_ref().filter(|_| response.diagnostics.is_empty())
        {
            assert!(
                plan_valid(schema.block(), &prior_state, &config, planned).is_empty(),
                "a valid plan"
            );
            assert!(write_only_values_present(type_name, planned, schema.block()).is_empty());
        }
        response
    }

    /// Plans and applies. Returns the kind of the plan and the result of the apply.
    pub(crate) async fn change(
        &self,
        type_name: &str,
        prior: Option<&State>,
        config: Option<&str>,
    ) -> (Action, ApplyResourceChangeResponse) {
        let schema = self.managed(type_name);
        let plan = self.plan(type_name, prior, config).await;
        assert_no_errors(&plan.diagnostics);
        let planned = plan.planned_state.expect("is planned");
        let action = action(prior, &planned, &plan.requires_replace);
        let config = self.object(type_name, config);
        let response = self
            .provider
            .apply_resource_change(ApplyResourceChangeRequest {
                type_name: type_name.into(),
                prior_state: self.value_of(type_name, prior),
                planned_state: planned.clone(),
                config,
                planned_private: plan.planned_private,
                provider_meta: None,
                planned_identity: None,
            })
            .await;
        if let Some(state) = response.new_state.as_ref().filter(|_| response.diagnostics.is_empty())
        {
            assert!(
                object_compatible(schema.block(), &planned, state).is_empty(),
                "a consistent result"
            );
            assert!(write_only_values_present(type_name, state, schema.block()).is_empty());
            assert!(state.is_wholly_known());
        }
        (action, response)
    }

    /// Like [`Core::change`], but fails on any error.
    pub(crate) async fn apply(
        &self,
        type_name: &str,
        prior: Option<&State>,
        config: &str,
    ) -> (Action, State) {
        let (action, response) = self.change(type_name, prior, Some(config)).await;
        assert_no_errors(&response.diagnostics);
        let value = response.new_state.expect("there is a state");
        (action, State { value, private: response.private })
    }

    pub(crate) async fn delete(&self, type_name: &str, state: &State) {
        let (_, response) = self.change(type_name, Some(state), None).await;
        assert_no_errors(&response.diagnostics);
        assert!(response.new_state.is_some_and(|it| it.is_null()));
    }

    /// Refreshes an object. `None` if it is gone.
    pub(crate) async fn read(&self, type_name: &str, state: &State) -> Option<State> {
        let response = self
            .provider
            .read_resource(ReadResourceRequest {
                type_name: type_name.into(),
                current_state: state.value.clone(),
                private: state.private.clone(),
                provider_meta: None,
                identity: None,
            })
            .await;
        assert_no_errors(&response.diagnostics);
        let value = response.new_state.expect("the call succeeded");
        (!value.is_null()).then_some(State { value, private: response.private })
    }

    pub(crate) async fn read_data(&self, type_name: &str, config: &str) -> ReadDataSourceResponse {
        let schema = self.schemas.data(type_name).expect("the type is there");
        let config = object(schema.block(), config);
        let request =
            ReadDataSourceRequest { type_name: type_name.into(), config, provider_meta: None };
        self.provider.read_data_source(request).await
    }

    pub(crate) async fn open(&self, type_name: &str, config: &str) -> OpenEphemeralResponse {
        let schema = self.schemas.ephemeral(type_name).expect("the type is there");
        let config = object(schema.block(), config);
        let request = ValidateRequest { type_name: type_name.into(), config: config.clone() };
        assert_no_errors(&self.provider.validate_ephemeral_config(request).await);
        self.provider
            .open_ephemeral(OpenEphemeralRequest { type_name: type_name.into(), config })
            .await
    }

    pub(crate) async fn renew(&self, type_name: &str, private: &Private) -> RenewEphemeralResponse {
        let request =
            RenewEphemeralRequest { type_name: type_name.into(), private: private.clone() };
        self.provider.renew_ephemeral(request).await
    }

    pub(crate) async fn close(
        &self,
        type_name: &str,
        private: &Private,
    ) -> Vec<ProviderDiagnostic> {
        let request =
            CloseEphemeralRequest { type_name: type_name.into(), private: private.clone() };
        self.provider.close_ephemeral(request).await
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.directory.path().join("store")).expect("opens")
    }

    pub(crate) fn ledger(&self) -> Vec<Entry> {
        Ledger::read(&self.directory.path().join("store/ledger.jsonl")).expect("reads")
    }

    /// The number of ledger entries with this event and call.
    pub(crate) fn count(&self, event: &str, rpc: &str) -> usize {
        self.ledger().iter().filter(|it| it.event == event && it.rpc == rpc).count()
    }

    /// The fingerprint of a secret in the ledger.
    pub(crate) fn fingerprint(&self, secret: &str) -> String {
        self.store().fingerprint(&Secret::new(secret))
    }

    fn value_of(&self, type_name: &str, state: Option<&State>) -> Value {
        state.map_or_else(|| self.object(type_name, None), |it| it.value.clone())
    }
}

/// The kind of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Create,
    Update,
    Replace,
    Delete,
    Nothing,
}

fn action(prior: Option<&State>, planned: &Value, replace: &[values::Path]) -> Action {
    match prior {
        None => Action::Create,
        Some(_) if planned.is_null() => Action::Delete,
        Some(prior) if prior.value == *planned => Action::Nothing,
        Some(_) if replace.is_empty() => Action::Update,
        Some(_) => Action::Replace,
    }
}

async fn process(
    executable: &str,
    directory: &Path,
    environment: &[(&str, &str)],
) -> Arc<dyn Provider> {
    let mut command = Command::new(executable);
    command.current_dir(directory).envs(environment.iter().copied());
    let sink: fn(&str, PluginEvent) = |_, _| ();
    let redact: fn(&str) -> String = str::to_owned;
    let options =
        LaunchOptions::new("provider", Processes::default(), Arc::new(sink), Arc::new(redact));
    let process = launch(command, options).await.expect("starts");
    Arc::new(GrpcProvider::new(process, None))
}

fn store_directory() -> TempDir {
    tempfile::tempdir().expect("a directory can be made")
}

async fn configure(
    provider: &dyn Provider,
    schemas: &ProviderSchemas,
    config: &str,
    directory: &Path,
) -> Vec<ProviderDiagnostic> {
    let mut members: Json = serde_json::from_str(config).expect("the test's JSON parses");
    members["store"] = directory.join("store").to_string_lossy().into();
    let config = object(schemas.provider.block(), &members.to_string());
    assert_no_errors(&provider.validate_provider_config(config.clone()).await);
    provider.configure(ConfigureRequest { core_version: "1.13.0".into(), config }).await
}

/// Parses the value of a block with these members.
fn object(block: &Block, config: &str) -> Value {
    let members: serde_json::Map<String, Json> =
        serde_json::from_str(config).expect("the test's JSON parses");
    let Some(mut values) = block.empty_value().as_map().cloned() else {
        unreachable!("blocks are objects")
    };
    for (name, member) in members {
        let slot = values.get_mut(name.as_str()).unwrap_or_else(|| panic!("there is no {name}"));
        *slot =
            json::decode(member.to_string().as_bytes(), &slot.ty()).expect("the test's JSON fits");
    }
    let object = Value::object(values);
    // The string `?` stands for an unknown value.
    object.transform(&mut |_, part| match part.as_str() {
        Some("?") => Value::unknown(part.ty()),
        _ => part.clone(),
    })
}

#[track_caller]
pub(crate) fn assert_no_errors(said: &[ProviderDiagnostic]) {
    let errors: Vec<_> = said.iter().map(|it| format!("{}: {}", it.summary, it.detail)).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// Formats diagnostics with their attributes, one per line.
pub(crate) fn said_of(said: &[ProviderDiagnostic]) -> String {
    let line = |it: &ProviderDiagnostic| {
        let path = it.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
        let severity = if it.is_error() { "" } else { "warning: " };
        format!("{severity}{path}{}: {}", it.summary, it.detail)
    };
    said.iter().map(line).collect::<Vec<_>>().join("\n")
}
