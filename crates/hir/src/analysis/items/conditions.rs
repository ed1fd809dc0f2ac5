//! Conditions and their error messages: conditions may use any value, messages must not show a secret.

use db::Summary;
use values::{MarkKind, Type, convert};

use crate::{
    analysis::{infer::Infer, problem::ItemProblem, value::marks::Tri},
    item::Condition,
    secret_message,
};

/// Checks the types of a condition and of its message, and warns about a message that shows a secret.
pub(super) fn check(infer: &mut Infer<'_>, condition: &Condition) {
    let value = infer.expr(condition.condition);
    if value.ty != Type::Dynamic && !convert::can_convert(&value.ty, &Type::Bool) {
        infer.problems.push(ItemProblem::new(
            condition.condition.into(),
            Summary::INVALID_CONDITION_RESULT,
            "Condition expression must return either true or false: bool required.",
        ));
    }
    let message = infer.expr(condition.error_message);
    if message.ty != Type::Dynamic && !convert::can_convert(&message.ty, &Type::String) {
        infer.problems.push(ItemProblem::new(
            condition.error_message.into(),
            Summary::INVALID_ERROR_MESSAGE,
            "Unsuitable value for error message: string required.",
        ));
    }
    let marks = message.deep_marks();
    let kind = match (marks.sensitive, marks.ephemeral) {
        (Tri::Yes, _) => MarkKind::Sensitive,
        (_, Tri::Yes) => MarkKind::Ephemeral,
        _ => return,
    };
    let problem = ItemProblem::new(
        condition.error_message.into(),
        secret_message::summary(kind),
        secret_message::detail(kind),
    );
    let origin = if kind == MarkKind::Ephemeral { message.origin.as_ref() } else { None };
    // In a `variable` block this becomes an error once the condition fails.
    infer.problems.push(problem.with_origin_chain(origin));
}
