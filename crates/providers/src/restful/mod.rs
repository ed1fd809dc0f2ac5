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
            .resource(resource::ManagedResource)
            .resource(operation::Operation)
            .data_source(data_source::ResourceData)
            .ephemeral_resource(ephemeral_resource::Opening);
    }
}

#[cfg(test)]
mod tests {
    use provider::{
        ConfigureRequest, PlanResourceChangeRequest, Private, Provider as _, ReadResourceRequest,
        objchange::proposed_new,
    };
    use values::{Type, Value};

    use super::*;

    /// A server whose `base_url` is known only after an apply.
    async fn with_unknown_url() -> Server<Restful> {
        let server = provider();
        let schemas = server.schemas().await.expect("the schemas are valid");
        let mut config = Object::new(schemas.provider.block().empty_value());
        config.set("base_url", Value::unknown(Type::String));
        let config = config.value().clone();
        assert_eq!(server.validate_provider_config(config.clone()).await, []);
        let request = ConfigureRequest { core_version: "1.13.0".into(), config };
        assert_eq!(server.configure(request).await, []);
        server
    }

    #[tokio::test]
    async fn unknown_configuration_plans_a_creation_but_sends_nothing() {
        let server = with_unknown_url().await;
        let schemas = server.schemas().await.expect("the schemas are valid");
        let schema = schemas.managed("restful_resource").expect("the type is there");
        let mut config = Object::new(schema.block().empty_value());
        config.set("path", "posts");
        config.set("body", Value::object_from([("a", Value::int(1))]));
        let (config, prior) = (config.value().clone(), Value::null(schema.implied_type().clone()));
        let request = PlanResourceChangeRequest {
            type_name: "restful_resource".into(),
            proposed_new_state: proposed_new(schema.block(), &prior, &config),
            prior_state: prior,
            config: config.clone(),
            prior_private: Private::default(),
            provider_meta: None,
            prior_identity: None,
        };
        let plan = server.plan_resource_change(request).await;
        assert_eq!(plan.diagnostics, []);
        assert!(Object::new(plan.planned_state.expect("a plan")).is_unknown("output"));
        let request = ReadResourceRequest {
            type_name: "restful_resource".into(),
            current_state: config,
            private: Private::default(),
            provider_meta: None,
            identity: None,
        };
        let said = server.read_resource(request).await.diagnostics;
        let said: Vec<_> = said.iter().map(|it| it.summary.as_str()).collect();
        assert_eq!(said, ["Unknown Provider Configuration"]);
    }
}
