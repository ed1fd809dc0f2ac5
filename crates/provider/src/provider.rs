use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sorted::{SortedMap, TreeMap};
use values::{Path, Str, Value};

use crate::schema::FunctionSignature;
use crate::schemas::ProviderSchemas;

/// A boxed future of a provider's answer.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The timeout for closing an ephemeral resource.
pub const CLOSE_EPHEMERAL_TIMEOUT: Duration = Duration::from_secs(10);

/// A running provider.
///
/// Values in requests are unmarked and conform to the implied type of their schema; so do values in responses, if
/// present. A failed call, for example after the process ended or after a malformed answer, is reported by a
/// diagnostic in the response like a provider's own error. The response then has no value.
pub trait Provider: Send + Sync {
    /// Returns all schemas. Called once per provider executable.
    ///
    /// # Errors
    /// Returns the errors of the provider or the connection.
    fn schemas(&self) -> BoxFuture<'_, Result<Arc<ProviderSchemas>, Vec<ProviderDiagnostic>>>;

    /// Returns the functions of the configured provider, which may be more than its schemas list.
    ///
    /// # Errors
    /// Returns the errors of the provider or the connection.
    fn functions(
        &self,
    ) -> BoxFuture<'_, Result<SortedMap<Str, FunctionSignature>, Vec<ProviderDiagnostic>>>;

    /// Validates the provider configuration, which may be unknown in parts.
    fn validate_provider_config(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Configures the provider. All other methods below, except for the validating ones, require this call first.
    fn configure(&self, request: ConfigureRequest) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Validates the configuration of a managed resource.
    fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Validates the configuration of a data source.
    fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Validates the configuration of an ephemeral resource.
    fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Upgrades a stored object to the current version of its schema.
    fn upgrade_resource_state(
        &self,
        request: UpgradeResourceStateRequest,
    ) -> BoxFuture<'_, StateResponse>;

    /// Upgrades a stored identity to the current version of its schema. By default an error, for providers whose
    /// identities never had another version.
    fn upgrade_resource_identity(
        &self,
        request: UpgradeResourceIdentityRequest,
    ) -> BoxFuture<'_, UpgradeResourceIdentityResponse> {
        Box::pin(async move { UpgradeResourceIdentityResponse::unsupported(&request) })
    }

    /// Converts a stored object of another type, for a `moved` block.
    fn move_resource_state(
        &self,
        request: MoveResourceStateRequest,
    ) -> BoxFuture<'_, MoveResourceStateResponse>;

    /// Refreshes an object: reads its current state.
    fn read_resource(&self, request: ReadResourceRequest) -> BoxFuture<'_, ReadResourceResponse>;

    /// Plans the change of an object to a configuration.
    fn plan_resource_change(
        &self,
        request: PlanResourceChangeRequest,
    ) -> BoxFuture<'_, PlanResourceChangeResponse>;

    /// Creates, updates or deletes an object. Dropping the future does not undo anything.
    fn apply_resource_change(
        &self,
        request: ApplyResourceChangeRequest,
    ) -> BoxFuture<'_, ApplyResourceChangeResponse>;

    /// Imports an object that was created outside of the configuration.
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

    /// Renews the lease of an open ephemeral resource.
    fn renew_ephemeral(
        &self,
        request: RenewEphemeralRequest,
    ) -> BoxFuture<'_, RenewEphemeralResponse>;

    /// Closes an ephemeral resource.
    fn close_ephemeral(
        &self,
        request: CloseEphemeralRequest,
    ) -> BoxFuture<'_, Vec<ProviderDiagnostic>>;

    /// Calls a function.
    ///
    /// # Errors
    /// Returns the error of the function or of the connection.
    fn call_function(
        &self,
        request: CallFunctionRequest,
    ) -> BoxFuture<'_, Result<Value, FunctionFault>>;

    /// Asks the provider to cancel running calls; they still return an answer.
    ///
    /// # Errors
    /// Returns the error text of the provider.
    fn stop(&self) -> BoxFuture<'_, Result<(), String>>;

