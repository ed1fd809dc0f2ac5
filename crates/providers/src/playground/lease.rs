//! `playground_lease`, ephemeral: credentials with a renewable lease, modelled on Vault's leases.
//!
//! The token of a lease is valid as the provider's `auth_token`: a provider that is configured with it refuses
//! calls once the lease has ended. This reveals a core that closes a lease too early or renews it too late.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use mayfly_sdk::{Diagnostic, EphemeralCall, EphemeralResource, Model, Secret};

use super::{
    client::Client,
    fault::Fault,
    names::{secret_name, unique},
    secret,
    store::{Record, Store},
};

const TYPE: &str = "playground_lease";
const KIND: &str = "lease";
const TTL: i64 = 60_000;
/// The maximum duration of a lease: one day.
const LONGEST: i64 = 86_400_000;

pub(super) struct LeaseType;

/// Credentials for a limited time.
#[derive(Model)]
pub(super) struct Lease {
    /// The purpose of the lease, or the path of a secret whose members it returns.
    path: String,
    /// For how long, in milliseconds; 60000 by default.
    #[attribute(between(1, LONGEST))]
    ttl_ms: Option<i64>,
    /// When to renew; by default after half of the time.
    #[attribute(between(1, LONGEST))]
    renew_after_ms: Option<i64>,
    /// When it really ends, if not after ttl_ms.
    #[attribute(between(1, LONGEST))]
    expire_after_ms: Option<i64>,
    /// The number of possible renewals; without limit by default.
    #[attribute(between(0, LONGEST))]
    max_renewals: Option<i64>,
    #[attribute(computed)]
    lease_id: Option<String>,
    /// The leased data: auth_token, and the members of the JSON object in the secret named path, if there is one.
    #[attribute(computed)]
    data: Option<BTreeMap<String, Secret>>,
    fault: Option<Fault>,
}

impl EphemeralResource<Client> for LeaseType {
    type Model = Lease;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn open(
        &self,
        client: &Client,
        config: Lease,
        call: &mut EphemeralCall,
    ) -> Result<Lease, Diagnostic> {
        let terms = LeaseDurations::of(&config);
        let id = format!("lease-{}", unique());
        let token = Secret::new(format!("{id}.{}{}", unique(), unique()));
        let mut record = Record::new(KIND, id.as_str(), id.as_str());
        record.set("path", config.path.as_str());
        terms.write(&mut record);
        record.set_secret("token", token.clone());
        client.store.create(&record)?;
        let data = leased(client, &config.path, token)?;
        call.private.set("lease_id", id.as_str());
        call.renew_at = terms.renew_at();
        client.record("opened", TYPE, &id, &id)?;
        Ok(Lease { lease_id: Some(id), data: Some(data), ..config })
    }

    async fn renew(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let id = call.private.text("lease_id").unwrap_or_default().to_owned();
        let record = client.find(KIND, &id)?.ok_or_else(|| over("it was closed"))?;
        if is_expired(&record) {
            client.record("expired", TYPE, &id, &id)?;
            return Err(over("it has expired"));
        }
        let mut terms = LeaseDurations::read(&record);
        if terms.renewals_left == Some(0) {
            return Err(over("it was renewed as often as it may be"));
        }
        terms.renewals_left = terms.renewals_left.map(|it| it - 1);
        client.store.update(KIND, &id, |record| terms.write(record))?;
        client.record("renewed", TYPE, &id, &id)?;
        call.renew_at = terms.renew_at();
        Ok(())
    }

    async fn close(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let id = call.private.text("lease_id").unwrap_or_default();
        let found = client.find(KIND, id)?;
        let record = found.ok_or_else(|| over("it was closed already"))?;
        if is_expired(&record) {
            client.record("expired", TYPE, id, id)?;
        }
        client.store.remove(KIND, id)?;
        client.record("closed", TYPE, id, id)
    }
}

/// The durations of a lease in milliseconds.
struct LeaseDurations {
    ttl: i64,
    renew_after: i64,
    expire_after: i64,
    renewals_left: Option<i64>,
}

impl LeaseDurations {
    fn of(config: &Lease) -> LeaseDurations {
        let ttl = config.ttl_ms.unwrap_or(TTL);
        LeaseDurations {
            ttl,
            renew_after: config.renew_after_ms.unwrap_or(ttl / 2),
            expire_after: config.expire_after_ms.unwrap_or(ttl),
            renewals_left: config.max_renewals,
        }
    }

    /// Restarts the lease and stores the terms for the next renewal.
    fn write(&self, record: &mut Record) {
        record.set("expires_at", (now().saturating_add(self.expire_after)).to_string());
        record.set("ttl", self.ttl.to_string());
        record.set("renew_after", self.renew_after.to_string());
        // `expire_after_ms` shortens only the first period; after a renewal, the lease lasts for the full
        // `ttl_ms`.
        record.set("expire_after", self.ttl.to_string());
        record.set_or_remove("renewals_left", self.renewals_left.map(|it| it.to_string()));
    }

    fn read(record: &Record) -> LeaseDurations {
        let ttl = record.number("ttl").unwrap_or(TTL);
        LeaseDurations {
            ttl,
            renew_after: record.number("renew_after").unwrap_or(ttl / 2),
            expire_after: record.number("expire_after").unwrap_or(ttl),
            renewals_left: record.number("renewals_left"),
        }
    }

    fn renew_at(&self) -> Option<SystemTime> {
        let after = u64::try_from(self.renew_after).unwrap_or_default();
        SystemTime::now().checked_add(Duration::from_millis(after))
    }
}

/// The current time in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn is_expired(record: &Record) -> bool {
    now() >= record.number("expires_at").unwrap_or(0)
}

fn over(why: &str) -> Diagnostic {
    Diagnostic::error("Lease is over", format!("The lease cannot be used: {why}."))
}

/// The data of a lease: its token, and the members of the secret at its path.
fn leased(
    client: &Client,
    path: &str,
    token: Secret,
) -> Result<BTreeMap<String, Secret>, Diagnostic> {
    let stored = client.find(secret::KIND, secret_name(path))?;
    let text = stored.as_ref().and_then(|record| record.secret(secret::VALUE)).map(Secret::reveal);
    let members: BTreeMap<String, String> =
        text.and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
    let members = members.into_iter().map(|(key, text)| (key, Secret::new(text)));
    Ok(members.chain([("auth_token".to_owned(), token)]).collect())
}

/// Returns an error unless the token belongs to an open lease that has not expired.
pub(super) fn check_token(store: &Store, token: &Secret) -> Result<(), Diagnostic> {
    let refused = |why: &str| {
        let detail = format!("The configured auth_token is not valid: {why}.");
        Err(Diagnostic::error("Access refused", detail))
    };
    let Some((id, _)) = token.reveal().split_once('.') else { return refused("it is of no lease") };
    match store.read(KIND, id)? {
        None => refused("its lease is closed"),
        Some(record) if record.secret("token") != Some(token) => refused("it is of no lease"),
        Some(record) if is_expired(&record) => refused("its lease has expired"),
        Some(_) => Ok(()),
    }
}
