//! The provider configuration.

use std::{collections::BTreeMap, sync::Mutex, time::Duration};

use super::{client::Client, fault::Fault, store::Entry};
use crate::playground::gate::store_error;
use mayfly_sdk::{
    Diagnostic, Diagnostics, Object, Secret,
    schema::{Block, Schema, boolean, number, string},
    validate::{WholeBetween, requires},
};

pub(super) fn schema() -> Schema {
    let store = "Directory of the store; by default PLAYGROUND_STORE, else .playground in the working directory.";
    let token = "A lease's token; while it is not valid, the remote system refuses every call.";
    let address = "Where the remote system is reached, such as a tunnel's local address.";
    Schema::new(
        Block::new()
            .description("A small remote system to try things out with.")
            .attribute("store", string().optional().description(store))
            .attribute(
                "access_key",
                string().optional().description("The first half of a pair of keys."),
            )
            .attribute(
                "secret_key",
                string().optional().sensitive().description("The second half."),
            )
            .attribute(
                "require_keys",
                boolean().optional().description("Refuse to work without both keys."),
            )
            .attribute("auth_token", string().optional().sensitive().description(token))
            .attribute("address", string().optional().description(address))
            .attribute(
                "latency_ms",
                number()
                    .optional()
                    .validator(WholeBetween(0, 60_000))
                    .description("How long every call takes at least."),
            )
            .attribute("fault", Fault::attribute()),
    )
}

pub(super) fn validate(config: &Object, diagnostics: &mut Diagnostics) {
    requires(config, "access_key", "secret_key", diagnostics);
    requires(config, "secret_key", "access_key", diagnostics);
}

/// Creates the client. A value that is unknown at plan counts as not set, because planning makes no call to the
/// remote system that needs it.
pub(super) fn configure(config: &Object) -> Result<Client, Diagnostic> {
    if config.bool("require_keys") == Some(true) {
        let missing = ["access_key", "secret_key"].into_iter().find(|name| config.is_absent(name));
        if let Some(name) = missing {
            let detail = format!("The provider is configured to need {name}, but it is not set.");
            return Err(Diagnostic::error("Missing key", detail).at(config.path_of(name)));
        }
    }
    let store = Client::open_store(config.string("store").as_deref())?;
    let secret = |name| config.string(name).map(Secret::new);
    let keys = ["access_key", "secret_key", "auth_token"].map(|name| (name, secret(name)));
    let received = keys.iter().filter_map(|(name, it)| Some(((*name).to_owned(), it.as_ref()?)));
    let entry = Entry {
        received: received.map(|(name, it)| (name, store.fingerprint(it))).collect(),
        ..Entry::effect("configured", "", "")
    };
    store.ledger().write(&entry).map_err(store_error)?;
    let latency = config.int("latency_ms")?.and_then(|it| u64::try_from(it).ok()).unwrap_or(0);
    Ok(Client {
        store,
        latency: Duration::from_millis(latency),
        fault: Fault::of(config.value()),
        auth_token: secret("auth_token"),
        address: config.string("address").map(|it| it.to_string()),
        tunnels: Mutex::new(BTreeMap::new()),
    })
}
