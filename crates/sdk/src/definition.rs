//! The definition of a provider.

use std::collections::BTreeMap;

use provider::{BoxFuture, FunctionFault, FunctionSignature};
use values::{Str, Value};

use crate::{
    data::Object,
    data_source::DataSource,
    diagnostics::{Diagnostic, Diagnostics},
    ephemeral::EphemeralResource,
    resource::Resource,
    schema::Schema,
};

/// The definition of a provider; [`crate::Server`] implements [`provider::Provider`] with it.
pub trait Definition: Send + Sync + 'static {
    /// The client that the configuration is converted to and every call receives, such as a connection.
    type Client: Send + Sync + 'static;

    /// The name of the provider in messages.
    fn name(&self) -> &'static str;

    /// The schema of the provider configuration. Called once.
    fn schema(&self) -> Schema;

    /// Validates the configuration beyond its schema. The configuration may be unknown in parts.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Converts the configuration, which may be unknown in parts, to a client.
    fn configure<'a>(
        &'a self,
        config: &'a Object,
        core_version: &'a str,
        diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Self::Client, Diagnostic>>;

    /// The managed resource types.
    fn resources(&self) -> Vec<Box<dyn Resource<Self::Client>>> {
        Vec::new()
    }

    /// The data sources.
    fn data_sources(&self) -> Vec<Box<dyn DataSource<Self::Client>>> {
        Vec::new()
    }

    /// The ephemeral resource types.
    fn ephemeral_resources(&self) -> Vec<Box<dyn EphemeralResource<Self::Client>>> {
        Vec::new()
    }

    /// The functions that need no provider configuration.
    fn functions(&self) -> Vec<Function> {
        Vec::new()
    }

    /// The functions that only the configured provider offers. A function of the schema with the same name hides one
    /// of these.
    fn configured_functions(&self, client: &Self::Client) -> BTreeMap<Str, FunctionSignature> {
        let _ = client;
        BTreeMap::new()
    }

    /// Computes the result of one of the [`configured_functions`](Definition::configured_functions). The number of
    /// arguments matches the signature.
    ///
    /// # Errors
    /// If the arguments are unsuitable.
    fn call_configured(
        &self,
        client: &Self::Client,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, FunctionFault> {
        let _ = (client, arguments);
        Err(FunctionFault { argument: None, message: format!("there is no function {name:?}") })
    }
}

/// A function of a provider. It is pure and needs no provider configuration.
pub struct Function {
    /// The name, without the provider's.
    pub name: &'static str,
    /// The signature.
    pub signature: FunctionSignature,
    /// Computes the result. The number of arguments matches the signature.
    pub call: fn(&[Value]) -> Result<Value, FunctionFault>,
}

impl Function {
    pub(crate) fn entry(&self) -> (Str, FunctionSignature) {
        (self.name.into(), self.signature.clone())
    }
}
