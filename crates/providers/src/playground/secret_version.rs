//! `playground_secret_version`: the value of a secret as a separate object, modelled on
//! `aws_secretsmanager_secret_version`.

use provider::BoxFuture;

use super::{
    client::Client,
    fault::Fault,
    gate::store_error,
    names::{not_found, secret_name, unique},
    secret::{KIND, VALUE},
    secret_value::{AttributeNames, Stored},
    store::Record,
};
use mayfly_sdk::erased::{Change, EphemeralResource, Existing, Opening, Resource, StepResult};
use mayfly_sdk::{
    AttributeValue as _, Diagnostic, Diagnostics, EphemeralCall as Later, Object, Secret,
    schema::{Block, Schema, number, string},
};

const TYPE: &str = "playground_secret_version";
/// The field of the secret's object with the id of the version that set its value.
const VERSION_ID: &str = "version_id";

const ATTRIBUTES: AttributeNames = AttributeNames {
    plain: "secret_string",
    write_only: "secret_string_wo",
    version: "secret_string_wo_version",
};

pub(super) struct ManagedSecretVersion;

impl Resource<Client> for ManagedSecretVersion {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn schema(&self) -> Schema {
        Schema::new(
            Block::new()
                .description("The value of a secret.")
                .attribute("id", string().computed().keeps_state())
                .attribute("arn", string().computed().keeps_state())
                .attribute("secret_id", string().required().requires_replace())
                .attribute("secret_string", string().optional().sensitive())
                .attribute("secret_string_wo", string().optional().write_only())
                .attribute("secret_string_wo_version", number().optional())
                .attribute(VERSION_ID, string().computed())
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
        Box::pin(set(client, change, "created"))
    }

    fn read<'a>(
        &'a self,
        client: &'a Client,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let Some(record) = current(client, &existing.state)? else {
                existing.gone();
                return Ok(());
            };
            if !existing.state.is_absent("secret_string") {
                existing
                    .state
                    .set_or_null("secret_string", record.secret(VALUE).map(Secret::reveal));
            }
            Ok(())
        })
    }

    fn update<'a>(
        &'a self,
        client: &'a Client,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(set(client, change, "updated"))
    }

    fn delete<'a>(
        &'a self,
        client: &'a Client,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let Some(record) = current(client, &existing.state)? else { return Ok(()) };
            let updated = client.store.update(KIND, &record.name, |record| {
                record.remove_secret(VALUE);
                record.set_or_remove(VERSION_ID, None::<String>);
            });
            client.record(
                "deleted",
                TYPE,
                &of_version(&updated.map_err(store_error)?, &existing.state),
                [],
            )
        })
    }
}

async fn set(client: &Client, change: &mut Change, event: &str) -> StepResult {
    let secret_id = change.planned.string("secret_id").unwrap_or_default();
    let stored = ATTRIBUTES.stored(change);
    let kept = change.prior.string(VERSION_ID).filter(|_| matches!(stored, Stored::Keep));
    let version_id = kept.map_or_else(unique, |it| it.to_string());
    let updated = client.store.update(KIND, secret_name(&secret_id), |record| {
        stored.apply(record, VALUE);
        record.set(VERSION_ID, version_id.as_str());
    });
    let record = updated.map_err(store_error)?;
    let mut state = change.planned.clone();
    state.set("id", format!("{}|{version_id}", record.id));
    if event == "updated" {
        state.set("id", change.prior.attr("id"));
    }
    state.set("arn", record.id.as_str());
    state.set(VERSION_ID, version_id.as_str());
    client.record(event, TYPE, &of_version(&record, &state), stored.received())?;
    change.state = state;
    Ok(())
}

/// Returns the secret if this version set its current value.
fn current(client: &Client, state: &Object) -> Result<Option<Record>, Diagnostic> {
    let secret_id = state.string("secret_id").unwrap_or_default();
    let version_id = state.string(VERSION_ID).unwrap_or_default();
    let record = client.find(KIND, secret_name(&secret_id))?;
    Ok(record.filter(|record| record.text(VERSION_ID) == Some(&*version_id)))
}

/// The record of this version for the ledger.
fn of_version(record: &Record, state: &Object) -> Record {
    Record::new(KIND, record.name.as_str(), &*state.string("id").unwrap_or_default())
}

pub(super) struct EphemeralSecretVersion;

impl EphemeralResource<Client> for EphemeralSecretVersion {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn schema(&self) -> Schema {
        Schema::new(
            Block::new()
                .description("Reads the value of a secret. It is kept nowhere.")
                .attribute(
                    "secret_id",
                    string().required().description("The secret's name or ARN."),
                )
                .attribute("arn", string().computed())
                .attribute(VERSION_ID, string().computed())
                .attribute("secret_string", string().computed().sensitive())
                .attribute("fault", Fault::attribute().optional()),
        )
    }

    fn open<'a>(
        &'a self,
        client: &'a Client,
        opening: &'a mut Opening,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let secret_id = opening.result.string("secret_id").unwrap_or_default();
            let found = client.find(KIND, secret_name(&secret_id))?;
            let record = found.ok_or_else(|| not_found("secret", &secret_id))?;
            let Some(secret) = record.secret(VALUE) else {
                return Err(not_found("value of a secret", &secret_id));
            };
            opening.result.set("secret_string", secret.reveal());
            opening.result.set("arn", record.id.as_str());
            opening.result.set_or_null(VERSION_ID, record.text(VERSION_ID));
            opening.private.set("id", record.id.as_str());
            client.record("opened", TYPE, &record, [])
        })
    }

    fn close<'a>(
        &'a self,
        client: &'a Client,
        closing: &'a mut Later,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let id = closing.private.text("id").unwrap_or_default();
            client.record("closed", TYPE, &Record::new(KIND, secret_name(id), id), [])
        })
    }
}
