//! The types of a provider without the Rust types of their objects, as the server calls them.
//!
//! A provider implements [`crate::Resource`], [`crate::DataSource`] and [`crate::EphemeralResource`]; the adapters in
//! [`typed`] implement the traits of this module for them.

mod typed;

use provider::{BoxFuture, ImportTarget};
use serde_json::Value as Json;
use values::Value;

pub(crate) use self::typed::{Typed, TypedResource};
use crate::{
    data::Object,
    data_source::DataCall,
    diagnostics::{Diagnostic, Diagnostics},
    ephemeral::EphemeralCall,
    plan_change::PlanChange,
    resource::Call,
    schema::Schema,
    upgrade::MoveSource,
};

/// The result of a step of a provider. The error is added to the diagnostics of the call.
pub(crate) type StepResult = Result<(), Diagnostic>;

/// A managed resource type. `C` is the client that the provider configuration was converted to.
pub(crate) trait Resource<C>: Send + Sync {
    /// The type name, including the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema, always the same.
    fn schema(&self) -> Schema;

    /// The schema of resource identities, always the same. `None` if the type has none.
    fn identity_schema(&self) -> Option<Schema>;

    /// Validates a configuration beyond its schema. The configuration may be unknown in parts.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics);

    /// Modifies a plan after defaults, unknown values and plan modifiers were applied. Not called for a deletion.
    fn plan<'a>(&'a self, client: &'a C, change: &'a mut PlanChange) -> BoxFuture<'a, StepResult>;

    /// Checks the plan to delete the object `existing.state`. An error refuses the plan.
    fn plan_deletion<'a>(
        &'a self,
        client: &'a C,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult>;

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
    ) -> BoxFuture<'a, StepResult>;

    /// Upgrades the JSON of a state from schema version `from` to the current version.
    ///
    /// # Errors
    /// If that version cannot be upgraded.
    fn upgrade(&self, from: i64, state: Json) -> Result<Json, Diagnostic>;

    /// Upgrades the JSON of an identity from version `from` of its schema to the current version.
    ///
    /// # Errors
    /// If that version cannot be upgraded.
    fn upgrade_identity(&self, from: i64, identity: Json) -> Result<Json, Diagnostic>;

    /// Converts the JSON of another type's state to this type, for a `moved` block. `None` if the other type is
    /// not supported.
    ///
    /// # Errors
    /// If the state cannot be converted.
    fn take_over(&self, source: &MoveSource, state: &Json) -> Result<Option<Json>, Diagnostic>;

    /// The JSON of the identity of an object whose new state [`take_over`](Resource::take_over) returned. `None` if
    /// only a read finds it.
    ///
    /// # Errors
    /// If the identity of the source cannot be converted.
    fn take_over_identity(
        &self,
        source: &MoveSource,
        state: &Json,
    ) -> Result<Option<Json>, Diagnostic>;
}

/// A create or an update that is being applied.
pub(crate) struct Change {
    /// The prior object; null for a create.
    pub(crate) prior: Object,
    /// The planned object, with write-only values.
    pub(crate) planned: Object,
    /// The result. Write-only attributes become null, whatever is set here.
    pub(crate) state: Object,
    /// The rest of the call.
    pub(crate) call: Call,
}

/// An existing object.
pub(crate) struct Existing {
    /// The last known object, and on return the current one. Null if it no longer exists.
    pub(crate) state: Object,
    /// The rest of the call.
    pub(crate) call: Call,
}

/// A data source. `C` is the client that the provider configuration was converted to.
pub(crate) trait DataSource<C>: Send + Sync {
    /// The type name, including the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema, always the same.
    fn schema(&self) -> Schema;

    /// Validates a configuration beyond its schema. The configuration may be unknown in parts.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics);

    /// Reads the data source. `read.state` starts as the configuration and must be filled in.
    fn read<'a>(&'a self, client: &'a C, read: &'a mut DataRead) -> BoxFuture<'a, StepResult>;
}

/// A data source that is being read.
pub(crate) struct DataRead {
    /// The configuration, and on return the result.
    pub(crate) state: Object,
    /// The rest of the call.
    pub(crate) call: DataCall,
}

/// An ephemeral resource type. `C` is the client that the provider configuration was converted to.
pub(crate) trait EphemeralResource<C>: Send + Sync {
    /// The type name, including the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema, always the same.
    fn schema(&self) -> Schema;

    /// Validates a configuration beyond its schema. The configuration may be unknown in parts.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics);

    /// Opens the resource. `opening.result` starts as the configuration. Its computed attributes must be filled
    /// in, and its configured ones must stay.
    fn open<'a>(&'a self, client: &'a C, opening: &'a mut Opening) -> BoxFuture<'a, StepResult>;

    /// Renews the resource.
    fn renew<'a>(&'a self, client: &'a C, call: &'a mut EphemeralCall)
    -> BoxFuture<'a, StepResult>;

    /// Closes the resource.
    fn close<'a>(&'a self, client: &'a C, call: &'a mut EphemeralCall)
    -> BoxFuture<'a, StepResult>;
}

/// An ephemeral resource that is being opened.
pub(crate) struct Opening {
    /// The configuration, and on return the result.
    pub(crate) result: Object,
    /// The rest of the call.
    pub(crate) call: EphemeralCall,
}

impl Existing {
    /// Records that the object no longer exists.
    pub(crate) fn gone(&mut self) {
        self.state = Object::new(Value::null(self.state.value().ty()));
    }
}
