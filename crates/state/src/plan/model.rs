//! The data model of a plan.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use addr::{ProviderConfigRef, ResourceInstance, Target};
use sorted::{TreeMap, TreeSet};
use values::{Path, Str, Value};

use crate::checks::CheckResults;
use crate::object_address::ObjectAddress;
use crate::resources::DeposedKey;

/// The result of planning that apply needs, apart from states and sources.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// A UUID. It names the directory of this plan under the prefix of `path.temp`.
    pub id: String,
    /// The result of `plantimestamp()`, RFC 3339.
    pub timestamp: String,
    /// The name and version of the program that created the plan. Only the same version applies it.
    pub made_by: String,
    /// The planning mode.
    pub mode: PlanMode,
    /// True if applying the plan changes anything.
    pub is_applyable: bool,
    /// True if planning failed: the plan can be shown, but not applied.
    pub has_errors: bool,
    /// The values of the root module's variables that were set, without ephemeral ones.
    pub variables: TreeMap<Str, Value>,
    /// The names of the ephemeral variables that were set. They must be set again for apply.
    pub ephemeral_variables: TreeSet<Str>,
    /// The planned changes of resource instances.
    pub resource_changes: Vec<Arc<ResourceChange>>,
    /// Changes outside of this program that planning detected.
    pub resource_drift: Vec<Arc<ResourceChange>>,
    /// The ephemeral resources that apply will open. Only their addresses are kept.
    pub ephemerals: Vec<EphemeralPlan>,
    /// The planned changes of the root module's outputs, by name.
    pub output_changes: TreeMap<Str, OutputChange>,
    /// The results of checks.
    pub checks: CheckResults,
    /// The attributes that planned changes depend on.
    pub relevant_attributes: Vec<RelevantAttribute>,
    /// The addresses of `-target`.
    pub targets: Vec<Target>,
    /// The addresses of `-exclude`.
    pub excludes: Vec<Target>,
    /// The addresses of `-replace`.
    pub force_replace: Vec<ResourceInstance>,
    /// The backend that holds the state.
    pub backend: BackendRecord,
    /// The state that the plan is based on. The plan is stale for any other state.
    pub prior_state: StateIdentity,
    /// The values of `path.root` and `path.cwd` while planning.
    pub root_dir: String,
    /// The data directory (`TF_DATA_DIR`). The values of `path.temp` start with its `tmp` directory.
    pub data_dir: String,
    /// The files that functions read while planning and will read again while applying.
    pub files: PlannedFiles,
}

/// Files outside of the configuration that a plan depends on. Only digests are kept, because the contents may be
/// secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedFiles {
    /// The key of the digests. With it, the same content has different digests in different plans.
    pub key: Vec<u8>,
    /// The files by path as passed to functions: relative to the root module, or absolute.
    pub read: TreeMap<String, PlannedFile>,
}

/// The state of a file while planning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedFile {
    /// A function read the file: the HMAC-SHA256 of its content.
    Content([u8; 32]),
    /// A function checked whether the file exists, and it did.
    Exists,
    /// The file did not exist.
    Missing,
}

/// The planning mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanMode {
    #[default]
    Normal,
    Destroy,
    RefreshOnly,
}

/// The change of one object.
#[derive(Clone, PartialEq)]
pub struct ResourceChange {
    /// The address of the resource instance.
    pub addr: ResourceInstance,
    /// The address in the previous run, if the instance was moved.
    pub previous_addr: Option<Box<ResourceInstance>>,
    /// The key of a deposed object. `None` for the current object.
    pub deposed: Option<DeposedKey>,
    /// The provider configuration of the resource.
    pub provider: Arc<ProviderConfigRef>,
    /// The action and the values before and after it.
    pub change: Change,
    /// The provider's private data for apply.
    pub private: Arc<[u8]>,
    /// The attributes that require replacement.
    pub required_replace: Vec<Path>,
    /// The reason for the action, if the configuration alone does not explain it.
    pub reason: Option<Reason>,
}

impl Plan {
    /// The planned changes of objects. A plan that was just made has them by address.
    pub fn changes(&self) -> impl Iterator<Item = &ResourceChange> + Clone {
        self.resource_changes.iter().map(Arc::as_ref)
    }

