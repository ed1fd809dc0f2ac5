//! Events as lines of text, reduced to the parts that tests compare.

use std::fmt::Write;

use engine::{ApplyAction, DeferReason, EphemeralAction, Event};

/// Returns one line for each event that a user sees.
pub fn log_of(events: &[Event]) -> String {
    let mut log = String::new();
    for line in events.iter().filter_map(line) {
        let _ = writeln!(log, "{line}");
    }
    log
}

fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::ApplyStart { address, action, .. } => format!("{address}: {}...", doing(*action)),
        Event::ApplyComplete { address, action, .. } => {
            format!("{address}: {} complete", done(*action))
        }
        Event::ApplyErrored { address, action, .. } => {
            format!("{address}: {} failed", done(*action))
        }
        Event::ProvisionStart { address, provisioner } => {
            format!("{address}: Provisioning with '{provisioner}'...")
        }
        Event::ProvisionOutput { address, provisioner, line } => {
            format!("{address} ({provisioner}): {line}")
        }
        Event::ProvisionErrored { address, provisioner } => {
            format!("{address}: '{provisioner}' failed")
        }
        Event::EphemeralStart { address, action } => format!("{address}: {}...", handling(*action)),
        Event::EphemeralComplete { address, action, .. } => {
            format!("{address}: {} complete", handling(*action))
        }
        Event::EphemeralErrored { address, action, .. } => {
            format!("{address}: {} failed", handling(*action))
        }
        Event::Deferred { address, reason: DeferReason::ConfigUnknown } => {
            format!("{address}: Configuration unknown, deferring...")
        }
        Event::Deferred { address, .. } => format!("{address}: deferring..."),
        Event::Summary { operation, counts } => {
            format!(
                "{operation:?}: {} to add, {} to change, {} to destroy",
                counts.add, counts.change, counts.destroy
            )
        }
        _ => return None,
    })
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
