//! What a provider consists of.

use provider::{BoxFuture, FunctionFault, FunctionSignature};
use values::{Str, Value};

use super::{
    data::Object,
    data_source::DataSource,
    diagnostics::{Diagnostic, Diagnostics},
    ephemeral::EphemeralResource,
    resource::Resource,
    schema::Schema,
};

/// A provider as its author writes it; [`super::Server`] makes a [`provider::Provider`] of it.
pub trait Definition: Send + Sync + 'static {
    /// What the configuration is made into and every call is given, such as a connection.
    type Client: Send + Sync + 'static;

    /// The provider's name in messages.
    fn name(&self) -> &'static str;

    /// The schema of the provider's own configuration. Asked once.
    fn schema(&self) -> Schema;

    /// Checks the configuration beyond what the schema demands. Parts of it may be unknown.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Makes the configuration, which may be unknown in parts, into a client.
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

    /// The functions.
    fn functions(&self) -> Vec<Function> {
        Vec::new()
    }
}

/// A function of a provider. It is pure and needs no configuration.
pub struct Function {
    /// Its name, without the provider's.
    pub name: &'static str,
    /// What it takes and gives.
    pub signature: FunctionSignature,
    /// Computes the result from as many arguments as the signature allows.
    pub call: fn(&[Value]) -> Result<Value, FunctionFault>,
}

impl Function {
    pub(super) fn entry(&self) -> (Str, FunctionSignature) {
        (self.name.into(), self.signature.clone())
    }
}
