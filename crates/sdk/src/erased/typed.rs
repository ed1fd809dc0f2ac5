//! The adapters of the typed interfaces.

use provider::{BoxFuture, ImportTarget};
use serde_json::Value as Json;
use values::{Str, Value, ValueMap};

use super::{Change, DataRead, Existing, Opening, StepResult};
use crate::{
    data::Object,
    data_source::DataSource,
    diagnostics::{Diagnostic, Diagnostics},
    ephemeral::{EphemeralCall, EphemeralResource},
    model::{Model, Unknowns},
    plan_change::PlanChange,
    resource::{Call, Import, Resource, identity_of, is_optional},
    schema::Schema,
    upgrade::MoveSource,
};

/// A managed resource type with the parts of its schema that the adapter needs.
pub(crate) struct TypedResource<R> {
    of: R,
    /// An object of nulls.
    empty: Value,
    /// The parts of the identity, if the SDK sets it.
    identity: Vec<IdentityPart>,
}

/// An attribute of an identity.
struct IdentityPart {
    name: Str,
    is_optional: bool,
}

impl<R> TypedResource<R> {
    pub(crate) fn new<C: Sync>(of: R) -> TypedResource<R>
    where
        R: Resource<C>,
    {
        let schema = of.schema();
        // A type with its own schema of identities sets them itself.
        let names = |it: &Schema| it.block.attributes.keys().cloned().collect::<Vec<_>>();
        let own = of.identity_schema().map(|it| names(&it));
        let derived = identity_of(&schema.block).filter(|it| own == Some(names(it)));
        let identity = derived.into_iter().flat_map(|it| it.block.attributes);
        let part = |(name, it)| IdentityPart { name, is_optional: is_optional(&it) };
        let identity = identity.map(part).collect();
        TypedResource { empty: schema.to_provider().block().empty_value(), of, identity }
    }

    /// Returns the state of a struct: exactly the attributes of the schema.
    fn state(&self, model: &impl Model, call: &mut Call) -> Object {
        self.whole(&model.encode(), call)
    }

    fn whole(&self, encoded: &Value, call: &mut Call) -> Object {
        let state = conformed(&self.empty, encoded);
        // A part is null if the call failed before the provider has chosen it.
        let part = |it: &IdentityPart| {
            let value = state.attr(&it.name);
            (it.is_optional || !value.is_null()).then(|| (it.name.clone(), value))
        };
        let parts: Option<ValueMap> = self.identity.iter().map(part).collect();
        if let Some(parts) = parts.filter(|it| !it.is_empty()) {
            call.identity = Some(Value::object(parts));
        }
        state
    }

    /// Sets the state after a create or an update, which may have failed.
    fn finish<M: Model>(&self, change: &mut Change, ended: Result<M, Diagnostic>) -> StepResult {
        match ended {
            Ok(model) => {
                change.state = self.state(&model, &mut change.call);
                Ok(())
            }
            Err(diagnostic) => {
                if let Some(kept) = change.call.kept.take() {
                    change.state = self.whole(&kept, &mut change.call);
                }
                Err(diagnostic)
            }
        }
    }
}

/// Returns `encoded` with exactly the attributes of `empty`: a schema may lack attributes of its struct.
fn conformed(empty: &Value, encoded: &Value) -> Object {
    let parts = empty.as_map().into_iter().flatten();
    let part = |(name, null): (&Str, &Value)| {
        (name.clone(), encoded.get_attr(name).unwrap_or_else(|| null.clone()))
    };
    Object::new(Value::object(parts.map(part).collect()))
}

