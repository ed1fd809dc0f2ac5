//! The provider for the tests.

use std::time::{Duration, SystemTime};

use serde_json::Value as Json;
use values::{Type, Value};

use crate::{
    Call, ConfigureCall, DataCall, DataSource, Definition, Diagnostic, Diagnostics, EphemeralCall,
    EphemeralResource, Function, FunctionError, Import, MaybeUnknown, Model, Move, MoveSource,
    Object, PlanChange, Resource, Secret, Types, Upgrade, modify::RequiresReplaceIfConfigured,
};

pub(super) struct Things;

#[derive(Model)]
pub(super) struct Config {
    prefix: String,
}

impl Definition for Things {
    type Config = Config;
    type Client = Config;

    fn source(&self) -> &'static str {
        "test"
    }

    async fn configure(&self, config: Config, _: &mut ConfigureCall) -> Result<Config, Diagnostic> {
        Ok(config)
    }

    fn types(&self, types: &mut Types<Config>) {
        types.resource(Thing).data_source(Thing).ephemeral_resource(Thing).function(answer());
    }

    /// Offers a function with the name of the prefix, and one that the schema has too.
    fn configured_functions(&self, client: &Config) -> Vec<Function> {
        let prefix = client.prefix.clone();
        let named = move || Ok::<_, FunctionError>(format!("{prefix} of {prefix}"));
        vec![Function::new(client.prefix.as_str(), named), Function::new("answer", || Ok(0_i64))]
    }
}

fn answer() -> Function {
    Function::new("answer", || Ok(42_i64))
}

/// A type with the same name in all three modes.
struct Thing;

#[derive(Model)]
#[model(version = 2, validate = loud_needs_a_label)]
struct Managed {
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    #[attribute(requires_replace, identity)]
    name: String,
    #[attribute(default = 1, between(1, 9))]
    size: i64,
    #[attribute(one_of("a", "b", "loud"))]
    note: Option<String>,
    #[attribute(deprecated = "Use note.")]
    old: Option<String>,
    #[attribute(optional, computed, modify = RequiresReplaceIfConfigured)]
    label: Option<String>,
    #[attribute(computed)]
    revision: MaybeUnknown<Option<String>>,
    any: Value,
    #[attribute(write_only)]
    pass_wo: Option<Secret>,
    #[attribute(write_only, requires_replace)]
    key_wo: Option<String>,
    settings: Option<Settings>,
    #[block]
    rule: Vec<Rule>,
}

#[derive(Model)]
struct Settings {
    #[attribute(default = "fast")]
    mode: String,
    #[attribute(computed, keeps_state)]
    code: Option<String>,
    #[attribute(write_only)]
    pass_wo: Option<String>,
}

#[derive(Model)]
struct Rule {
    name: String,
    #[attribute(computed, keeps_state)]
    rule_id: Option<String>,
    #[attribute(write_only)]
    pass_wo: Option<String>,
}

fn loud_needs_a_label(config: &Object, diagnostics: &mut Diagnostics) {
    if config.string(Managed::NOTE).as_deref() == Some("loud") && config.is_absent(Managed::LABEL) {
        diagnostics.error_at(config.path_of(Managed::LABEL), "Loud needs a label", "");
    }
}

impl Resource<Config> for Thing {
    type Model = Managed;

