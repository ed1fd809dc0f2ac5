//! The operation `test`: runs the blocks of test files, each file with states of its own.
//!
//! ```text
//!   files ─► suite ─► for each file: for each run ─► program of the run ─► plan ─► apply ─► result
//!                                    at the end   ─► destroy what the runs left ─► clean-up
//! ```
//!
//! Start reading at [`load`], then [`run`]; [`TestView`] is the border to the caller. `src/test/program.rs` makes the
//! program of a run, `src/test/execution.rs` runs it, and `src/test/teardown.rs` destroys what a file left.
//!
//! **Invariant:** no state of a test reaches the state of the working directory. What cannot be destroyed is
//! reported, and written to `errored_test.tfstate`, or to a file beside it if that one exists.
//! **Invariant:** each change of a test is recorded before anything depends on it (`src/test/records.rs`), so a killed
//! test loses no object.
//! **Invariant:** what is reported never depends on whether files run at the same time.

mod execution;
mod failures;
mod interrupt;
mod objects;
mod program;
mod records;
mod suite;
mod teardown;
mod values;

use std::{path::PathBuf, sync::Arc, time::Duration};

use ::values::Str;
use db::{Diagnostic, Sources};
use hir::Program;
use state::{Plan, State};

use crate::variables::flag::VarFlag;

pub use suite::{Suite, add_requirements, load, problems};
pub(crate) use suite::{read, tested_module, tested_modules};

/// The options of `test`.
#[derive(Clone)]
pub struct TestOptions {
    /// The paths of the only files to run. Empty for all files.
    pub filter: Vec<String>,
    /// The directory with further test files.
    pub directory: PathBuf,
    /// The flags that set variables.
    pub flags: Vec<VarFlag>,
    /// The maximum number of concurrent calls of providers.
    pub parallelism: usize,
    /// True if the plan or the state of each run is shown.
    pub is_verbose: bool,
}

/// The outcome of a run or of a file. The worst outcome of its runs is the outcome of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Status {
    /// Not reached.
    #[default]
    Pending,
    /// Left out, because an earlier run had an error, or because the test was interrupted.
    Skip,
    /// All assertions hold.
    Pass,
    /// An assertion does not hold.
    Fail,
    /// The run could not be completed.
    Error,
}

/// The result of one test file.
pub struct FileResult {
    /// The path.
    pub path: Arc<str>,
    /// The worst outcome of the runs.
    pub status: Status,
    /// The results of the runs, in the order of the file.
    pub runs: Vec<RunResult>,
}

/// The result of one run.
pub struct RunResult {
    /// The name.
    pub name: Str,
    /// The outcome.
    pub status: Status,
    /// The number of assertions.
    pub assertions: usize,
    /// The problems of the run.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that the problems refer to.
    pub sources: Sources,
    /// The time that the run took.
    pub elapsed: Duration,
    /// The plan and the state, if they are shown.
    pub verbose: Option<Verbose>,
}

/// The plan and the state of a run.
pub struct Verbose {
    /// The program of the run.
    pub program: Arc<Program>,
    /// The plan.
    pub plan: Plan,
    /// The state after an apply. `None` for a plan.
    pub state: Option<State>,
    /// The state that the plan was made for.
    pub refreshed: State,
}

/// The end of one state of a file.
pub struct Cleanup {
    /// The path of the file.
    pub file: Arc<str>,
    /// The last run that changed the state.
    pub run: Str,
    /// The problems of the clean-up.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that the problems refer to.
    pub sources: Sources,
    /// The addresses of the objects that are left.
    pub left: Vec<String>,
    /// The file for the managed objects that are left. `None` if there are none.
    pub saved_in: Option<String>,
    /// The reason why the objects were not saved in the file.
    pub problem: Option<Diagnostic>,
}

/// The objects that an interrupt leaves behind.
#[derive(Default)]
pub struct Abandoned {
    /// The path of the file.
    pub file: Arc<str>,
    /// The run that was interrupted. `None` between two runs.
    pub run: Option<Str>,
    /// The source of the module that the interrupted run is for. `None` for the module under test.
    pub module: Option<Str>,
    /// The addresses in the state of the module under test.
    pub main: Vec<String>,
    /// The addresses in the states of other modules, with the run and the source of each.
    pub others: Vec<AbandonedState>,
    /// The addresses of the objects that the interrupted run was creating.
    pub creating: Vec<String>,
}

/// The objects of another module than the one under test.
pub struct AbandonedState {
    /// The last run that changed the state.
    pub run: Str,
    /// The source of the module.
    pub source: Str,
    /// The addresses.
    pub addresses: Vec<String>,
}

/// Shows a test to its caller. The methods are called in the order of the files, whichever file ends first.
pub trait TestView: Send + Sync {
    /// Shows the result of a file and of its runs.
    fn file(&self, result: &FileResult);

    /// Shows the end of one state of a file.
    fn cleanup(&self, cleanup: &Cleanup);

    /// Shows what a second interrupt leaves behind.
    fn abandoned(&self, abandoned: &Abandoned);
}

/// The numbers at the end of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Runs that passed.
    pub passed: usize,
    /// Runs with an assertion that does not hold.
    pub failed: usize,
    /// Runs that could not be completed.
    pub errored: usize,
    /// Runs that were left out.
    pub skipped: usize,
}

impl Counts {
    fn add(&mut self, status: Status) {
        match status {
            Status::Pending => {}
            Status::Skip => self.skipped += 1,
            Status::Pass => self.passed += 1,
            Status::Fail => self.failed += 1,
            Status::Error => self.errored += 1,
        }
    }
}

/// The end of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Summary {
    /// The worst outcome of the files.
    pub status: Status,
    /// The numbers of runs.
    pub counts: Counts,
}

pub use execution::run;
