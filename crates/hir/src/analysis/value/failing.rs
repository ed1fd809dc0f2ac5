//! What holds of an expression where its evaluation fails, or has to wait for something unknown.
//!
//! A failing evaluation fails the item, unless something hides it: the arm that a conditional does not choose, the side
//! of `&&` that does not decide. Then a value goes on that has any type and the marks of what was read until then.

use std::sync::Arc;

use super::{Abstract, Tri, TriMarks};
use crate::analysis::origin::Origin;

/// What holds where the evaluation fails, or has to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// Whether the type is the same while the value is unknown. The result of a `try` that waits is of any type.
    pub is_typed_early: bool,
    /// Whether the type is the same where the evaluation fails.
    pub keeps_type: bool,
    /// Whether marks that are sure are there.
    pub keeps_marks: bool,
    /// Marks that it may have beyond those of the value itself, all of them only perhaps.
    leaves: TriMarks,
    /// Why it may be ephemeral.
    origin: Option<Arc<Origin>>,
}

impl Failing {
    /// It does not fail, or nothing changes.
    pub const NEVER: Failing = Failing {
        is_typed_early: true,
        keeps_type: true,
        keeps_marks: true,
        leaves: TriMarks::NONE,
        origin: None,
    };

    /// What holds where this fails, or something that it is made of.
    pub(in crate::analysis) fn with(mut self, part: &Failing) -> Failing {
        self.is_typed_early &= part.is_typed_early;
        self.keeps_type &= part.keeps_type;
        self.keeps_marks &= part.keeps_marks;
        self.leave(part.leaves, &part.origin);
        self
    }

    /// The same where the failing operation has read a value as a whole.
    pub(in crate::analysis) fn reading(mut self, value: &Abstract) -> Failing {
        self.leave(value.deep_marks(), &value.origin);
        self.with(&value.failing)
    }

    /// The same where the type is any.
    pub(in crate::analysis) fn of_any_type(self) -> Failing {
        Failing { keeps_type: false, ..self }
    }

    /// The same where the type is the same all the same.
    pub(in crate::analysis) fn of_same_type(self) -> Failing {
        Failing { is_typed_early: true, keeps_type: true, ..self }
    }

    /// The same where the type is any while the value is unknown.
    pub(in crate::analysis) fn typed_late(self) -> Failing {
        Failing { is_typed_early: false, keeps_type: false, ..self }
    }

    /// The same where marks that are sure are perhaps lost.
    pub(in crate::analysis) fn losing_marks(self, loses: bool) -> Failing {
        Failing { keeps_marks: self.keeps_marks && !loses, ..self }
    }

    /// The marks that go on, and the reason of an ephemeral one.
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