    /// Shuts the provider down. Running calls fail.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A diagnostic that a provider returns from a call.
///
/// `Debug` shows no text, because a provider may quote the values that it received.
#[derive(Clone, PartialEq)]
pub struct ProviderDiagnostic {
    /// The severity: an error means that the call failed.
    pub severity: Severity,
    /// A summary of one line.
    pub summary: String,
    /// Further details, possibly empty.
    pub detail: String,
    /// The part of the configuration that the diagnostic concerns. `None` if it concerns the call as a whole.
    pub path: Option<Path>,
}

impl ProviderDiagnostic {
    /// Creates an error about the call as a whole.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            path: None,
        }
    }

    /// Creates a warning about the call as a whole.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> ProviderDiagnostic {
        ProviderDiagnostic {
            severity: Severity::Warning,
            ..ProviderDiagnostic::error(summary, detail)
        }
    }

    /// Returns the diagnostic with a path into the configuration.
    #[must_use]
    pub fn at(self, path: Path) -> ProviderDiagnostic {
        ProviderDiagnostic { path: Some(path), ..self }
    }

    /// Returns true if the call failed.
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

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The call failed.
    Error,
    /// A problem that does not make the call fail.
    Warning,
}

/// Private data: bytes that the provider wants back with the next call for the same object. Their format belongs
/// to the provider, and they may be secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Private(Arc<[u8]>);

impl Private {
    /// Wraps bytes as private data.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Private {
        Private(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns true if there is no private data.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Private({} bytes)", self.0.len())
    }
}

/// The request of [`Provider::configure`].
#[derive(Clone)]
pub struct ConfigureRequest {
    /// The core version that the provider sees.
    pub core_version: Str,
    /// The provider configuration. It may be unknown in parts while planning.
    pub config: Value,
}

/// The request of the three validations of resource configurations.
#[derive(Clone)]
pub struct ValidateRequest {
    /// The resource type.
    pub type_name: Str,
    /// The configuration, which may be unknown in parts.
    pub config: Value,
}

/// The request of [`Provider::upgrade_resource_state`].
#[derive(Clone)]
pub struct UpgradeResourceStateRequest {
    /// The resource type.
    pub type_name: Str,
    /// The schema version with which the object was stored.
    pub version: i64,
    /// The stored object.
    pub raw_state: RawState,
}

/// The request of [`Provider::upgrade_resource_identity`].
#[derive(Clone)]
pub struct UpgradeResourceIdentityRequest {
    /// The resource type.
    pub type_name: Str,
    /// The version of the identity schema with which the identity was stored.
    pub version: i64,
    /// The JSON text of the stored identity.
    pub raw_identity: Arc<[u8]>,
}

