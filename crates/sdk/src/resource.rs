//! The interface of managed resources.

use std::future::{Future, ready};

use provider::ImportTarget;
use serde_json::Value as Json;
use values::{Str, Text, Value};

use crate::{
    data::Object,
    diagnostics::{Diagnostic, Diagnostics},
    model::{Key, Model},
    plan_change::PlanChange,
    private::PrivateState,
    schema::{Attribute, Block, Schema, typed},
    stop::Stop,
    upgrade::{Move, MoveSource, Upgrade},
};

/// A managed resource type. `C` is the client that the provider configuration was converted to.
///
/// Write the methods as `async fn`. An error becomes a diagnostic of the call; further ones are added to
/// [`Call::diagnostics`].
pub trait Resource<C: Sync>: Send + Sync + 'static {
    /// The struct of the objects, or [`Object`].
    type Model: Model;

    /// The type name, including the provider's prefix.
    fn type_name(&self) -> &'static str;

    /// The schema, always the same.
    fn schema(&self) -> Schema {
        Self::Model::schema()
    }

    /// The schema of resource identities, always the same. `None` if the type has none.
    ///
    /// By default it consists of the attributes that are marked with `identity`, and the SDK sets the identity from the
    /// state. An import needs those that are not optional. A type with its own schema sets [`Call::identity`] itself.
    fn identity_schema(&self) -> Option<Schema> {
        identity_of(&self.schema().block)
    }

    /// Validates a configuration beyond its schema. The configuration may be unknown in parts.
    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let _ = (config, diagnostics);
    }

    /// Modifies a plan after defaults, unknown values and plan modifiers were applied. For deletions see
    /// [`Resource::plan_deletion`].
    fn plan(
        &self,
        client: &C,
        change: &mut PlanChange,
    ) -> impl Future<Output = Result<(), Diagnostic>> + Send {
        let _ = (client, change);
        ready(Ok(()))
    }

    /// Checks the plan to delete an object, such as one that is protected. An error refuses the plan.
    fn plan_deletion(
        &self,
        client: &C,
        state: Self::Model,
        call: &mut Call,
    ) -> impl Future<Output = Result<(), Diagnostic>> + Send {
        let _ = (client, state, call);
        ready(Ok(()))
    }

    /// Creates an object and returns it. In `planned`, values that are unknown in the plan are `None`, and write-only
    /// attributes have the values of the configuration.
    ///
    /// If a later step can fail after the object exists, pass what is known of it to [`Call::keep`] first.
    fn create(
        &self,
        client: &C,
        planned: Self::Model,
        call: &mut Call,
    ) -> impl Future<Output = Result<Self::Model, Diagnostic>> + Send;

    /// Reads an object. `None` if it no longer exists. In `state`, write-only attributes are `None`.
    fn read(
        &self,
        client: &C,
        state: Self::Model,
        call: &mut Call,
    ) -> impl Future<Output = Result<Option<Self::Model>, Diagnostic>> + Send;

    /// Updates an object and returns it; see [`Resource::create`] for `planned`. After an error, the object counts as
    /// unchanged, unless [`Call::keep`] was called.
    ///
    /// By default an error, for types whose attributes all require replacement.
    fn update(
        &self,
        client: &C,
        prior: Self::Model,
        planned: Self::Model,
        call: &mut Call,
    ) -> impl Future<Output = Result<Self::Model, Diagnostic>> + Send {
        let _ = (client, prior, planned, call);
        let detail = format!(
            "{} has no update, so every attribute must require replacement. This is a bug in the provider.",
            self.type_name()
        );
        ready(Err(Diagnostic::error("Update Not Implemented", detail)))
    }

    /// Deletes an object. Without an error, it counts as deleted.
    fn delete(
        &self,
        client: &C,
        state: Self::Model,
        call: &mut Call,
    ) -> impl Future<Output = Result<(), Diagnostic>> + Send;

    /// Finds an object for an import. `None` if there is none. A core reads the object afterwards.
    fn import(
        &self,
        client: &C,
        target: Import,
        call: &mut Call,
    ) -> impl Future<Output = Result<Option<Self::Model>, Diagnostic>> + Send {
        let _ = (client, target, call);
        let detail = format!("{} cannot be imported.", self.type_name());
        ready(Err(Diagnostic::error("Resource Import Not Implemented", detail)))
    }

    /// The upgrades from older versions of the schema, each to the current one.
    fn upgrades(&self) -> Vec<Upgrade> {
        Vec::new()
    }

    /// The other types whose objects a `moved` block can move to this type.
    fn moves(&self) -> Vec<Move> {
        Vec::new()
    }

    /// The JSON of the identity of an object that a `moved` block has moved to this type, for types with their own
    /// [`Resource::identity_schema`]. `None` if only a read finds it. `state` is the new state.
    ///
    /// # Errors
    /// If the identity of the source cannot be converted.
    fn move_identity(&self, source: &MoveSource, state: &Json) -> Result<Option<Json>, Diagnostic> {
        let _ = (source, state);
        Ok(None)
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
}

/// Returns the schema of the attributes of an identity. `None` if no attribute is a part of one.
pub(crate) fn identity_of(block: &Block) -> Option<Schema> {
    let parts = block.attributes.iter().filter(|(_, it)| it.identity);
    let add = |block: Block, (name, it): (&Str, &Attribute)| {
        let part = typed(it.implied_type());
        let part = if is_optional(it) { part.optional() } else { part.required() };
        block.attribute(name, part)
    };
    let identity = parts.fold(Block::new(), add);
    (!identity.attributes.is_empty()).then(|| Schema::new(identity))
}

/// Returns true if an object can lack a part of its identity.
pub(crate) fn is_optional(part: &Attribute) -> bool {
    part.optional && !part.computed
}

/// A call of the core about one managed object, beside the object itself.
pub struct Call {
    /// The configuration, with write-only values. Null except while an object is created or updated.
    pub config: Object,
    /// The private state: from the plan while an object is created or updated, and kept with the state.
    pub private: PrivateState,
    /// The resource identity, if the type has one.
    pub identity: Option<Value>,
    /// The value of the module's `provider_meta` block; null if there is none, and in imports.
    pub meta: Object,
    /// The diagnostics of the call.
    pub diagnostics: Diagnostics,
    /// The signal to end early.
    pub stop: Stop,
    pub(crate) kept: Option<Value>,
}

impl Call {
    /// Keeps what is known of the object if the call fails later. Without this, an object whose creation fails counts
    /// as not created, and one whose update fails as unchanged.
    pub fn keep(&mut self, state: &impl Model) {
        self.kept = Some(state.encode());
    }
}

/// The object that an import asks for.
pub enum Import {
    /// The id that the user has given.
    Id(Text),
    /// A resource identity.
    Identity(Object),
}

impl Import {
    /// Returns the id, or this attribute of the identity.
    ///
    /// # Errors
    /// If the identity does not have the attribute.
    pub fn id_or<T>(&self, key: Key<T>) -> Result<Text, Diagnostic> {
        let missing = || {
            let detail = format!("The identity has no {}, which the import needs.", key.name());
            Diagnostic::error("Incomplete Identity", detail)
        };
        match self {
            Import::Id(id) => Ok(id.clone()),
            Import::Identity(identity) => identity.string(key).ok_or_else(missing),
        }
    }
}

impl From<&ImportTarget> for Import {
    fn from(target: &ImportTarget) -> Import {
        match target {
            ImportTarget::Id(id) => Import::Id(id.to_text()),
            ImportTarget::Identity(identity) => Import::Identity(Object::new(identity.clone())),
        }
    }
}
