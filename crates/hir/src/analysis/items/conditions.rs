//! Conditions and their messages: conditions may use anything, messages must not show a secret
//! (`reference`: ephemeral 1.2).

use db::Severity;
use values::{Type, convert};

use crate::{
    analysis::{infer::Infer, problem::ItemProblem, value::Tri},
    item::Condition,
};

/// Which kind of block the condition is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `validation`: an unusable message is an error when the condition fails, so it is only warned of here.
    Variable,
    /// `precondition`, `postcondition`.
    Object,
    /// `assert`.
    Check,
}

pub(super) fn check(infer: &mut Infer<'_>, condition: &Condition, place: Place) {
    let value = infer.expr(condition.condition);
    if value.ty != Type::Dynamic && !convert::can_convert(&value.ty, &Type::Bool) {
        infer.problems.push(ItemProblem::error(
            condition.condition.into(),
            "invalid-condition",
            "Invalid condition result",
            "Condition expression must return either true or false: bool required.",
        ));
    }
    let message = infer.expr(condition.error_message);
    if message.ty != Type::Dynamic && !convert::can_convert(&message.ty, &Type::String) {
        infer.problems.push(ItemProblem::error(
            condition.error_message.into(),
            "invalid-error-message",
            "Invalid error message",
            "Unsuitable value for error message: string required.",
        ));
    }
    let marks = message.deep_marks();
    let (kind, function) = match (marks.sensitive, marks.ephemeral) {
        (Tri::Yes, _) => ("sensitive", "nonsensitive()"),
        (_, Tri::Yes) => ("ephemeral", "ephemeralasnull()"),
        _ => return,
    };
    let shown = match place {
        Place::Variable => {
            "explain this condition refers to {} values. Mayfly will not display the resulting message."
        }
        Place::Object | Place::Check => {
            "explain this condition refers to {} values, so Mayfly will not display the resulting message."
        }
    };
    let detail = format!(
        "The error expression used to {}\n\nYou can correct this by removing references to {kind} values or by utilizing the builtin {function} \
         function.",
        shown.replace("{}", kind)
    );
    let problem = ItemProblem::error(
        condition.error_message.into(),
        "error-message-marks",
        format!("Error message refers to {kind} values"),
        detail,
    );
    let origin = if kind == "ephemeral" { message.origin.as_ref() } else { None };
    infer.problems.push(problem.with_severity(Severity::Warning).because(origin));
}
