//! The flow of marks from parts to a whole, with the origin of an ephemeral mark.

use std::sync::Arc;

use crate::analysis::{
    origin::{DroppedMark, Origin},
    value::{
        Abstract,
        failing::Failing,
        marks::{Tri, TriMarks},
        when::When,
    },
};

/// The marks that a value gives to a whole by a rule.
pub(in crate::analysis) struct Contribution {
    pub(in crate::analysis) marks: TriMarks,
    /// The condition under which the ephemeral mark is given.
    pub(in crate::analysis) when: When,
}

impl Contribution {
    /// Lowers the marks to *maybe*, and forgets the formula of the condition.
    pub(super) fn weakened(&self) -> Contribution {
        Contribution { marks: self.marks.weakened(), when: self.when.weakened() }
    }

    /// Joins two of these if it is not known which applies.
    pub(super) fn either(&self, other: &Contribution) -> Contribution {
        Contribution {
            marks: self.marks.either(&other.marks),
            when: When::depends([]).choose(&self.when, &other.when),
        }
    }

    /// Restricts this to runs in which a condition holds.
    pub(super) fn only(&self, when: &When) -> Contribution {
        Contribution { marks: self.marks.weakened(), when: self.when.and(when) }
    }
}

/// The marks that flow into one value.
#[derive(Clone, Default)]
pub(super) struct Flow {
    marks: TriMarks,
    when: When,
    origin: Option<Arc<Origin>>,
}

impl Flow {
    /// Adds the marks that a value gives.
    pub(super) fn add(&mut self, contribution: Contribution, from: &Abstract) {
        self.add_marks(contribution.marks, from);
        if !contribution.when.is_never() {
            self.when = self.when.or(&contribution.when);
        }
    }

    fn add_marks(&mut self, marks: TriMarks, from: &Abstract) {
        // The origin of the most certain mark explains best.
        if marks.ephemeral > self.marks.ephemeral {
            self.origin = from.origin.clone();
        }
        self.marks = self.marks.union(&marks);
    }

    /// Adds all marks of a value, on it or inside, as *maybe*. The concrete domain puts these on a whole that is
    /// unknown, and on the result of a failed evaluation. In runs in which everything is known, nothing is added.
    pub(super) fn add_maybe(&mut self, from: &Abstract) {
        self.add_marks(from.deep_marks().weakened(), from);
    }

    /// Adds a condition under which the value is ephemeral in runs in which everything is known.
    pub(super) fn when(&mut self, when: &When) {
        self.when = self.when.or(when);
    }

    /// Adds the marks that a failed value leaves behind, if the failure is hidden while something is unknown.
    pub(super) fn hidden(&mut self, failing: &Failing) {
        let (marks, origin) = failing.leaves();
        self.join(&Flow { marks, when: When::Never, origin: origin.clone() });
    }

    /// Adds the marks that a failed value leaves behind, if the failure is hidden even in runs in which everything
    /// is known.
    pub(super) fn hidden_in_every_run(&mut self, failing: &Failing) {
        self.hidden(failing);
        if failing.leaves().0.ephemeral > Tri::No {
            self.when(&When::depends([]));
        }
    }

    /// Adds everything in another flow.
    pub(super) fn join(&mut self, other: &Flow) {
        if other.marks.ephemeral > self.marks.ephemeral {
            self.origin = other.origin.clone();
        }
        self.marks = self.marks.union(&other.marks);
        self.when = self.when.or(&other.when);
    }

    /// Lowers the marks to *maybe*, and forgets the formula of the condition.
    pub(super) fn weakened(&self) -> Flow {
        let (marks, when) = (self.marks.weakened(), self.when.weakened());
        Flow { marks, when, origin: self.origin.clone() }
    }

    /// Restricts this to runs in which something is unknown.
    pub(super) fn while_unknown(&self) -> Flow {
        Flow { when: When::Never, ..self.weakened() }
    }

    /// Returns this with an origin that records a form of expression in which OpenTofu drops the ephemeral mark.
    pub(super) fn dropping(self, form: DroppedMark) -> Flow {
        Flow { origin: self.origin.map(|origin| origin.dropping(form)), ..self }
    }

    pub(super) fn marks(&self) -> TriMarks {
        self.marks
    }

    /// Returns true if a secret may be in the flow.
    pub(super) fn has_secrets(&self) -> bool {
        self.marks.sensitive > Tri::No || self.marks.ephemeral > Tri::No
    }

    /// The condition under which the ephemeral mark flows.
    pub(super) fn is_ephemeral(&self) -> &When {
        &self.when
    }

    pub(super) fn origin(&self) -> Option<Arc<Origin>> {
        self.origin.clone()
    }

    /// Returns the value with everything in the flow put on it.
    pub(super) fn onto(self, mut value: Abstract) -> Abstract {
        if self.marks.ephemeral > value.marks.ephemeral && self.origin.is_some() {
            value.origin = self.origin.clone();
        }
        value.ephemeral = value.ephemeral.or_here(&self.when);
        value.with_marks(&self.marks)
    }
}
