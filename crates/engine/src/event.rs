//! What happens during an operation, as one closed enum: the human view, the JSON view and tests read the same stream.
//!
//! ```text
//! engine ──Event──► EventSink ──► human lines | JSON lines | Vec<Event> in a test
//! ```
//!
//! **Invariant:** no event holds a value. Texts that a provider or a provisioner said have passed the redactor.

use std::{fmt, time::Duration};

use addr::{ProviderSource, ResourceInstance, ResourceMode};
use db::Diagnostic;
use state::{Action, Change, Plan};

/// Where events go.
pub trait EventSink: Send + Sync {
    /// Takes one event. Called from the thread that coordinates the run: an implementation that blocks holds it up.
    fn event(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> EventSink for F {
    fn event(&self, event: Event) {
        self(event);
    }
}

/// One thing that happened.
///
/// Every `…Start` of an address has exactly one `…Complete` or `…Errored` with the same address and action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A managed object is asked for its present state.
    RefreshStart { address: ResourceInstance, id: Option<ObjectId> },
    /// A provider is asked for an object that exists, by an ID that a person gave.
    ImportStart { address: ResourceInstance, id: String },
    /// It has found it; reading it comes next.
    ImportComplete { address: ResourceInstance },
    /// The answer arrived. (A failure shows as a [`Event::Diagnostic`]; this event follows all the same.)
    RefreshComplete { address: ResourceInstance, id: Option<ObjectId> },

    /// What will be done to an instance, as soon as it is known; sent in plan only.
    Planned { address: ResourceInstance, action: ChangeAction, reason: Option<ChangeReason> },

    /// An operation on an instance begins: a change in apply, or the read of a data source in plan or apply.
    ApplyStart { address: ResourceInstance, action: ApplyAction, id: Option<ObjectId> },
    /// It still runs; sent every ten seconds.
    ApplyProgress {
        address: ResourceInstance,
        action: ApplyAction,
        id: Option<ObjectId>,
        elapsed: Duration,
    },
    /// It ended well.
    ApplyComplete {
        address: ResourceInstance,
        action: ApplyAction,
        id: Option<ObjectId>,
        elapsed: Duration,
    },
    /// It failed; the diagnostics tell why.
    ApplyErrored { address: ResourceInstance, action: ApplyAction, elapsed: Duration },

    /// A provisioner begins.
    ProvisionStart { address: ResourceInstance, provisioner: String },
    /// A line that it printed; redacted, or the notice that output is suppressed.
    ProvisionOutput { address: ResourceInstance, provisioner: String, line: String },
    /// It ended well.
    ProvisionComplete { address: ResourceInstance, provisioner: String },
    /// It failed.
    ProvisionErrored { address: ResourceInstance, provisioner: String },

    /// An ephemeral resource is opened, renewed or closed.
    EphemeralStart { address: ResourceInstance, action: EphemeralAction },
    /// That still runs; sent every ten seconds.
    EphemeralProgress { address: ResourceInstance, action: EphemeralAction, elapsed: Duration },
    /// That ended well.
    EphemeralComplete { address: ResourceInstance, action: EphemeralAction, elapsed: Duration },
    /// That failed; the diagnostics tell why.
    EphemeralErrored { address: ResourceInstance, action: EphemeralAction, elapsed: Duration },
    /// An ephemeral resource is not opened in plan, but will be in apply.
    Deferred { address: ResourceInstance, reason: DeferReason },

    /// A provider process was started for one evaluated configuration. `serial` tells processes of one run apart.
    ProviderStarted { provider: ProviderSource, serial: u32 },
    /// It was ended.
    ProviderEnded { provider: ProviderSource, serial: u32 },
    /// A line of a provider's log or of its standard streams, redacted.
    ProviderLog { provider: ProviderSource, level: LogLevel, message: String },

    /// A problem, as soon as it is known. The outcome holds all of them again.
    Diagnostic(Diagnostic),
    /// The operation was asked to stop: it finishes what runs and starts nothing new.
    Stopping,
    /// The counts at the end of an operation that got that far.
    Summary { operation: Operation, counts: ChangeCounts },
}

/// How people tell objects of one type apart: `id=i-123`, as shown behind an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectId {
    /// The attribute: `id` or `name`.
    pub key: String,
    /// Its text, neither sensitive nor ephemeral.
    pub value: String,
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

/// What a plan decides about an instance; the same as in the plan's data.
pub type ChangeAction = Action;

/// Why, where that is worth saying; the same as in the plan's data.
pub type ChangeReason = state::Reason;

/// One operation on an instance. A replacement is two of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ApplyAction {
    /// "Creating..."
    Create,
    /// "Modifying..."
    Update,
    /// "Destroying..."
    Delete,
    /// "Reading...": data sources.
    Read,
}

/// One operation on an ephemeral resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EphemeralAction {
    /// "Opening..."
    Open,
    /// "Renewing..."
    Renew,
    /// "Closing..."
    Close,
}

/// Why an ephemeral resource is not opened in plan.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DeferReason {
    /// Its configuration has unknown parts.
    ConfigUnknown,
    /// Something that it depends on has changes pending.
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

/// What kind of operation counts belong to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operation {
    /// Counts of what is planned.
    Plan,
    /// Counts of what was done.
    Apply,
    /// Counts of what the command `destroy` did. An apply of a plan that destroys everything has those of `Apply`.
    Destroy,
}

/// How many objects are or were affected.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ChangeCounts {
    /// Objects that are adopted.
    pub import: usize,
    /// Objects that are created; a replacement counts here too.
    pub add: usize,
    /// Objects that are changed in place.
    pub change: usize,
    /// Objects that are destroyed; a replacement counts here too.
    pub destroy: usize,
    /// Objects that leave the state and stay in the world.
    pub forget: usize,
}

impl ChangeCounts {
    /// What a plan is going to do to managed resources.
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
