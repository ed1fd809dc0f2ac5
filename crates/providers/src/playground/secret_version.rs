//! `playground_secret_version`: the value of a secret as a separate object, modelled on
//! `aws_secretsmanager_secret_version`.

use mayfly_sdk::{
    Call, Diagnostic, EphemeralCall, EphemeralResource, Model, Resource, Secret, SecretArgument,
};

use super::{
    client::Client,
    fault::Fault,
    names::{not_found, secret_name, unique},
    secret::{KIND, VALUE},
    store::Record,
    stored_object::received,
};

const TYPE: &str = "playground_secret_version";
/// The field of the secret's object with the id of the version that set its value.
const VERSION_ID: &str = "version_id";

pub(super) struct ManagedSecretVersionType;

/// The value of a secret.
#[derive(Model)]
pub(super) struct ManagedSecretVersion {
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    #[attribute(computed, keeps_state)]
    arn: Option<String>,
    #[attribute(requires_replace)]
    secret_id: String,
    #[flatten(prefix = "secret_string")]
    secret_string: SecretArgument,
    #[attribute(computed)]
    version_id: Option<String>,
    fault: Option<Fault>,
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
        set(client, None, planned)
    }

    async fn read(
        &self,
        client: &Client,
        state: ManagedSecretVersion,
        _: &mut Call,
    ) -> Result<Option<ManagedSecretVersion>, Diagnostic> {
        let Some(record) = current(client, &state)? else { return Ok(None) };
        let plain = state.secret_string.plain.as_ref().and(record.secret(VALUE)).cloned();
        let secret_string = SecretArgument { plain, ..state.secret_string };
        Ok(Some(ManagedSecretVersion { secret_string, ..state }))
    }

    async fn update(
        &self,
        client: &Client,
        prior: ManagedSecretVersion,
        planned: ManagedSecretVersion,
        _: &mut Call,
    ) -> Result<ManagedSecretVersion, Diagnostic> {
        set(client, Some(prior), planned)
    }

    async fn delete(
        &self,
        client: &Client,
        state: ManagedSecretVersion,
        _: &mut Call,
    ) -> Result<(), Diagnostic> {
        let Some(record) = current(client, &state)? else { return Ok(()) };
        client.store.update(KIND, &record.name, |record| {
            record.remove_secret(VALUE);
            record.set_or_remove(VERSION_ID, None::<String>);
        })?;
        client.record("deleted", TYPE, &record.name, &state.id.unwrap_or_default())
    }
}

/// Sets the value of the secret and the id of its version. Returns the version.
fn set(
    client: &Client,
    prior: Option<ManagedSecretVersion>,
    planned: ManagedSecretVersion,
) -> Result<ManagedSecretVersion, Diagnostic> {
    let change = planned.secret_string.change(prior.as_ref().map(|it| &it.secret_string));
    let event = if prior.is_some() { "updated" } else { "created" };
    let (id, version_id) = prior.map_or((None, None), |it| (it.id, it.version_id));
    let version_id = version_id.filter(|_| change.keeps_secret()).unwrap_or_else(unique);
    let record = client.store.update(KIND, secret_name(&planned.secret_id), |record| {
        record.change_secret(VALUE, &change);
        record.set(VERSION_ID, version_id.as_str());
    })?;
    let id = id.unwrap_or_else(|| format!("{}|{version_id}", record.id));
    let received = received(&change, "secret_string");
    client.record_received(event, TYPE, &record.name, &id, received)?;
    let (id, arn, version_id) = (Some(id), Some(record.id), Some(version_id));
    Ok(ManagedSecretVersion { id, arn, version_id, ..planned })
}

/// Returns the secret if this version set its current value.
fn current(client: &Client, state: &ManagedSecretVersion) -> Result<Option<Record>, Diagnostic> {
    let record = client.find(KIND, secret_name(&state.secret_id))?;
    let version_id = state.version_id.as_deref().unwrap_or_default();
    Ok(record.filter(|record| record.text(VERSION_ID) == Some(version_id)))
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
        client.record("opened", TYPE, &record.name, &record.id)?;
        Ok(EphemeralSecretVersion {
            arn: Some(record.id.clone()),
            version_id: record.text(VERSION_ID).map(str::to_owned),
            secret_string: Some(secret),
            ..config
        })
    }

    async fn close(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let id = call.private.text("id").unwrap_or_default();
        client.record("closed", TYPE, secret_name(id), id)
    }
}
