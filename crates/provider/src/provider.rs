use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use values::{Path, Str, Value};

use crate::schema::FunctionSignature;
use crate::schemas::ProviderSchemas;

/// A future that a provider's answer arrives by.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How long closing an ephemeral resource may take.
pub const CLOSE_EPHEMERAL_TIMEOUT: Duration = Duration::from_secs(10);

/// One provider, ready to be asked.
///
/// Values in requests are unmarked and conform to the implied type of the schema they belong to; so do values in
/// responses, where present. A failed call (the process ended, the answer was malformed) is a diagnostic of the
/// response like the provider's own, and the response has then no value.
pub trait Provider: Send + Sync {
    /// All schemas. Asked once per provider executable.
    ///
    /// # Errors
    /// What the provider or the connection says.
    fn schemas(&self) -> BoxFuture<'_, Result<Arc<ProviderSchemas>, Vec<ProviderDiagnostic>>>;

    /// Functions of the configured provider, which may have more of them than its schemas list.
    ///
    /// # Errors
    /// What the provider or the connection says.
    fn functions(
        &self,
    ) -> BoxFuture<'_, Result<BTreeMap<Str, FunctionSignature>, Vec<ProviderDiagnostic>>>;

    /// Checks the provider's own configuration, which may be unknown in parts.
    fn validate_provider_config(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Sets the provider up. Every method below except the validating ones comes after it.
    fn configure(&self, request: ConfigureRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Checks the configuration of a managed resource.
    fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Checks the configuration of a data source.
    fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Checks the configuration of an ephemeral resource.
    fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Brings a stored object to the current version of its schema.
    fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> BoxFuture<'_, StateResponse>;

    /// Takes over a stored object of another type, after a `moved` block.
    fn move_resource_state(
        &self,
        request: MoveResourceStateRequest,
    ) -> BoxFuture<'_, StateResponse>;

    /// Looks up what became of an object.
    fn read_resource(&self, request: ReadResourceRequest) -> BoxFuture<'_, ReadResourceResponse>;

    /// Says what applying a configuration would make of an object.
    fn plan_resource_change(
        &self,
        request: PlanResourceChangeRequest,
    ) -> BoxFuture<'_, PlanResourceChangeResponse>;

    /// Creates, changes or deletes an object. Dropping the future does not undo anything.
    fn apply_resource_change(
        &self,
        request: ApplyResourceChangeRequest,
    ) -> BoxFuture<'_, ApplyResourceChangeResponse>;

    /// Finds an object that was made elsewhere.
    fn import_resource_state(
        &self,
        request: ImportResourceStateRequest,
    ) -> BoxFuture<'_, ImportResourceStateResponse>;

    /// Reads a data source.
    fn read_data_source(
        &self,
        request: ReadDataSourceRequest,
    ) -> BoxFuture<'_, ReadDataSourceResponse>;

    /// Opens an ephemeral resource.
    fn open_ephemeral(&self, request: OpenEphemeralRequest)
    -> BoxFuture<'_, OpenEphemeralResponse>;

    /// Extends the life of an open ephemeral resource.
    fn renew_ephemeral(
        &self,
        request: RenewEphemeralRequest,
    ) -> BoxFuture<'_, RenewEphemeralResponse>;

    /// Ends the life of an open ephemeral resource.
    fn close_ephemeral(
        &self,
        request: CloseEphemeralRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Calls a function.
    ///
    /// # Errors
    /// The function's own fault, or that of the connection.
    fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> BoxFuture<'_, Result<Value, FunctionFault>>;

    /// Asks the provider to end running calls early; they still answer.
    ///
    /// # Errors
    /// What the provider says against it.
    fn stop(&self) -> BoxFuture<'_, Result<(), String>>;

    /// Ends the provider. Calls that still run fail.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Something that a provider says of a call.
///
/// `Debug` shows no text: a provider may quote what it was given.
#[derive(Clone, PartialEq)]
pub struct ProviderDiagnostic {
    /// Whether the call failed.
    pub severity: Severity,
    /// One line.
    pub summary: String,
    /// More of it; may be empty.
    pub detail: String,
    /// The part of the configuration that it is about.
    pub path: Option<Path>,
}

impl ProviderDiagnostic {
    /// An error about a call as a whole.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            path: None,
        }
    }

    /// A warning about a call as a whole.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: Severity::Warning,
            ..ProviderDiagnostic::error(summary, detail)
        }
    }

    /// The same about a part of the configuration.
    #[must_use]
    pub fn at(self, path: Path) -> ProviderDiagnostic {
        ProviderDiagnostic { path: Some(path), ..self }
    }

    /// Says whether the call failed.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Debug for ProviderDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderDiagnostic")
            .field("severity", &self.severity)
            .finish_non_exhaustive()
    }
}

/// Weight of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The call failed.
    Error,
    /// Worth knowing.
    Warning,
}