impl<C: Sync, R: Resource<C>> super::Resource<C> for TypedResource<R> {
    fn type_name(&self) -> &'static str {
        self.of.type_name()
    }

    fn schema(&self) -> Schema {
        self.of.schema()
    }

    fn identity_schema(&self) -> Option<Schema> {
        self.of.identity_schema()
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        self.of.validate(config, diagnostics);
    }

    fn plan<'a>(&'a self, client: &'a C, change: &'a mut PlanChange) -> BoxFuture<'a, StepResult> {
        Box::pin(self.of.plan(client, change))
    }

    fn plan_deletion<'a>(
        &'a self,
        client: &'a C,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let state = R::Model::decode(&existing.state, Unknowns::Absent)?;
            self.of.plan_deletion(client, state, &mut existing.call).await
        })
    }

    fn create<'a>(&'a self, client: &'a C, change: &'a mut Change) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let planned = R::Model::decode(&change.planned, Unknowns::Absent)?;
            let ended = self.of.create(client, planned, &mut change.call).await;
            self.finish(change, ended)
        })
    }

    fn read<'a>(&'a self, client: &'a C, existing: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let state = R::Model::decode(&existing.state, Unknowns::Absent)?;
            match self.of.read(client, state, &mut existing.call).await? {
                Some(model) => existing.state = self.state(&model, &mut existing.call),
                None => existing.gone(),
            }
            Ok(())
        })
    }

    fn update<'a>(&'a self, client: &'a C, change: &'a mut Change) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let prior = R::Model::decode(&change.prior, Unknowns::Absent)?;
            let planned = R::Model::decode(&change.planned, Unknowns::Absent)?;
            let ended = self.of.update(client, prior, planned, &mut change.call).await;
            self.finish(change, ended)
        })
    }

    fn delete<'a>(
        &'a self,
        client: &'a C,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let state = R::Model::decode(&existing.state, Unknowns::Absent)?;
            let ended = self.of.delete(client, state, &mut existing.call).await;
            let has_failed = ended.is_err() || existing.call.diagnostics.has_errors();
            if let Some(kept) = existing.call.kept.take().filter(|_| has_failed) {
                existing.state = self.whole(&kept, &mut existing.call);
            }
            ended
        })
    }

    fn import<'a>(
        &'a self,
        client: &'a C,
        target: &'a ImportTarget,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let import = Import::from(target);
            let found = self.of.import(client, import, &mut existing.call).await?;
            let model = found.ok_or_else(|| not_found(self.of.type_name(), target))?;
            existing.state = self.state(&model, &mut existing.call);
            Ok(())
        })
    }

    fn upgrade(&self, from: i64, state: Json) -> Result<Json, Diagnostic> {
        match self.of.upgrades().into_iter().find(|it| it.from == from) {
            Some(upgrade) => (upgrade.convert)(state),
            None => Err(Diagnostic::error(
                "Unable to Upgrade Resource State",
                format!(
                    "{} cannot upgrade a state of schema version {from}. If a newer version of the provider wrote \
                     it, use that version.",
                    self.of.type_name()
                ),
            )),
        }
    }

    fn upgrade_identity(&self, from: i64, identity: Json) -> Result<Json, Diagnostic> {
        self.of.upgrade_identity(from, identity)
    }

    fn take_over(&self, source: &MoveSource, state: &Json) -> Result<Option<Json>, Diagnostic> {
        let known = self.of.moves().into_iter().find(|it| it.fits(source));
        known.map(|it| (it.convert)(source, state)).transpose()
    }

    /// Returns the attributes of the new state that form the identity.
    fn take_over_identity(
        &self,
        source: &MoveSource,
        state: &Json,
    ) -> Result<Option<Json>, Diagnostic> {
        match self.identity.is_empty() {
            true => self.of.move_identity(source, state),
            false => {
                let part = |it: &IdentityPart| {
                    let value = state.get(&*it.name).cloned().unwrap_or_default();
                    (it.is_optional || !value.is_null()).then(|| (it.name.to_string(), value))
                };
                let parts: Option<serde_json::Map<_, _>> = self.identity.iter().map(part).collect();
                Ok(parts.map(Json::Object))
            }
        }
    }
}

fn not_found(type_name: &str, target: &ImportTarget) -> Diagnostic {
    let what = match target {
        ImportTarget::Id(id) => format!("with the id {id:?}"),
        ImportTarget::Identity(_) => "with this identity".to_owned(),
    };
    let detail = format!(
        "There is no {type_name} {what}. Check the id, and the account or region of the provider."
    );
    Diagnostic::error("Cannot Import Non-Existent Object", detail)
}

/// A data source or an ephemeral resource type, with an object of nulls of its schema.
pub(crate) struct Typed<T> {
    of: T,
    empty: Value,
}

impl<T> Typed<T> {
    pub(crate) fn new(of: T, schema: &Schema) -> Typed<T> {
        Typed { of, empty: schema.to_provider().block().empty_value() }
    }
}

impl<C: Sync, D: DataSource<C>> super::DataSource<C> for Typed<D> {
    fn type_name(&self) -> &'static str {
        self.of.type_name()
    }

    fn schema(&self) -> Schema {
        self.of.schema()
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        self.of.validate(config, diagnostics);
    }

    fn read<'a>(&'a self, client: &'a C, read: &'a mut DataRead) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let config = D::Model::decode(&read.state, Unknowns::Refused)?;
            let found = self.of.read(client, config, &mut read.call).await?;
            read.state = conformed(&self.empty, &found.encode());
            Ok(())
        })
    }
}

impl<C: Sync, E: EphemeralResource<C>> super::EphemeralResource<C> for Typed<E> {
    fn type_name(&self) -> &'static str {
        self.of.type_name()
    }

    fn schema(&self) -> Schema {
        self.of.schema()
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        self.of.validate(config, diagnostics);
    }

    fn open<'a>(&'a self, client: &'a C, opening: &'a mut Opening) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let config = E::Model::decode(&opening.result, Unknowns::Refused)?;
            let opened = self.of.open(client, config, &mut opening.call).await?;
            opening.result = conformed(&self.empty, &opened.encode());
            Ok(())
        })
    }

    fn renew<'a>(
        &'a self,
        client: &'a C,
        call: &'a mut EphemeralCall,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(self.of.renew(client, call))
    }

    fn close<'a>(
        &'a self,
        client: &'a C,
        call: &'a mut EphemeralCall,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(self.of.close(client, call))
    }
}
