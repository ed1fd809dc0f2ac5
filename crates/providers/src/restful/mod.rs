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

use std::{future::ready, sync::Arc};

use request::client::{ClientCell, DebugLog};
pub use session::Client;

use mayfly_sdk::{
    DataSource, Definition, Diagnostic, Diagnostics, EphemeralResource, Object, Resource, Server,
    log, schema::Schema,
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
    type Client = Client;

    fn name(&self) -> &'static str {
        SOURCE
    }

    fn schema(&self) -> Schema {
        configuration::schema()
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        configuration::validate(config, diagnostics);
    }

    fn configure<'a>(
        &'a self,
        config: &'a Object,
        _core_version: &'a str,
        _diagnostics: &'a mut Diagnostics,
    ) -> provider::BoxFuture<'a, Result<Client, Diagnostic>> {
        Box::pin(ready(match config.value().is_wholly_known() {
            false => Ok(Client::unknown()),
            true => configuration::settings(config).map(|settings| {
                let write: DebugLog = Arc::new(|line| log::debug("restful", line));
                Client::new(ClientCell::new(settings, write))
            }),
        }))
    }

    fn resources(&self) -> Vec<Box<dyn Resource<Client>>> {
        vec![Box::new(resource::ManagedResource), Box::new(operation::Operation)]
    }

    fn data_sources(&self) -> Vec<Box<dyn DataSource<Client>>> {
        vec![Box::new(data_source::ResourceData)]
    }

    fn ephemeral_resources(&self) -> Vec<Box<dyn EphemeralResource<Client>>> {
        vec![Box::new(ephemeral_resource::EphemeralCall)]
    }
}
