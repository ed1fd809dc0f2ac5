//! The provider configuration.

use std::{collections::BTreeMap, sync::Mutex, time::Duration};

use mayfly_sdk::{Diagnostic, Key, MaybeUnknown, Model, Secret};

use super::{client::Client, fault::RequestedFault, store::Entry};

/// A small remote system to try things out with.
#[derive(Model)]
#[model(requires(access_key, secret_key), requires("secret_key", "access_key"))]
pub(crate) struct Configuration {
    /// Directory of the store; by default PLAYGROUND_STORE, else .playground in the working directory.
    store: MaybeUnknown<Option<String>>,
    /// The first half of a pair of keys.
    access_key: MaybeUnknown<Option<String>>,
    /// The second half.
    secret_key: MaybeUnknown<Option<Secret>>,
    /// Refuse to work without both keys.
    require_keys: MaybeUnknown<Option<bool>>,
    /// A lease's token; while it is not valid, the remote system refuses every call.
    auth_token: MaybeUnknown<Option<Secret>>,
    /// The address of the remote system, such as a tunnel's local address.
    address: MaybeUnknown<Option<String>>,
    /// The least duration of every call.
    #[attribute(between(0, 60_000))]
    latency_ms: MaybeUnknown<Option<u64>>,
    #[attribute(optional)]
    fault: RequestedFault,
}

/// Creates the client. A value that is unknown at plan counts as not set, because planning makes no call to the
/// remote system that needs it.
pub(super) fn configure(config: Configuration) -> Result<Client, Diagnostic> {
    check_keys(&config)?;
    let store = Client::open_store(known(config.store).as_deref())?;
    let auth_token = known(config.auth_token);
    let received = [
        (Configuration::ACCESS_KEY.name(), known(config.access_key).map(Secret::new)),
        (Configuration::SECRET_KEY.name(), known(config.secret_key)),
        (Configuration::AUTH_TOKEN.name(), auth_token.clone()),
    ];
    let received = received.iter().filter_map(|(name, secret)| Some((*name, secret.as_ref()?)));
    let received = store.fingerprints(received);
    store.ledger().write(&Entry { received, ..Entry::effect("configured", "", "") })?;
    Ok(Client {
        store,
        latency: Duration::from_millis(known(config.latency_ms).unwrap_or(0)),
        fault: config.fault.0,
        auth_token,
        address: known(config.address),
        tunnels: Mutex::new(BTreeMap::new()),
    })
}

fn known<T>(value: MaybeUnknown<Option<T>>) -> Option<T> {
    value.known().flatten()
}

/// Returns an error if the configuration requires both keys and lacks one. An unknown key counts as set.
fn check_keys(config: &Configuration) -> Result<(), Diagnostic> {
    if !matches!(config.require_keys, MaybeUnknown::Known(Some(true))) {
        return Ok(());
    }
    require(Configuration::ACCESS_KEY, &config.access_key)?;
    require(Configuration::SECRET_KEY, &config.secret_key)
}

fn require<T>(key: Key<T>, value: &MaybeUnknown<Option<T>>) -> Result<(), Diagnostic> {
    if !matches!(value, MaybeUnknown::Known(None)) {
        return Ok(());
    }
    let detail = format!("The provider is configured to need {}, but it is not set.", key.name());
    Err(Diagnostic::error("Missing key", detail).at(key.path()))
}
