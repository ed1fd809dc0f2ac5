//! The definition of a provider.

use sorted::TreeSet;
use values::Str;

use crate::{
    data::Object,
    data_source::DataSource,
    diagnostics::{Diagnostic, Diagnostics},
    ephemeral::EphemeralResource,
    erased::{self, Typed, TypedResource},
    function::Function,
    model::Model,
    resource::Resource,
    schema::Schema,
};

/// The definition of a provider; [`crate::Server`] implements [`provider::Provider`] with it. Write [`configure`] as
/// `async fn`.
///
/// [`configure`]: Definition::configure
pub trait Definition: Send + Sync + 'static {
    /// The struct of the provider configuration. `()` if there is none. A field that may be unknown while planning has
    /// the type [`crate::MaybeUnknown`]; around the struct, that type accepts a configuration with any unknown part.
    type Config: Model;
    /// The client that the configuration is converted to and every call receives, such as a connection.
    type Client: Send + Sync + 'static;

    /// The source address of the provider, such as `registry.opentofu.org/example/notes`.
    fn source(&self) -> &'static str;

    /// The schema of the provider configuration. Called once.
    fn schema(&self) -> Schema {
        Self::Config::schema()
    }

    /// The schema of `provider_meta` blocks, in which a module says something to the provider. `None` if there are
    /// none. Calls have the value as `meta`. Called once.
    fn meta_schema(&self) -> Option<Schema> {
        None
    }

    /// Validates the configuration beyond its schema. The configuration may be unknown in parts.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Converts the configuration to a client.
    fn configure(
        &self,
        config: Self::Config,
        call: &mut ConfigureCall,
    ) -> impl Future<Output = Result<Self::Client, Diagnostic>> + Send;

    /// Adds the types and the functions that need no configuration. Called once.
    fn types(&self, types: &mut Types<Self::Client>);

    /// The functions that only the configured provider offers. A function of [`Definition::types`] with the same name
    /// hides one of these.
    fn configured_functions(&self, client: &Self::Client) -> Vec<Function> {
        let _ = client;
        Vec::new()
    }
}

/// The call of the core that configures a provider.
pub struct ConfigureCall {
    /// The version of the core.
    pub core_version: Str,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
}

/// The types and functions of a provider.
pub struct Types<C> {
    pub(crate) resources: Vec<Box<dyn erased::Resource<C>>>,
    pub(crate) data_sources: Vec<Box<dyn erased::DataSource<C>>>,
    pub(crate) ephemeral_resources: Vec<Box<dyn erased::EphemeralResource<C>>>,
    pub(crate) functions: Vec<Function>,
}

impl<C: Send + Sync + 'static> Types<C> {
    pub(crate) fn new() -> Types<C> {
        Types {
            resources: Vec::new(),
            data_sources: Vec::new(),
            ephemeral_resources: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// The names that are used more than once, each with its kind.
    pub(crate) fn repeated(&self) -> Vec<String> {
        let mut known = TreeSet::new();
        let resources = self.resources.iter().map(|it| format!("resource type {}", it.type_name()));
        let data = self.data_sources.iter().map(|it| format!("data source {}", it.type_name()));
        let ephemeral = self.ephemeral_resources.iter();
        let ephemeral = ephemeral.map(|it| format!("ephemeral resource type {}", it.type_name()));
        let functions = self.functions.iter().map(|it| format!("function {}", it.name));
        let all = resources.chain(data).chain(ephemeral).chain(functions);
        all.filter(|it| !known.insert(it.clone())).collect()
    }

    /// Adds a managed resource type.
    pub fn resource(&mut self, resource: impl Resource<C>) -> &mut Types<C> {
        self.resources.push(Box::new(TypedResource::new(resource)));
        self
    }

    /// Adds a data source.
    pub fn data_source(&mut self, data_source: impl DataSource<C>) -> &mut Types<C> {
        let schema = data_source.schema();
        self.data_sources.push(Box::new(Typed::new(data_source, &schema)));
        self
    }

    /// Adds an ephemeral resource type.
    pub fn ephemeral_resource(&mut self, ephemeral: impl EphemeralResource<C>) -> &mut Types<C> {
        let schema = ephemeral.schema();
        self.ephemeral_resources.push(Box::new(Typed::new(ephemeral, &schema)));
        self
    }

    /// Adds a function.
    pub fn function(&mut self, function: Function) -> &mut Types<C> {
        self.functions.push(function);
        self
    }
}
