//! The pattern of a value with a write-only variant: `value`, `value_wo`, `value_wo_version`.

use mayfly_sdk::{Key, Number, Secret};

use super::store::Record;

/// A struct with the three attributes.
pub(super) trait HasSecretValue {
    /// The name of the value that the state keeps.
    const PLAIN: Key<Secret>;
    /// The name of the write-only value.
    const WRITE_ONLY: Key<Secret>;

    /// The values of the attributes.
    fn secret_value(&self) -> SecretValue<'_>;
}

/// The values of the three attributes.
#[derive(Clone, Copy)]
pub(super) struct SecretValue<'a> {
    pub(super) plain: Option<&'a Secret>,
    pub(super) write_only: Option<&'a Secret>,
    pub(super) version: Option<&'a Number>,
}

/// The effect of a change on the stored secret.
pub(super) enum Stored {
    Keep,
    Set { attribute: &'static str, secret: Secret },
    Clear,
}

impl Stored {
    /// Returns the effect of a create, which has no prior object, or of an update. A write-only value is stored only if
    /// its version changes, because the value itself cannot be compared.
    pub(super) fn of<M: HasSecretValue>(prior: Option<&M>, planned: &M) -> Stored {
        let planned = planned.secret_value();
        let prior = prior.map(M::secret_value);
        let set = |attribute: Key<Secret>, secret: &Secret| Stored::Set {
            attribute: attribute.name(),
            secret: secret.clone(),
        };
        if let Some(secret) = planned.plain {
            let is_current = prior.is_some_and(|it| it.plain == Some(secret));
            return if is_current { Stored::Keep } else { set(M::PLAIN, secret) };
        }
        if let Some(secret) = planned.write_only {
            let is_current =
                prior.is_some_and(|it| it.plain.is_none() && it.version == planned.version);
            return if is_current { Stored::Keep } else { set(M::WRITE_ONLY, secret) };
        }
        match prior {
            Some(prior) if prior.plain.is_some() || prior.version.is_some() => Stored::Clear,
            _ => Stored::Keep,
        }
    }

    /// Applies the effect to the secret of an object and counts the change.
    pub(super) fn apply(&self, record: &mut Record, field: &str) {
        match self {
            Stored::Keep => {}
            Stored::Set { secret, .. } => {
                record.set_secret(field, secret.clone());
                record.version += 1;
            }
            Stored::Clear => {
                record.remove_secret(field);
                record.version += 1;
            }
        }
    }

    /// The received secret with its attribute, for the ledger.
    pub(super) fn received(&self) -> Option<(&str, &Secret)> {
        match self {
            Stored::Set { attribute, secret } => Some((attribute, secret)),
            Stored::Keep | Stored::Clear => None,
        }
    }
}
