//! A complete provider written with the SDK: counters that live in memory.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use mayfly_sdk::{
    Change, Definition, Diagnostic, Diagnostics, Existing, Object, Resource, Server, StepResult,
    schema::{Block, Schema, number, string},
    validate::WholeBetween,
};
use provider::{
    ApplyResourceChangeRequest, BoxFuture, ConfigureRequest, ImportResourceStateRequest,
    ImportTarget, PlanResourceChangeRequest, Private, Provider, ReadResourceRequest,
    objchange::proposed_new,
};
use values::Value;

/// The client of a configured provider.
struct Counters {
    step: i64,
    values: Mutex<BTreeMap<String, i64>>,
}

impl Counters {
    fn values(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, i64>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The provider: its configuration and its types.
struct CounterProvider;

impl Definition for CounterProvider {
    type Client = Counters;

    fn name(&self) -> &'static str {
        "registry.opentofu.org/example/counter"
    }

    fn schema(&self) -> Schema {
        Schema::new(Block::new().attribute("step", number().optional()))
    }

    fn configure<'a>(
        &'a self,
        config: &'a Object,
        _core_version: &'a str,
        _diagnostics: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Counters, Diagnostic>> {
        Box::pin(async {
            let step = config.int("step")?.unwrap_or(1);
            Ok(Counters { step, values: Mutex::default() })
        })
    }

    fn resources(&self) -> Vec<Box<dyn Resource<Counters>>> {
        vec![Box::new(Counter)]
    }
}

/// The type `counter_counter`.
struct Counter;

impl Resource<Counters> for Counter {
    fn type_name(&self) -> &'static str {
        "counter_counter"
    }

    fn schema(&self) -> Schema {
        Schema::new(
            Block::new()
                .attribute("name", string().required().requires_replace())
                .attribute(
                    "start",
                    number().optional().default_value(0).validator(WholeBetween(0, 100)),
                )
                .attribute("token_wo", string().optional().write_only())
                .attribute("value", number().computed()),
        )
    }

    fn identity_schema(&self) -> Option<Schema> {
        Some(Schema::new(Block::new().attribute("name", string().required())))
    }

    fn create<'a>(
        &'a self,
        client: &'a Counters,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let name = change.planned.string("name").unwrap_or_default();
            let value = change.planned.int("start")?.unwrap_or(0) + client.step;
            client.values().insert(name.to_string(), value);
            change.state = change.planned.clone();
            change.state.set("value", value);
            change.identity = Some(Value::object_from([("name", Value::string(name))]));
            change.private.set("times", 1);
            Ok(())
        })
    }

    fn read<'a>(
        &'a self,
        client: &'a Counters,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let name = existing.state.string("name").unwrap_or_default();
            match client.values().get(&*name) {
                Some(value) => existing.state.set("value", *value),
                None => existing.gone(),
            }
            Ok(())
        })
    }

    fn update<'a>(
        &'a self,
        client: &'a Counters,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        self.create(client, change)
    }

    fn delete<'a>(
        &'a self,
        client: &'a Counters,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let name = existing.state.string("name").unwrap_or_default();
            client.values().remove(&*name);
            Ok(())
        })
    }

    fn import<'a>(
        &'a self,
        _client: &'a Counters,
        target: &'a ImportTarget,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let name = match target {
                ImportTarget::Id(id) => Value::string(id.clone()),
                ImportTarget::Identity(identity) => Object::new(identity.clone()).attr("name"),
            };
            existing.state.set("name", name);
            Ok(())
        })
    }
}

#[tokio::test]
async fn api_walkthrough() {
    // In a `main`, `plugin::serve(Arc::new(server))` would serve it as a plugin; this test calls it in process.
    let server = Server::new(CounterProvider);
    let config = Value::object_from([("step", Value::int(5))]);
    let said = server.configure(ConfigureRequest { core_version: "1.13.0".into(), config }).await;
    assert!(said.is_empty());

    let schemas = server.schemas().await.expect("has schemas");
    let schema = schemas.managed("counter_counter").expect("has the type");
    let null = Value::null(schema.implied_type().clone());
    let config = Object::new(schema.block().empty_value());
    let config = with(with(config, "name", "c"), "token_wo", "t").value().clone();

    let plan = server
        .plan_resource_change(PlanResourceChangeRequest {
            type_name: "counter_counter".into(),
            prior_state: null.clone(),
            proposed_new_state: proposed_new(schema.block(), &null, &config),
            config: config.clone(),
            prior_private: Private::default(),
            provider_meta: None,
            prior_identity: None,
        })
        .await;
    let planned = plan.planned_state.expect("is planned");
    let plan_of = Object::new(planned.clone());
    assert_eq!(plan_of.int("start").ok().flatten(), Some(0), "the default");
    assert!(plan_of.is_absent("token_wo") && plan_of.is_unknown("value"));

    let applied = server
        .apply_resource_change(ApplyResourceChangeRequest {
            type_name: "counter_counter".into(),
            prior_state: null,
            planned_state: planned,
            config,
            planned_private: plan.planned_private,
            provider_meta: None,
            planned_identity: plan.planned_identity,
        })
        .await;
    let state = Object::new(applied.new_state.expect("there is a state"));
    assert_eq!(state.int("value").ok().flatten(), Some(5));
    assert!(state.is_absent("token_wo"));
    let identity = applied.new_identity.expect("has an identity");

    let target = ImportTarget::Identity(identity);
    let request = ImportResourceStateRequest { type_name: "counter_counter".into(), target };
    let imported = server.import_resource_state(request).await.imported.remove(0);
    let read = server
        .read_resource(ReadResourceRequest {
            type_name: "counter_counter".into(),
            current_state: imported.state,
            private: imported.private,
            provider_meta: None,
            identity: imported.identity,
        })
        .await;
    let state = Object::new(read.new_state.expect("is found"));
    assert_eq!(state.int("value").ok().flatten(), Some(5));
}

fn with(mut object: Object, name: &str, text: &str) -> Object {
    object.set(name, text);
    object
}