/// Bytes that a provider wants back with the next call about the same object. They are its own and may be secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Private(Arc<[u8]>);

impl Private {
    /// Keeps these bytes.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Private {
        Private(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Says whether the provider keeps nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Private({} bytes)", self.0.len())
    }
}

/// For [`Provider::configure`].
#[derive(Clone)]
pub struct ConfigureRequest {
    /// Version of the program, as the provider shall see it.
    pub core_version: Str,
    /// The provider's configuration; at plan, unknown in parts.
    pub config: Value,
}

/// For the three checks of resource configurations.
#[derive(Clone)]
pub struct ValidateRequest {
    /// Resource type.
    pub type_name: Str,
    /// Configuration; unknown in parts.
    pub config: Value,
}

/// For [`Provider::upgrade_resource_state`].
#[derive(Clone)]
pub struct UpgradeResourceStateRequest {
    /// Resource type.
    pub type_name: Str,
    /// Version of the schema with which the object was stored.
    pub version: i64,
    /// The stored object.
    pub raw_state: RawState,
}

/// For [`Provider::move_resource_state`].
#[derive(Clone)]
pub struct MoveResourceStateRequest {
    /// Full address of the provider that the object comes from.
    pub source_provider_address: Str,
    /// Type that the object comes from.
    pub source_type_name: Str,
    /// Version of that type's schema with which the object was stored.
    pub source_schema_version: i64,
    /// The stored object.
    pub source_state: RawState,
    /// What the other provider kept with it.
    pub source_private: Private,
    /// Type that it becomes.
    pub target_type_name: Str,
}

/// An object as a state file holds it.
#[derive(Clone)]
pub enum RawState {
    /// JSON text.
    Json(Arc<[u8]>),
    /// Texts under flattened keys, as versions up to 0.11 wrote them.
    Flatmap(BTreeMap<Str, Str>),
}

