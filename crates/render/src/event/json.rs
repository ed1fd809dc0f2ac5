//! Progress events as lines of JSON (`-json`).

use std::time::Duration;

use addr::{InstanceKey, ResourceInstance};
use db::{Diagnostic, Severity, Sources};
use engine::{ApplyAction, ChangeCounts, EphemeralAction, Event, ObjectId, Operation};
use serde_json::{Map, Value as Json, json};
use state::ObjectAddress;

use crate::{diagnostic::json::diagnostic_json, event::human, json};

/// A line in construction. Its fields are written in alphabetical order, as OpenTofu does.
pub(crate) struct Line {
    fields: Map<String, Json>,
    /// The type. Empty for a message without one.
    kind: &'static str,
}

impl Line {
    pub(crate) fn untyped(message: impl Into<String>, timestamp: &str) -> Line {
        Line::new("", message, timestamp)
    }

    pub(crate) fn new(kind: &'static str, message: impl Into<String>, timestamp: &str) -> Line {
        Line::at_level("info", kind, message, timestamp)
    }

    pub(crate) fn at_level(
        level: &str,
        kind: &'static str,
        message: impl Into<String>,
        timestamp: &str,
    ) -> Line {
        let mut fields = Map::new();
        fields.insert("@level".into(), level.into());
        fields.insert("@message".into(), message.into().into());
        fields.insert("@module".into(), "tofu.ui".into());
        fields.insert("@timestamp".into(), timestamp.into());
        Line { fields, kind }
    }

    /// Adds a field.
    pub(crate) fn with(mut self, name: &str, value: Json) -> Line {
        self.fields.insert(name.into(), value);
        self
    }

    pub(crate) fn finish(mut self) -> String {
        if !self.kind.is_empty() {
            self.fields.insert("type".into(), self.kind.into());
        }
        self.fields.sort_keys();
        json::compact(&Json::Object(self.fields))
    }
}

/// The lines for an event; empty if the event has no JSON form.
pub fn event_json(event: &Event, timestamp: &str, sources: &Sources) -> Vec<String> {
    if let Event::Diagnostic(it) = event {
        return if it.severity() == Severity::Hint {
            Vec::new()
        } else {
            vec![diagnostic_line(it, timestamp, sources)]
        };
    }
    if let Event::Summary { operation, counts } = event {
        return vec![summary_line(*operation, counts, timestamp)];
    }
    line(event, timestamp).map(Line::finish).into_iter().collect()
}

pub(crate) fn diagnostic_line(
    diagnostic: &Diagnostic,
    timestamp: &str,
    sources: &Sources,
) -> String {
    diagnostic_line_of(diagnostic, timestamp, sources).finish()
}

/// The line of a diagnostic, to which fields can be added.
pub(crate) fn diagnostic_line_of(
    diagnostic: &Diagnostic,
    timestamp: &str,
    sources: &Sources,
) -> Line {
    let (level, word) = match diagnostic.severity() {
        Severity::Error => ("error", "Error"),
        Severity::Warning | Severity::Hint => ("warn", "Warning"),
    };
    Line::at_level(level, "diagnostic", format!("{word}: {}", diagnostic.summary), timestamp)
        .with("diagnostic", diagnostic_json(diagnostic, sources))
}

pub(crate) fn summary_line(operation: Operation, counts: &ChangeCounts, timestamp: &str) -> String {
    let word = match operation {
        Operation::Plan => "plan",
        Operation::Apply => "apply",
        Operation::Destroy => "destroy",
    };
    let changes = json!({
        "add": counts.add,
        "change": counts.change,
        "import": counts.import,
        "remove": counts.destroy,
        "forget": counts.forget,
        "operation": word,
    });
    Line::new("change_summary", human::summary(operation, counts), timestamp)
        .with("changes", changes)
        .finish()
}

fn line(event: &Event, timestamp: &str) -> Option<Line> {
    let new = |kind, message: String, hook: Json| {
        Some(Line::new(kind, message, timestamp).with("hook", hook))
    };
    // As in OpenTofu, lines of JSON name the instance and not the key of a deposed object.
    let message = || {
        let message = human::message(event).map(|(address, text)| format!("{address}: {text}"));
        message.unwrap_or_default()
    };
    match event {
        Event::RefreshStart { address, id } => {
            new("refresh_start", message(), hook(address, id, []))
        }
        Event::RefreshComplete { address, id } => {
            let id_text = id.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
            new(
                "refresh_complete",
                format!("{}: Refresh complete{id_text}", address.instance),
                hook(address, id, []),
            )
        }
        Event::ApplyStart { address, action, id } => {
            new("apply_start", message(), hook(address, id, [operation(*action)]))
        }
        Event::ApplyProgress { address, action, elapsed, .. } => new(
            "apply_progress",
            message(),
            hook(address, &None, [operation(*action), seconds(*elapsed)]),
        ),
        Event::ApplyComplete { address, action, id, elapsed } => new(
            "apply_complete",
            message(),
            hook(address, id, [operation(*action), seconds(*elapsed)]),
        ),
        // For a failed read, OpenTofu prints only the error.
        Event::ApplyErrored { action: ApplyAction::Read, .. } => None,
        Event::ApplyErrored { address, action, elapsed } => {
            let (instance, noun) = (&address.instance, noun(*action));
            let text = format!("{instance}: {noun} errored after {}s", rounded(*elapsed));
            new(
                "apply_errored",
                text,
                hook(address, &None, [operation(*action), seconds(*elapsed)]),
            )
        }
        Event::Stopping => Some(Line::new("log", "Stopping operation...", timestamp)),
        Event::ProviderStarted { .. }
        | Event::ProviderEnded { .. }
        | Event::PluginLog { .. }
        | Event::Planned { .. }
        | Event::Diagnostic(_)
        | Event::Summary { .. } => None,
        _ => provision_line(event, timestamp).or_else(|| ephemeral_line(event, timestamp)),
    }
}

