//! The interface of ephemeral resources.

use std::{future::ready, time::SystemTime};

use provider::BoxFuture;

use crate::{
    data::Object, diagnostics::Diagnostics, private::PrivateState, resource::StepResult,
    schema::Schema, stop::Stop,
};

/// An ephemeral resource type. `C` is the client that the provider configuration was converted to.
pub trait EphemeralResource<C>: Send + Sync {
    /// The type name, including the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema. Called once.
    fn schema(&self) -> Schema;

    /// Validates a configuration beyond its schema. The configuration may be unknown in parts.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Opens the resource. `opening.result` starts as the configuration. Its computed attributes must be filled
    /// in, and its configured ones must stay.
    fn open<'a>(&'a self, client: &'a C, opening: &'a mut Opening) -> BoxFuture<'a, StepResult>;

    /// Renews the resource. By default does nothing, for types that never request a renewal.
    fn renew<'a>(&'a self, client: &'a C, renewal: &'a mut Renewal) -> BoxFuture<'a, StepResult> {
        let _ = (client, renewal);
        Box::pin(ready(Ok(())))
    }

    /// Closes the resource. By default does nothing, for types that have nothing to release.
    fn close<'a>(&'a self, client: &'a C, closing: &'a mut Closing) -> BoxFuture<'a, StepResult> {
        let _ = (client, closing);
        Box::pin(ready(Ok(())))
    }
}

/// An ephemeral resource that is being opened.
pub struct Opening {
    /// The configuration, and on return the result.
    pub result: Object,
    /// The latest time for a renewal. `None` if no renewal is needed.
    pub renew_at: Option<SystemTime>,
    /// Private data for renewals and the close.
    pub private: PrivateState,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
    /// The signal to end early.
    pub stop: Stop,
}

/// An ephemeral resource that is being renewed.
pub struct Renewal {
    /// The latest time for the next renewal. `None` if no renewal is needed.
    pub renew_at: Option<SystemTime>,
    /// Private data from opening or the last renewal, for the next renewal and the close.
    pub private: PrivateState,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
    /// The signal to end early.
    pub stop: Stop,
}

/// An ephemeral resource that is being closed.
pub struct Closing {
    /// Private data from opening or the last renewal.
    pub private: PrivateState,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
    /// The signal to end early.
    pub stop: Stop,
}
