//! The changes to the facts about an expression if its evaluation fails, or has to wait for an unknown value.
//!
//! A failing evaluation fails the item, unless something hides the failure: the arm that a conditional does not
//! choose, or the side of `&&` that does not decide. In that case evaluation continues with a value of any type
//! that carries the marks of everything that was read before the failure.

use std::sync::Arc;

use crate::analysis::{
    origin::Origin,
    value::{
        Abstract,
        marks::{Tri, TriMarks},
    },
};

/// The facts that still hold if the evaluation fails or has to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// True if the type is the same while the value is unknown. False for a `try` that waits: its result has any
    /// type until then.
    pub is_typed_early: bool,
    /// True if the type is the same after a failure.
    pub keeps_type: bool,
    /// True if the marks that are *yes* are also present after a failure.
    pub keeps_marks: bool,
    /// Marks that a failed evaluation may carry beyond those of the value itself. None of them is *yes*.
    leaves: TriMarks,
    /// Why the result of a failed evaluation may be ephemeral.
    origin: Option<Arc<Origin>>,
}

impl Failing {
    /// The evaluation cannot fail, or a failure changes nothing.
    pub const NEVER: Failing = Failing {
        is_typed_early: true,
        keeps_type: true,
        keeps_marks: true,
        leaves: TriMarks::NONE,
        origin: None,
    };

    /// Combines this with the failing of a part.
    pub(in crate::analysis) fn with(mut self, part: &Failing) -> Failing {
        self.is_typed_early &= part.is_typed_early;
        self.keeps_type &= part.keeps_type;
        self.keeps_marks &= part.keeps_marks;
        self.leave(part.leaves, &part.origin);
        self
    }

    /// Adds a value that the failing operation reads as a whole.
    pub(in crate::analysis) fn reading(mut self, value: &Abstract) -> Failing {
        self.leave(value.deep_marks(), &value.origin);
        self.with(&value.failing)
    }

    /// Returns this with the type lost by a failure.
    pub(in crate::analysis) fn of_any_type(self) -> Failing {
        Failing { keeps_type: false, ..self }
    }

    /// Returns this with the type kept, both by a failure and while the value is unknown.
    pub(in crate::analysis) fn of_same_type(self) -> Failing {
        Failing { is_typed_early: true, keeps_type: true, ..self }
    }

    /// Returns this with the type lost by a failure and while the value is unknown.
    pub(in crate::analysis) fn typed_late(self) -> Failing {
        Failing { is_typed_early: false, keeps_type: false, ..self }
    }

    /// Returns this with *yes* marks lost by a failure, if `loses`.
    pub(in crate::analysis) fn losing_marks(self, loses: bool) -> Failing {
        Failing { keeps_marks: self.keeps_marks && !loses, ..self }
    }

    /// The marks that a failed evaluation leaves behind, and the origin of an ephemeral one.
    pub(in crate::analysis) fn leaves(&self) -> (TriMarks, &Option<Arc<Origin>>) {
        (self.leaves, &self.origin)
    }

    fn leave(&mut self, marks: TriMarks, origin: &Option<Arc<Origin>>) {
        if self.leaves.ephemeral == Tri::No && marks.ephemeral > Tri::No {
            self.origin.clone_from(origin);
        }
        self.leaves = self.leaves.union(&marks.weakened());
    }
}
