//! The plan as data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use addr::{AbsResource, ProviderConfigRef, ResourceInstance, Target};
use values::{Path, Str, Value};

use crate::checks::CheckResults;
use crate::resources::DeposedKey;

/// Everything that apply needs to know of the plan phase, apart from states and sources.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// A UUID; the directory under `path.temp`'s prefix that belongs to this plan.
    pub id: String,
    /// What `plantimestamp()` gives, RFC 3339.
    pub timestamp: String,
    /// Name and version of the program that made it; only the same one applies it.
    pub made_by: String,
    pub mode: PlanMode,
    /// Whether applying does anything.
    pub is_applyable: bool,
    /// Whether planning ended with errors: the plan can be shown, never applied.
    pub has_errors: bool,
    /// Values of the root module's variables that were given; none of them ephemeral.
    pub variables: BTreeMap<Str, Value>,
    /// Names of the ephemeral variables that were given: they must be given again.
    pub ephemeral_variables: BTreeSet<Str>,
    pub resource_changes: Vec<ResourceChange>,
    /// What had changed outside before this plan.
    pub resource_drift: Vec<ResourceChange>,
    /// Ephemeral resources that apply will open: an address is all that is kept of them.
    pub ephemerals: Vec<EphemeralPlan>,
    pub output_changes: BTreeMap<Str, OutputChange>,
    pub checks: CheckResults,
    pub relevant_attributes: Vec<RelevantAttribute>,
    pub targets: Vec<Target>,
    pub excludes: Vec<Target>,
    /// `-replace`.
    pub force_replace: Vec<ResourceInstance>,
    pub backend: BackendRecord,
    /// The state that this plan starts from; another one makes it stale.
    pub prior_state: StateIdentity,
    /// `path.root` and `path.cwd` of the plan phase.
    pub root_dir: String,
    /// The data directory (`TF_DATA_DIR`) whose `tmp` the values of `path.temp` start with.
    pub data_dir: String,
    /// The files that functions read while planning, and read again while applying.
    pub files: PlannedFiles,
}

/// Files outside of the configuration that a plan depends on. Their contents may be secrets, so only digests are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedFiles {
    /// The key of the digests: the same content has another digest in another plan.
    pub key: Vec<u8>,
    /// By path, as functions were given it: relative to the root module, or absolute.
    pub read: BTreeMap<String, PlannedFile>,
}

/// A file when a plan was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedFile {
    /// A function read it: the HMAC-SHA256 of its content.
    Content([u8; 32]),
    /// A function asked whether it exists, and it did.
    Exists,
    /// There was none.
    Missing,
}

/// Which kind of planning was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanMode {
    #[default]
    Normal,
    Destroy,
    RefreshOnly,
}

/// One object, before and after.
#[derive(Clone, PartialEq)]
pub struct ResourceChange {
    pub addr: ResourceInstance,
    /// The address in the previous run, where a move changed it.
    pub previous_addr: Option<ResourceInstance>,
    /// Which object of the instance, where it is not the current one.
    pub deposed: Option<DeposedKey>,
    pub provider: ProviderConfigRef,
    pub change: Change,
    /// The provider's own bytes for apply.
    pub private: Arc<[u8]>,
    /// Attributes that cannot change in place.
    pub required_replace: Vec<Path>,
    pub reason: Option<Reason>,
}

/// Values of both sides, sensitive parts marked. `after` may have unknown parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub action: Action,
    pub before: Value,
    pub after: Value,
    pub importing: Option<Importing>,
    /// HCL that `-generate-config-out` wrote for an imported object.
    pub generated_config: String,
    pub before_identity: Option<Value>,
    pub after_identity: Option<Value>,
}

/// What an import names.
#[derive(Clone, Debug, PartialEq)]
pub enum Importing {
    Id(String),
    Identity(Value),
}

/// What is done to an object.
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

/// Why an action was chosen, where the configuration does not say it plainly.
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
    pub addr: ResourceInstance,
}

/// An output of the root module, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputChange {
    pub action: Action,
    pub before: Value,
    pub after: Value,
    pub sensitive: bool,
}

/// An attribute that a change was computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct RelevantAttribute {
    pub resource: AbsResource,
    pub attribute: Path,
}

/// Where the state lies that this plan is for.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendRecord {
    pub type_name: String,
    pub config: Value,
    pub workspace: String,
}

/// Names one version of one state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateIdentity {
    pub lineage: String,
    pub serial: u64,
}

impl Action {
    /// Every action with its number in plan files.
    pub(crate) const CODES: [(Self, u32); 9] = [
        (Self::NoOp, 0),
        (Self::Create, 1),
        (Self::Read, 2),
        (Self::Update, 3),
        (Self::Delete, 5),
        (Self::DeleteThenCreate, 6),
        (Self::CreateThenDelete, 7),
        (Self::Forget, 8),
        (Self::ForgetThenCreate, 10),
    ];

    /// Whether one object goes and another comes.
    pub fn is_replace(self) -> bool {
        matches!(self, Self::DeleteThenCreate | Self::CreateThenDelete)
    }

    /// The list of words in `show -json`.
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
    /// Every reason with its number in our plan files and its word in `show -json`.
    pub(crate) const CODES: [(Self, u32, &'static str); 16] = [
        (Self::ReplaceBecauseTainted, 1, "replace_because_tainted"),
        (Self::ReplaceByRequest, 2, "replace_by_request"),
        (Self::ReplaceBecauseCannotUpdate, 3, "replace_because_cannot_update"),
        (Self::ReplaceByTriggers, 4, "replace_by_triggers"),
        (Self::DeleteBecauseNoResourceConfig, 5, "delete_because_no_resource_config"),
        (Self::DeleteBecauseWrongRepetition, 6, "delete_because_wrong_repetition"),
        (Self::DeleteBecauseCountIndex, 7, "delete_because_count_index"),
        (Self::DeleteBecauseEachKey, 8, "delete_because_each_key"),
        (Self::DeleteBecauseNoModule, 9, "delete_because_no_module"),
        (Self::DeleteBecauseNoMoveTarget, 10, "delete_because_no_move_target"),
        (Self::DeleteBecauseEnabledFalse, 11, "delete_because_enabled_false"),
        (Self::ReadBecauseConfigUnknown, 12, "read_because_config_unknown"),
        (Self::ReadBecauseDependencyPending, 13, "read_because_dependency_pending"),
        (Self::ReadBecauseCheckNested, 14, "read_because_check_nested"),
        (
            Self::ForgotBecauseLifecycleDestroyInState,
            15,
            "forgot_because_lifecycle_destroy_in_state",
        ),
        (
            Self::ForgotBecauseLifecycleDestroyInConfig,
            16,
            "forgot_because_lifecycle_destroy_in_config",
        ),
    ];

    /// The word in `show -json`.
    pub fn as_str(self) -> &'static str {
        Self::CODES.iter().find(|(it, ..)| *it == self).map_or("", |(_, _, word)| word)
    }
}

/// The provider's private bytes are not for the eye.
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
