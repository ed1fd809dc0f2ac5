//! The contract with provisioner plugins: programs that run after the creation or before the destruction of an object.

use std::sync::Arc;

use values::Value;

use crate::{
    provider::{BoxFuture, ProviderDiagnostic},
    schema::Block,
};

/// A running provisioner plugin. A failed call is reported by a diagnostic, like an error of the plugin itself.
pub trait Provisioner: Send + Sync {
    /// Returns the schema of its `provisioner` blocks.
    ///
    /// # Errors
    /// Returns the errors of the plugin or the connection.
    fn schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Vec<ProviderDiagnostic>>>;

    /// Validates a configuration, which may be unknown in parts.
    fn validate(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Runs the provisioner. `output` receives each piece of output immediately.
    fn provision<'a>(
        &'a self,
        request: ProvisionRequest,
        output: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Vec<ProviderDiagnostic>>;

    /// Asks the plugin to end a running call early.
    ///
    /// # Errors
    /// Returns the error of the plugin or the connection.
    fn stop(&self) -> BoxFuture<'_, Result<(), String>>;

    /// Ends the plugin.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// The arguments of one run of a provisioner. No `Debug`, because they contain secrets.
pub struct ProvisionRequest {
    /// The wholly known configuration, of the schema's type.
    pub config: Value,
    /// The arguments of the `connection` block as a map of strings; null without one.
    pub connection: Value,
}
