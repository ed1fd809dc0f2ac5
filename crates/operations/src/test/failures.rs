//! Expected failures: which problems of a run are none, and which ones are missing.

use db::{Diagnostic, Rule, Summary};
use hir::test_item::{ExpectedFailure, TestRun};

use crate::test::program::RunProgram;

/// The failures that a run expects, and whether they occurred.
pub(super) struct Expectations<'a> {
    run: &'a TestRun,
    has_failed: Vec<bool>,
}

impl<'a> Expectations<'a> {
    pub(super) fn of(run: &'a TestRun) -> Expectations<'a> {
        Expectations { run, has_failed: vec![false; run.expect_failures.len()] }
    }

    /// Removes the expected failures from the problems of a plan or an apply. Problems of `check` blocks are errors
    /// here.
    pub(super) fn remaining(&mut self, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        found.into_iter().filter_map(|it| self.judged(it)).collect()
    }

    fn judged(&mut self, found: Diagnostic) -> Option<Diagnostic> {
        let Some(object) = &found.checked else { return Some(found) };
        let is_of_check = object.is_demoted || is_check_assertion(&found);
        if !is_of_check && !found.is_error() {
            return Some(found);
        }
        if self.is_expected(&object.address) {
            return None;
        }
        match is_of_check {
            true => Some(Diagnostic { summary: found.summary.in_test(), ..found }),
            false => Some(found),
        }
    }

    /// Notes that an object failed. Returns true if that was expected.
    fn is_expected(&mut self, address: &str) -> bool {
        let fits = |it: &ExpectedFailure| {
            let instance = address.strip_prefix(&*it.address);
            instance.is_some_and(|key| key.is_empty() || it.is_resource && key.starts_with('['))
        };
        // The entry for one instance comes before the entry for all of them.
        let exact = self.run.expect_failures.iter().position(|it| *it.address == *address);
        let index = exact.or_else(|| self.run.expect_failures.iter().position(fits));
        if let Some(index) = index {
            self.has_failed[index] = true;
        }
        index.is_some()
    }

    /// Reports expected failures that did not occur.
    pub(super) fn report_missing(&self, building: &mut RunProgram<'_>) {
        let expected = self.run.expect_failures.iter().zip(&self.has_failed);
        for (it, _) in expected.filter(|(_, has_failed)| !**has_failed) {
            let detail = format!(
                "The checkable object, {}, was expected to report an error but did not.",
                it.address
            );
            let found = Diagnostic::new(Summary::MISSING_EXPECTED_FAILURE, detail);
            building.report(building.entry, it.node, found);
        }
    }

    /// A warning for each expected failure of a variable that makes the plan fail, so that nothing is applied.
    pub(super) fn warnings_of_plan(&self, found: &[Diagnostic]) -> Vec<Diagnostic> {
        let objects = found.iter().filter_map(|it| it.checked.as_ref());
        let variables = objects.filter(|it| it.address.starts_with("var."));
        let is_expected = |address: &str| {
            self.run.expect_failures.iter().any(|expected| *expected.address == *address)
        };
        let expected = variables.filter(|it| is_expected(&it.address));
        let warning = |address: &str| {
            let detail = format!(
                "Variable {address}, has an invalid value within the test. Although this was an \
                 expected failure, it has meant the apply stage was unable to run so the overall \
                 test will fail."
            );
            Diagnostic::new(Summary::INVALID_TEST_VARIABLE, detail)
        };
        expected.map(|it| warning(&it.address)).collect()
    }
}

/// Returns true for the failed assertion of a `check` block.
fn is_check_assertion(found: &Diagnostic) -> bool {
    found.id() == Rule::ConditionFailed && found.summary == Summary::CHECK_ASSERTION
}

/// Returns true for a problem of a `check` block, which the apply reports again.
pub(super) fn is_of_check(found: &Diagnostic) -> bool {
    found.id() == Rule::CheckUnknown
        || is_check_assertion(found)
        || found.checked.as_ref().is_some_and(|it| it.is_demoted)
}

/// Returns true for a problem of an assertion of the run itself.
pub(super) fn is_of_assertion(found: &Diagnostic, building: &RunProgram<'_>) -> bool {
    let is_here = |path: &str| *path == *building.file.path;
    let context = format!("run \"{}\"", building.run.name);
    found.location.as_ref().is_some_and(|it| is_here(&it.path))
        && found.context.as_deref() == Some(&context)
}
