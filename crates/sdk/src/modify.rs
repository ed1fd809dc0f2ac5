//! Plan modifiers: rules that change the plan of an attribute beyond its configuration.

use values::{Path, Value};

use crate::diagnostics::Diagnostics;

/// A plan modifier of one attribute.
pub trait Modifier: Send + Sync {
    /// Reads `attribute` and modifies `change`.
    fn modify(&self, attribute: &AttributeContext<'_>, change: &mut AttributeChange);
}

/// The attribute that a modifier runs for.
pub struct AttributeContext<'a> {
    /// The path of the attribute.
    pub path: &'a Path,
    /// The value in the configuration; null if it is not set.
    pub config: &'a Value,
    /// The prior value; null if there is none.
    pub prior: &'a Value,
    /// True for an update, false for a create.
    pub updating: bool,
}

/// The part of a plan that a modifier may change.
pub struct AttributeChange {
    /// The planned value.
    pub planned: Value,
    /// True if the change requires replacement.
    pub requires_replace: bool,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
}

/// A modifier that requires replacement for every change.
pub struct RequiresReplace;

impl Modifier for RequiresReplace {
    fn modify(&self, attribute: &AttributeContext<'_>, change: &mut AttributeChange) {
        change.requires_replace |= changes(attribute, change);
    }
}

/// A modifier that requires replacement for a change if the condition holds.
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

/// A modifier that requires replacement for a change if the configuration sets the attribute. Removing the
/// attribute from the configuration does not require it.
pub struct RequiresReplaceIfConfigured;

impl Modifier for RequiresReplaceIfConfigured {
    fn modify(&self, attribute: &AttributeContext<'_>, change: &mut AttributeChange) {
        change.requires_replace |= changes(attribute, change) && !attribute.config.is_null();
    }
}

/// A modifier that plans the prior value instead of an unknown one, for values that the provider chooses only
/// once.
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

/// A modifier for a value that follows from the configuration: a default that is computed. It applies if the
/// configuration does not set the attribute.
pub struct DefaultWith<F>(pub F);

impl<F> Modifier for DefaultWith<F>
where
    F: Fn() -> Value + Send + Sync,
{
    fn modify(&self, attribute: &AttributeContext<'_>, change: &mut AttributeChange) {
        let is_new = attribute.prior.is_null();
        if attribute.config.is_null() {
            change.planned = if is_new { (self.0)() } else { attribute.prior.clone() };
        }
    }
}

fn changes(attribute: &AttributeContext<'_>, change: &AttributeChange) -> bool {
    attribute.updating && change.planned != *attribute.prior
}
