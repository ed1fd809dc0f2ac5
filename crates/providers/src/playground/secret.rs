//! `playground_secret`, managed: a named secret of the remote system.

use provider::{BoxFuture, ImportTarget};
use values::Value;

use super::{
    client::Client,
    fault::Fault,
    gate::store_error,
    names::{not_found, secret_arn, secret_name},
    secret_value::{AttributeNames, Stored},
    store::Record,
};
use mayfly_sdk::erased::{Change, Existing, Resource, StepResult};
use mayfly_sdk::{
    AttributeValue as _, Diagnostics, Object, PlanChange,
    schema::{Block, Schema, number, string},
    validate::{LengthBetween, exactly_one_of},
};

/// The kind of object in the store. `playground_secret_version` sets values of the same objects.
pub(super) const KIND: &str = "secret";
/// The secret field of such an object.
pub(super) const VALUE: &str = "value";
pub(super) const TYPE: &str = "playground_secret";

const ATTRIBUTES: AttributeNames =
    AttributeNames { plain: "value", write_only: "value_wo", version: "value_wo_version" };

pub(super) struct ManagedSecret;

impl Resource<Client> for ManagedSecret {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn schema(&self) -> Schema {
        let name = || string().optional().validator(LengthBetween(1, 128));
        Schema::new(
            Block::new()
                .description("A named secret.")
                .attribute("id", string().computed().keeps_state())
                .attribute("arn", string().computed().keeps_state())
                .attribute("name", name().computed().keeps_state().requires_replace())
                .attribute("secret_name", name().description("Another way to set the name."))
                .attribute("description", string().optional())
                .attribute("value", string().optional().sensitive())
                .attribute("value_wo", string().optional().write_only())
                .attribute("value_wo_version", number().optional())
                .attribute(
                    "version",
                    number().computed().description("Counts the values set here."),
                )
                .attribute("created", string().computed().keeps_state())
                .attribute("fault", Fault::attribute().optional()),
        )
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        ATTRIBUTES.validate(config, diagnostics);
        exactly_one_of(config, &["name", "secret_name"], diagnostics);
    }

    fn plan<'a>(&'a self, _: &'a Client, change: &'a mut PlanChange) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            if change.config.is_absent("name") {
                let name = change.config.attr("secret_name");
                let renamed = !change.prior.is_null() && name != change.prior.attr("name");
                if renamed {
                    change.requires_replace.push(change.planned.path_of("secret_name"));
                }
                change.planned.set("name", name);
            }
            Ok(())
        })
    }

    fn create<'a>(
        &'a self,
        client: &'a Client,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let name = change.planned.string("name").unwrap_or_default();
            let mut record = Record::new(KIND, &*name, secret_arn(&name));
            // A secret without a value has version 0.
            record.version = 0;
            describe(&mut record, &change.planned);
            let stored = ATTRIBUTES.stored(change);
            stored.apply(&mut record, VALUE);
            record.set("version", record.version.to_string());
            client.store.create(&record).map_err(store_error)?;
            client.record("created", TYPE, &record, stored.received())?;
            change.state = shown(&change.planned, &record);
            Ok(())
        })
    }

    fn read<'a>(
        &'a self,
        client: &'a Client,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let Some(record) = same(client, &existing.state)? else {
                existing.gone();
                return Ok(());
            };
            existing.state.set("name", record.name.as_str());
            existing.state.set_or_null("description", record.text("description"));
            if !existing.state.is_absent("value") {
                existing.state.set_or_null("value", record.secret(VALUE).map(|it| it.reveal()));
            }
            existing.state = shown(&existing.state, &record);
            Ok(())
        })
    }

    fn update<'a>(
        &'a self,
        client: &'a Client,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let name = change.planned.string("name").unwrap_or_default();
            let stored = ATTRIBUTES.stored(change);
            let updated = client.store.update(KIND, &name, |record| {
                describe(record, &change.planned);
                let count = own_version(record);
                stored.apply(record, VALUE);
                if !matches!(stored, Stored::Keep) {
                    record.set("version", (count + 1).to_string());
                }
            });
            let record = updated.map_err(store_error)?;
            client.record("updated", TYPE, &record, stored.received())?;
            change.state = shown(&change.planned, &record);
            Ok(())
        })
    }

    fn delete<'a>(
        &'a self,
        client: &'a Client,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            if let Some(record) = same(client, &existing.state)? {
                client.store.remove(KIND, &record.name).map_err(store_error)?;
                client.record("deleted", TYPE, &record, [])?;
            }
            Ok(())
        })
    }

    fn import<'a>(
        &'a self,
        client: &'a Client,
        target: &'a ImportTarget,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let ImportTarget::Id(id) = target else { return Err(not_found("secret", "")) };
            let found = client.find(KIND, secret_name(id))?;
            let record = found.ok_or_else(|| not_found("secret", id))?;
            existing.state.set("id", record.id.as_str());
            existing.state.set("name", record.name.as_str());
            Ok(())
        })
    }
}

fn describe(record: &mut Record, planned: &Object) {
    record.set_or_remove("description", planned.string("description").map(|it| it.to_string()));
}

/// Returns the object of a state. `None` if it is gone or a new object has its name.
fn same(client: &Client, state: &Object) -> Result<Option<Record>, mayfly_sdk::Diagnostic> {
    let id = state.string("id").unwrap_or_default();
    Ok(client.find(KIND, secret_name(&id))?.filter(|record| *record.id == *id))
}

/// The number of values that this resource has set; `playground_secret_version` has versions of its own.
fn own_version(record: &Record) -> i64 {
    record.text("version").and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// Returns `object` with its computed attributes set.
fn shown(object: &Object, record: &Record) -> Object {
    let mut shown = object.clone();
    shown.set("id", record.id.as_str());
    shown.set("arn", record.id.as_str());
    shown.set("version", Value::int(own_version(record)));
    shown.set("created", record.created.as_str());
    shown
}
