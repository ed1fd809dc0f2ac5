//! A complete provider written with the SDK: counters that live in memory.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use mayfly_sdk::{
    Call, ConfigureCall, Definition, Diagnostic, Import, Model, Object, Resource, Secret, Server,
    Types,
};
use provider::{
    ApplyResourceChangeRequest, ConfigureRequest, ImportResourceStateRequest, ImportTarget,
    PlanResourceChangeRequest, Private, Provider, ReadResourceRequest, objchange::proposed_new,
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

#[derive(Model)]
struct Config {
    #[attribute(default = 1)]
    step: i64,
}

impl Definition for CounterProvider {
    type Config = Config;
    type Client = Counters;

    fn source(&self) -> &'static str {
        "registry.opentofu.org/example/counter"
    }

    async fn configure(
        &self,
        config: Config,
        _: &mut ConfigureCall,
    ) -> Result<Counters, Diagnostic> {
        Ok(Counters { step: config.step, values: Mutex::default() })
    }

    fn types(&self, types: &mut Types<Counters>) {
        types.resource(CounterType);
    }
}

/// The type `counter_counter`.
struct CounterType;

/// A counter.
#[derive(Model)]
struct Counter {
    #[attribute(requires_replace, identity)]
    name: String,
    #[attribute(default = 0, between(0, 100))]
    start: i64,
    #[attribute(write_only)]
    token_wo: Option<Secret>,
    #[attribute(computed)]
    value: Option<i64>,
}

impl Resource<Counters> for CounterType {
    type Model = Counter;

    fn type_name(&self) -> &'static str {
        "counter_counter"
    }

    async fn create(
        &self,
        client: &Counters,
        planned: Counter,
        call: &mut Call,
    ) -> Result<Counter, Diagnostic> {
        let value = planned.start + client.step;
        client.values().insert(planned.name.clone(), value);
        call.private.set("times", 1);
        Ok(Counter { value: Some(value), ..planned })
    }

    async fn read(
        &self,
        client: &Counters,
        state: Counter,
        _: &mut Call,
    ) -> Result<Option<Counter>, Diagnostic> {
        let value = client.values().get(&state.name).copied();
        Ok(value.map(|it| Counter { value: Some(it), ..state }))
    }

    async fn update(
        &self,
        client: &Counters,
        _: Counter,
        planned: Counter,
        call: &mut Call,
    ) -> Result<Counter, Diagnostic> {
        self.create(client, planned, call).await
    }

    async fn delete(
        &self,
        client: &Counters,
        state: Counter,
        _: &mut Call,
    ) -> Result<(), Diagnostic> {
        client.values().remove(&state.name);
        Ok(())
    }

    async fn import(
        &self,
        client: &Counters,
        target: Import,
        _: &mut Call,
    ) -> Result<Option<Counter>, Diagnostic> {
        let name = target.id_or(Counter::NAME)?.to_string();
        let value = client.values().get(&name).copied();
        Ok(value.map(|it| Counter { name, start: 0, token_wo: None, value: Some(it) }))
    }
}

#[tokio::test]
async fn api_walkthrough() {
    // `mayfly_sdk::main(CounterProvider)` would serve it as a plugin; this test calls it in process.
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
