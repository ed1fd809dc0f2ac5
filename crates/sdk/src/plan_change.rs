//! A plan in the hands of a resource type.

use values::{Path, Value};

use crate::{data::Object, diagnostics::Diagnostics, private::PrivateState};

/// A plan that is being made.
pub struct PlanChange {
    /// The configuration with write-only values. It may be unknown in parts.
    pub config: Object,
    /// The prior object; null for a create.
    pub prior: Object,
    /// The planned object. Write-only attributes become null, whatever is set here.
    pub planned: Object,
    /// The paths whose change requires replacement.
    pub requires_replace: Vec<Path>,
    /// Private state, kept with the plan and passed to create and update.
    pub private: PrivateState,
    /// The resource identity, if the type has one.
    pub identity: Option<Value>,
    /// The value of the module's `provider_meta` block; null if there is none.
    pub meta: Object,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
    pub(crate) has_hidden_change: bool,
}

impl PlanChange {
    /// Returns true if an object is created, false if one is updated.
    #[must_use]
    pub fn is_creation(&self) -> bool {
        self.prior.is_null()
    }

    /// Plans an update although no attribute of the configuration has changed, such as for a changed file that the
    /// configuration names. The values that the provider chooses become unknown, except those that keep their state.
    pub fn expect_changes(&mut self) {
        self.has_hidden_change = true;
    }

    /// Requires the replacement of the object because of an attribute.
    pub fn require_replace(&mut self, name: impl AsRef<str>) {
        let path = self.planned.path_of(name);
        self.requires_replace.push(path);
    }

    /// Returns true if an attribute differs from its prior value. True for a create.
    #[must_use]
    pub fn changes(&self, name: impl AsRef<str>) -> bool {
        self.is_creation() || self.planned.attr(&name) != self.prior.attr(&name)
    }
}
