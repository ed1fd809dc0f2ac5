//! `playground_secret`, managed: a named secret of the remote system.

use mayfly_sdk::{Key, Model, PlanChange, SecretArgument, SecretChange};

use super::{
    fault::Fault,
    names::{secret_arn, secret_name},
    store::Record,
    stored_object::StoredObject,
};

/// The kind of object in the store. `playground_secret_version` sets values of the same objects.
pub(super) const KIND: &str = "secret";
/// The secret field of such an object.
pub(super) const VALUE: &str = "value";
pub(super) const TYPE: &str = "playground_secret";

/// A named secret.
#[derive(Default, Model)]
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
    #[flatten(prefix = "value")]
    value: SecretArgument,
    /// Counts the values set here.
    #[attribute(computed)]
    version: Option<i64>,
    #[attribute(computed, keeps_state)]
    created: Option<String>,
    fault: Option<Fault>,
}

impl StoredObject for ManagedSecret {
    const TYPE_NAME: &'static str = TYPE;
    const KIND: &'static str = KIND;
    const NAMED_BY: Key<String> = ManagedSecret::NAME;
    const SECRET: &'static str = VALUE;

    fn plan(change: &mut PlanChange) {
        if change.config.is_absent(ManagedSecret::NAME) {
            let name = change.config.attr(ManagedSecret::SECRET_NAME);
            if !change.is_creation() && name != change.prior.attr(ManagedSecret::NAME) {
                change.require_replace(ManagedSecret::SECRET_NAME);
            }
            change.planned.set(ManagedSecret::NAME, name);
        }
    }

    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    fn secret(&self) -> &SecretArgument {
        &self.value
    }

    fn new_id(&self) -> String {
        secret_arn(self.name())
    }

    fn is_of(&self, record: &Record) -> bool {
        self.id.as_deref() == Some(&record.id)
    }

    fn write(&self, change: &SecretChange<'_>, record: &mut Record) {
        record.set_or_remove("description", self.description.clone());
        if !change.keeps_secret() {
            record.set("version", (own_version(record) + 1).to_string());
        }
    }

    fn of(self, record: &Record) -> ManagedSecret {
        ManagedSecret {
            id: Some(record.id.clone()),
            arn: Some(record.id.clone()),
            name: Some(record.name.clone()),
            version: Some(own_version(record)),
            created: Some(record.created.clone()),
            ..self
        }
    }

    fn refreshed(self, record: &Record) -> ManagedSecret {
        let plain = self.value.plain.as_ref().and(record.secret(VALUE)).cloned();
        ManagedSecret {
            description: record.text("description").map(str::to_owned),
            value: SecretArgument { plain, ..self.value },
            ..self
        }
    }

    fn name_of(id: &str) -> &str {
        secret_name(id)
    }
}

/// The number of values that this resource has set; `playground_secret_version` has versions of its own.
fn own_version(record: &Record) -> i64 {
    record.number("version").unwrap_or(0)
}