    fn type_name(&self) -> &'static str {
        "test_thing"
    }

    async fn plan(&self, client: &Config, change: &mut PlanChange) -> Result<(), Diagnostic> {
        // A careless provider might set this value; the SDK must not pass it on.
        change.planned.set(Managed::PASS_WO, "from the plan");
        change.private.set("planned_by", client.prefix.as_str());
        if change.config.string(Managed::NOTE).as_deref() == Some("drifted") {
            change.expect_changes();
        }
        match change.config.string(Managed::NOTE).as_deref() {
            Some("b") if change.is_creation() => Err(Diagnostic::error("No b at first", "")),
            _ => Ok(()),
        }
    }

    async fn create(
        &self,
        client: &Config,
        planned: Managed,
        call: &mut Call,
    ) -> Result<Managed, Diagnostic> {
        let name = planned.name.clone();
        let received = planned.pass_wo.as_ref().map_or(0, |it| it.reveal().len());
        call.private.set("received", received);
        if name == "unmade" {
            return Err(Diagnostic::error("Made nothing of it", ""));
        }
        let mut state = filled(planned, &format!("{}-{name}", client.prefix));
        state.pass_wo = Some(Secret::new("from the create"));
        match name.as_str() {
            "unknown-left" => state.revision = MaybeUnknown::Unknown,
            "half-made" | "stuck" => {
                call.keep(&state);
                return Err(Diagnostic::error("Made only half of it", ""));
            }
            _ => {}
        }
        Ok(state)
    }

    async fn read(
        &self,
        _: &Config,
        mut state: Managed,
        call: &mut Call,
    ) -> Result<Option<Managed>, Diagnostic> {
        state.pass_wo = Some(Secret::new("from the read"));
        call.private.set("reads", 1);
        match state.name.as_str() {
            "gone" => Ok(None),
            "unreadable" => Err(Diagnostic::error("Cannot be read", "")),
            _ => Ok(Some(state)),
        }
    }

    async fn update(
        &self,
        _: &Config,
        _: Managed,
        planned: Managed,
        _: &mut Call,
    ) -> Result<Managed, Diagnostic> {
        match planned.name.as_str() {
            "stuck" => Err(Diagnostic::error("Cannot be changed", "")),
            _ => Ok(filled(planned, "updated")),
        }
    }

    async fn delete(&self, _: &Config, state: Managed, _: &mut Call) -> Result<(), Diagnostic> {
        match state.name.as_str() {
            "stuck" => Err(Diagnostic::error("Cannot be deleted", "")),
            _ => Ok(()),
        }
    }

    async fn import(
        &self,
        _: &Config,
        target: Import,
        call: &mut Call,
    ) -> Result<Option<Managed>, Diagnostic> {
        let id = target.id_or(Managed::NAME)?;
        if &*id == "missing" {
            return Ok(None);
        }
        call.private.set("imported", true);
        let imported = Managed {
            id: Some(id.to_string()),
            name: id.to_string(),
            size: 1,
            note: None,
            old: None,
            label: None,
            revision: MaybeUnknown::Known(None),
            any: Value::null(Type::Dynamic),
            pass_wo: Some(Secret::new("from the import")),
            key_wo: None,
            settings: None,
            rule: Vec::new(),
        };
        Ok(Some(imported))
    }

    fn upgrades(&self) -> Vec<Upgrade> {
        let renamed = |mut state: Json| {
            if let Some(members) = state.as_object_mut() {
                let name = members.remove("title").unwrap_or_default();
                members.insert("name".to_owned(), name);
            }
            Ok(state)
        };
        vec![Upgrade::from_json(1, renamed)]
    }

    fn moves(&self) -> Vec<Move> {
        let moved = |_: &MoveSource, state: &Json| {
            let name = state.get("title").cloned().unwrap_or_default();
            Ok(serde_json::json!({"id": "moved", "name": name}))
        };
        vec![Move::from_json("test_old", moved)]
    }
}

/// Returns `planned` with every unknown value filled in.
fn filled(mut planned: Managed, with: &str) -> Managed {
    let text = || Some(with.to_owned());
    planned.id = planned.id.or_else(text);
    planned.label = planned.label.or_else(text);
    planned.revision = MaybeUnknown::Known(text());
    if let Some(settings) = &mut planned.settings {
        settings.code = settings.code.take().or_else(text);
    }
    for rule in &mut planned.rule {
        rule.rule_id = rule.rule_id.take().or_else(text);
    }
    planned
}

#[derive(Model)]
struct Found {
    name: String,
    #[attribute(computed)]
    found: Option<String>,
}

impl DataSource<Config> for Thing {
    type Model = Found;

    fn type_name(&self) -> &'static str {
        "test_thing"
    }

    async fn read(
        &self,
        client: &Config,
        mut config: Found,
        _: &mut DataCall,
    ) -> Result<Found, Diagnostic> {
        config.found = Some(format!("{}-{}", client.prefix, config.name));
        Ok(config)
    }
}

#[derive(Model)]
struct Token {
    name: String,
    #[attribute(computed)]
    token: Option<Secret>,
}

impl EphemeralResource<Config> for Thing {
    type Model = Token;

    fn type_name(&self) -> &'static str {
        "test_thing"
    }

    async fn open(
        &self,
        _: &Config,
        mut config: Token,
        call: &mut EphemeralCall,
    ) -> Result<Token, Diagnostic> {
        if config.name == "endless" {
            call.stop.requested().await;
            return Err(Diagnostic::error("Stopped", ""));
        }
        config.token = Some(Secret::new("t-1"));
        call.private.set("renewals", 0);
        call.renew_at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(100));
        Ok(config)
    }

    async fn renew(&self, _: &Config, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let count = call.private.entry("renewals").and_then(Json::as_i64).unwrap_or(-1) + 1;
        call.private.set("renewals", count);
        if count > 1 {
            return Err(Diagnostic::error("Renewed too often", ""));
        }
        call.renew_at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(200));
        Ok(())
    }

    async fn close(&self, _: &Config, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let renewals = call.private.entry("renewals").map(ToString::to_string).unwrap_or_default();
        call.diagnostics.push(Diagnostic::warning(format!("closed after {renewals}"), ""));
        Ok(())
    }
}
