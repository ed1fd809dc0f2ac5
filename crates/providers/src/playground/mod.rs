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
mod secret_version;
pub mod store;
mod stored_object;
mod tunnel;
mod vault;
mod write_only_set;

use client::Client;
pub(crate) use client::{STORE_DEFAULT, STORE_VARIABLE};
use configuration::Configuration;
use database::ManagedDatabase;
pub use gate::Gate;
use mayfly_sdk::{ConfigureCall, Definition, Diagnostic, Server, Types};
use parameter::Parameter;
use secret::ManagedSecret;
use stored_object::StoredType;

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
    type Config = Configuration;
    type Client = Client;

    fn source(&self) -> &'static str {
        SOURCE
    }

    async fn configure(
        &self,
        config: Configuration,
        _: &mut ConfigureCall,
    ) -> Result<Client, Diagnostic> {
        configuration::configure(config)
    }

    fn types(&self, types: &mut Types<Client>) {
        types
            .resource(StoredType::<ManagedSecret>::new())
            .resource(secret_version::ManagedSecretVersionType)
            .resource(StoredType::<Parameter>::new())
            .resource(StoredType::<ManagedDatabase>::new())
            .resource(vault::VaultType::new())
            .data_source(secret_reading::SecretDataType)
            .ephemeral_resource(secret_reading::EphemeralSecretType)
            .ephemeral_resource(secret_version::EphemeralSecretVersionType)
            .ephemeral_resource(database::EphemeralDatabaseType)
            .ephemeral_resource(random::RandomType)
            .ephemeral_resource(lease::LeaseType)
            .ephemeral_resource(tunnel::TunnelType)
            .function(functions::parse_arn());
        // A core may refuse a whole provider because of this type, as terraform does, so it exists only on
        // request.
        if std::env::var_os("PLAYGROUND_WRITE_ONLY_IN_SET").is_some() {
            types.resource(write_only_set::WriteOnlyInSetType);
        }
    }
}
