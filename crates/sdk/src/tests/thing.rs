//! The provider for the tests.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use provider::{BoxFuture, FunctionFault, FunctionSignature, ImportTarget};
use serde_json::Value as Json;
use values::{Str, Type, Value};

use crate::{
    Change, Closing, DataRead, DataSource, Definition, Diagnostic, Diagnostics, EphemeralResource,
    Existing, Function, MoveSource, Object, Opening, PlanChange, Renewal, Resource, StepResult,
    modify::RequiresReplaceIfConfigured,
    schema::{Attribute, Block, Nesting, ObjectNesting, Schema, nested, number, string, typed},
    validate::{OneOf, WholeBetween},
};

pub(super) struct Things;

/// The configured prefix of names.
pub(super) struct Prefix(String);

impl Definition for Things {
    type Client = Prefix;

    fn name(&self) -> &'static str {
        "test"
    }

    fn schema(&self) -> Schema {
        Schema::new(Block::new().attribute("prefix", string().required()))
    }

    fn configure<'a>(
        &'a self,
        config: &'a Object,
        _: &'a str,
        _: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Prefix, Diagnostic>> {
        Box::pin(async { Ok(Prefix(config.string("prefix").unwrap_or_default().to_string())) })
    }

    fn resources(&self) -> Vec<Box<dyn Resource<Prefix>>> {
        vec![Box::new(Thing)]
    }

    fn data_sources(&self) -> Vec<Box<dyn DataSource<Prefix>>> {
        vec![Box::new(Thing)]
    }

    fn ephemeral_resources(&self) -> Vec<Box<dyn EphemeralResource<Prefix>>> {
        vec![Box::new(Thing)]
    }

    fn functions(&self) -> Vec<Function> {
        let signature = FunctionSignature {
            parameters: vec![],
            variadic: None,
            returns: Type::Number,
            summary: "".into(),
            description: "".into(),
            description_kind: provider::DescriptionKind::Plain,
            deprecation_message: "".into(),
        };
        let call: fn(&[Value]) -> Result<Value, FunctionFault> = |_| Ok(Value::int(42));
        vec![Function { name: "answer", signature, call }]
    }

    /// Offers a function with the name of the prefix, and one that the schema has too.
    fn configured_functions(&self, client: &Prefix) -> BTreeMap<Str, FunctionSignature> {
        let answer = self.functions().remove(0).signature;
        let named = FunctionSignature { returns: Type::String, ..answer.clone() };
        [(client.0.as_str().into(), named), ("answer".into(), answer)].into()
    }

    fn call_configured(
        &self,
        client: &Prefix,
        name: &str,
        _: &[Value],
    ) -> Result<Value, FunctionFault> {
        Ok(Value::string(format!("{name} of {}", client.0)))
    }
}

/// A type with the same name in all three modes.
struct Thing;

/// Names for which a create, an update or a delete fails.
const TROUBLE: [&str; 4] = ["half-made", "unmade", "unknown-left", "stuck"];

