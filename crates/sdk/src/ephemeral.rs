//! The interface of ephemeral resources.

use std::{future::ready, time::SystemTime};

use crate::{
    data::Object,
    diagnostics::{Diagnostic, Diagnostics},
    model::Model,
    private::PrivateState,
    schema::Schema,
    stop::Stop,
};

/// An ephemeral resource type. `C` is the client that the provider configuration was converted to. Write the methods
/// as `async fn`.
pub trait EphemeralResource<C: Sync>: Send + Sync + 'static {
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

    /// Opens the resource: returns the configuration with its computed attributes filled in. What a renewal or the
    /// close needs belongs into [`EphemeralCall::private`].
    fn open(
        &self,
        client: &C,
        config: Self::Model,
        call: &mut EphemeralCall,
    ) -> impl Future<Output = Result<Self::Model, Diagnostic>> + Send;

    /// Renews the resource. By default does nothing, for types that never request a renewal.
    fn renew(
        &self,
        client: &C,
        call: &mut EphemeralCall,
    ) -> impl Future<Output = Result<(), Diagnostic>> + Send {
        let _ = (client, call);
        ready(Ok(()))
    }

    /// Closes the resource. By default does nothing, for types that have nothing to release.
    fn close(
        &self,
        client: &C,
        call: &mut EphemeralCall,
    ) -> impl Future<Output = Result<(), Diagnostic>> + Send {
        let _ = (client, call);
        ready(Ok(()))
    }
}

/// A call of the core about an ephemeral resource: its opening, a renewal or its close.
pub struct EphemeralCall {
    /// The latest time for the next renewal. `None` if no renewal is needed.
    pub renew_at: Option<SystemTime>,
    /// Private data: empty while the resource is opened, then what the opening and the renewals have left there.
    pub private: PrivateState,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
    /// The signal to end early.
    pub stop: Stop,
}
