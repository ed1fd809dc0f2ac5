//! Data sources.

use provider::BoxFuture;

use super::{data::Object, diagnostics::Diagnostics, resource::Ended, schema::Schema, stop::Stop};

/// A data source. `C` is what the provider's configuration was made into.
pub trait DataSource<C>: Send + Sync {
    /// The type name, with the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema. Asked once.
    fn schema(&self) -> Schema;

    /// Checks a configuration beyond what the schema demands. Parts of it may be unknown.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Fills in `read.state`, which begins as the configuration.
    fn read<'a>(&'a self, client: &'a C, read: &'a mut DataRead) -> BoxFuture<'a, Ended>;
}

/// A data source that is being read.
pub struct DataRead {
    /// The configuration, and on return the result.
    pub state: Object,
    /// What there is to say.
    pub diagnostics: Diagnostics,
    /// Tells when to end early.
    pub stop: Stop,
}
