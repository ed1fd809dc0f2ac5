//! The border to the caller: everything that an operation shows, asks and logs passes the trait [`View`].

mod login;

use std::fmt;

use db::{Diagnostic, Sources};
use engine::{EventSink, LogLevel, Operation, Redactor};
use hir::item::Variable;
use packages::{Download, InstallEvent, LockEvent, MirrorEvent};

pub use login::{LoginQuestion, LoginStep, Mechanism, TokenStore};

/// Shows an operation to its caller: as text on a terminal, as JSON, or not at all.
pub trait View: Send + Sync {
    /// Shows diagnostics, with the source texts that they refer to.
    fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &Sources);

    /// Shows diagnostics about the surroundings of an operation, such as the CLI configuration, apart from its
    /// result.
    fn diagnostics_aside(&self, diagnostics: &[Diagnostic]);

    /// Shows a step of an operation.
    fn notice(&self, notice: &Notice<'_>);

    /// Returns true if a person can answer questions.
    fn is_interactive(&self) -> bool;

    /// Asks a question and returns the answer.
    ///
    /// # Errors
    /// There is no answer.
    fn ask(&self, question: &Question<'_>) -> Result<String, Unanswered>;

    /// Logs a line of this program. `module` is the part of the program. The text has only names and numbers.
    fn log(&self, level: LogLevel, module: &str, text: &str);

    /// The view of one run of the engine. `redactor` knows the secrets of that run.
    fn run(&self, run: Run, sources: &Sources, redactor: &Redactor) -> std::sync::Arc<dyn RunView>;
}

/// The kind of an engine run, which decides which of its events are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Run {
    /// A plan whose result is shown.
    Plan,
    /// A plan that is the first half of an apply. The apply evaluates the checks again.
    PlanBeforeApply,
    /// An apply, or an import.
    Apply,
    /// A run of which only log lines are shown.
    Quiet,
}

/// Shows the events of one run of the engine.
pub trait RunView: EventSink {
    /// Tells before the run how many steps it has: the objects that a plan refreshes, or the operations of an apply.
    /// `None` if the number is not known.
    fn expects(&self, steps: Option<usize>);

    /// Stops showing log lines of providers. Called before the redactor forgets the secrets.
    fn end_log(&self);

    /// Shows the change counts of the run, as the result of `operation`.
    fn finish(&self, operation: Operation);
}

/// A question to the user.
#[derive(Clone, Copy)]
pub enum Question<'a> {
    /// The value of a root variable. Answers for sensitive and ephemeral variables must not be shown.
    Variable(&'a Variable),
    /// A question of `login`.
    Login(LoginQuestion<'a>),
}

/// The reason why a question has no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unanswered {
    /// The input is not a terminal and has no line.
    NoInput,
    /// The question was interrupted, or the input ended.
    Ended,
}

/// A step of an operation.
#[derive(Clone, Copy)]
pub enum Notice<'a> {
    /// The last answer was accepted.
    AnswerAccepted,
    /// `init` found no configuration, so nothing was initialized.
    EmptyDirectory,
    /// `init` found errors in the configuration. The diagnostics follow.
    InvalidConfiguration,
    /// A module is copied into the working directory.
    CopyingModule {
        /// The source of the module, without passwords.
        source: &'a str,
    },
    /// The backend is initialized.
    InitializingBackend,
    /// A state was copied from one place to another.
    StateCopied {
        /// The workspace of the state.
        workspace: &'a str,
        /// The file that was copied.
        from: &'a dyn fmt::Display,
        /// The new file.
        to: &'a dyn fmt::Display,
    },
    /// The modules are installed.
    InitializingModules {
        /// True if newer packages are selected.
        upgrade: bool,
    },
    /// The running downloads have changed.
    Downloads(&'a [Download]),
    /// A module package is downloaded.
    DownloadingModule {
        /// The address of the package.
        package: &'a dyn fmt::Display,
        /// The dotted path of the module call.
        call: &'a str,
        /// True if the package was installed, but does not match the lock file.
        again: bool,
    },
    /// A module is in place.
    ModuleInstalled {
        /// The dotted path of the module call.
        call: &'a str,
        /// The directory of the module.
        directory: &'a str,
    },
    /// The lock of a module package changed.
    ModuleUpgraded {
        /// The locked address.
        address: &'a str,
        /// The shortened revision or hash before.
        before: &'a str,
        /// The shortened revision or hash after.
        after: &'a str,
    },
    /// The providers are installed.
    InitializingProviders,
    /// A step of the installation of a provider.
    Provider(&'a InstallEvent),
    /// The dependency lock file was written.
    LockFile(LockFileChange),
    /// A step of `providers lock`.
    Lock(&'a LockEvent),
    /// `providers lock` succeeded.
    ProvidersLocked {
        /// True if the lock file changed.
        is_changed: bool,
    },
    /// A step of `providers mirror`.
    Mirror(&'a MirrorEvent),
    /// A step of `login` or `logout`.
    Login(LoginStep<'a>),
    /// `init` succeeded.
    Initialized,
    /// Many or large temporary files are saved with a plan, which takes time.
    SavingTempFiles {
        /// The number of files.
        count: usize,
        /// Their total size in MiB.
        mebibytes: u64,
    },
}

/// A change of the dependency lock file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockFileChange {
    /// The file is new, and locks module packages only.
    CreatedForModules,
    /// The file is new, and locks providers.
    Created,
    /// Only locks of module packages changed.
    Modules,
    /// Locks of providers changed.
    Providers,
}
