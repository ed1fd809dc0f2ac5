//! The diagnostics of a run, in the order in which they were reported.

use std::cell::{Cell, RefCell};

use db::{CheckedObject, Diagnostic, Severity};
use sorted::{TreeMap, TreeSet};

use crate::event::ChangeCounts;

/// Diagnostics, and the counts of an apply's summary.
#[derive(Default)]
pub(crate) struct Report {
    diagnostics: RefCell<Vec<Diagnostic>>,
    /// Errors of the data sources of `check` blocks that are being read, by address.
    check_faults: RefCell<TreeMap<String, CheckFaults>>,
    /// The subjects of diagnostics that are reported once.
    told: RefCell<TreeSet<String>>,
    /// The assertions of a test that were evaluated.
    assertions: Cell<usize>,
    counts: Cell<ChangeCounts>,
    /// Set once an error must end the run: nothing new is started then.
    ends_run: Cell<bool>,
}

/// The errors of the data source of a `check` block.
struct CheckFaults {
    /// The address of the block.
    check: String,
    messages: Vec<String>,
}

impl Report {
    /// Notes that the assertions of a test were evaluated, and how many gave a result.
    pub(crate) fn note_assertions(&self, evaluated: usize) {
        self.assertions.set(evaluated);
    }

    /// The number of assertions of a test that were evaluated.
    pub(crate) fn assertions(&self) -> usize {
        self.assertions.get()
    }

    pub(crate) fn add(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// Returns true for the first call with a subject: its diagnostic is not reported again.
    pub(crate) fn is_first(&self, subject: String) -> bool {
        self.told.borrow_mut().insert(subject)
    }

    pub(crate) fn len(&self) -> usize {
        self.diagnostics.borrow().len()
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.any(Diagnostic::is_error)
    }

    pub(crate) fn any(&self, fits: impl Fn(&Diagnostic) -> bool) -> bool {
        self.diagnostics.borrow().iter().any(fits)
    }

    /// Takes out the diagnostics that were added after the first `length`.
    pub(crate) fn split_off(&self, length: usize) -> Vec<Diagnostic> {
        self.diagnostics.borrow_mut().split_off(length)
    }

    pub(crate) fn take(&self) -> Vec<Diagnostic> {
        self.diagnostics.take()
    }

    /// From now on the errors of an object are warnings, until [`end_check`](Report::end_check).
    /// `check` is the address of the block.
    pub(crate) fn begin_check(&self, address: &str, check: &str) {
        let faults = CheckFaults { check: check.to_owned(), messages: Vec::new() };
        self.check_faults.borrow_mut().insert(address.to_owned(), faults);
    }

    /// Returns the errors that were made warnings since [`begin_check`](Report::begin_check).
    pub(crate) fn end_check(&self, address: &str) -> Vec<String> {
        let faults = self.check_faults.borrow_mut().remove(address);
        faults.map(|it| it.messages).unwrap_or_default()
    }

    /// Notes an error of a data source that is being read for a `check` block, and makes it a warning.
    pub(crate) fn demoted(&self, diagnostic: Diagnostic) -> Diagnostic {
        let mut faults = self.check_faults.borrow_mut();
        let of = diagnostic.address.as_ref().filter(|_| diagnostic.is_error());
        let Some(faults) = of.and_then(|address| faults.get_mut(address)) else {
            return diagnostic;
        };
        faults.messages.push(format!("{}: {}", diagnostic.summary, diagnostic.detail));
        let checked = Some(CheckedObject { address: faults.check.clone(), is_demoted: true });
        let summary = diagnostic.summary.at_most(Severity::Warning);
        Diagnostic { summary, checked, ..diagnostic }
    }

    /// Ends the run as soon as that is possible. Returns true if it was about to end already.
    pub(crate) fn end_run(&self) -> bool {
        self.ends_run.replace(true)
    }

    pub(crate) fn ends_run(&self) -> bool {
        self.ends_run.get()
    }

    /// The changes that the apply has made so far.
    pub(crate) fn counts(&self) -> ChangeCounts {
        self.counts.get()
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut ChangeCounts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }
}
