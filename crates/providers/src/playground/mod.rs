//! `mayfly/playground`: a small remote system with secrets, leases and tunnels. It makes every feature available
//! without network access or an account, and can provoke every fault of a provider.
//!
//! Start at [`provider`]; [`store`] is the remote system. Each type of the provider is a module.
//!
//! **Invariant:** the ledger holds no secret, only fingerprints with the store's key.
//! **Invariant:** every created object gets an id that is never used again.

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

use client::Client;
pub(crate) use client::STORE_VARIABLE;
pub use gate::Gate;
use mayfly_sdk::{
    DataSource, Definition, Diagnostic, Diagnostics, EphemeralResource, Function, Object, Resource,
    Server, schema::Schema,
};

/// The provider's source address.
pub const SOURCE: &str = "registry.opentofu.org/mayfly/playground";

/// Creates the playground, not yet configured.
#[must_use]
pub fn provider() -> Gate {
    Gate::new(Server::new(Playground))
}

/// The definition of the playground.
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
        // A core may refuse a whole provider because of this type, as terraform does, so it exists only on
        // request.
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
