//! The pattern of a value with a write-only variant: `value`, `value_wo`, `value_wo_version`.

use super::store::Record;
use mayfly_sdk::erased::Change;
use mayfly_sdk::{
    Diagnostics, Object, Secret,
    validate::{conflicting, requires},
};

/// The names of the three attributes.
pub(super) struct AttributeNames {
    pub(super) plain: &'static str,
    pub(super) write_only: &'static str,
    pub(super) version: &'static str,
}

/// The effect of a change on the stored secret.
pub(super) enum Stored {
    Keep,
    Set { attribute: &'static str, secret: Secret },
    Clear,
}

impl AttributeNames {
    /// Checks that not both values are set, and that the version is set only with the write-only value.
    pub(super) fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let &AttributeNames { plain, write_only, version } = self;
        conflicting(config, plain, write_only, diagnostics);
        requires(config, version, write_only, diagnostics);
    }

    /// Returns the effect of a create or update. A write-only value is stored only if its version changes, because
    /// the value itself cannot be compared.
    pub(super) fn stored(&self, change: &Change) -> Stored {
        let &AttributeNames { plain, write_only, version } = self;
        let creating = change.prior.is_null();
        let differs = |name| change.planned.attr(name) != change.prior.attr(name);
        if let Some(text) = change.config.string(plain) {
            return match creating || differs(plain) {
                true => Stored::Set { attribute: plain, secret: Secret::new(text) },
                false => Stored::Keep,
            };
        }
        let had_plain = !creating && !change.prior.is_absent(plain);
        if let Some(text) = change.config.string(write_only) {
            return match creating || differs(version) || had_plain {
                true => Stored::Set { attribute: write_only, secret: Secret::new(text) },
                false => Stored::Keep,
            };
        }
        let had_write_only = !creating && !change.prior.is_absent(version);
        if had_plain || had_write_only { Stored::Clear } else { Stored::Keep }
    }
}

impl Stored {
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
