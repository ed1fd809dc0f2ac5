//! Reading of `playground_secret`: the data source and the ephemeral resource with that name.

use mayfly_sdk::{
    DataCall, DataSource, Diagnostic, EphemeralCall, EphemeralResource, Model, Secret,
};

use super::{
    client::Client,
    fault::Fault,
    names::{not_found, secret_name},
    secret::{KIND, TYPE, VALUE},
    store::Record,
};

/// The ephemeral resource.
pub(super) struct EphemeralSecretType;

/// Reads a secret. Its value is kept nowhere.
#[derive(Model)]
#[model(exactly_one_of(name, secret_id))]
pub(super) struct EphemeralSecret {
    name: Option<String>,
    /// The secret's name or ARN.
    secret_id: Option<String>,
    #[attribute(computed)]
    arn: Option<String>,
    #[attribute(computed)]
    description: Option<String>,
    #[attribute(computed)]
    value: Option<Secret>,
    /// A copy of `value`.
    #[attribute(computed)]
    secret_string: Option<Secret>,
    #[attribute(computed)]
    version: Option<i64>,
    fault: Option<Fault>,
}

impl EphemeralSecret {
    fn find(&self, client: &Client) -> Result<Record, Diagnostic> {
        let named = self.secret_id.as_deref().or(self.name.as_deref()).unwrap_or_default();
        client.find(KIND, secret_name(named))?.ok_or_else(|| not_found("secret", named))
    }

    /// Returns the configuration with the computed attributes of a record.
    fn of(self, record: &Record) -> EphemeralSecret {
        EphemeralSecret {
            arn: Some(record.id.clone()),
            description: record.text("description").map(str::to_owned),
            value: record.secret(VALUE).cloned(),
            secret_string: record.secret(VALUE).cloned(),
            version: Some(record.version),
            ..self
        }
    }
}

impl EphemeralResource<Client> for EphemeralSecretType {
    type Model = EphemeralSecret;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn open(
        &self,
        client: &Client,
        config: EphemeralSecret,
        call: &mut EphemeralCall,
    ) -> Result<EphemeralSecret, Diagnostic> {
        let record = config.find(client)?;
        call.private.set("id", record.id.as_str());
        client.record("opened", TYPE, &record.name, &record.id)?;
        Ok(config.of(&record))
    }

    async fn close(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let id = call.private.text("id").unwrap_or_default();
        client.record("closed", TYPE, secret_name(id), id)
    }
}

/// The data source. Its result is written to the state, which the ephemeral resource avoids.
pub(super) struct SecretDataType;

/// Reads a secret. Its value is kept in state.
#[derive(Model)]
pub(super) struct SecretData {
    #[attribute(computed)]
    id: Option<String>,
    #[flatten]
    secret: EphemeralSecret,
}

impl DataSource<Client> for SecretDataType {
    type Model = SecretData;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn read(
        &self,
        client: &Client,
        config: SecretData,
        _: &mut DataCall,
    ) -> Result<SecretData, Diagnostic> {
        let record = config.secret.find(client)?;
        Ok(SecretData { id: Some(record.id.clone()), secret: config.secret.of(&record) })
    }
}
