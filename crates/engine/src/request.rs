//! What the engine is asked, what it is given to act with, and what it answers.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU8, Ordering},
};

use addr::{ProviderSource, ResourceInstance};
use db::{Diagnostic, System};
use provider::{BoxFuture, Provider};
use state::{Plan, PlanMode, State, journal::Intent};
use tokio::sync::Notify;
use values::Str;

use crate::{
    event::EventSink,
    journal::{Journal, Number},
    redact::Redactor,
    temp::{TempDirectories, TempRoot},
};

/// The surroundings of every operation.
#[derive(Clone)]
pub struct Environment {
    /// Starts providers.
    pub providers: Arc<dyn ProviderFactory>,
    /// Files, environment and clock for functions and `path.*`.
    pub system: Arc<dyn System>,
    /// Makes the directories of `path.temp`.
    pub temp: Arc<dyn TempDirectories>,
    /// Runs commands of provisioners.
    pub commands: Arc<dyn CommandRunner>,
    /// Where events go.
    pub events: Arc<dyn EventSink>,
    /// Takes down what is done to the world.
    pub journal: Arc<dyn Journal>,
    /// Learns every ephemeral value of the run. The caller passes the same one to what relays providers' logs.
    pub redactor: Redactor,
    /// Asks the operation to stop.
    pub cancel: CancelToken,
}

/// Options of [`plan`](crate::plan).
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// What is planned. [`PlanMode::RefreshOnly`] is not supported so far and gives a diagnostic.
    pub mode: PlanMode,
    /// Whether managed objects are read first (`-refresh`).
    pub refresh: bool,
    /// Limits concurrent provider-bound work (`-parallelism`).
    pub parallelism: usize,
    /// Whether the *command* is an apply: the value of `tofu.applying` (DESIGN 2.2).
    pub applying: bool,
    /// The selected workspace, for `terraform.workspace`.
    pub workspace: Str,
    /// `-replace`: instances to be replaced though nothing forces it.
    pub replace: Vec<ResourceInstance>,
    /// Creations of which nobody knows whether they happened: nothing is created there.
    pub uncertain: Vec<Intent>,
    /// `plantimestamp()` and the plan's own timestamp, RFC 3339 in UTC.
    pub timestamp: Str,
    /// The plan's ID, and where its temporary directories are.
    pub temp: TempRoot,
    /// Whether the plan is saved to a file: then it knows which files functions read again when it is applied. A
    /// [`Planner`](crate::Planner)'s plans are not.
    pub is_saved: bool,
}

/// Options of [`apply`](crate::apply).
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// Limits concurrent provider-bound work (`-parallelism`).
    pub parallelism: usize,
    /// The selected workspace, for `terraform.workspace`.
    pub workspace: Str,
}

/// Options of [`import`](crate::import()).
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// What the object becomes. The state has nothing there.
    pub address: ResourceInstance,
    /// By which the provider knows the object.
    pub id: Str,
    /// The creation of which nobody knew whether it happened, where this is its object.
    pub answers: Option<Number>,
    /// Limits concurrent provider-bound work (`-parallelism`).
    pub parallelism: usize,
    /// The selected workspace, for `terraform.workspace`.
    pub workspace: Str,
    /// Where temporary directories are.
    pub temp: TempRoot,
}

/// What a plan came to.
pub struct PlanOutcome {
    /// The plan. Also there after errors ([`Plan::has_errors`] then), so that what was planned can be shown.
    pub plan: Plan,
    /// The state after refresh: what an apply of the plan starts from, and the `tfstate` of a plan file.
    pub refreshed: State,
    /// All problems, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether anything was evaluated. Without the values of all variables, nothing is.
    pub has_begun: bool,
}

/// What an apply came to.
pub struct ApplyOutcome {
    /// The state as the operation left it, also after errors. Root outputs are in it.
    pub state: State,
    /// All problems, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
}

impl PlanOutcome {
    /// Whether there was an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

impl ApplyOutcome {
    /// Whether there was an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Starts providers. The engine decides when, and for which configuration; how a process is found and launched is not
/// its business.
pub trait ProviderFactory: Send + Sync {
    /// Starts a provider that has no configuration yet.
    ///
    /// # Errors
    /// A diagnostic that tells why it cannot be started.
    fn start(
        &self,
        source: &ProviderSource,
    ) -> BoxFuture<'_, Result<Arc<dyn Provider>, Box<Diagnostic>>>;
}

/// Runs commands for `local-exec`.
pub trait CommandRunner: Send + Sync {
    /// Runs a command to its end. `output` gets each line that it prints as it comes, without its end. When `cancel`
    /// is asked to abort, the command and its children are killed.
    ///
    /// # Errors
    /// Why it could not be started, in words that quote nothing of the command.
    fn run<'a>(
        &'a self,
        command: Command,
        output: &'a (dyn Fn(&str) + Send + Sync),
        cancel: &'a CancelToken,
    ) -> BoxFuture<'a, Result<CommandStatus, String>>;
}

/// A command of a provisioner. It may hold secrets: no `Debug`.
pub struct Command {
    /// The program and its arguments.
    pub arguments: Vec<String>,
    /// The directory that it runs in; the root module's where absent.
    pub directory: Option<String>,
    /// Variables added to the environment.
    pub environment: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandStatus {
    /// Whether that is a success.
    pub success: bool,
    /// In words: `exit status 3`, `signal: killed`.
    pub text: String,
}

/// Asks an operation to stop: once to finish what runs, twice to abort. Clones are one token.
#[derive(Clone, Default)]
pub struct CancelToken {
    shared: Arc<CancelShared>,
}

#[derive(Default)]
struct CancelShared {
    requests: AtomicU8,
    /// Whether the operation has seen that it is to end at once.
    is_heard: AtomicBool,
    notify: Notify,
}

/// How far a [`CancelToken`] was driven.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CancelLevel {
    /// Go on.
    Running,
    /// Finish what runs, start nothing new.
    Stopping,
    /// End at once.
    Aborting,
}

impl CancelToken {
    /// A token that was not used yet.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Asks once more.
    pub fn cancel(&self) {
        let _ = self
            .shared
            .requests
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| Some(n.saturating_add(1)));
        self.shared.notify.notify_waiters();
    }

    /// How far it was driven.
    pub fn level(&self) -> CancelLevel {
        match self.shared.requests.load(Ordering::SeqCst) {
            0 => CancelLevel::Running,
            1 => CancelLevel::Stopping,
            _ => {
                self.shared.is_heard.store(true, Ordering::SeqCst);
                CancelLevel::Aborting
            }
        }
    }

    /// Whether the operation has looked at the token since it was asked to abort. If it has not, it does something that
    /// cannot be ended from within.
    pub fn is_heard(&self) -> bool {
        self.shared.is_heard.load(Ordering::SeqCst)
    }

    /// Waits until the token was driven to at least `level`.
    pub async fn reached(&self, level: CancelLevel) {
        loop {
            let notified = self.shared.notify.notified();
            if self.level() >= level {
                return;
            }
            notified.await;
        }
    }
}