/// The answer where only a state and private bytes come back.
#[derive(Clone)]
pub struct StateResponse {
    /// The object, if the call succeeded.
    pub state: Option<Value>,
    /// What to keep with it; only after a move, else none.
    pub private: Option<Private>,
    /// What the provider says.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// For [`Provider::read_resource`].
#[derive(Clone)]
pub struct ReadResourceRequest {
    /// Resource type.
    pub type_name: Str,
    /// The object as last known.
    pub current_state: Value,
    /// What the provider kept with it.
    pub private: Private,
    /// Value of the module's `provider_meta` block, where the provider has a schema for it.
    pub provider_meta: Option<Value>,
    /// Identity as last known.
    pub identity: Option<Value>,
}

/// From [`Provider::read_resource`].
#[derive(Clone)]
pub struct ReadResourceResponse {
    /// The object, null if it is gone; none if the call failed.
    pub new_state: Option<Value>,
    /// What to keep with it.
    pub private: Private,
    /// Its identity, where the type has one.
    pub identity: Option<Value>,
    /// What the provider says.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// For [`Provider::plan_resource_change`].
#[derive(Clone)]
pub struct PlanResourceChangeRequest {
    /// Resource type.
    pub type_name: Str,
    /// The object as it is; null to create one.
    pub prior_state: Value,
    /// Prior state and configuration merged, see [`crate::objchange::proposed_new`]; null to delete.
    pub proposed_new_state: Value,
    /// Configuration, write-only values included; null to delete.
    pub config: Value,
    /// What the provider kept with the object.
    pub prior_private: Private,
    /// Value of the module's `provider_meta` block, where the provider has a schema for it.
    pub provider_meta: Option<Value>,
    /// Identity of the object.
    pub prior_identity: Option<Value>,
}

/// From [`Provider::plan_resource_change`].
#[derive(Clone)]
pub struct PlanResourceChangeResponse {
    /// The object as it would become; none if the call failed.
    pub planned_state: Option<Value>,
    /// Paths whose change needs a new object.
    pub requires_replace: Vec<Path>,
    /// What applying gets as private bytes.
    pub planned_private: Private,
    /// Identity that the object would have.
    pub planned_identity: Option<Value>,
    /// The provider asks to be let off the rules of plans, being made with the old SDK.
    pub legacy_type_system: bool,
    /// What the provider says.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// For [`Provider::apply_resource_change`].
#[derive(Clone)]
pub struct ApplyResourceChangeRequest {
    /// Resource type.
    pub type_name: Str,
    /// The object as it is; null to create one.
    pub prior_state: Value,
    /// The plan's answer; null to delete.
    pub planned_state: Value,
    /// Configuration, write-only values included; null to delete.
    pub config: Value,
    /// The plan's private bytes.
    pub planned_private: Private,
    /// Value of the module's `provider_meta` block, where the provider has a schema for it.
    pub provider_meta: Option<Value>,
    /// The plan's identity.
    pub planned_identity: Option<Value>,
}

/// From [`Provider::apply_resource_change`].
#[derive(Clone)]
pub struct ApplyResourceChangeResponse {
    /// The object as it is, null if there is none; none if nobody can say, as after a failed call.
    pub new_state: Option<Value>,
    /// Whether the provider was certainly never asked, so that everything is as it was. In doubt it was.
    pub is_undelivered: bool,
    /// What to keep with it.
    pub private: Private,
    /// Its identity, where the type has one.
    pub new_identity: Option<Value>,
    /// The provider asks to be let off the rules of results, being made with the old SDK.
    pub legacy_type_system: bool,
    /// What the provider says.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// For [`Provider::import_resource_state`].
#[derive(Clone)]
pub struct ImportResourceStateRequest {
    /// Resource type.
    pub type_name: Str,
    /// Which object.
    pub target: ImportTarget,
}

/// How an object to import is named.
#[derive(Clone)]
pub enum ImportTarget {
    /// By a text that the provider understands.
    Id(Str),
    /// By its identity.
    Identity(Value),
}

/// From [`Provider::import_resource_state`].
#[derive(Clone)]
pub struct ImportResourceStateResponse {
    /// What was found.
    pub imported: Vec<ImportedResource>,
    /// What the provider says.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// An object found by import.
#[derive(Clone)]
pub struct ImportedResource {
    /// Its type.
    pub type_name: Str,
    /// The object; little more than an ID until it is read.
    pub state: Value,
    /// What the provider keeps with it; must reach the following read.
    pub private: Private,
    /// Its identity, where the type has one.
    pub identity: Option<Value>,
}

/// For [`Provider::read_data_source`].
#[derive(Clone)]
pub struct ReadDataSourceRequest {
    /// Data source type.
    pub type_name: Str,
    /// Configuration, wholly known.
    pub config: Value,
    /// Value of the module's `provider_meta` block, where the provider has a schema for it.
    pub provider_meta: Option<Value>,
}

/// From [`Provider::read_data_source`].
#[derive(Clone)]
pub struct ReadDataSourceResponse {
    /// The result; none if the call failed.
    pub state: Option<Value>,
    /// What the provider says.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// For [`Provider::open_ephemeral`].
#[derive(Clone)]
pub struct OpenEphemeralRequest {
    /// Ephemeral resource type.
    pub type_name: Str,
    /// Configuration, wholly known.
    pub config: Value,
}

/// From [`Provider::open_ephemeral`].
#[derive(Clone)]
pub struct OpenEphemeralResponse {
    /// What is open now; none if nothing is.
    pub opened: Option<OpenedEphemeral>,
    /// What the provider says.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// An open ephemeral resource.
#[derive(Clone)]
pub struct OpenedEphemeral {
    /// The result, a secret as a whole.
    pub result: Value,
    /// When to renew at the latest; never if none.
    pub renew_at: Option<SystemTime>,
    /// What renewing and closing need.
    pub private: Private,
}

/// For [`Provider::renew_ephemeral`].
#[derive(Clone)]
pub struct RenewEphemeralRequest {
    /// Ephemeral resource type.
    pub type_name: Str,
    /// From opening, or from the last renewal.
    pub private: Private,
}

/// From [`Provider::renew_ephemeral`].
#[derive(Clone)]
pub struct RenewEphemeralResponse {
    /// When to renew next; never if none.
    pub renew_at: Option<SystemTime>,
    /// What the next renewal and closing need.
    pub private: Private,
    /// What the provider says.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// For [`Provider::close_ephemeral`].
#[derive(Clone)]
pub struct CloseEphemeralRequest {
    /// Ephemeral resource type.
    pub type_name: Str,
    /// From opening, or from the last renewal.
    pub private: Private,
}

/// For [`Provider::call_function`].
#[derive(Clone)]
pub struct CallFunctionRequest {
    /// The function's own name, without provider.
    pub name: Str,
    /// Arguments, converted to the types of the parameters.
    pub arguments: Vec<Value>,
}

/// Why a function gave no result. `Debug` shows no text: it may quote an argument.
#[derive(Clone, PartialEq, Eq)]
pub struct FunctionFault {
    /// The argument at fault, counted from 0.
    pub argument: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Debug for FunctionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionFault").field("argument", &self.argument).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{FunctionFault, Private, ProviderDiagnostic};

    #[test]
    fn debug_shows_nothing_that_a_provider_said_or_keeps() {
        let shown = format!(
            "{:?} {:?} {:?}",
            ProviderDiagnostic::error("hush", "hush"),
            FunctionFault { argument: Some(1), message: "hush".to_owned() },
            Private::new(*b"hush"),
        );
        assert!(!shown.contains("hush"), "{shown}");
        assert!(shown.ends_with("Private(4 bytes)"), "{shown}");
    }
}
