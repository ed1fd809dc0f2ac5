//! Requests to the engine, the environment in which it acts, and its outcomes.

use std::sync::Arc;

use addr::{ProviderSource, ResourceInstance, Target};
use db::{Diagnostic, Summary, System};
use provider::{BoxFuture, Provider, Provisioner};
use state::{Plan, PlanMode, State, journal::Intent};
use values::Str;

use crate::{
    cancel::CancelToken,
    event::{ChangeSink, EventSink},
    journal::{Journal, Number},
    machine::Machines,
    redact::Redactor,
    temp::{TempDirectories, TempRoot},
};

/// The environment of every operation.
#[derive(Clone)]
pub struct Environment {
    /// Starts provider processes.
    pub providers: Arc<dyn ProviderFactory>,
    /// Files, environment variables and the clock, for functions and `path.*`.
    pub system: Arc<dyn System>,
    /// Creates the directories of `path.temp`.
    pub temp: Arc<dyn TempDirectories>,
    /// Runs the commands of provisioners.
    pub commands: Arc<dyn CommandRunner>,
    /// Connects to the machines of provisioners.
    pub machines: Arc<dyn Machines>,
    /// Receives the events.
    pub events: Arc<dyn EventSink>,
    /// Receives the changes of a plan while it is made. `None` if nothing needs them before its outcome.
    pub changes: Option<Arc<dyn ChangeSink>>,
    /// Records the changes that a run makes.
    pub journal: Arc<dyn Journal>,
    /// Learns every ephemeral value of the run. The caller shares it with the component that relays provider logs.
    pub redactor: Redactor,
    /// True if it is an error that a provider repeats a write-only value, in whatever attribute (`-strict-secrets`).
    pub strict_secrets: bool,
    /// Asks the operation to stop.
    pub cancel: CancelToken,
}

/// Options of [`plan`](crate::plan).
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The kind of plan.
    pub mode: PlanMode,
    /// True if managed objects are refreshed first (`-refresh`).
    pub refresh: bool,
    /// The maximum number of concurrent provider operations (`-parallelism`).
    pub parallelism: usize,
    /// True if the *command* is an apply. This is the value of `tofu.applying`.
    pub applying: bool,
    /// The name of the selected workspace, for `terraform.workspace`.
    pub workspace: Str,
    /// The instances to replace even if no change requires it (`-replace`).
    pub replace: Vec<ResourceInstance>,
    /// The addresses to which the plan is limited, with all that they depend on (`-target`); empty for no limit.
    pub targets: Vec<Target>,
    /// The addresses that the plan leaves out, with all that depends on them (`-exclude`). Not together with
    /// `targets`.
    pub excludes: Vec<Target>,
    /// Creations with an unknown result, from the journals of interrupted runs. Nothing is created at their
    /// addresses.
    pub uncertain: Vec<Intent>,
    /// The time of the plan and of `plantimestamp()`, in RFC 3339 and UTC.
    pub timestamp: Str,
    /// The plan ID and the root of the temporary directories.
    pub temp: TempRoot,
    /// The files that the caller writes with the plan.
    pub writes: PlanWrites,
}

/// The files that a caller writes with a plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanWrites {
    /// True if imported objects may have no configuration, which the plan then contains (`-generate-config-out`).
    pub generates_configuration: bool,
    /// True if the plan will be saved to a file. The plan then records the files that functions read again during
    /// the apply. False for the plans of a [`Planner`](crate::Planner).
    pub is_saved: bool,
}

/// Options of [`apply`](crate::apply).
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// The maximum number of concurrent provider operations (`-parallelism`).
    pub parallelism: usize,
    /// The name of the selected workspace, for `terraform.workspace`.
    pub workspace: Str,
    /// True if a destruction that forgets objects succeeds (`-suppress-forget-errors`).
    pub suppress_forget_errors: bool,
    /// Creations with an unknown result, from the journals of interrupted runs. An import to the address of one
    /// resolves it.
    pub uncertain: Vec<Intent>,
}

/// Options of [`import`](crate::import()).
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The address for the object. The state has no object there.
    pub address: ResourceInstance,
    /// The ID of the object in the provider.
    pub id: Str,
    /// The creation with an unknown result that this import resolves, if there is one.
    pub answers: Option<Number>,
    /// The maximum number of concurrent provider operations (`-parallelism`).
    pub parallelism: usize,
    /// The name of the selected workspace, for `terraform.workspace`.
    pub workspace: Str,
    /// The root of the temporary directories.
    pub temp: TempRoot,
}

/// The outcome of a plan.
pub struct PlanOutcome {
    /// The plan. After errors it is incomplete, and [`Plan::has_errors`] is set; it can still be shown.
    pub plan: Plan,
    /// The refreshed state, from which an apply of the plan starts. It is the `tfstate` of a plan file.
    pub refreshed: State,
    /// All diagnostics, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// True if evaluation has started. It does not start if a variable has no value.
    pub has_begun: bool,
    /// The number of assertions of a test that were evaluated.
    pub assertions: usize,
}

/// The outcome of an apply.
pub struct ApplyOutcome {
    /// The state after the operation, even after errors, including root outputs.
    pub state: State,
    /// All diagnostics, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of assertions of a test that were evaluated.
    pub assertions: usize,
}

impl PlanOutcome {
    /// Returns true if there is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

impl ApplyOutcome {
    /// Returns true if there is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Starts providers. The engine decides when to start one and for which configuration. Finding and launching the
/// process is up to the implementation.
pub trait ProviderFactory: Send + Sync {
    /// Starts a provider without configuring it.
    ///
    /// # Errors
    /// Fails with the diagnostic to show if the provider cannot be started.
    fn start(
        &self,
        source: &ProviderSource,
    ) -> BoxFuture<'_, Result<Arc<dyn Provider>, Box<Diagnostic>>>;

    /// Starts the provisioner plugin with this name.
    ///
    /// # Errors
    /// Fails with the diagnostic to show if the plugin cannot be started.
    fn start_provisioner(
        &self,
        name: &str,
    ) -> BoxFuture<'_, Result<Arc<dyn Provisioner>, Box<Diagnostic>>> {
        let detail = format!("There is no plugin for the provisioner \"{name}\".");
        let missing = Box::new(Diagnostic::new(Summary::PROVISIONER_START, detail));
        Box::pin(async move { Err(missing) })
    }
}

/// Runs the commands of `local-exec`.
pub trait CommandRunner: Send + Sync {
    /// Runs a command to its end. `output` receives each line of output immediately, without the line end. If
    /// `cancel` is asked to abort, the command and its children are killed.
    ///
    /// # Errors
    /// Fails with the reason if the command cannot be started. The text contains nothing of the command.
    fn run<'a>(
        &'a self,
        command: Command,
        output: &'a (dyn Fn(&str) + Send + Sync),
        cancel: &'a CancelToken,
    ) -> BoxFuture<'a, Result<CommandStatus, String>>;
}

/// The command of a provisioner. No `Debug`, because it may contain secrets.
pub struct Command {
    /// The program and its arguments.
    pub arguments: Vec<String>,
    /// The working directory; the directory of the root module if `None`.
    pub directory: Option<String>,
    /// The variables to add to the environment.
    pub environment: Vec<(String, String)>,
}

/// The exit status of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandStatus {
    /// True if the command succeeded.
    pub success: bool,
    /// The status as text: `exit status 3` or `signal: killed`.
    pub text: String,
}