/// The response of [`Provider::upgrade_resource_identity`].
#[derive(Clone)]
pub struct UpgradeResourceIdentityResponse {
    /// The identity by the current schema. `None` if the call failed.
    pub identity: Option<Value>,
    /// The diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

impl UpgradeResourceIdentityResponse {
    /// The response of a provider that knows no other version.
    pub fn unsupported(request: &UpgradeResourceIdentityRequest) -> Self {
        let detail = format!(
            "{} cannot upgrade an identity of version {}.",
            request.type_name, request.version
        );
        let error = ProviderDiagnostic::error("Unable to Upgrade Resource Identity", detail);
        Self { identity: None, diagnostics: vec![error] }
    }
}

/// The request of [`Provider::move_resource_state`].
#[derive(Clone)]
pub struct MoveResourceStateRequest {
    /// The full address of the provider that the object comes from.
    pub source_provider_address: Str,
    /// The resource type that the object comes from.
    pub source_type_name: Str,
    /// The schema version of that type with which the object was stored.
    pub source_schema_version: i64,
    /// The stored object.
    pub source_state: RawState,
    /// The private data of the source provider.
    pub source_private: Private,
    /// The identity of the stored object; `None` if it has none.
    pub source_identity: Option<SourceIdentity>,
    /// The resource type that the object becomes.
    pub target_type_name: Str,
}

/// The identity of an object that moves to another type.
#[derive(Clone)]
pub struct SourceIdentity {
    /// The JSON text that the state has.
    pub json: Arc<[u8]>,
    /// The version of the identity's schema with which it was stored.
    pub schema_version: i64,
}

/// The response of [`Provider::move_resource_state`].
#[derive(Clone)]
pub struct MoveResourceStateResponse {
    /// The object, or `None` if the call failed.
    pub state: Option<Value>,
    /// The private data to store; `None` if the call failed.
    pub private: Option<Private>,
    /// The identity of the object, if the target type has one and the provider knows it.
    pub identity: Option<Value>,
    /// The diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// An object in the form in which a state file holds it.
#[derive(Clone)]
pub enum RawState {
    /// JSON text.
    Json(Arc<[u8]>),
    /// Strings under flattened keys, as versions up to 0.11 wrote them.
    Flatmap(TreeMap<Str, Str>),
}

/// The response of [`Provider::upgrade_resource_state`].
#[derive(Clone)]
pub struct StateResponse {
    /// The object, or `None` if the call failed.
    pub state: Option<Value>,
    /// The diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// The request of [`Provider::read_resource`].
#[derive(Clone)]
pub struct ReadResourceRequest {
    /// The resource type.
    pub type_name: Str,
    /// The last known state of the object.
    pub current_state: Value,
    /// The private data of the object.
    pub private: Private,
    /// The value of the module's `provider_meta` block, if the provider has a schema for it.
    pub provider_meta: Option<Value>,
    /// The last known identity.
    pub identity: Option<Value>,
}

/// The response of [`Provider::read_resource`].
#[derive(Clone)]
pub struct ReadResourceResponse {
    /// The object, null if it no longer exists. `None` if the call failed.
    pub new_state: Option<Value>,
    /// The private data to store.
    pub private: Private,
    /// The identity, if the type has one.
    pub identity: Option<Value>,
    /// The diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// The request of [`Provider::plan_resource_change`].
#[derive(Clone)]
pub struct PlanResourceChangeRequest {
    /// The resource type.
    pub type_name: Str,
    /// The current object; null for creation.
    pub prior_state: Value,
    /// The merge of the prior state and the configuration, see [`crate::objchange::proposed_new`]; null for
    /// deletion.
    pub proposed_new_state: Value,
    /// The configuration with its write-only values; null for deletion.
    pub config: Value,
    /// The private data of the object.
    pub prior_private: Private,
    /// The value of the module's `provider_meta` block, if the provider has a schema for it.
    pub provider_meta: Option<Value>,
    /// The identity of the object.
    pub prior_identity: Option<Value>,
}

/// The response of [`Provider::plan_resource_change`].
#[derive(Clone)]
pub struct PlanResourceChangeResponse {
    /// The planned object. `None` if the call failed.
    pub planned_state: Option<Value>,
    /// The paths whose change requires replacement of the object.
    pub requires_replace: Vec<Path>,
    /// The private data for the apply call.
    pub planned_private: Private,
    /// The planned identity of the object.
    pub planned_identity: Option<Value>,
    /// True if the provider uses the legacy type system, for which plans are not checked strictly.
    pub legacy_type_system: bool,
    /// The diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// The request of [`Provider::apply_resource_change`].
#[derive(Clone)]
pub struct ApplyResourceChangeRequest {
    /// The resource type.
    pub type_name: Str,
    /// The current object; null for creation.
    pub prior_state: Value,
    /// The planned object; null for deletion.
    pub planned_state: Value,
    /// The configuration with its write-only values; null for deletion.
    pub config: Value,
    /// The private data from the plan.
    pub planned_private: Private,
    /// The value of the module's `provider_meta` block, if the provider has a schema for it.
    pub provider_meta: Option<Value>,
    /// The planned identity.
    pub planned_identity: Option<Value>,
}

/// The response of [`Provider::apply_resource_change`].
#[derive(Clone)]
pub struct ApplyResourceChangeResponse {
    /// The new object, null if it does not exist. `None` if its state is unknown, as after a failed call.
    pub new_state: Option<Value>,
    /// True if the request certainly did not reach the provider, so that nothing changed. False in doubt.
    pub is_undelivered: bool,
    /// The private data to store.
    pub private: Private,
    /// The identity, if the type has one.
    pub new_identity: Option<Value>,
    /// True if the provider uses the legacy type system, for which results are not checked strictly.
    pub legacy_type_system: bool,
    /// The diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// The request of [`Provider::import_resource_state`].
#[derive(Clone)]
pub struct ImportResourceStateRequest {
    /// The resource type.
    pub type_name: Str,
    /// The object to import.
    pub target: ImportTarget,
}

/// The way in which an object to import is identified.
#[derive(Clone)]
pub enum ImportTarget {
    /// By an ID in the provider's own format.
    Id(Str),
    /// By its resource identity.
    Identity(Value),
}

/// The response of [`Provider::import_resource_state`].
#[derive(Clone)]
pub struct ImportResourceStateResponse {
    /// The imported objects.
    pub imported: Vec<ImportedResource>,
    /// The diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// An imported object.
#[derive(Clone)]
pub struct ImportedResource {
    /// The resource type.
    pub type_name: Str,
    /// The object, which may hold little more than an ID until it is read.
    pub state: Value,
    /// The private data, which the following read must receive.
    pub private: Private,
    /// The identity, if the type has one.
    pub identity: Option<Value>,
}

/// The request of [`Provider::read_data_source`].
#[derive(Clone)]
pub struct ReadDataSourceRequest {
    /// The data source type.
    pub type_name: Str,
    /// The configuration, wholly known.
    pub config: Value,
    /// The value of the module's `provider_meta` block, if the provider has a schema for it.
    pub provider_meta: Option<Value>,
}

/// The response of [`Provider::read_data_source`].
#[derive(Clone)]
pub struct ReadDataSourceResponse {
    /// The result. `None` if the call failed.
    pub state: Option<Value>,
    /// The diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// The request of [`Provider::open_ephemeral`].
#[derive(Clone)]
pub struct OpenEphemeralRequest {
    /// The ephemeral resource type.
    pub type_name: Str,
    /// The configuration, wholly known.
    pub config: Value,
}

/// The response of [`Provider::open_ephemeral`].
#[derive(Clone)]
pub struct OpenEphemeralResponse {
    /// The open resource. `None` if it was not opened.
    pub opened: Option<OpenedEphemeral>,
    /// The diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// An open ephemeral resource.
#[derive(Clone)]
pub struct OpenedEphemeral {
    /// The result, which is secret as a whole.
    pub result: Value,
    /// The latest time for a renewal. `None` if no renewal is needed.
    pub renew_at: Option<SystemTime>,
    /// The private data for renewing and closing.
    pub private: Private,
}

/// The request of [`Provider::renew_ephemeral`].
#[derive(Clone)]
pub struct RenewEphemeralRequest {
    /// The ephemeral resource type.
    pub type_name: Str,
    /// The private data from opening or from the last renewal.
    pub private: Private,
}

/// The response of [`Provider::renew_ephemeral`].
#[derive(Clone)]
pub struct RenewEphemeralResponse {
    /// The latest time for the next renewal. `None` if no renewal is needed.
    pub renew_at: Option<SystemTime>,
    /// The private data for the next renewal and for closing.
    pub private: Private,
    /// The diagnostics of the provider.
    pub diagnostics: Vec<ProviderDiagnostic>,
}

/// The request of [`Provider::close_ephemeral`].
#[derive(Clone)]
pub struct CloseEphemeralRequest {
    /// The ephemeral resource type.
    pub type_name: Str,
    /// The private data from opening or from the last renewal.
    pub private: Private,
}

/// The request of [`Provider::call_function`].
#[derive(Clone)]
pub struct CallFunctionRequest {
    /// The name of the function without the provider.
    pub name: Str,
    /// The arguments, converted to the types of the parameters.
    pub arguments: Vec<Value>,
}

/// The error of a function call. `Debug` shows no text, because it may quote an argument.
#[derive(Clone, PartialEq, Eq)]
pub struct FunctionFault {
    /// The index of the invalid argument, from 0. `None` if the error concerns no single argument.
    pub argument: Option<usize>,
    /// The error message.
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
    fn debug_output_shows_no_provider_messages_or_private_state() {
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
