//! `playground_database`: a database with a master password, modelled on `aws_db_instance`, and the ephemeral
//! resource with the same name, which returns the password.

use provider::{BoxFuture, ImportTarget};

use super::{
    client::Client,
    fault::Fault,
    gate::store_error,
    names::{arn, not_found, unique},
    secret_value::AttributeNames,
    store::Record,
};
use mayfly_sdk::erased::{Change, EphemeralResource, Existing, Opening, Resource, StepResult};
use mayfly_sdk::{
    AttributeValue as _, Diagnostic, Diagnostics, EphemeralCall as Later, Object, Secret,
    schema::{Block, Schema, number, string},
    validate::{LengthBetween, WholeBetween},
};

const TYPE: &str = "playground_database";
const KIND: &str = "database";
const PASSWORD: &str = "password";

const ATTRIBUTES: AttributeNames =
    AttributeNames { plain: "password", write_only: "password_wo", version: "password_wo_version" };

pub(super) struct ManagedDatabase;

impl Resource<Client> for ManagedDatabase {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn schema(&self) -> Schema {
        let identifier = string().required().requires_replace().validator(LengthBetween(1, 63));
        let storage = number().optional().default_value(20).validator(WholeBetween(1, 65_536));
        Schema::new(
            Block::new()
                .description("A database.")
                .attribute("id", string().computed().keeps_state())
                .attribute("arn", string().computed().keeps_state())
                .attribute("identifier", identifier)
                .attribute(
                    "engine",
                    string().optional().default_value("postgres").requires_replace(),
                )
                .attribute("username", string().optional().default_value("admin"))
                .attribute("allocated_storage", storage)
                .attribute("password", string().optional().sensitive())
                .attribute("password_wo", string().optional().write_only())
                .attribute("password_wo_version", number().optional())
                .attribute("endpoint", string().computed().keeps_state())
                .attribute("fault", Fault::attribute().optional()),
        )
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        ATTRIBUTES.validate(config, diagnostics);
    }

    fn create<'a>(
        &'a self,
        client: &'a Client,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let identifier = change.planned.string("identifier").unwrap_or_default();
            let mut record = Record::new(KIND, &*identifier, format!("db-{}", unique()));
            let stored = ATTRIBUTES.stored(change);
            stored.apply(&mut record, PASSWORD);
            describe(&mut record, &change.planned);
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
            match same(client, &existing.state)? {
                Some(record) => {
                    existing.state.set_or_null("username", record.text("username"));
                    existing.state = shown(&existing.state, &record);
                }
                None => existing.gone(),
            }
            Ok(())
        })
    }

    fn update<'a>(
        &'a self,
        client: &'a Client,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let identifier = change.planned.string("identifier").unwrap_or_default();
            let stored = ATTRIBUTES.stored(change);
            let updated = client.store.update(KIND, &identifier, |record| {
                stored.apply(record, PASSWORD);
                describe(record, &change.planned);
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
            let ImportTarget::Id(identifier) = target else { return Err(not_found(KIND, "")) };
            let record =
                client.find(KIND, identifier)?.ok_or_else(|| not_found(KIND, identifier))?;
            existing.state.set("id", record.id.as_str());
            existing.state.set("identifier", record.name.as_str());
            existing.state.set("engine", record.text("engine").unwrap_or("postgres"));
            existing.state.set("allocated_storage", storage(&record));
            Ok(())
        })
    }
}

fn same(client: &Client, state: &Object) -> Result<Option<Record>, Diagnostic> {
    let id = state.string("id").unwrap_or_default();
    let found = client.find(KIND, &state.string("identifier").unwrap_or_default())?;
    Ok(found.filter(|record| *record.id == *id))
}

fn describe(record: &mut Record, planned: &Object) {
    for name in ["engine", "username"] {
        record.set_or_remove(name, planned.string(name).map(|it| it.to_string()));
    }
    let storage = planned.attr("allocated_storage");
    record.set_or_remove("allocated_storage", storage.as_number().map(ToString::to_string));
}

fn storage(record: &Record) -> i64 {
    record.text("allocated_storage").and_then(|it| it.parse().ok()).unwrap_or(20)
}

fn shown(object: &Object, record: &Record) -> Object {
    let mut shown = object.clone();
    shown.set("id", record.id.as_str());
    shown.set("arn", arn("rds", &format!("db:{}", record.name)));
    shown.set("endpoint", format!("{}.{}.db.example.com:5432", record.name, record.id));
    shown
}

pub(super) struct EphemeralDatabase;

impl EphemeralResource<Client> for EphemeralDatabase {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn schema(&self) -> Schema {
        Schema::new(
            Block::new()
                .description("Tells how to log in to a database.")
                .attribute("identifier", string().required())
                .attribute("username", string().computed())
                .attribute("password", string().computed().sensitive())
                .attribute("fault", Fault::attribute().optional()),
        )
    }

    fn open<'a>(
        &'a self,
        client: &'a Client,
        opening: &'a mut Opening,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let identifier = opening.result.string("identifier").unwrap_or_default();
            let record =
                client.find(KIND, &identifier)?.ok_or_else(|| not_found(KIND, &identifier))?;
            opening.result.set_or_null("username", record.text("username"));
            opening.result.set_or_null("password", record.secret(PASSWORD).map(Secret::reveal));
            opening.private.set("identifier", &*identifier);
            client.record("opened", TYPE, &record, [])
        })
    }

    fn close<'a>(
        &'a self,
        client: &'a Client,
        closing: &'a mut Later,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let identifier = closing.private.text("identifier").unwrap_or_default();
            client.record("closed", TYPE, &Record::new(KIND, identifier, ""), [])
        })
    }
}
