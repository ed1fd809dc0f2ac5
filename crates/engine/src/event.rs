//! Events of an operation, as a closed enum: the human view, the JSON view and tests read the same stream.
//!
//! ```text
//! engine ──Event──► EventSink ──► human lines | JSON lines | Vec<Event> in a test
//! ```
//!
//! **Invariant:** no event holds a value. Texts from providers and provisioners have passed the redactor.

use std::{fmt, sync::Arc, time::Duration};

use addr::{ProviderSource, ResourceInstance, ResourceMode};
use db::Diagnostic;
use provider::ProviderSchemas;
use state::{Action, Change, ObjectAddress, Plan, ResourceChange};
use values::Str;

/// The receiver of events.
pub trait EventSink: Send + Sync {
    /// Receives an event. Called on the thread that coordinates the run, so an implementation that blocks delays
    /// the run.
    fn event(&self, event: Event);
}

/// The receiver of planned changes.
pub trait ChangeSink: Send + Sync {
    /// Receives a change as soon as it is planned. `schemas` finds the schemas of a provider, if they are known. Called
    /// on the thread that coordinates the run. The plan may drop the change later, or contain another one for the
    /// object: only the changes of the outcome count. A [`Planner`](crate::Planner) announces only the changes that it
    /// plans again.
    ///
    /// The values may be secret. Their marks tell which ones.
    fn planned(
        &self,
        change: &Arc<ResourceChange>,
        schemas: &dyn Fn(&ProviderSource) -> Option<Arc<ProviderSchemas>>,
    );
}

impl<F: Fn(Event) + Send + Sync> EventSink for F {
    fn event(&self, event: Event) {
        self(event);
    }
}

/// An event of an operation.
///
/// Every `…Start` of an address is followed by exactly one `…Complete` or `…Errored` with the same address and
/// action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The refresh of a managed object, current or deposed, starts.
    RefreshStart { address: ObjectAddress, id: Option<ObjectId> },
    /// A provider is asked for an existing object by an ID that the user gave.
    ImportStart { address: ResourceInstance, id: String },
    /// The provider has found the object. Reading it comes next.
    ImportComplete { address: ResourceInstance },
    /// A plan asks a provider for the object that an `import` block names.
    ImportPrepare { address: ResourceInstance, id: Option<ObjectId> },
    /// An apply takes an object into the state that the plan has imported.
    ImportApplyStart { address: ResourceInstance, id: Option<ObjectId> },
    /// The object is in the state.
    ImportApplyComplete { address: ResourceInstance, id: Option<ObjectId> },
    /// The refresh has ended. Also sent after a failure, which is reported as an [`Event::Diagnostic`].
    RefreshComplete { address: ObjectAddress, id: Option<ObjectId> },

    /// The planned action for an object, sent as soon as it is known. Only in a plan.
    Planned { address: ObjectAddress, action: ChangeAction, reason: Option<ChangeReason> },

    /// An operation on an object starts: a change in an apply, or the read of a data source in a plan or an
    /// apply.
    ApplyStart { address: ObjectAddress, action: ApplyAction, id: Option<ObjectId> },
    /// The operation is still running; sent every ten seconds.
    ApplyProgress {
        address: ObjectAddress,
        action: ApplyAction,
        id: Option<ObjectId>,
        elapsed: Duration,
    },
    /// The operation has succeeded.
    ApplyComplete {
        address: ObjectAddress,
        action: ApplyAction,
        id: Option<ObjectId>,
        elapsed: Duration,
    },
    /// The operation has failed; the diagnostics give the reason.
    ApplyErrored { address: ObjectAddress, action: ApplyAction, elapsed: Duration },

    /// A provisioner starts.
    ProvisionStart { address: ResourceInstance, provisioner: String },
    /// A line of output from a provisioner: redacted, or the notice that output is suppressed.
    ProvisionOutput { address: ResourceInstance, provisioner: String, line: String },
    /// The provisioner has succeeded.
    ProvisionComplete { address: ResourceInstance, provisioner: String },
    /// The provisioner has failed.
    ProvisionErrored { address: ResourceInstance, provisioner: String },

    /// The opening, renewal or closing of an ephemeral resource starts.
    EphemeralStart { address: ResourceInstance, action: EphemeralAction },
    /// The operation on the ephemeral resource is still running; sent every ten seconds.
    EphemeralProgress { address: ResourceInstance, action: EphemeralAction, elapsed: Duration },
    /// The operation on the ephemeral resource has succeeded.
    EphemeralComplete { address: ResourceInstance, action: EphemeralAction, elapsed: Duration },
    /// The operation on the ephemeral resource has failed; the diagnostics give the reason.
    EphemeralErrored { address: ResourceInstance, action: EphemeralAction, elapsed: Duration },
    /// The plan does not open an ephemeral resource; the apply will.
    Deferred { address: ResourceInstance, reason: DeferReason },

    /// A provider process has started for an evaluated configuration. `serial` distinguishes the processes of a
    /// run.
    ProviderStarted { provider: ProviderSource, serial: u32 },
    /// The provider process has ended.
    ProviderEnded { provider: ProviderSource, serial: u32 },
    /// A redacted line of a plugin's log or of its standard streams.
    PluginLog { plugin: PluginName, level: LogLevel, message: String },

    /// A diagnostic, as soon as it is known. The outcome contains all diagnostics again.
    Diagnostic(Diagnostic),
    /// The operation was asked to stop: it finishes running calls and starts no new ones.
    Stopping,
    /// The counts at the end of an operation. Not sent if the operation did not get that far.
    Summary { operation: Operation, counts: ChangeCounts },
}

