//! The values that declarations determine: marks of declared variables and outputs.

use values::MarkKind;

use crate::{
    analysis::{
        infer::InferEnv,
        value::{Abstract, marks::Tri},
    },
    item::{Item, Variable},
};

/// The value of the variable within its module: any value of its type, marked as declared.
pub(super) fn variable_value(item: &Item, variable: &Variable, env: &dyn InferEnv) -> Abstract {
    let mut value = Abstract::of_type(variable.ty.ty.without_optional());
    if let Some(sensitive) = sensitive(variable.sensitive, variable.may_be_secret) {
        value = value.with_mark(MarkKind::Sensitive, sensitive);
    }
    if variable.ephemeral {
        let at = variable.ephemeral_node.unwrap_or(item.header);
        let message = format!("variable \"{}\" is declared ephemeral", variable.name);
        value = ephemeral(value).with_origin(env.link(at.into(), &message, None));
    }
    value
}

/// The `sensitive` mark of a declaration: *yes* if it is declared, *maybe* if the argument is not known yet. `None`
/// if there is neither.
pub(super) fn sensitive(is_declared: bool, may_be: bool) -> Option<Tri> {
    match (is_declared, may_be) {
        (true, _) => Some(Tri::Yes),
        (false, true) => Some(Tri::Maybe),
        (false, false) => None,
    }
}

/// Marks a value as ephemeral as a whole.
pub(super) fn ephemeral(value: Abstract) -> Abstract {
    value.with_mark(MarkKind::Ephemeral, Tri::Yes)
}
