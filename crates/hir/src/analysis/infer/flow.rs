//! Marks on their way from parts to a whole, with the reason of an ephemeral one.

use std::sync::Arc;

use super::super::{
    origin::{Forgetting, Origin},
    value::{Abstract, Failing, Tri, TriMarks, When},
};

/// What a value gives to a whole, as a rule says.
pub(in crate::analysis) struct Given {
    pub(in crate::analysis) marks: TriMarks,
    /// When that is ephemeral.
    pub(in crate::analysis) when: When,
}

impl Given {
    /// The same, but only perhaps.
    pub(super) fn weakened(&self) -> Given {
        Given { marks: self.marks.weakened(), when: self.when.weakened() }
    }

    /// One of two, of which we do not know which it will be.
    pub(super) fn either(&self, other: &Given) -> Given {
        Given {
            marks: self.marks.either(&other.marks),
            when: When::depends([]).choose(&self.when, &other.when),
        }
    }

    /// The same, only where a condition holds.
    pub(super) fn only(&self, when: &When) -> Given {
        Given { marks: self.marks.weakened(), when: self.when.and(when) }
    }
}

/// What flows into one value.
#[derive(Clone, Default)]
pub(super) struct Flow {
    marks: TriMarks,
    when: When,
    origin: Option<Arc<Origin>>,
}

impl Flow {
    /// Adds what comes from a value.
    pub(super) fn add(&mut self, given: Given, from: &Abstract) {
        self.add_marks(given.marks, from);
        if !given.when.is_never() {
            self.when = self.when.or(&given.when);
        }
    }

    fn add_marks(&mut self, marks: TriMarks, from: &Abstract) {
        // The surest reason explains best.
        if marks.ephemeral > self.marks.ephemeral {
            self.origin = from.origin.clone();
        }
        self.marks = self.marks.union(&marks);
    }

    /// Adds everything that a value is marked with, here or inside, as something that is only perhaps there: this is
    /// what the concrete domain says of a whole that is unknown, and of what could not be evaluated. Where all is known,
    /// there is nothing of it.
    pub(super) fn perhaps(&mut self, from: &Abstract) {
        self.add_marks(from.deep_marks().weakened(), from);
    }

    /// Adds what makes it ephemeral where all is known.
    pub(super) fn when(&mut self, when: &When) {
        self.when = self.when.or(when);
    }

    /// Adds what a value leaves behind that failed, where the failure is hidden while something is unknown.
    pub(super) fn hidden(&mut self, failing: &Failing) {
        let (marks, origin) = failing.leaves();
        self.join(&Flow { marks, when: When::Never, origin: origin.clone() });
    }

    /// The same where the failure is hidden although all is known.
    pub(super) fn hidden_in_every_run(&mut self, failing: &Failing) {
        self.hidden(failing);
        if failing.leaves().0.ephemeral > Tri::No {
            self.when(&When::depends([]));
        }
    }

    /// Adds all that flows elsewhere.
    pub(super) fn join(&mut self, other: &Flow) {
        if other.marks.ephemeral > self.marks.ephemeral {
            self.origin = other.origin.clone();
        }
        self.marks = self.marks.union(&other.marks);
        self.when = self.when.or(&other.when);
    }

    /// The same, but only perhaps.
    pub(super) fn weakened(&self) -> Flow {
        let (marks, when) = (self.marks.weakened(), self.when.weakened());
        Flow { marks, when, origin: self.origin.clone() }
    }

    /// The same, only while something is unknown.
    pub(super) fn while_unknown(&self) -> Flow {
        Flow { when: When::Never, ..self.weakened() }
    }

    /// The same through a form that makes the reference forget that something is ephemeral.
    pub(super) fn forgotten_by(self, form: Forgetting) -> Flow {
        Flow { origin: self.origin.map(|origin| origin.forgotten_by(form)), ..self }
    }

    pub(super) fn marks(&self) -> TriMarks {
        self.marks
    }

    /// Whether something secret may have flowed.
    pub(super) fn has_secrets(&self) -> bool {
        self.marks.sensitive > Tri::No || self.marks.ephemeral > Tri::No
    }

    /// When what flowed is ephemeral.
    pub(super) fn is_ephemeral(&self) -> &When {
        &self.when
    }

    pub(super) fn origin(&self) -> Option<Arc<Origin>> {
        self.origin.clone()
    }

    /// The value with all that flowed put on it.
    pub(super) fn onto(self, mut value: Abstract) -> Abstract {
        if self.marks.ephemeral > value.marks.ephemeral && self.origin.is_some() {
            value.origin = self.origin.clone();
        }
        value.ephemeral = value.ephemeral.or_here(&self.when);
        value.with_marks(&self.marks)
    }
}
