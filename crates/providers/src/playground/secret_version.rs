//! `playground_secret_version`: the value of a secret as a separate object, modelled on
//! `aws_secretsmanager_secret_version`.

use mayfly_sdk::{
    Call, Diagnostic, EphemeralCall, EphemeralResource, Key, Model, Number, Resource, Secret,
};

use super::{
    client::Client,
    fault::Fault,
    names::{not_found, secret_name, unique},
    secret::{KIND, VALUE},
    secret_value::{HasSecretValue, SecretValue, Stored},
    store::Record,
    store_error::store_error,
};

const TYPE: &str = "playground_secret_version";
/// The field of the secret's object with the id of the version that set its value.
const VERSION_ID: &str = "version_id";

pub(super) struct ManagedSecretVersionType;

/// The value of a secret.
#[derive(Model)]
#[model(conflicting(secret_string, secret_string_wo))]
#[model(requires(secret_string_wo_version, secret_string_wo))]
pub(super) struct ManagedSecretVersion {
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    #[attribute(computed, keeps_state)]
    arn: Option<String>,
    #[attribute(requires_replace)]
    secret_id: String,
    secret_string: Option<Secret>,
    #[attribute(write_only)]
    secret_string_wo: Option<Secret>,
    secret_string_wo_version: Option<Number>,
    #[attribute(computed)]
    version_id: Option<String>,
    fault: Option<Fault>,
}

impl HasSecretValue for ManagedSecretVersion {
    const PLAIN: Key<Secret> = ManagedSecretVersion::SECRET_STRING;
    const WRITE_ONLY: Key<Secret> = ManagedSecretVersion::SECRET_STRING_WO;

    fn secret_value(&self) -> SecretValue<'_> {
        SecretValue {
            plain: self.secret_string.as_ref(),
            write_only: self.secret_string_wo.as_ref(),
            version: self.secret_string_wo_version.as_ref(),
        }
    }
}

impl Resource<Client> for ManagedSecretVersionType {
    type Model = ManagedSecretVersion;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn create(
        &self,
        client: &Client,
        planned: ManagedSecretVersion,
        _: &mut Call,
    ) -> Result<ManagedSecretVersion, Diagnostic> {
        let stored = Stored::of(None, &planned);
        let version_id = unique();
        let record = set(client, &planned, &stored, &version_id)?;
        let id = Some(format!("{}|{version_id}", record.id));
        let state = ManagedSecretVersion {
            id,
            arn: Some(record.id.clone()),
            version_id: Some(version_id),
            ..planned
        };
        client.record("created", TYPE, &of_version(&record, &state), stored.received())?;
        Ok(state)
    }

    async fn read(
        &self,
        client: &Client,
        state: ManagedSecretVersion,
        _: &mut Call,
    ) -> Result<Option<ManagedSecretVersion>, Diagnostic> {
        let Some(record) = current(client, &state)? else { return Ok(None) };
        let secret_string = state.secret_string.as_ref().and(record.secret(VALUE)).cloned();
        Ok(Some(ManagedSecretVersion { secret_string, ..state }))
    }

    async fn update(
        &self,
        client: &Client,
        prior: ManagedSecretVersion,
        planned: ManagedSecretVersion,
        _: &mut Call,
    ) -> Result<ManagedSecretVersion, Diagnostic> {
        let stored = Stored::of(Some(&prior), &planned);
        let kept = prior.version_id.filter(|_| matches!(stored, Stored::Keep));
        let version_id = kept.unwrap_or_else(unique);
        let record = set(client, &planned, &stored, &version_id)?;
        let state = ManagedSecretVersion {
            id: prior.id,
            arn: Some(record.id.clone()),
            version_id: Some(version_id),
            ..planned
        };
        client.record("updated", TYPE, &of_version(&record, &state), stored.received())?;
        Ok(state)
    }

    async fn delete(
        &self,
        client: &Client,
        state: ManagedSecretVersion,
        _: &mut Call,
    ) -> Result<(), Diagnostic> {
        let Some(record) = current(client, &state)? else { return Ok(()) };
        let updated = client.store.update(KIND, &record.name, |record| {
            record.remove_secret(VALUE);
            record.set_or_remove(VERSION_ID, None::<String>);
        });
        let record = updated.map_err(store_error)?;
        client.record("deleted", TYPE, &of_version(&record, &state), [])
    }
}

/// Sets the value of the secret and the id of its version. Returns the secret.
fn set(
    client: &Client,
    planned: &ManagedSecretVersion,
    stored: &Stored,
    version_id: &str,
) -> Result<Record, Diagnostic> {
    let updated = client.store.update(KIND, secret_name(&planned.secret_id), |record| {
        stored.apply(record, VALUE);
        record.set(VERSION_ID, version_id);
    });
    updated.map_err(store_error)
}

/// Returns the secret if this version set its current value.
fn current(client: &Client, state: &ManagedSecretVersion) -> Result<Option<Record>, Diagnostic> {
    let record = client.find(KIND, secret_name(&state.secret_id))?;
    let version_id = state.version_id.as_deref().unwrap_or_default();
    Ok(record.filter(|record| record.text(VERSION_ID) == Some(version_id)))
}

/// The record of this version for the ledger.
fn of_version(record: &Record, state: &ManagedSecretVersion) -> Record {
    Record::new(KIND, record.name.as_str(), state.id.as_deref().unwrap_or_default())
}

pub(super) struct EphemeralSecretVersionType;

/// Reads the value of a secret. It is kept nowhere.
#[derive(Model)]
pub(super) struct EphemeralSecretVersion {
    /// The secret's name or ARN.
    secret_id: String,
    #[attribute(computed)]
    arn: Option<String>,
    #[attribute(computed)]
    version_id: Option<String>,
    #[attribute(computed)]
    secret_string: Option<Secret>,
    fault: Option<Fault>,
}

impl EphemeralResource<Client> for EphemeralSecretVersionType {
    type Model = EphemeralSecretVersion;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn open(
        &self,
        client: &Client,
        config: EphemeralSecretVersion,
        call: &mut EphemeralCall,
    ) -> Result<EphemeralSecretVersion, Diagnostic> {
        let secret_id = &config.secret_id;
        let found = client.find(KIND, secret_name(secret_id))?;
        let record = found.ok_or_else(|| not_found("secret", secret_id))?;
        let secret = record.secret(VALUE).cloned();
        let secret = secret.ok_or_else(|| not_found("value of a secret", secret_id))?;
        call.private.set("id", record.id.as_str());
        client.record("opened", TYPE, &record, [])?;
        Ok(EphemeralSecretVersion {
            arn: Some(record.id.clone()),
            version_id: record.text(VERSION_ID).map(str::to_owned),
            secret_string: Some(secret),
            ..config
        })
    }

    async fn close(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let id = call.private.text("id").unwrap_or_default();
        client.record("closed", TYPE, &Record::new(KIND, secret_name(id), id), [])
    }
}
