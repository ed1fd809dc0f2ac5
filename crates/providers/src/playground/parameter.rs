//! `playground_parameter`: a named parameter, modelled on `aws_ssm_parameter`.

use provider::{BoxFuture, ImportTarget};
use values::Value;

use super::{
    client::Client,
    fault::Fault,
    gate::store_error,
    names::{arn, not_found, unique},
    secret_value::AttributeNames,
    store::Record,
};
use mayfly_sdk::erased::{Change, Existing, Resource, StepResult};
use mayfly_sdk::{
    AttributeValue as _, Diagnostic, Diagnostics, Object, Secret,
    schema::{Block, Schema, number, string},
    validate::{LengthBetween, OneOf},
};

const TYPE: &str = "playground_parameter";
const KIND: &str = "parameter";
const VALUE: &str = "value";

const ATTRIBUTES: AttributeNames =
    AttributeNames { plain: "value", write_only: "value_wo", version: "value_wo_version" };

pub(super) struct Parameter;

impl Resource<Client> for Parameter {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn schema(&self) -> Schema {
        let types = OneOf(&["String", "StringList", "SecureString"]);
        Schema::new(
            Block::new()
                .description("A named parameter.")
                .attribute("id", string().computed().keeps_state())
                .attribute("arn", string().computed().keeps_state())
                .attribute(
                    "name",
                    string().required().requires_replace().validator(LengthBetween(1, 128)),
                )
                .attribute("type", string().required().validator(types))
                .attribute("description", string().optional())
                .attribute("value", string().optional().computed().sensitive())
                .attribute("value_wo", string().optional().write_only())
                .attribute("value_wo_version", number().optional())
                .attribute("version", number().computed())
                .attribute("fault", Fault::attribute().optional()),
        )
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        ATTRIBUTES.validate(config, diagnostics);
        if config.is_absent("value") && config.is_absent("value_wo") {
            let detail = "One of value and value_wo must be set.";
            diagnostics.error_at(config.path_of("value"), "Invalid Attribute Combination", detail);
        }
    }

    fn create<'a>(
        &'a self,
        client: &'a Client,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let name = change.planned.string("name").unwrap_or_default();
            let mut record = Record::new(KIND, &*name, format!("{KIND}-{}", unique()));
            record.version = 0;
            describe(&mut record, &change.planned);
            let stored = ATTRIBUTES.stored(change);
            stored.apply(&mut record, VALUE);
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
            let Some(record) = same(client, existing)? else {
                existing.gone();
                return Ok(());
            };
            existing.state.set_or_null("type", record.text("type"));
            existing.state.set_or_null("description", record.text("description"));
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
                stored.apply(record, VALUE);
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
            if let Some(record) = same(client, existing)? {
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
            let ImportTarget::Id(name) = target else { return Err(not_found(KIND, "")) };
            let record = client.find(KIND, name)?.ok_or_else(|| not_found(KIND, name))?;
            existing.state.set("name", &**name);
            existing.private.set("object", record.id.as_str());
            Ok(())
        })
    }
}

/// Returns the object of a state. A new object with the same name counts as the same one, as with
/// `aws_ssm_parameter`.
fn same(client: &Client, existing: &Existing) -> Result<Option<Record>, Diagnostic> {
    client.find(KIND, &existing.state.string("name").unwrap_or_default())
}

fn describe(record: &mut Record, planned: &Object) {
    record.set_or_remove("type", planned.string("type").map(|it| it.to_string()));
    record.set_or_remove("description", planned.string("description").map(|it| it.to_string()));
    record.set_or_remove("write_only", planned.is_absent("value_wo_version").then_some("no"));
}

/// Returns `object` with its computed attributes set. A value that was given write-only is left out.
fn shown(object: &Object, record: &Record) -> Object {
    let mut shown = object.clone();
    shown.set("id", record.name.as_str());
    shown.set("arn", arn("ssm", &format!("parameter/{}", record.name)));
    shown.set("version", Value::int(record.version));
    let plain = record.text("write_only").and(record.secret(VALUE)).map(Secret::reveal);
    shown.set_or_null("value", plain);
    shown
}