impl Resource<Prefix> for Thing {
    fn type_name(&self) -> &'static str {
        "test_thing"
    }

    fn schema(&self) -> Schema {
        let settings: [(&str, Attribute); 3] = [
            ("mode", string().optional().default_value("fast")),
            ("code", string().computed().keeps_state()),
            ("pass_wo", string().optional().write_only()),
        ];
        let rule = Block::new()
            .attribute("name", string().required())
            .attribute("rule_id", string().computed().keeps_state())
            .attribute("pass_wo", string().optional().write_only());
        let label = string().optional().computed().modifier(RequiresReplaceIfConfigured);
        Schema::new(
            Block::new()
                .attribute("id", string().computed().keeps_state())
                .attribute("name", string().required().requires_replace())
                .attribute(
                    "size",
                    number().optional().default_value(1).validator(WholeBetween(1, 9)),
                )
                .attribute("note", string().optional().validator(OneOf(&["a", "b", "loud"])))
                .attribute("old", string().optional().deprecated("Use note."))
                .attribute("label", label)
                .attribute("revision", string().computed())
                .attribute("any", typed(Type::Dynamic).optional())
                .attribute("pass_wo", string().optional().write_only())
                .attribute("key_wo", string().optional().write_only().requires_replace())
                .attribute("settings", nested(ObjectNesting::Single, settings).optional())
                .block("rule", Nesting::List, rule),
        )
        .version(2)
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        if config.string("note").as_deref() == Some("loud") && config.is_absent("label") {
            diagnostics.error_at(config.path_of("label"), "Loud needs a label", "");
        }
    }

    fn plan<'a>(
        &'a self,
        client: &'a Prefix,
        change: &'a mut PlanChange,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            // A careless provider might set this value; the SDK must not pass it on.
            change.planned.set("pass_wo", "from the plan");
            change.private.set("planned_by", client.0.as_str());
            match change.config.string("note").as_deref() {
                Some("b") if change.prior.is_null() => Err(Diagnostic::error("No b at first", "")),
                _ => Ok(()),
            }
        })
    }

    fn create<'a>(
        &'a self,
        client: &'a Prefix,
        change: &'a mut Change,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let name = change.planned.string("name").unwrap_or_default();
            if &*name == "unmade" {
                return Ok(());
            }
            let received = change.config.string("pass_wo").unwrap_or_default();
            let mut state = filled(&change.planned, &format!("{}-{name}", client.0));
            if &*name == "unknown-left" {
                state.set("revision", Value::unknown(Type::String));
            }
            state.set("pass_wo", "from the create");
            change.state = state;
            change.private.set("received", received.len());
            match TROUBLE.contains(&&*name) && &*name != "unknown-left" {
                true => Err(Diagnostic::error("Made only half of it", "")),
                false => Ok(()),
            }
        })
    }

    fn read<'a>(&'a self, _: &'a Prefix, existing: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            existing.state.set("pass_wo", "from the read");
            existing.private.set("reads", 1);
            match existing.state.string("name").as_deref() {
                Some("gone") => existing.gone(),
                Some("unreadable") => return Err(Diagnostic::error("Cannot be read", "")),
                _ => {}
            }
            Ok(())
        })
    }

    fn update<'a>(&'a self, _: &'a Prefix, change: &'a mut Change) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            if change.planned.string("name").as_deref() == Some("stuck") {
                return Err(Diagnostic::error("Cannot be changed", ""));
            }
            change.state = filled(&change.planned, "updated");
            Ok(())
        })
    }

    fn delete<'a>(
        &'a self,
        _: &'a Prefix,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            match existing.state.string("name").as_deref() {
                Some("stuck") => Err(Diagnostic::error("Cannot be deleted", "")),
                _ => Ok(()),
            }
        })
    }

    fn import<'a>(
        &'a self,
        _: &'a Prefix,
        target: &'a ImportTarget,
        existing: &'a mut Existing,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let ImportTarget::Id(id) = target else {
                return Err(Diagnostic::error("Needs an id", ""));
            };
            existing.state.set("id", &**id);
            existing.state.set("pass_wo", "from the import");
            existing.private.set("imported", true);
            Ok(())
        })
    }

    fn upgrade(&self, from: i64, mut state: Json) -> Result<Json, Diagnostic> {
        if from != 1 {
            return Err(Diagnostic::error("Too old", ""));
        }
        if let Some(members) = state.as_object_mut() {
            let name = members.remove("title").unwrap_or_default();
            members.insert("name".to_owned(), name);
        }
        Ok(state)
    }

    fn identity_schema(&self) -> Option<Schema> {
        Some(Schema::new(Block::new().attribute("name", string().required())))
    }

    fn take_over_identity(
        &self,
        source: &MoveSource,
        _: &Json,
    ) -> Result<Option<Json>, Diagnostic> {
        let title = source.identity.as_ref().and_then(|it| it.get("title"));
        let name = title.map(|it| format!("{it} of version {}", source.identity_version));
        Ok(name.map(|name| serde_json::json!({ "name": name })))
    }

    fn take_over(&self, source: &MoveSource, state: &Json) -> Result<Option<Json>, Diagnostic> {
        let name = state.get("title").cloned().unwrap_or_default();
        Ok((&*source.type_name == "test_old")
            .then(|| serde_json::json!({"id": "moved", "name": name})))
    }
}

/// Returns `planned` with every unknown value filled in.
fn filled(planned: &Object, with: &str) -> Object {
    Object::new(planned.value().transform(&mut |_, value| match value.is_known() {
        true => value.clone(),
        false => Value::string(with),
    }))
}

impl DataSource<Prefix> for Thing {
    fn type_name(&self) -> &'static str {
        "test_thing"
    }

    fn schema(&self) -> Schema {
        Schema::new(
            Block::new()
                .attribute("name", string().required())
                .attribute("found", string().computed()),
        )
    }

    fn read<'a>(&'a self, client: &'a Prefix, read: &'a mut DataRead) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let name = read.state.string("name").unwrap_or_default();
            read.state.set("found", format!("{}-{name}", client.0));
            Ok(())
        })
    }
}

impl EphemeralResource<Prefix> for Thing {
    fn type_name(&self) -> &'static str {
        "test_thing"
    }

    fn schema(&self) -> Schema {
        Schema::new(
            Block::new()
                .attribute("name", string().required())
                .attribute("token", string().computed().sensitive()),
        )
    }

    fn open<'a>(&'a self, _: &'a Prefix, opening: &'a mut Opening) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            if opening.result.string("name").as_deref() == Some("endless") {
                opening.stop.requested().await;
                return Err(Diagnostic::error("Stopped", ""));
            }
            opening.result.set("token", "t-1");
            opening.private.set("renewals", 0);
            opening.renew_at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(100));
            Ok(())
        })
    }

    fn renew<'a>(&'a self, _: &'a Prefix, renewal: &'a mut Renewal) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let count = renewal.private.entry("renewals").and_then(Json::as_i64).unwrap_or(-1) + 1;
            renewal.private.set("renewals", count);
            if count > 1 {
                return Err(Diagnostic::error("Renewed too often", ""));
            }
            renewal.renew_at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(200));
            Ok(())
        })
    }

    fn close<'a>(&'a self, _: &'a Prefix, closing: &'a mut Closing) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let renewals =
                closing.private.entry("renewals").map(ToString::to_string).unwrap_or_default();
            closing.diagnostics.push(Diagnostic::warning(format!("closed after {renewals}"), ""));
            Ok(())
        })
    }
}
