//! Reading of `playground_secret`: the data source and the ephemeral resource with that name.

use provider::BoxFuture;
use values::Value;

use super::{
    client::Client,
    fault::Fault,
    names::{not_found, secret_name},
    secret::{KIND, TYPE, VALUE},
    store::Record,
};
use mayfly_sdk::erased::{DataRead, DataSource, EphemeralResource, Opening, StepResult};
use mayfly_sdk::{
    AttributeValue as _, Diagnostic, Diagnostics, Object, Secret,
    schema::{Block, Schema, number, string},
    validate::exactly_one_of,
};

/// The data source. Its result is written to the state, which the ephemeral resource avoids.
pub(super) struct SecretData;

/// The ephemeral resource.
pub(super) struct EphemeralSecret;

impl DataSource<Client> for SecretData {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn schema(&self) -> Schema {
        Schema::new(
            block()
                .attribute("id", string().computed())
                .description("Reads a secret. Its value is kept in state."),
        )
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        validate(config, diagnostics);
    }

    fn read<'a>(&'a self, client: &'a Client, read: &'a mut DataRead) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let record = find(client, &read.state)?;
            fill(&mut read.state, &record);
            read.state.set("id", record.id.as_str());
            Ok(())
        })
    }
}

impl EphemeralResource<Client> for EphemeralSecret {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn schema(&self) -> Schema {
        Schema::new(block().description("Reads a secret. Its value is kept nowhere."))
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        validate(config, diagnostics);
    }

    fn open<'a>(
        &'a self,
        client: &'a Client,
        opening: &'a mut Opening,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let record = find(client, &opening.result)?;
            fill(&mut opening.result, &record);
            opening.private.set("id", record.id.as_str());
            client.record("opened", TYPE, &record, [])
        })
    }

    fn close<'a>(
        &'a self,
        client: &'a Client,
        closing: &'a mut mayfly_sdk::EphemeralCall,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let id = closing.private.text("id").unwrap_or_default();
            client.record("closed", TYPE, &Record::new(KIND, secret_name(id), id), [])
        })
    }
}

fn block() -> Block {
    Block::new()
        .attribute("name", string().optional())
        .attribute("secret_id", string().optional().description("The secret's name or ARN."))
        .attribute("arn", string().computed())
        .attribute("description", string().computed())
        .attribute("value", string().computed().sensitive())
        .attribute(
            "secret_string",
            string().computed().sensitive().description("The same as value."),
        )
        .attribute("version", number().computed())
        .attribute("fault", Fault::attribute().optional())
}

fn validate(config: &Object, diagnostics: &mut Diagnostics) {
    exactly_one_of(config, &["name", "secret_id"], diagnostics);
}

fn find(client: &Client, config: &Object) -> Result<Record, Diagnostic> {
    let named = config.string("secret_id").or_else(|| config.string("name")).unwrap_or_default();
    client.find(KIND, secret_name(&named))?.ok_or_else(|| not_found("secret", &named))
}

fn fill(object: &mut Object, record: &Record) {
    let value = record.secret(VALUE).map(Secret::reveal);
    object.set("arn", record.id.as_str());
    object.set_or_null("description", record.text("description"));
    object.set_or_null("value", value);
    object.set_or_null("secret_string", value);
    object.set("version", Value::int(record.version));
}
