//! The results of a test: lines for people, lines of JSON, and a JUnit report.

pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod junit;

/// The outcome of a run, of a file or of a whole test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestStatus {
    /// Not reached.
    Pending,
    /// Left out.
    Skip,
    /// Every assertion holds.
    Pass,
    /// An assertion does not hold.
    Fail,
    /// The run could not be completed.
    Error,
}

impl TestStatus {
    /// The word that people see. A failure and an error have the same.
    fn shown(self) -> &'static str {
        match self {
            TestStatus::Pending => "pending",
            TestStatus::Skip => "skip",
            TestStatus::Pass => "pass",
            TestStatus::Fail | TestStatus::Error => "fail",
        }
    }

    /// The word in JSON.
    fn word(self) -> &'static str {
        match self {
            TestStatus::Error => "error",
            other => other.shown(),
        }
    }
}

/// The numbers of runs by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TestCounts {
    pub passed: usize,
    pub failed: usize,
    pub errored: usize,
    pub skipped: usize,
}

/// The file of a test, and its run if the subject is a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TestPlace<'a> {
    pub file: &'a str,
    pub run: Option<&'a str>,
}

/// Objects that a test left, with the place that they come from.
#[derive(Clone, Copy, Debug)]
pub struct LeftObjects<'a> {
    /// The file and the run that changed the state last.
    pub place: TestPlace<'a>,
    /// The addresses, such as `a.b` and `a.b (DEPOSED)`.
    pub addresses: &'a [String],
    /// The file that the objects were written to.
    pub saved_in: &'a str,
}

/// The objects that an interrupted test leaves.
#[derive(Clone, Copy, Debug)]
pub struct InterruptedTest<'a> {
    /// The interrupted file and run.
    pub place: TestPlace<'a>,
    /// The source of the module of the run. `None` for the module under test.
    pub module: Option<&'a str>,
    /// The objects of the module under test.
    pub main: &'a [String],
    /// The objects of other modules.
    pub others: &'a [InterruptedModule<'a>],
    /// The objects that were being created.
    pub creating: &'a [String],
}

/// The objects of a module that a run named.
#[derive(Clone, Copy, Debug)]
pub struct InterruptedModule<'a> {
    /// The run that changed the state last.
    pub run: &'a str,
    /// The source of the module.
    pub source: &'a str,
    /// The addresses.
    pub addresses: &'a [String],
}

/// The sentence at the end of a test.
fn conclusion(status: TestStatus, counts: TestCounts) -> (&'static str, String) {
    let TestCounts { passed, failed, errored, skipped } = counts;
    let skipped = if skipped > 0 { format!(", {skipped} skipped.") } else { ".".to_owned() };
    match status {
        TestStatus::Pending | TestStatus::Skip => ("", format!("Executed 0 tests{skipped}")),
        TestStatus::Pass => {
            ("Success!", format!(" {passed} passed, {} failed{skipped}", failed + errored))
        }
        TestStatus::Fail | TestStatus::Error => {
            ("Failure!", format!(" {passed} passed, {} failed{skipped}", failed + errored))
        }
    }
}

/// The place in words: the file, or the file and the run.
fn identifier(place: TestPlace<'_>) -> String {
    match place.run {
        Some(run) => format!("{}/{run}", place.file),
        None => place.file.to_owned(),
    }
}

/// The words after the identifier of a place that left objects.
fn left_words(left: &LeftObjects<'_>) -> String {
    format!(
        "these left-over resources can be viewed by reading the statefile written to disk({}) and \
         they need to be cleaned up manually:",
        left.saved_in
    )
}
