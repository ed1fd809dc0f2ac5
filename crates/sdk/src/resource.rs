//! The interface of managed resources.

use std::future::ready;

use provider::{BoxFuture, ImportTarget};
use serde_json::Value as Json;
use values::{Path, Str, Value};

use crate::{
    data::Object,
    diagnostics::{Diagnostic, Diagnostics},
    private::PrivateState,
    schema::Schema,
    stop::Stop,
};

/// The result of a step of a provider. The error is added to the diagnostics of the call.
pub type StepResult = Result<(), Diagnostic>;

/// A managed resource type. `C` is the client that the provider configuration was converted to.
pub trait Resource<C>: Send + Sync {
    /// The type name, including the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema. Called once.
    fn schema(&self) -> Schema;

    /// The schema of resource identities. `None` if the type has none. Called once.
    fn identity_schema(&self) -> Option<Schema> {
        None
    }

    /// Validates a configuration beyond its schema. The configuration may be unknown in parts.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Modifies a plan after defaults, unknown values and plan modifiers were applied. Not called for a deletion.
    fn plan<'a>(&'a self, client: &'a C, change: &'a mut PlanChange) -> BoxFuture<'a, StepResult> {
        let _ = (client, change);
        Box::pin(ready(Ok(())))
    }

    /// Creates the object that `change.planned` describes. On return, `change.state` is the object that exists:
    /// null if none was created, and after an error the part that must be cleaned up.
    fn create<'a>(&'a self, client: &'a C, change: &'a mut Change) -> BoxFuture<'a, StepResult>;

    /// Reads the object and updates `existing.state`, or calls [`Existing::gone`] if it no longer exists.
    fn read<'a>(&'a self, client: &'a C, existing: &'a mut Existing) -> BoxFuture<'a, StepResult>;

    /// Updates the object to `change.planned`. `change.state` starts as the prior state.
    fn update<'a>(&'a self, client: &'a C, change: &'a mut Change) -> BoxFuture<'a, StepResult>;

    /// Deletes the object `existing.state`. Without an error, it counts as deleted.
    fn delete<'a>(&'a self, client: &'a C, existing: &'a mut Existing)
    -> BoxFuture<'a, StepResult>;

    /// Imports an object. `existing.state` starts as an object of nulls; it must be filled in so far that
    /// [`Resource::read`] finds the rest.
    fn import<'a>(
        &'a self,
        client: &'a C,
        target: &'a ImportTarget,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        let _ = (client, target, existing);
        let detail = format!("{} cannot be imported.", self.type_name());
        Box::pin(ready(Err(Diagnostic::error("Resource Import Not Implemented", detail))))
    }

    /// Upgrades the JSON of a state from schema version `from` to the current version.
    ///
    /// # Errors
    /// If that version cannot be upgraded.
    fn upgrade(&self, from: i64, state: Json) -> Result<Json, Diagnostic> {
        let _ = state;
        let detail = format!("{} cannot upgrade a state of version {from}.", self.type_name());
        Err(Diagnostic::error("Unable to Upgrade Resource State", detail))
    }

    /// Upgrades the JSON of an identity from version `from` of its schema to the current version.
    ///
    /// # Errors
    /// If that version cannot be upgraded.
    fn upgrade_identity(&self, from: i64, identity: Json) -> Result<Json, Diagnostic> {
        let _ = identity;
        let detail = format!("{} cannot upgrade an identity of version {from}.", self.type_name());
        Err(Diagnostic::error("Unable to Upgrade Resource Identity", detail))
    }

    /// Converts the JSON of another type's state to this type, for a `moved` block. `None` if the other type is
    /// not supported.
    ///
    /// # Errors
    /// If the state cannot be converted.
    fn take_over(&self, source: &MoveSource, state: &Json) -> Result<Option<Json>, Diagnostic> {
        let _ = (source, state);
        Ok(None)
    }

    /// The JSON of the identity of an object whose new state [`take_over`](Resource::take_over) returned. `None` if
    /// only a read finds it.
    ///
    /// # Errors
    /// If the identity of the source cannot be converted.
    fn take_over_identity(
        &self,
        source: &MoveSource,
        state: &Json,
    ) -> Result<Option<Json>, Diagnostic> {
        let _ = (source, state);
        Ok(None)
    }
}

/// The origin of a moved object.
pub struct MoveSource {
    /// The full address of its provider.
    pub provider: Str,
    /// Its resource type.
    pub type_name: Str,
    /// The version of its schema.
    pub schema_version: i64,
    /// The JSON of its identity, if it has one.
    pub identity: Option<Json>,
    /// The version of the schema of its identity.
    pub identity_version: i64,
}

/// A plan that is being made.
pub struct PlanChange {
    /// The configuration with write-only values. It may be unknown in parts.
    pub config: Object,
    /// The prior object; null for a create.
    pub prior: Object,
    /// The planned object. Write-only attributes become null, whatever is set here.
    pub planned: Object,
    /// The paths whose change requires replacement.
    pub requires_replace: Vec<Path>,
    /// Private state, kept with the plan and passed to create and update.
    pub private: PrivateState,
    /// The resource identity, if the type has one.
    pub identity: Option<Value>,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
}

/// A create or an update that is being applied.
pub struct Change {
    /// The configuration with write-only values. Every value that the plan knew is known.
    pub config: Object,
    /// The prior object; null for a create.
    pub prior: Object,
    /// The planned object.
    pub planned: Object,
    /// The result. Write-only attributes become null, whatever is set here.
    pub state: Object,
    /// Private state from the plan, kept with the state.
    pub private: PrivateState,
    /// The resource identity, if the type has one.
    pub identity: Option<Value>,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
    /// The signal to end early.
    pub stop: Stop,
}

/// An existing object.
pub struct Existing {
    /// The last known object, and on return the current one.
    pub state: Object,
    /// Private state, kept with the state.
    pub private: PrivateState,
    /// The resource identity, if the type has one.
    pub identity: Option<Value>,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
    /// The signal to end early.
    pub stop: Stop,
}

impl Existing {
    /// Records that the object no longer exists.
    pub fn gone(&mut self) {
        self.state = Object::new(Value::null(self.state.value().ty()));
    }
}
