//! `playground_vault`: write-only attributes at every kind of place that a schema allows, which excludes sets.

use std::collections::BTreeMap;

use provider::{BoxFuture, write_only_paths};
use values::{Type, Value, json};

use super::{client::Client, fault::Fault, gate::store_error, names::unique, store::Record};
use mayfly_sdk::erased::{Change, Existing, Resource, StepResult};
use mayfly_sdk::{
    AttributeValue as _, Diagnostic, Object, PlanChange, Secret,
    schema::{Attribute, Block, Nesting, ObjectNesting, Schema, nested, number, string, typed},
};

const TYPE: &str = "playground_vault";
const KIND: &str = "vault";

pub(super) struct Vault {
    schema: provider::Schema,
}

impl Vault {
    pub(super) fn new() -> Vault {
        Vault { schema: schema().to_provider() }
    }

    /// Returns all write-only values of a configuration by their paths.
    fn received(&self, config: &Object) -> BTreeMap<String, Secret> {
        let paths = write_only_paths(config.value(), self.schema.block());
        let value = |path: values::Path| {
            let value =
                path.apply(config.value()).filter(|it| !it.is_null() && it.is_wholly_known())?;
            let text = match value.as_str() {
                Some(text) => text.into(),
                None => json::encode(&value, &value.ty()).ok()?,
            };
            Some((path.to_string().trim_start_matches('.').to_owned(), Secret::new(text)))
        };
        paths.into_iter().filter_map(value).collect()
    }
}

fn schema() -> Schema {
    let place = || {
        Block::new()
            .attribute("name", string().required())
            .attribute("token_wo", string().optional().write_only())
            .attribute("slot_id", string().computed().keeps_state())
    };
    let mirror = Block::new()
        .attribute("name", string().optional())
        .attribute("token_wo", string().optional().write_only());
    // The object of a group exists even without a block, so nothing in it can be required or computed.
    let group = Block::new()
        .attribute("note", string().optional())
        .attribute("token_wo", string().optional().write_only());
    let login = |nesting| {
        let attributes: [(&str, Attribute); 3] = [
            ("user", string().required()),
            ("password_wo", string().optional().write_only()),
            ("login_id", string().computed().keeps_state()),
        ];
        nested(nesting, attributes).optional()
    };
    Schema::new(
        Block::new()
            .description("Write-only attributes at every kind of place.")
            .attribute("id", string().computed().keeps_state())
            .attribute("name", string().required().requires_replace())
            .attribute("secret_wo", string().optional().write_only())
            .attribute("codes_wo", typed(Type::set(Type::String)).optional().write_only())
            .attribute("any_wo", typed(Type::Dynamic).optional().write_only())
            .attribute("secrets_version", number().optional())
            .attribute("key_wo", string().optional().write_only())
            .attribute(
                "key_version",
                number().optional().description("Raise it to make a vault with another key."),
            )
            .attribute("revision", number().computed())
            .attribute("login", login(ObjectNesting::Single))
            .attribute("logins", login(ObjectNesting::List))
            .attribute("logins_by_role", login(ObjectNesting::Map))
            .attribute("fault", Fault::attribute().optional())
            .block("primary", Nesting::Single, place())
            .block("replica", Nesting::List, place().block("mirror", Nesting::List, mirror))
            .block("region", Nesting::Map, place())
            .block("fallback", Nesting::Group, group),
    )
}

impl Resource<Client> for Vault {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn schema(&self) -> Schema {
        schema()
    }

    fn plan<'a>(&'a self, _: &'a Client, change: &'a mut PlanChange) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let raised = change.planned.attr("key_version") != change.prior.attr("key_version");
            if raised && !change.prior.is_null() {
                // The path names the attribute that requires replacement, although its value is null before and
                // after.
                change.requires_replace.push(change.planned.path_of("key_wo"));
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
            let mut record = Record::new(KIND, &*name, format!("vault-{}", unique()));
            let received = self.received(&change.config);
            keep(&mut record, &received);
            client.store.create(&record).map_err(store_error)?;
            client.record("created", TYPE, &record, by_place(&received))?;
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
                Some(record) => existing.state.set("revision", Value::int(record.version)),
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
            let name = change.planned.string("name").unwrap_or_default();
            let raised =
                change.planned.attr("secrets_version") != change.prior.attr("secrets_version");
            let received = if raised { self.received(&change.config) } else { BTreeMap::new() };
            let updated = client.store.update(KIND, &name, |record| {
                record.version += 1;
                if raised {
                    keep(record, &received);
                }
            });
            let record = updated.map_err(store_error)?;
            client.record("updated", TYPE, &record, by_place(&received))?;
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
}

fn by_place(received: &BTreeMap<String, Secret>) -> impl Iterator<Item = (&str, &Secret)> {
    received.iter().map(|(place, secret)| (place.as_str(), secret))
}

/// Replaces all secrets of the object.
fn keep(record: &mut Record, received: &BTreeMap<String, Secret>) {
    let old: Vec<String> = record.secrets().map(|(place, _)| place.to_owned()).collect();
    old.iter().for_each(|place| record.remove_secret(place));
    received.iter().for_each(|(place, secret)| record.set_secret(place, secret.clone()));
}

fn same(client: &Client, state: &Object) -> Result<Option<Record>, Diagnostic> {
    let id = state.string("id").unwrap_or_default();
    let found = client.find(KIND, &state.string("name").unwrap_or_default())?;
    Ok(found.filter(|record| *record.id == *id))
}

/// Returns `planned` with its unknown values filled in: new ids for places and logins.
fn shown(planned: &Object, record: &Record) -> Object {
    let mut shown = planned.clone();
    shown.set("id", record.id.as_str());
    shown.set("revision", Value::int(record.version));
    let filled = shown.value().transform(&mut |_, value| match value.is_known() {
        true => value.clone(),
        false => Value::string(unique()),
    });
    Object::new(filled)
}
