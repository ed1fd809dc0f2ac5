//! The interface of data sources.

use provider::BoxFuture;

use crate::{
    data::Object, diagnostics::Diagnostics, resource::StepResult, schema::Schema, stop::Stop,
};

/// A data source. `C` is the client that the provider configuration was converted to.
pub trait DataSource<C>: Send + Sync {
    /// The type name, including the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema. Called once.
    fn schema(&self) -> Schema;

    /// Validates a configuration beyond its schema. The configuration may be unknown in parts.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Reads the data source. `read.state` starts as the configuration and must be filled in.
    fn read<'a>(&'a self, client: &'a C, read: &'a mut DataRead) -> BoxFuture<'a, StepResult>;
}

/// A data source that is being read.
pub struct DataRead {
    /// The configuration, and on return the result.
    pub state: Object,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
    /// The signal to end early.
    pub stop: Stop,
}
