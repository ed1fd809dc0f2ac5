//! A plan as lines of JSON (`plan -json`, `apply -json`).

use addr::{AbsResource, ProviderSource, ResourceInstance};
use db::{Diagnostic, Sources};
use engine::{ChangeCounts, Operation};
use serde_json::{Map, Value as Json, json};
use state::{Action, Importing, Plan, PlanMode, Reason, ResourceChange, State};

use crate::{
    event::json::{Line, diagnostic_line, resource, summary_line},
    json,
};

/// The version of the format.
const UI_VERSION: &str = "1.2";

/// The first line of every stream.
pub fn version_json(timestamp: &str) -> String {
    let version = state::WRITTEN_VERSION;
    Line::new("version", format!("OpenTofu {version}"), timestamp)
        .with("tofu", version.into())
        .with("ui", UI_VERSION.into())
        .finish()
}

/// A line of type `log`, for messages without a type of their own.
pub fn log_json(message: &str, timestamp: &str) -> String {
    Line::new("log", message, timestamp).finish()
}

/// A line without a type, for the messages of commands on the state and on workspaces.
pub fn message_json(message: &str, timestamp: &str) -> String {
    Line::untyped(message, timestamp).finish()
}

/// The line with the address of an instance in the state.
pub fn resource_address_json(address: &ResourceInstance, timestamp: &str) -> String {
    Line::new("resource_address", address.to_string(), timestamp).finish()
}

/// The line about a replacement of a provider in the state.
pub fn replace_provider_json(
    from: &ProviderSource,
    to: &ProviderSource,
    resources: &[AbsResource],
    timestamp: &str,
) -> String {
    let addresses: Vec<String> = resources.iter().map(ToString::to_string).collect();
    let message = format!(
        "OpenTofu will replace provider from {from} to {to} for {} resources",
        addresses.len()
    );
    Line::new("replace_provider", message, timestamp)
        .with("from", from.to_string().into())
        .with("resources", addresses.into())
        .with("to", to.to_string().into())
        .finish()
}

/// The line of a diagnostic.
pub fn diagnostic_json_line(diagnostic: &Diagnostic, timestamp: &str, sources: &Sources) -> String {
    diagnostic_line(diagnostic, timestamp, sources)
}

/// The drift, one line per object. Objects that only moved are listed in refresh-only mode.
pub fn resource_drift_json(plan: &Plan, timestamp: &str) -> Vec<String> {
    let is_shown = |it: &&ResourceChange| {
        it.change.action != Action::NoOp || plan.mode == PlanMode::RefreshOnly
    };
    let lines = plan.drift().filter(is_shown).map(|change| {
        let word = action_word(change);
        Line::new("resource_drift", format!("{}: Drift detected ({word})", change.addr), timestamp)
            .with("change", described(change))
            .finish()
    });
    lines.collect()
}

/// The planned changes, one line per object with an action.
pub fn planned_changes_json(plan: &Plan, timestamp: &str) -> Vec<String> {
    let shown = plan.changes().filter(|it| super::comment::is_shown(it));
    shown.map(|change| planned_change_json(change, timestamp)).collect()
}

/// The planned change of one object.
pub fn planned_change_json(change: &ResourceChange, timestamp: &str) -> String {
    let word = action_word(change);
    Line::new("planned_change", format!("{}: Plan to {word}", change.addr), timestamp)
        .with("change", described(change))
        .finish()
}

/// The counts of a plan.
pub fn change_summary_json(plan: &Plan, timestamp: &str) -> String {
    summary_line(Operation::Plan, &ChangeCounts::of_plan(plan), timestamp)
}

/// The outputs: the planned changes, or the values after an apply if `applied` is set. `None` for a plan without
/// outputs; after an apply the line is always present.
pub fn output_changes_json(
    plan: &Plan,
    applied: Option<&State>,
    timestamp: &str,
) -> Option<String> {
    let outputs: Map<String, Json> = match applied {
        Some(state) => {
            state.outputs.iter().map(|(name, it)| (name.to_string(), of_value(it))).collect()
        }
        None => {
            plan.output_changes.iter().map(|(name, it)| (name.to_string(), of_change(it))).collect()
        }
    };
    if outputs.is_empty() && applied.is_none() {
        return None;
    }
    let line = Line::new("outputs", format!("Outputs: {}", outputs.len()), timestamp);
    Some(line.with("outputs", Json::Object(outputs)).finish())
}

fn of_change(change: &state::OutputChange) -> Json {
    let word = match change.action {
        Action::NoOp => "noop",
        Action::Create => "create",
        Action::Delete => "delete",
        _ => "update",
    };
    json!({"sensitive": change.sensitive, "action": word})
}

fn of_value(output: &state::OutputValue) -> Json {
    json::object([
        ("sensitive", Some(output.sensitive.into())),
        ("type", Some(json::of_type(&output.value.ty()))),
        ("value", if output.sensitive { None } else { json::known(&output.value) }),
    ])
}

fn described(change: &ResourceChange) -> Json {
    let importing = change.change.importing.as_deref().map(|it| match it {
        Importing::Id(id) => json!({"id": id}),
        Importing::Identity(identity) => json!({"identity": json::known(identity)}),
    });
    let previous: Option<&ResourceInstance> =
        change.previous_addr.as_deref().filter(|_| super::comment::is_moved(change));
    json::object([
        ("resource", Some(resource(&change.addr))),
        ("previous_resource", previous.map(resource)),
        ("action", Some(action_word(change).into())),
        ("reason", change.reason.map(|it| reason_word(it).into())),
        ("importing", importing),
        (
            "generated_config",
            Some(change.change.generated_config.as_str())
                .filter(|it| !it.is_empty())
                .map(Json::from),
        ),
    ])
}

fn action_word(change: &ResourceChange) -> &'static str {
    match change.change.action {
        Action::NoOp if super::comment::is_moved(change) => "move",
        Action::NoOp if change.change.importing.is_some() => "import",
        Action::NoOp => "noop",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::Delete => "delete",
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => "replace",
        Action::Forget => "remove",
    }
}

/// The word for a reason; some are shorter than in `show -json`.
fn reason_word(reason: Reason) -> &'static str {
    match reason {
        Reason::ReplaceBecauseTainted => "tainted",
        Reason::ReplaceByRequest => "requested",
        Reason::ReplaceByTriggers => "replace_triggered_by",
        Reason::ReplaceBecauseCannotUpdate => "cannot_update",
        other => other.as_str(),
    }
}
