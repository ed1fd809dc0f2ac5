//! Progress events as text.

use std::time::Duration;

use addr::ResourceInstance;
use engine::{ApplyAction, ChangeCounts, DeferReason, EphemeralAction, Event, ObjectId, Operation};

use crate::style::{Paint, Style, visible_line};

/// The length above which identifiers are cut in the middle in progress lines.
const MAX_ID: usize = 80;

/// The line for an event, with its newline. `None` if the event has no text.
///
/// Diagnostics are not progress lines; [`diagnostics`](crate::diagnostics) shows them at the end. The summary of
/// an apply is a line after an empty line; that of a plan is part of [`plan`](crate::plan()).
pub fn event(event: &Event, style: &Style) -> Option<String> {
    if let Event::Summary { operation, counts } = event {
        return (*operation != Operation::Plan).then(|| {
            format!("\n{}\n", style.paint(Paint::BoldGreen, &summary(*operation, counts)))
        });
    }
    if let Event::ProvisionOutput { address, provisioner, line } = event {
        // As in OpenTofu, a blank line has no prefix.
        let line = line.trim_end();
        if line.is_empty() {
            return Some("\n".to_owned());
        }
        let prefix =
            style.paint(Paint::Bold, &format!("{address} ({}):", visible_line(provisioner)));
        return Some(format!("{prefix} {}\n", visible_line(line)));
    }
    if matches!(event, Event::Stopping) {
        return Some(format!("{}\n", style.paint(Paint::Bold, "Stopping operation...")));
    }
    let (address, text) = message(event)?;
    let text = match event {
        // As in OpenTofu, lines about the end of an operation do not name the key of a deposed object.
        Event::RefreshStart { address, .. }
        | Event::ApplyStart { address, .. }
        | Event::ApplyProgress { address, .. } => format!("{address}: {text}"),
        _ => format!("{address}: {text}"),
    };
    Some(format!("{}\n", style.paint(Paint::Bold, &text)))
}

/// The resource instance of a progress line, and its text.
pub(super) fn message(event: &Event) -> Option<(&ResourceInstance, String)> {
    Some(match event {
        Event::RefreshStart { address, id } => {
            (&address.instance, format!("Refreshing state...{}", suffix(id)))
        }
        Event::ImportStart { address, id } => {
            (address, format!("Importing from ID {:?}...", visible_line(id)))
        }
        Event::ImportComplete { address } => {
            let type_name = &address.resource.type_name;
            (address, format!("Import prepared!\n  Prepared {type_name} for import"))
        }
        Event::ImportPrepare { address, id } => {
            (address, format!("Preparing import...{}", suffix(id)))
        }
        Event::ImportApplyStart { address, id } => (address, format!("Importing...{}", suffix(id))),
        Event::ImportApplyComplete { address, id } => {
            (address, format!("Import complete{}", suffix(id)))
        }
        Event::ApplyStart { address, action, id } => {
            (&address.instance, format!("{}...{}", doing(*action), suffix(id)))
        }
        Event::ApplyProgress { address, action, id, elapsed } => {
            let id = id.as_ref().map(|it| format!("{}, ", shortened(it))).unwrap_or_default();
            let doing = doing(*action).to_lowercase();
            let text = format!("Still {doing}... [{id}{} elapsed]", duration(*elapsed));
            (&address.instance, text)
        }
        Event::ApplyComplete { address, action, id, elapsed } => (
            &address.instance,
            format!("{} complete after {}{}", done(*action), duration(*elapsed), suffix(id)),
        ),
        Event::ProvisionStart { address, provisioner } => {
            (address, format!("Provisioning with '{}'...", visible_line(provisioner)))
        }
        Event::EphemeralStart { address, action } => (address, format!("{}...", handling(*action))),
        Event::EphemeralProgress { address, action, elapsed } => (
            address,
            format!(
                "Still {}... [{} elapsed]",
                handling(*action).to_lowercase(),
                duration(*elapsed)
            ),
        ),
        Event::EphemeralComplete { address, action, elapsed } => {
            (address, format!("{} complete after {}", handling(*action), duration(*elapsed)))
        }
        Event::Deferred { address, reason } => (address, deferred(*reason).to_owned()),
        _ => return None,
    })
}

/// The summary of counts: `Apply complete! Resources: 1 added, 0 changed, 0 destroyed.`
pub fn summary(operation: Operation, counts: &ChangeCounts) -> String {
    let ChangeCounts { import, add, change, destroy, forget } = *counts;
    let some = |n: usize, text: String| if n > 0 { text } else { String::new() };
    match operation {
        Operation::Plan => {
            let imported = some(import, format!("{import} to import, "));
            let forgotten = some(forget, format!(", {forget} to forget"));
            format!(
                "Plan: {imported}{add} to add, {change} to change, {destroy} to destroy{forgotten}."
            )
        }
        Operation::Apply => {
            let imported = some(import, format!("{import} imported, "));
            let forgotten = some(forget, format!(", {forget} forgotten"));
            format!(
                "Apply complete! Resources: {imported}{add} added, {change} changed, {destroy} destroyed{forgotten}."
            )
        }
        Operation::Destroy => {
            let forgotten = some(forget, format!(", {forget} forgotten"));
            format!("Destroy complete! Resources: {destroy} destroyed{forgotten}.")
        }
    }
}

fn doing(action: ApplyAction) -> &'static str {
    match action {
        ApplyAction::Create => "Creating",
        ApplyAction::Update => "Modifying",
        ApplyAction::Delete => "Destroying",
        ApplyAction::Read => "Reading",
    }
}

fn done(action: ApplyAction) -> &'static str {
    match action {
        ApplyAction::Create => "Creation",
        ApplyAction::Update => "Modifications",
        ApplyAction::Delete => "Destruction",
        ApplyAction::Read => "Read",
    }
}

fn handling(action: EphemeralAction) -> &'static str {
    match action {
        EphemeralAction::Open => "Opening",
        EphemeralAction::Renew => "Renewing",
        EphemeralAction::Close => "Closing",
    }
}

fn deferred(reason: DeferReason) -> &'static str {
    match reason {
        DeferReason::ConfigUnknown => "Configuration unknown, deferring...",
        DeferReason::DependencyPending => "Dependencies pending, deferring...",
    }
}

fn suffix(id: &Option<ObjectId>) -> String {
    id.as_ref().map(|it| format!(" [{}={}]", it.key, visible_line(&it.value))).unwrap_or_default()
}

/// The identifier for repeated lines; a long one is cut in the middle.
fn shortened(id: &ObjectId) -> String {
    let text = visible_line(&id.value);
    let length = text.chars().count();
    if length <= MAX_ID {
        return format!("{}={text}", id.key);
    }
    let half = (MAX_ID - 3) / 2;
    let head: String = text.chars().take(half + 1).collect();
    let tail: String = text.chars().skip(length - half).collect();
    format!("{}={head}...{tail}", id.key)
}

/// The duration in whole seconds, in Go's format: `0s`, `1m5s`, `2h0m3s`.
fn duration(elapsed: Duration) -> String {
    let seconds = (elapsed.as_millis() + 500) / 1000;
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    }
}
