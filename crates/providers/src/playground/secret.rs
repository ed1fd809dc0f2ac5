//! `playground_secret`, managed: a named secret of the remote system.

use mayfly_sdk::{Call, Diagnostic, Import, Key, Model, Number, PlanChange, Resource, Secret};

use super::{
    client::Client,
    fault::Fault,
    names::{not_found, secret_arn, secret_name},
    secret_value::{HasSecretValue, SecretValue, Stored},
    store::Record,
    store_error::store_error,
};

/// The kind of object in the store. `playground_secret_version` sets values of the same objects.
pub(super) const KIND: &str = "secret";
/// The secret field of such an object.
pub(super) const VALUE: &str = "value";
pub(super) const TYPE: &str = "playground_secret";

pub(super) struct ManagedSecretType;

/// A named secret.
#[derive(Default, Model)]
#[model(conflicting(value, value_wo), requires(value_wo_version, value_wo))]
#[model(exactly_one_of(name, secret_name))]
pub(super) struct ManagedSecret {
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    #[attribute(computed, keeps_state)]
    arn: Option<String>,
    #[attribute(optional, computed, keeps_state, requires_replace, length(1, 128))]
    name: Option<String>,
    /// Another way to set the name.
    #[attribute(length(1, 128))]
    secret_name: Option<String>,
    description: Option<String>,
    value: Option<Secret>,
    #[attribute(write_only)]
    value_wo: Option<Secret>,
    value_wo_version: Option<Number>,
    /// Counts the values set here.
    #[attribute(computed)]
    version: Option<i64>,
    #[attribute(computed, keeps_state)]
    created: Option<String>,
    fault: Option<Fault>,
}

impl HasSecretValue for ManagedSecret {
    const PLAIN: Key<Secret> = ManagedSecret::VALUE;
    const WRITE_ONLY: Key<Secret> = ManagedSecret::VALUE_WO;

    fn secret_value(&self) -> SecretValue<'_> {
        SecretValue {
            plain: self.value.as_ref(),
            write_only: self.value_wo.as_ref(),
            version: self.value_wo_version.as_ref(),
        }
    }
}

impl ManagedSecret {
    /// Returns the object with the computed attributes of its record.
    fn of(self, record: &Record) -> ManagedSecret {
        ManagedSecret {
            id: Some(record.id.clone()),
            arn: Some(record.id.clone()),
            version: Some(own_version(record)),
            created: Some(record.created.clone()),
            ..self
        }
    }
}

impl Resource<Client> for ManagedSecretType {
    type Model = ManagedSecret;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn plan(&self, _: &Client, change: &mut PlanChange) -> Result<(), Diagnostic> {
        if change.config.is_absent(ManagedSecret::NAME) {
            let name = change.config.attr(ManagedSecret::SECRET_NAME);
            if !change.is_creation() && name != change.prior.attr(ManagedSecret::NAME) {
                change.require_replace(ManagedSecret::SECRET_NAME);
            }
            change.planned.set(ManagedSecret::NAME, name);
        }
        Ok(())
    }

    async fn create(
        &self,
        client: &Client,
        planned: ManagedSecret,
        _: &mut Call,
    ) -> Result<ManagedSecret, Diagnostic> {
        let name = planned.name.clone().unwrap_or_default();
        let mut record = Record::new(KIND, name.as_str(), secret_arn(&name));
        // A secret without a value has version 0.
        record.version = 0;
        record.set_or_remove("description", planned.description.clone());
        let stored = Stored::of(None, &planned);
        stored.apply(&mut record, VALUE);
        record.set("version", record.version.to_string());
        client.store.create(&record).map_err(store_error)?;
        client.record("created", TYPE, &record, stored.received())?;
        Ok(planned.of(&record))
    }

    async fn read(
        &self,
        client: &Client,
        state: ManagedSecret,
        _: &mut Call,
    ) -> Result<Option<ManagedSecret>, Diagnostic> {
        let Some(record) = same(client, &state)? else { return Ok(None) };
        let found = ManagedSecret {
            name: Some(record.name.clone()),
            description: record.text("description").map(str::to_owned),
            value: state.value.as_ref().and(record.secret(VALUE)).cloned(),
            ..state
        };
        Ok(Some(found.of(&record)))
    }

    async fn update(
        &self,
        client: &Client,
        prior: ManagedSecret,
        planned: ManagedSecret,
        _: &mut Call,
    ) -> Result<ManagedSecret, Diagnostic> {
        let stored = Stored::of(Some(&prior), &planned);
        let name = planned.name.as_deref().unwrap_or_default();
        let updated = client.store.update(KIND, name, |record| {
            record.set_or_remove("description", planned.description.clone());
            let count = own_version(record);
            stored.apply(record, VALUE);
            if !matches!(stored, Stored::Keep) {
                record.set("version", (count + 1).to_string());
            }
        });
        let record = updated.map_err(store_error)?;
        client.record("updated", TYPE, &record, stored.received())?;
        Ok(planned.of(&record))
    }

    async fn delete(
        &self,
        client: &Client,
        state: ManagedSecret,
        _: &mut Call,
    ) -> Result<(), Diagnostic> {
        match same(client, &state)? {
            Some(record) => client.delete(TYPE, &record),
            None => Ok(()),
        }
    }

    async fn import(
        &self,
        client: &Client,
        target: Import,
        _: &mut Call,
    ) -> Result<Option<ManagedSecret>, Diagnostic> {
        let id = target.id_or(ManagedSecret::NAME)?;
        let found = client.find(KIND, secret_name(&id))?;
        let record = found.ok_or_else(|| not_found("secret", &id))?;
        let name = Some(record.name.clone());
        Ok(Some(ManagedSecret { name, ..ManagedSecret::default() }.of(&record)))
    }
}

/// Returns the object of a state. `None` if it is gone or a new object has its name.
fn same(client: &Client, state: &ManagedSecret) -> Result<Option<Record>, Diagnostic> {
    let id = state.id.as_deref().unwrap_or_default();
    Ok(client.find(KIND, secret_name(id))?.filter(|record| record.id == id))
}

/// The number of values that this resource has set; `playground_secret_version` has versions of its own.
fn own_version(record: &Record) -> i64 {
    record.text("version").and_then(|it| it.parse().ok()).unwrap_or(0)
}
