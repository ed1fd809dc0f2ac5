//! Ephemeral resources.

use std::{future::ready, time::SystemTime};

use provider::BoxFuture;

use super::{
    data::Object, diagnostics::Diagnostics, private::PrivateState, resource::Ended, schema::Schema,
    stop::Stop,
};

/// An ephemeral resource type. `C` is what the provider's configuration was made into.
pub trait EphemeralResource<C>: Send + Sync {
    /// The type name, with the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema. Asked once.
    fn schema(&self) -> Schema;

    /// Checks a configuration beyond what the schema demands. Parts of it may be unknown.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Fills in `opening.result`, which begins as the configuration, and must leave what that sets.
    fn open<'a>(&'a self, client: &'a C, opening: &'a mut Opening) -> BoxFuture<'a, Ended>;

    /// Extends the life of what was opened. Nothing by default, for types that never set a time for it.
    fn renew<'a>(&'a self, client: &'a C, renewal: &'a mut Renewal) -> BoxFuture<'a, Ended> {
        let _ = (client, renewal);
        Box::pin(ready(Ok(())))
    }

    /// Ends the life of what was opened. Nothing by default, for types that hold nothing.
    fn close<'a>(&'a self, client: &'a C, closing: &'a mut Closing) -> BoxFuture<'a, Ended> {
        let _ = (client, closing);
        Box::pin(ready(Ok(())))
    }
}

/// An ephemeral resource that is being opened.
pub struct Opening {
    /// The configuration, and on return the result.
    pub result: Object,
    /// When to renew at the latest; `None` for never.
    pub renew_at: Option<SystemTime>,
    /// Given to renewals and to the close.
    pub private: PrivateState,
    /// What there is to say.
    pub diagnostics: Diagnostics,
    /// Tells when to end early.
    pub stop: Stop,
}

/// An ephemeral resource that is being renewed.
pub struct Renewal {
    /// When to renew next; `None` for never.
    pub renew_at: Option<SystemTime>,
    /// From opening or the last renewal; given to the next one and to the close.
    pub private: PrivateState,
    /// What there is to say.
    pub diagnostics: Diagnostics,
    /// Tells when to end early.
    pub stop: Stop,
}

/// An ephemeral resource that is being closed.
pub struct Closing {
    /// From opening or the last renewal.
    pub private: PrivateState,
    /// What there is to say.
    pub diagnostics: Diagnostics,
    /// Tells when to end early.
    pub stop: Stop,
}