    /// The changes that were made outside of Mayfly.
    pub fn drift(&self) -> impl Iterator<Item = &ResourceChange> + Clone {
        self.resource_drift.iter().map(Arc::as_ref)
    }
}

impl ResourceChange {
    /// Compares the addresses of two objects, for lists in the order of addresses.
    pub fn compare_addresses(&self, other: &ResourceChange) -> Ordering {
        (&self.addr, self.deposed).cmp(&(&other.addr, other.deposed))
    }

    /// The address of the object.
    pub fn object(&self) -> ObjectAddress {
        ObjectAddress { instance: self.addr.clone(), deposed: self.deposed }
    }
}

/// The action and the values before and after it, with sensitive parts marked. `after` may be unknown in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The action.
    pub action: Action,
    /// The value before the action.
    pub before: Value,
    /// The planned value after the action.
    pub after: Value,
    /// The import, if the object is imported.
    pub importing: Option<Box<Importing>>,
    /// The configuration in HCL that `-generate-config-out` wrote for an imported object.
    pub generated_config: String,
    /// The resource identity before the action.
    pub before_identity: Option<Value>,
    /// The planned resource identity after the action.
    pub after_identity: Option<Value>,
}

/// The identification of an imported object.
#[derive(Clone, Debug, PartialEq)]
pub enum Importing {
    Id(String),
    Identity(Value),
}

/// The action on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    NoOp,
    Create,
    Read,
    Update,
    Delete,
    DeleteThenCreate,
    CreateThenDelete,
    Forget,
    ForgetThenCreate,
}

/// The reason for an action, if the configuration alone does not explain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    ReplaceBecauseTainted,
    ReplaceByRequest,
    ReplaceBecauseCannotUpdate,
    ReplaceByTriggers,
    DeleteBecauseNoResourceConfig,
    DeleteBecauseWrongRepetition,
    DeleteBecauseCountIndex,
    DeleteBecauseEachKey,
    DeleteBecauseNoModule,
    DeleteBecauseNoMoveTarget,
    DeleteBecauseEnabledFalse,
    ReadBecauseConfigUnknown,
    ReadBecauseDependencyPending,
    ReadBecauseCheckNested,
    ForgotBecauseLifecycleDestroyInState,
    ForgotBecauseLifecycleDestroyInConfig,
}

/// An ephemeral resource that apply opens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EphemeralPlan {
    /// The address of the ephemeral resource instance.
    pub addr: ResourceInstance,
}

/// The change of an output of the root module.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputChange {
    /// The action.
    pub action: Action,
    /// The value before the action.
    pub before: Value,
    /// The value after the action.
    pub after: Value,
    /// True if the output is sensitive.
    pub sensitive: bool,
}

/// An attribute that a change depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct RelevantAttribute {
    /// The resource of the attribute, with an instance key if the reference to it has a constant one.
    pub resource: ResourceInstance,
    /// The path of the attribute in the resource.
    pub attribute: Path,
}

/// The backend and workspace of the state that the plan is based on.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendRecord {
    /// The type of the backend.
    pub type_name: String,
    /// The configuration of the backend.
    pub config: Value,
    /// The workspace.
    pub workspace: String,
}

/// The identity of one version of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateIdentity {
    /// The lineage of the state.
    pub lineage: String,
    /// The serial of the state.
    pub serial: u64,
}

impl Action {
    /// All actions.
    pub const ALL: [Self; 9] = [
        Self::NoOp,
        Self::Create,
        Self::Read,
        Self::Update,
        Self::Delete,
        Self::DeleteThenCreate,
        Self::CreateThenDelete,
        Self::Forget,
        Self::ForgetThenCreate,
    ];

    /// The number of the action in plan files.
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::NoOp => 0,
            Self::Create => 1,
            Self::Read => 2,
            Self::Update => 3,
            Self::Delete => 5,
            Self::DeleteThenCreate => 6,
            Self::CreateThenDelete => 7,
            Self::Forget => 8,
            Self::ForgetThenCreate => 10,
        }
    }

    /// Returns true if the action creates an object.
    pub fn is_creation(self) -> bool {
        matches!(self, Self::Create | Self::ForgetThenCreate) || self.is_replace()
    }

    /// Returns true if the action creates, updates or replaces an object.
    pub fn renews(self) -> bool {
        self == Self::Update || self.is_creation()
    }

    /// Returns true if the action destroys an object and creates another one for it.
    pub fn is_replace(self) -> bool {
        matches!(self, Self::DeleteThenCreate | Self::CreateThenDelete)
    }

    /// The words for the action in `show -json`.
    pub fn json_words(self) -> &'static [&'static str] {
        match self {
            Self::NoOp => &["no-op"],
            Self::Create => &["create"],
            Self::Read => &["read"],
            Self::Update => &["update"],
            Self::Delete => &["delete"],
            Self::DeleteThenCreate => &["delete", "create"],
            Self::CreateThenDelete => &["create", "delete"],
            Self::Forget => &["forget"],
            Self::ForgetThenCreate => &["forget", "create"],
        }
    }
}

