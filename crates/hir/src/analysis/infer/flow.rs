//! Marks on their way from parts to a whole, with the reason of an ephemeral one.

use std::sync::Arc;

use super::super::{
    origin::{Forgetting, Origin},
    value::{Abstract, Failing, TriMarks},
};

/// What flows into one value.
#[derive(Clone, Default)]
pub(super) struct Flow {
    marks: TriMarks,
    origin: Option<Arc<Origin>>,
}

impl Flow {
    /// Adds marks that come from a value.
    pub(super) fn add(&mut self, marks: TriMarks, from: &Abstract) {
        // The surest reason explains best.
        if marks.ephemeral > self.marks.ephemeral {
            self.origin = from.origin.clone();
        }
        self.marks = self.marks.union(&marks);
    }

    /// Adds everything that a value is marked with, here or inside, as something that is only perhaps there: this is
    /// what the concrete domain says of a whole that is unknown, and of what could not be evaluated.
    pub(super) fn perhaps(&mut self, from: &Abstract) {
        self.add(from.deep_marks().weakened(), from);
    }

    /// Adds what a value leaves behind that failed, where the failure is hidden.
    pub(super) fn hidden(&mut self, failing: &Failing) {
        let (marks, origin) = failing.leaves();
        self.join(&Flow { marks, origin: origin.clone() });
    }

    /// Adds all that flows elsewhere.
    pub(super) fn join(&mut self, other: &Flow) {
        if other.marks.ephemeral > self.marks.ephemeral {
            self.origin = other.origin.clone();
        }
        self.marks = self.marks.union(&other.marks);
    }

    /// The same, but only perhaps.
    pub(super) fn weakened(&self) -> Flow {
        Flow { marks: self.marks.weakened(), origin: self.origin.clone() }
    }

    /// The same through a form that makes the reference forget that something is ephemeral.
    pub(super) fn forgotten_by(self, form: Forgetting) -> Flow {
        Flow { origin: self.origin.map(|origin| origin.forgotten_by(form)), ..self }
    }

    pub(super) fn marks(&self) -> TriMarks {
        self.marks
    }

    pub(super) fn origin(&self) -> Option<Arc<Origin>> {
        self.origin.clone()
    }

    /// The value with all that flowed put on it.
    pub(super) fn onto(self, mut value: Abstract) -> Abstract {
        if self.marks.ephemeral > value.marks.ephemeral && self.origin.is_some() {
            value.origin = self.origin.clone();
        }
        value.with_marks(&self.marks)
    }
}
