//! The labels of dynamic blocks.

use db::Summary;

use crate::{
    analysis::{
        infer::Infer,
        problem::ItemProblem,
        value::{marks::Tri, when::When},
    },
    expr::ExprId,
};

/// Reports a secret in a label of a `dynamic` block. Labels are shown and written to the state.
pub(super) fn dynamic_label(infer: &mut Infer<'_>, at: ExprId) {
    let label = infer.expr(at);
    let marks = label.deep_marks();
    let certainty = marks.ephemeral.max(marks.sensitive);
    if certainty == Tri::No {
        return;
    }
    let detail = "Cannot use a sensitive or ephemeral value as a dynamic block label: labels are shown and kept.";
    let problem = ItemProblem::new(at.into(), Summary::INVALID_DYNAMIC_BLOCK_LABEL, detail);
    let when = if marks.sensitive == Tri::Yes { When::Always } else { label.ephemeral.somewhere() };
    infer.problems.push(problem.if_ephemeral(certainty, &when, label.origin.as_ref()));
}
