//! The idiom of a value with a write-only twin: `value`, `value_wo`, `value_wo_version`.

use super::store::{Record, Secret};
use crate::sdk::{
    Change, Diagnostics, Object,
    validate::{conflicting, requires},
};

/// The three attributes' names.
pub(super) struct Twins {
    pub(super) plain: &'static str,
    pub(super) write_only: &'static str,
    pub(super) version: &'static str,
}

/// What a change does to the stored secret.
pub(super) enum Stored {
    Keep,
    Set { attribute: &'static str, secret: Secret },
    Clear,
}

impl Twins {
    /// Not both; and a version only with something that it is the version of.
    pub(super) fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let &Twins { plain, write_only, version } = self;
        conflicting(config, plain, write_only, diagnostics);
        requires(config, version, write_only, diagnostics);
    }

    /// What a create or an update has to do. A write-only value counts only when its version was raised: nobody can tell
    /// whether it changed.
    pub(super) fn stored(&self, change: &Change) -> Stored {
        let &Twins { plain, write_only, version } = self;
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
    /// Does it to the object's secret; counts it.
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

    /// The secret that came in, by its attribute, for the ledger.
    pub(super) fn received(&self) -> Option<(&str, &Secret)> {
        match self {
            Stored::Set { attribute, secret } => Some((attribute, secret)),
            Stored::Keep | Stored::Clear => None,
        }
    }
}