impl Reason {
    /// All reasons, for decoding.
    pub(crate) const ALL: [Self; 16] = [
        Self::ReplaceBecauseTainted,
        Self::ReplaceByRequest,
        Self::ReplaceBecauseCannotUpdate,
        Self::ReplaceByTriggers,
        Self::DeleteBecauseNoResourceConfig,
        Self::DeleteBecauseWrongRepetition,
        Self::DeleteBecauseCountIndex,
        Self::DeleteBecauseEachKey,
        Self::DeleteBecauseNoModule,
        Self::DeleteBecauseNoMoveTarget,
        Self::DeleteBecauseEnabledFalse,
        Self::ReadBecauseConfigUnknown,
        Self::ReadBecauseDependencyPending,
        Self::ReadBecauseCheckNested,
        Self::ForgotBecauseLifecycleDestroyInState,
        Self::ForgotBecauseLifecycleDestroyInConfig,
    ];

    /// The number of the reason in plan files.
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::ReplaceBecauseTainted => 1,
            Self::ReplaceByRequest => 2,
            Self::ReplaceBecauseCannotUpdate => 3,
            Self::ReplaceByTriggers => 4,
            Self::DeleteBecauseNoResourceConfig => 5,
            Self::DeleteBecauseWrongRepetition => 6,
            Self::DeleteBecauseCountIndex => 7,
            Self::DeleteBecauseEachKey => 8,
            Self::DeleteBecauseNoModule => 9,
            Self::DeleteBecauseNoMoveTarget => 10,
            Self::DeleteBecauseEnabledFalse => 11,
            Self::ReadBecauseConfigUnknown => 12,
            Self::ReadBecauseDependencyPending => 13,
            Self::ReadBecauseCheckNested => 14,
            Self::ForgotBecauseLifecycleDestroyInState => 15,
            Self::ForgotBecauseLifecycleDestroyInConfig => 16,
        }
    }

    /// The word for the reason in `show -json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReplaceBecauseTainted => "replace_because_tainted",
            Self::ReplaceByRequest => "replace_by_request",
            Self::ReplaceBecauseCannotUpdate => "replace_because_cannot_update",
            Self::ReplaceByTriggers => "replace_by_triggers",
            Self::DeleteBecauseNoResourceConfig => "delete_because_no_resource_config",
            Self::DeleteBecauseWrongRepetition => "delete_because_wrong_repetition",
            Self::DeleteBecauseCountIndex => "delete_because_count_index",
            Self::DeleteBecauseEachKey => "delete_because_each_key",
            Self::DeleteBecauseNoModule => "delete_because_no_module",
            Self::DeleteBecauseNoMoveTarget => "delete_because_no_move_target",
            Self::DeleteBecauseEnabledFalse => "delete_because_enabled_false",
            Self::ReadBecauseConfigUnknown => "read_because_config_unknown",
            Self::ReadBecauseDependencyPending => "read_because_dependency_pending",
            Self::ReadBecauseCheckNested => "read_because_check_nested",
            Self::ForgotBecauseLifecycleDestroyInState => {
                "forgot_because_lifecycle_destroy_in_state"
            }
            Self::ForgotBecauseLifecycleDestroyInConfig => {
                "forgot_because_lifecycle_destroy_in_config"
            }
        }
    }
}

/// Omits the provider's private data.
impl fmt::Debug for ResourceChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceChange")
            .field("addr", &self.addr)
            .field("previous_addr", &self.previous_addr)
            .field("deposed", &self.deposed)
            .field("provider", &self.provider)
            .field("change", &self.change)
            .field("required_replace", &self.required_replace)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}