fn provision_line(event: &Event, timestamp: &str) -> Option<Line> {
    let (kind, address, provisioner, text) = match event {
        Event::ProvisionStart { address, provisioner } => (
            "provision_start",
            address,
            provisioner,
            format!("{address}: Provisioning with '{provisioner}'..."),
        ),
        // As in OpenTofu, a blank line is not reported.
        Event::ProvisionOutput { line, .. } if line.trim_end().is_empty() => return None,
        Event::ProvisionOutput { address, provisioner, line } => (
            "provision_progress",
            address,
            provisioner,
            format!("{address}: ({provisioner}): {}", line.trim_end()),
        ),
        Event::ProvisionComplete { address, provisioner } => (
            "provision_complete",
            address,
            provisioner,
            format!("{address}: ({provisioner}) Provisioning complete"),
        ),
        Event::ProvisionErrored { address, provisioner } => (
            "provision_errored",
            address,
            provisioner,
            format!("{address}: ({provisioner}) Provisioning errored"),
        ),
        _ => return None,
    };
    let mut hook = json!({"resource": resource(address), "provisioner": provisioner});
    if let (Event::ProvisionOutput { line, .. }, Some(fields)) = (event, hook.as_object_mut()) {
        fields.insert("output".to_owned(), line.trim_end().into());
    }
    Some(Line::new(kind, text, timestamp).with("hook", hook))
}

/// The line of an ephemeral resource's event. OpenTofu names the action in the field `Msg`. It has no lines for
/// failures and deferrals; those are Mayfly's.
fn ephemeral_line(event: &Event, timestamp: &str) -> Option<Line> {
    let (kind, address) = match event {
        Event::EphemeralStart { address, .. } => ("ephemeral_action_started", address),
        Event::EphemeralProgress { address, .. } => ("ephemeral_action_progress", address),
        Event::EphemeralComplete { address, .. } => ("ephemeral_action_complete", address),
        Event::EphemeralErrored { address, .. } => ("ephemeral_action_errored", address),
        Event::Deferred { address, .. } => ("ephemeral_action_deferred", address),
        _ => return None,
    };
    let text = match event {
        Event::EphemeralErrored { action, elapsed, .. } => {
            format!("{} errored after {}s", word(*action), rounded(*elapsed))
        }
        // OpenTofu's text, which has no elapsed time.
        Event::EphemeralComplete { action, .. } => format!("{} complete", word(*action)),
        _ => human::message(event)?.1,
    };
    let hook = json!({"Msg": text, "resource": resource(address)});
    Some(Line::new(kind, format!("{address}: {text}"), timestamp).with("hook", hook))
}

fn hook<const N: usize>(
    address: &ObjectAddress,
    id: &Option<ObjectId>,
    more: [(&str, Json); N],
) -> Json {
    let mut fields = Map::new();
    fields.insert("resource".into(), resource(&address.instance));
    let (elapsed, action): (Vec<_>, Vec<_>) =
        more.into_iter().partition(|(name, _)| *name == "elapsed_seconds");
    fields.extend(action.into_iter().map(|(name, it)| (name.to_owned(), it)));
    if let Some(id) = id {
        fields.insert("id_key".into(), id.key.as_str().into());
        fields.insert("id_value".into(), id.value.as_str().into());
    }
    fields.extend(elapsed.into_iter().map(|(name, it)| (name.to_owned(), it)));
    Json::Object(fields)
}

/// The parts of an address.
pub(crate) fn resource(address: &ResourceInstance) -> Json {
    let local = ResourceInstance { module: addr::ModuleInstance::root(), ..address.clone() };
    json!({
        "addr": address.to_string(),
        "module": address.module.to_string(),
        "resource": local.to_string(),
        "implied_provider": address.resource.implied_provider(),
        "resource_type": address.resource.type_name.as_str(),
        "resource_name": address.resource.name.as_str(),
        "resource_key": key(&address.key).unwrap_or(Json::Null),
    })
}

fn key(key: &InstanceKey) -> Option<Json> {
    match key {
        InstanceKey::None => None,
        InstanceKey::Int(index) => Some((*index).into()),
        InstanceKey::String(text) => Some(text.as_str().into()),
    }
}

fn operation(action: ApplyAction) -> (&'static str, Json) {
    let word = match action {
        ApplyAction::Create => "create",
        ApplyAction::Update => "update",
        ApplyAction::Delete => "delete",
        ApplyAction::Read => "read",
    };
    ("action", word.into())
}

fn noun(action: ApplyAction) -> &'static str {
    match action {
        ApplyAction::Create => "Creation",
        ApplyAction::Update => "Modifications",
        ApplyAction::Delete => "Destruction",
        ApplyAction::Read => "Read",
    }
}

fn word(action: EphemeralAction) -> &'static str {
    match action {
        EphemeralAction::Open => "Open",
        EphemeralAction::Renew => "Renew",
        EphemeralAction::Close => "Close",
    }
}

fn seconds(elapsed: Duration) -> (&'static str, Json) {
    ("elapsed_seconds", rounded(elapsed).into())
}

fn rounded(elapsed: Duration) -> u64 {
    (elapsed.as_secs_f64() + 0.5) as u64
}
