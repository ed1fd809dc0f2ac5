//! Plan modifiers: what an attribute adds to the plan beyond its configuration.

use values::{Path, Value};

use super::diagnostics::Diagnostics;

/// Changes the plan of one attribute.
pub trait Modifier: Send + Sync {
    /// Looks at `attribute` and changes `change`.
    fn modify(&self, attribute: &AttributeContext<'_>, change: &mut AttributeChange);
}

/// Where a modifier runs.
pub struct AttributeContext<'a> {
    /// The attribute.
    pub path: &'a Path,
    /// Its value in the configuration; null where it has none.
    pub config: &'a Value,
    /// Its value before; null where it has none.
    pub prior: &'a Value,
    /// Whether there is an object already.
    pub updating: bool,
}

/// What a modifier may change.
pub struct AttributeChange {
    /// The planned value.
    pub planned: Value,
    /// Whether the change needs a new object.
    pub requires_replace: bool,
    /// What there is to say.
    pub diagnostics: Diagnostics,
}

/// A change needs a new object.
pub struct RequiresReplace;

impl Modifier for RequiresReplace {
    fn modify(&self, attribute: &AttributeContext<'_>, change: &mut AttributeChange) {
        change.requires_replace |= changes(attribute, change);
    }
}

/// A change needs a new object if the condition holds.
pub struct RequiresReplaceIf<F>(pub F);

impl<F> Modifier for RequiresReplaceIf<F>
where
    F: Fn(&AttributeContext<'_>, &Value) -> bool + Send + Sync,
{
    fn modify(&self, attribute: &AttributeContext<'_>, change: &mut AttributeChange) {
        change.requires_replace |=
            changes(attribute, change) && (self.0)(attribute, &change.planned);
    }
}

/// A change needs a new object, if the configuration sets the attribute: removing it from the configuration does not.
pub struct RequiresReplaceIfConfigured;

impl Modifier for RequiresReplaceIfConfigured {
    fn modify(&self, attribute: &AttributeContext<'_>, change: &mut AttributeChange) {
        change.requires_replace |= changes(attribute, change) && !attribute.config.is_null();
    }
}

/// What the provider chose once stays, where the plan would call it unknown.
pub struct UseStateForUnknown;

impl Modifier for UseStateForUnknown {
    fn modify(&self, attribute: &AttributeContext<'_>, change: &mut AttributeChange) {
        let keep =
            !attribute.prior.is_null() && !change.planned.is_known() && attribute.config.is_known();
        if keep {
            change.planned = attribute.prior.clone();
        }
    }
}

fn changes(attribute: &AttributeContext<'_>, change: &AttributeChange) -> bool {
    attribute.updating && change.planned != *attribute.prior
}
