//! The plan of a managed resource, computed as in the plugin framework: defaults, null for write-only attributes,
//! unknown for computed attributes, then the plan modifiers.

use provider::null_write_only;
use values::{Path, Type, Value};

use crate::{
    diagnostics::Diagnostics,
    modify::{AttributeChange, AttributeContext},
    schema::{Attribute, Block, Shape},
    walk::{Outcome, Places, rebuild_block},
};

/// The inputs of a plan. `config`, `prior` and `proposed` are objects of the schema, or null.
pub(crate) struct Inputs<'a> {
    pub(crate) block: &'a Block,
    pub(crate) provider_block: &'a provider::Block,
    pub(crate) config: &'a Value,
    pub(crate) prior: &'a Value,
}

/// The plan that follows from the schema alone.
pub(crate) struct SchemaPlan {
    pub(crate) planned: Value,
    pub(crate) requires_replace: Vec<Path>,
    pub(crate) diagnostics: Diagnostics,
}

impl Inputs<'_> {
    fn places(&self) -> Places {
        let some = |value: &Value| (!value.is_null()).then(|| value.clone());
        Places { config: some(self.config), prior: some(self.prior) }
    }

    /// Plans a create or an update. `proposed` must not be null.
    pub(crate) fn plan(&self, proposed: &Value) -> SchemaPlan {
        let planned = self.with_defaults(proposed);
        let planned = null_write_only(&planned, self.provider_block);
        let planned = with_nulls_like(self.prior, self.block, &planned);
        // The comparison is exact: a different precision or refinement alone counts as a change, as in the plugin
        // framework.
        let planned =
            if planned == *self.prior { planned } else { self.with_unknowns(&planned, false) };
        self.modified(&planned)
    }

    /// Plans an update of which no attribute shows why it is needed.
    pub(crate) fn plan_hidden_change(&self, planned: &Value) -> SchemaPlan {
        self.modified(&self.with_unknowns(planned, true))
    }

    fn with_defaults(&self, value: &Value) -> Value {
        rebuild_block(
            self.block,
            &Path::root(),
            &self.places(),
            value,
            &mut |_, attribute, places, value| match &attribute.default {
                Some(default) if is_null_or_absent(places.config.as_ref()) => {
                    Outcome::replace(default.clone())
                }
                _ => Outcome::keep(value),
            },
        )
    }

    /// Makes the values unknown that the provider chooses, or only those that a plan has not changed yet.
    fn with_unknowns(&self, value: &Value, only_unchanged: bool) -> Value {
        rebuild_block(
            self.block,
            &Path::root(),
            &self.places(),
            value,
            &mut |_, attribute, places, value| {
                let chosen = attribute.computed && attribute.default.is_none();
                let is_open = !only_unchanged || places.prior.as_ref() == Some(value);
                if chosen && is_open && is_null_or_absent(places.config.as_ref()) {
                    Outcome::replace(Value::unknown(type_of(attribute, value)))
                } else {
                    Outcome::keep(value)
                }
            },
        )
    }

    fn modified(&self, value: &Value) -> SchemaPlan {
        let mut requires_replace = Vec::new();
        let mut diagnostics = Diagnostics::default();
        let updating = !self.prior.is_null();
        let mut modify = |path: &Path, attribute: &Attribute, places: &Places, value: &Value| {
            if attribute.modifiers.is_empty() {
                return Outcome::keep(value);
            }
            let null = Value::null(value.ty());
            let context = AttributeContext {
                path,
                config: places.config.as_ref().unwrap_or(&null),
                prior: places.prior.as_ref().unwrap_or(&null),
                updating,
            };
            let mut change = AttributeChange {
                planned: value.clone(),
                requires_replace: false,
                diagnostics: Diagnostics::default(),
            };
            for modifier in &attribute.modifiers {
                modifier.modify(&context, &mut change);
            }
            if change.requires_replace {
                requires_replace.push(path.clone());
            }
            change.diagnostics.into_vec().into_iter().for_each(|it| diagnostics.push(it));
            Outcome { value: change.planned, enter: true }
        };
        let planned = rebuild_block(self.block, &Path::root(), &self.places(), value, &mut modify);
        SchemaPlan { planned, requires_replace, diagnostics }
    }
}

/// Gives the nulls of write-only attributes the types that they have in `like`, with which a core compares them: a null
/// of an attribute of dynamic type can have any type. A plan is compared with the configuration, a result with its
/// plan.
pub(crate) fn with_nulls_like(like: &Value, block: &Block, value: &Value) -> Value {
    let places = Places { config: Some(like.clone()), prior: None };
    rebuild_block(block, &Path::root(), &places, value, &mut |_, attribute, places, value| {
        match &places.config {
            Some(null) if attribute.write_only && null.is_null() => Outcome::replace(null.clone()),
            _ => Outcome::keep(value),
        }
    })
}

/// Returns the planned object with the values of write-only attributes from the configuration.
pub(crate) fn with_write_only(config: &Value, block: &Block, planned: &Value) -> Value {
    let places = Places { config: Some(config.clone()), prior: None };
    rebuild_block(block, &Path::root(), &places, planned, &mut |_, attribute, places, value| {
        match &places.config {
            Some(configured) if attribute.write_only => Outcome::replace(configured.clone()),
            _ => Outcome::keep(value),
        }
    })
}

fn is_null_or_absent(config: Option<&Value>) -> bool {
    config.is_none_or(Value::is_null)
}

/// The type of the attribute in the schema, not of its value: an unknown value of dynamic type has no known type.
fn type_of(attribute: &Attribute, value: &Value) -> Type {
    match &attribute.shape {
        Shape::Type(ty) => ty.clone(),
        Shape::Nested(..) => value.ty(),
    }
}

/// Replaces unknown values by null and adds an error for each. An apply must leave no unknown value.
pub(crate) fn without_unknowns(state: &Value, diagnostics: &mut Diagnostics) -> Value {
    if state.is_wholly_known() {
        return state.clone();
    }
    state.transform(&mut |path, value| {
        if value.is_known() {
            return value.clone();
        }
        diagnostics.error_at(
            path.clone(),
            "Provider returned invalid result object after apply",
            format!(
                "After the apply, {path} is still unknown. This is a bug in the provider; the \
                     other values are kept."
            ),
        );
        Value::null(value.ty())
    })
}
