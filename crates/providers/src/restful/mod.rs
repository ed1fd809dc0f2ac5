//! The provider `mayfly/restful`: resources of any HTTP API that speaks JSON, compatible with `magodo/restful`.
//!
//! Start reading at [`provider`], then [`resource`], [`operation`], [`data_source`] and [`ephemeral_resource`], which
//! are the types, and [`ephemeral_body`]. Below them, [`session`] is one call of the core, [`waiting`] its prechecks
//! and poll loops, [`output`] what is stored; [`document`], [`expression`] and [`request`] know no attributes.
//!
//! ```text
//!   configuration ──► session ──► request ──► HTTP API
//!        ▲               │                       │
//!        │ expression    ▼                       ▼
//!        └────────── document (the answer) ◄─────┘ ──► output
//! ```
//!
//! **Invariant:** a write-only value is in requests only, never in a document that is stored.
//! **Invariant:** credentials are never logged, and no error repeats them from an answer.

mod configuration;
mod data_source;
pub mod document;
mod ephemeral_body;
mod ephemeral_resource;
mod expiry;
pub mod expression;
mod operation;
mod output;
pub mod request;
mod resource;
mod schema;
mod session;
mod waiting;

use std::sync::Arc;

use request::client::{ClientCell, DebugLog};
pub use session::Client;

use configuration::Configuration;
use mayfly_sdk::{
    ConfigureCall, Definition, Diagnostic, Diagnostics, MaybeUnknown, Object, Server, Types, log,
};

/// The provider's source address.
pub const SOURCE: &str = "registry.opentofu.org/mayfly/restful";

/// Creates the provider, not yet configured.
#[must_use]
pub fn provider() -> Server<Restful> {
    Server::new(Restful)
}

/// The definition of the provider.
pub struct Restful;

impl Definition for Restful {
    /// A plan that needs no request accepts a configuration that is unknown in parts.
    type Config = MaybeUnknown<Configuration>;
    type Client = Client;

    fn source(&self) -> &'static str {
        SOURCE
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        configuration::validate(config, diagnostics);
    }

    async fn configure(
        &self,
        config: MaybeUnknown<Configuration>,
        _: &mut ConfigureCall,
    ) -> Result<Client, Diagnostic> {
        let MaybeUnknown::Known(config) = config else { return Ok(Client::unknown()) };
        let write: DebugLog = Arc::new(|line| log::debug("restful", line));
        Ok(Client::new(ClientCell::new(config.settings()?, write)))
    }

    fn types(&self, types: &mut Types<Client>) {
        types
            .erased_resource(Box::new(resource::ManagedResource))
            .erased_resource(Box::new(operation::Operation))
            .erased_data_source(Box::new(data_source::ResourceData))
            .erased_ephemeral(Box::new(ephemeral_resource::EphemeralCall));
    }
}
