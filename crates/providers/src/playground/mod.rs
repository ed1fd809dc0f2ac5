//! `mayfly/playground`: a small remote system of secrets, leases and tunnels, to try everything out with no network and no
//! account, and to provoke every fault that a provider can have.
//!
//! Start at [`provider`]; [`store`] is the remote system. Each type of the provider is a module.
//!
//! **Invariant:** the ledger holds no secret, only fingerprints under the store's key.
//! **Invariant:** every object that is created gets an id that no other ever had.

mod answer;
mod calls;
mod client;
mod configuration;
mod database;
pub mod fault;
mod functions;
mod gate;
mod lease;
mod names;
mod parameter;
mod random;
mod secret;
mod secret_reading;
mod secret_value;
mod secret_version;
pub mod store;
mod tunnel;
mod vault;
mod write_only_set;

use crate::sdk::{
    DataSource, Definition, Diagnostic, Diagnostics, EphemeralResource, Function, Object, Resource,
    Server, schema::Schema,
};
use client::Client;
pub use gate::Gate;

/// The provider's source address.
pub const SOURCE: &str = "registry.opentofu.org/mayfly/playground";

/// The playground, not configured.
#[must_use]
pub fn provider() -> Gate {
    Gate::new(Server::new(Playground))
}

/// The playground's parts.
pub(crate) struct Playground;

impl Definition for Playground {
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
        Box::pin(async { configuration::configure(config) })
    }

    fn resources(&self) -> Vec<Box<dyn Resource<Client>>> {
        let mut resources: Vec<Box<dyn Resource<Client>>> = vec![
            Box::new(secret::ManagedSecret),
            Box::new(secret_version::ManagedSecretVersion),
            Box::new(parameter::Parameter),
            Box::new(database::ManagedDatabase),
            Box::new(vault::Vault::new()),
        ];
        // A core may refuse a whole provider for this type, as terraform does; so it is there on request only.
        if std::env::var_os("PLAYGROUND_WRITE_ONLY_IN_SET").is_some() {
            resources.push(Box::new(write_only_set::WriteOnlyInSet));
        }
        resources
    }

    fn data_sources(&self) -> Vec<Box<dyn DataSource<Client>>> {
        vec![Box::new(secret_reading::SecretData)]
    }

    fn ephemeral_resources(&self) -> Vec<Box<dyn EphemeralResource<Client>>> {
        vec![
            Box::new(secret_reading::EphemeralSecret),
            Box::new(secret_version::EphemeralSecretVersion),
            Box::new(database::EphemeralDatabase),
            Box::new(random::Random),
            Box::new(lease::Lease),
            Box::new(tunnel::Tunnel),
        ]
    }

    fn functions(&self) -> Vec<Function> {
        functions::all()
    }
}
