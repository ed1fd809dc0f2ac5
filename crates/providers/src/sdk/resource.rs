//! Managed resources.

use std::future::ready;

use provider::{BoxFuture, ImportTarget};
use serde_json::Value as Json;
use values::{Path, Str, Value};

use super::{
    data::Object,
    diagnostics::{Diagnostic, Diagnostics},
    private::PrivateState,
    schema::Schema,
    stop::Stop,
};

/// How a step of a provider ends: an error is said beside what was said before.
pub type Ended = Result<(), Diagnostic>;

/// A managed resource type. `C` is what the provider's configuration was made into.
pub trait Resource<C>: Send + Sync {
    /// The type name, with the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema. Asked once.
    fn schema(&self) -> Schema;

    /// The schema of the objects' identities, if they have any beside their states. Asked once.
    fn identity_schema(&self) -> Option<Schema> {
        None
    }

    /// Checks a configuration beyond what the schema demands. Parts of it may be unknown.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Changes a plan after defaults, unknowns and the modifiers of attributes. Not asked for a deletion.
    fn plan<'a>(&'a self, client: &'a C, change: &'a mut PlanChange) -> BoxFuture<'a, Ended> {
        let _ = (client, change);
        Box::pin(ready(Ok(())))
    }

    /// Makes the object that `change.planned` describes. On return `change.state` is what exists: null if nothing,
    /// and after an error in the middle, what there is to clean up.
    fn create<'a>(&'a self, client: &'a C, change: &'a mut Change) -> BoxFuture<'a, Ended>;

    /// Looks up what became of the object and changes `existing.state`; [`Existing::gone`] if it is no more.
    fn read<'a>(&'a self, client: &'a C, existing: &'a mut Existing) -> BoxFuture<'a, Ended>;

    /// Changes the object into `change.planned`. `change.state` begins as the prior state.
    fn update<'a>(&'a self, client: &'a C, change: &'a mut Change) -> BoxFuture<'a, Ended>;

    /// Ends the object `existing.state`. Without an error it counts as gone.
    fn delete<'a>(&'a self, client: &'a C, existing: &'a mut Existing) -> BoxFuture<'a, Ended>;

    /// Fills `existing.state`, which begins as an object of nulls, so far that [`Resource::read`] finds the rest.
    fn import<'a>(
        &'a self,
        client: &'a C,
        target: &'a ImportTarget,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, Ended> {
        let _ = (client, target, existing);
        let detail = format!("{} cannot be imported.", self.type_name());
        Box::pin(ready(Err(Diagnostic::error("Resource Import Not Implemented", detail))))
    }

    /// Turns the JSON of a state that schema version `from` wrote into that of the current version.
    ///
    /// # Errors
    /// Where there is no way from that version.
    fn upgrade(&self, from: i64, state: Json) -> Result<Json, Diagnostic> {
        let _ = state;
        let detail = format!("{} cannot upgrade a state of version {from}.", self.type_name());
        Err(Diagnostic::error("Unable to Upgrade Resource State", detail))
    }

    /// Turns the JSON of another type's state into one of this type, after a `moved` block; `None` where that type is
    /// unknown here.
    ///
    /// # Errors
    /// Where the state cannot be taken over.
    fn take_over(&self, source: &MoveSource, state: &Json) -> Result<Option<Json>, Diagnostic> {
        let _ = (source, state);
        Ok(None)
    }
}

/// Where a moved object comes from.
pub struct MoveSource {
    /// Full address of its provider.
    pub provider: Str,
    /// Its type.
    pub type_name: Str,
    /// Version of its schema.
    pub schema_version: i64,
}

/// A plan in the making.
pub struct PlanChange {
    /// The configuration, write-only values included; parts may be unknown.
    pub config: Object,
    /// The object before; null on create.
    pub prior: Object,
    /// The object as it will be. Write-only attributes are made null whatever is set here.
    pub planned: Object,
    /// Paths whose change needs a new object.
    pub requires_replace: Vec<Path>,
    /// Kept with the plan and given to create and update.
    pub private: PrivateState,
    /// The object's identity, where the type has one.
    pub identity: Option<Value>,
    /// What there is to say.
    pub diagnostics: Diagnostics,
}

/// A create or an update that is being done.
pub struct Change {
    /// The configuration, write-only values included; known in all that the plan knew.
    pub config: Object,
    /// The object before; null on create.
    pub prior: Object,
    /// What was planned.
    pub planned: Object,
    /// The result. Write-only attributes are made null whatever is set here.
    pub state: Object,
    /// From the plan; kept with the state.
    pub private: PrivateState,
    /// The object's identity, where the type has one.
    pub identity: Option<Value>,
    /// What there is to say.
    pub diagnostics: Diagnostics,
    /// Tells when to end early.
    pub stop: Stop,
}

/// An object that exists.
pub struct Existing {
    /// The object as last known, and on return as it is.
    pub state: Object,
    /// Kept with the state.
    pub private: PrivateState,
    /// The object's identity, where the type has one.
    pub identity: Option<Value>,
    /// What there is to say.
    pub diagnostics: Diagnostics,
    /// Tells when to end early.
    pub stop: Stop,
}

impl Existing {
    /// Says that there is no such object any more.
    pub fn gone(&mut self) {
        self.state = Object::new(Value::null(self.state.value().ty()));
    }
}
