//! The interface of data sources.

use crate::{
    data::Object,
    diagnostics::{Diagnostic, Diagnostics},
    model::Model,
    schema::Schema,
    stop::Stop,
};

/// A data source. `C` is the client that the provider configuration was converted to. Write the methods as `async fn`.
pub trait DataSource<C: Sync>: Send + Sync + 'static {
    /// The struct of the objects, or [`Object`].
    type Model: Model;

    /// The type name, including the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema, always the same.
    fn schema(&self) -> Schema {
        Self::Model::schema()
    }

    /// Validates a configuration beyond its schema. The configuration may be unknown in parts.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Reads the data source: returns the configuration with its computed attributes filled in.
    fn read(
        &self,
        client: &C,
        config: Self::Model,
        call: &mut DataCall,
    ) -> impl Future<Output = Result<Self::Model, Diagnostic>> + Send;
}

/// A call of the core about a data source.
pub struct DataCall {
    /// The value of the module's `provider_meta` block; null if there is none.
    pub meta: Object,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
    /// The signal to end early.
    pub stop: Stop,
}