/// A plugin: a program of another vendor that a run starts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PluginName {
    /// A provider.
    Provider(ProviderSource),
    /// A provisioner, by the label of its `provisioner` blocks.
    Provisioner(Str),
}

/// The name in logs.
impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PluginName::Provider(source) => write!(f, "provider.{}", source.for_display()),
            PluginName::Provisioner(name) => write!(f, "provisioner.{name}"),
        }
    }
}

/// The identifier that distinguishes an object for users, such as `id=i-123`. Shown after an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectId {
    /// The name of the attribute: `id` or `name`.
    pub key: String,
    /// The text of the attribute, neither sensitive nor ephemeral.
    pub value: String,
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

/// The planned action for an instance; the same type as in the plan.
pub type ChangeAction = Action;

/// The reason for an action, if it needs one; the same type as in the plan.
pub type ChangeReason = state::Reason;

/// An operation on an instance. A replacement consists of two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ApplyAction {
    /// Shown as "Creating..."
    Create,
    /// Shown as "Modifying..."
    Update,
    /// Shown as "Destroying..."
    Delete,
    /// Shown as "Reading..."; for data sources.
    Read,
}

/// An operation on an ephemeral resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EphemeralAction {
    /// Shown as "Opening..."
    Open,
    /// Shown as "Renewing..."
    Renew,
    /// Shown as "Closing..."
    Close,
}

/// The reason for not opening an ephemeral resource in a plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DeferReason {
    /// The configuration has unknown parts.
    ConfigUnknown,
    /// A dependency has pending changes.
    DependencyPending,
}

/// The level of a provider's log line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// The operation that counts belong to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operation {
    /// Counts of planned changes.
    Plan,
    /// Counts of applied changes.
    Apply,
    /// Counts of the changes of the command `destroy`. The apply of a saved destroy plan uses `Apply`.
    Destroy,
}

/// The numbers of objects that are, or will be, affected.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ChangeCounts {
    /// Objects that are imported.
    pub import: usize,
    /// Objects that are created, including replacements.
    pub add: usize,
    /// Objects that are updated in place.
    pub change: usize,
    /// Objects that are destroyed, including replacements.
    pub destroy: usize,
    /// Objects that are removed from the state without being destroyed.
    pub forget: usize,
}

impl ChangeCounts {
    /// Counts the planned changes of managed resources.
    pub fn of_plan(plan: &Plan) -> ChangeCounts {
        let mut counts = ChangeCounts::default();
        for change in &plan.resource_changes {
            if change.addr.resource.mode == ResourceMode::Managed {
                counts.add_change(&change.change);
            }
        }
        counts
    }

    fn add_change(&mut self, change: &Change) {
        self.import += usize::from(change.importing.is_some());
        match change.action {
            Action::Create => self.add += 1,
            Action::Update => self.change += 1,
            Action::Delete => self.destroy += 1,
            Action::DeleteThenCreate | Action::CreateThenDelete => {
                self.add += 1;
                self.destroy += 1;
            }
            Action::Forget => self.forget += 1,
            Action::ForgetThenCreate => {
                self.add += 1;
                self.forget += 1;
            }
            Action::NoOp | Action::Read => {}
        }
    }
}
