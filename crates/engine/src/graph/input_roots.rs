//! The arguments of a module call, by the expressions in them.

use hir::{Entry, ExprId, item::Repetition};

use crate::graph::template::ChildInput;

/// Finds the argument of a call that an expression belongs to.
///
/// Expressions are numbered children first and one attribute after the other, so the expressions of an attribute
/// end at the attribute's own number.
pub(super) struct InputRoots {
    roots: Vec<(ExprId, Option<usize>)>,
}

impl InputRoots {
    pub(super) fn new(entry: &Entry, inputs: &[ChildInput]) -> InputRoots {
        let call = entry.module_call();
        let mut roots: Vec<(ExprId, Option<usize>)> =
            inputs.iter().enumerate().map(|(index, input)| (input.value, Some(index))).collect();
        let repetition = match call.repetition {
            Repetition::Single => None,
            Repetition::Count(expr) | Repetition::ForEach(expr) | Repetition::Enabled(expr) => {
                Some(expr)
            }
        };
        let others = [repetition, call.source_expr, call.version].into_iter().flatten();
        roots.extend(others.map(|expr| (expr, None)));
        sorted::sort(&mut roots);
        InputRoots { roots }
    }

    pub(super) fn input_of(&self, expr: ExprId) -> Option<usize> {
        let at = self.roots.partition_point(|(root, _)| *root < expr);
        self.roots.get(at)?.1
    }
}
