//! The comment above an object of a plan: its action and the reason for it.

use std::borrow::Cow;

use addr::{InstanceKey, ResourceInstance, ResourceMode};
use state::{Action, Importing, Reason, ResourceChange};

use crate::style::{Paint, Style, visible_line};

/// The section of a plan in which an object is listed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// The planned changes.
    Proposed,
    /// The drift: changes that were made outside of Mayfly.
    Drift,
}

/// Appends all lines of the comment, each with a newline.
pub(super) fn push_comment(
    text: &mut String,
    change: &ResourceChange,
    section: Section,
    style: &Style,
) {
    style.push(text, Paint::Bold, &["  # ", &headline_address(change)]);
    [" ", &headline(change, section, style), "\n"].iter().for_each(|it| text.push_str(it));
    for note in notes(change) {
        let line = ["  # ", &note.text];
        match note.is_warning {
            true => style.push(text, Paint::Yellow, &line),
            false => line.iter().for_each(|it| text.push_str(it)),
        }
        text.push('\n');
    }
}

/// The address of an object in its headline. An object that only gets another address is listed under the old one.
pub(crate) fn headline_address(change: &ResourceChange) -> String {
    let address = match &change.previous_addr {
        Some(previous) if is_move_only(change) => previous.text(),
        _ => change.addr.text(),
    };
    match change.deposed {
        Some(key) => format!("{address} (deposed object {key})"),
        None => address,
    }
}

/// A line below the headline of an object.
pub(crate) struct Note {
    /// The text, in which nothing needs to be escaped for a terminal.
    pub(crate) text: String,
    /// True if the line warns of a consequence.
    pub(crate) is_warning: bool,
}

impl Note {
    fn plain(text: String) -> Note {
        Note { text, is_warning: false }
    }
}

/// The lines below the headline: the reasons, the previous address and the import.
pub(crate) fn notes(change: &ResourceChange) -> Vec<Note> {
    let mut notes: Vec<Note> = reasons(change).into_iter().map(Note::plain).collect();
    if let Some(previous) =
        change.previous_addr.as_deref().filter(|it| **it != change.addr && !is_move_only(change))
    {
        notes.push(Note::plain(format!("(moved from {previous})")));
    }
    push_import(change, &mut notes);
    notes
}

/// Returns true if the object only gets another address.
pub(super) fn is_move_only(change: &ResourceChange) -> bool {
    change.change.action == Action::NoOp && is_moved(change)
}

/// Returns true if a plan shows the object. A deleted data source is not shown, because nothing is destroyed.
pub(crate) fn is_shown(change: &ResourceChange) -> bool {
    match (change.change.action, change.addr.resource.mode) {
        (_, ResourceMode::Ephemeral) => false,
        (Action::NoOp, _) => change.change.importing.is_some() || is_moved(change),
        (Action::Delete, mode) => mode == ResourceMode::Managed,
        _ => true,
    }
}

pub(super) fn is_moved(change: &ResourceChange) -> bool {
    change.previous_addr.as_deref().is_some_and(|it| *it != change.addr)
}

/// The words after the address: the action on the object.
pub(crate) fn headline(
    change: &ResourceChange,
    section: Section,
    style: &Style,
) -> Cow<'static, str> {
    let is_drift = section == Section::Drift;
    let red = |text: &str| style.paint(Paint::BoldRed, text);
    match change.change.action {
        Action::Create => "will be created".into(),
        Action::Read => "will be read during apply".into(),
        Action::Update if is_drift => "has changed".into(),
        Action::Update => "will be updated in-place".into(),
        Action::DeleteThenCreate | Action::CreateThenDelete => replacement(change, &red).into(),
        Action::Delete if is_drift => "has been deleted".into(),
        Action::Delete => format!("will be {}", red("destroyed")).into(),
        Action::Forget => {
            let because = forgotten_because(change, style);
            let red = red("but will not be destroyed");
            format!("will be removed from the OpenTofu state {red}{because}").into()
        }
        Action::ForgetThenCreate => {
            let replacement = replacement(change, &red);
            let rest = " - older instance will not be destroyed (lifecycle.destroy = false)";
            (replacement + rest).into()
        }
        Action::NoOp if is_moved(change) => {
            format!("has moved to {}", style.paint(Paint::Bold, &change.addr.to_string())).into()
        }
        Action::NoOp if change.change.importing.is_some() => "will be imported".into(),
        Action::NoOp => "is unchanged".into(),
    }
}

/// The reason why an object is forgotten, in the layout of OpenTofu: on the next line, without `#`.
fn forgotten_because(change: &ResourceChange, style: &Style) -> String {
    let end = match change.reason {
        Some(Reason::ForgotBecauseLifecycleDestroyInState) => {
            "was configured before this resource was removed from the configuration"
        }
        Some(Reason::ForgotBecauseLifecycleDestroyInConfig) => "is set in the configuration",
        _ => return String::new(),
    };
    format!(" \n (because {} {end})", style.paint(Paint::Bold, "lifecycle.destroy = false"))
}

fn replacement(change: &ResourceChange, red: &dyn Fn(&str) -> String) -> String {
    match change.reason {
        Some(Reason::ReplaceBecauseTainted) => {
            format!("is tainted, so it must be {}", red("replaced"))
        }
        Some(Reason::ReplaceByRequest) => format!("will be {}, as requested", red("replaced")),
        Some(Reason::ReplaceByTriggers) => {
            format!("will be {} due to changes in replace_triggered_by", red("replaced"))
        }
        _ => format!("must be {}", red("replaced")),
    }
}

/// The lines with the reasons.
fn reasons(change: &ResourceChange) -> Vec<String> {
    let reason = change.reason.and_then(|it| reason(it, change));
    let mut lines: Vec<String> = reason.into_iter().collect();
    let action = change.change.action;
    if change.deposed.is_some()
        && matches!(action, Action::Delete | Action::Forget | Action::ForgetThenCreate)
    {
        lines.push("(left over from a partially-failed replacement of this instance)".to_owned());
    }
    lines
}

fn reason(reason: Reason, change: &ResourceChange) -> Option<String> {
    let word = reason.as_str().split('_').next();
    let action = match change.change.action {
        Action::Read => "read",
        Action::Delete => "delete",
        _ => return None,
    };
    if word != Some(action) {
        return None;
    }
    let text = match reason {
        Reason::ReadBecauseConfigUnknown => "(config refers to values not yet known)".to_owned(),
        Reason::ReadBecauseDependencyPending => {
            "(depends on a resource or a module with changes pending)".to_owned()
        }
        Reason::ReadBecauseCheckNested => {
            "(config will be reloaded to verify a check block)".to_owned()
        }
        Reason::DeleteBecauseNoResourceConfig => {
            format!("(because {} is not in configuration)", local(&change.addr))
        }
        Reason::DeleteBecauseNoMoveTarget => {
            let previous = change.previous_addr.as_deref().unwrap_or(&change.addr);
            format!(
                "(because {previous} was moved to {}, which is not in configuration)",
                change.addr
            )
        }
        Reason::DeleteBecauseNoModule => {
            format!("(because {} is not in configuration)", change.addr.module)
        }
        Reason::DeleteBecauseWrongRepetition => wrong_repetition(&change.addr.key).to_owned(),
        Reason::DeleteBecauseCountIndex => {
            format!("(because index {} is out of range for count)", change.addr.key)
        }
        Reason::DeleteBecauseEachKey => {
            format!("(because key {} is not in for_each map)", change.addr.key)
        }
        Reason::DeleteBecauseEnabledFalse => "(because enabled is false)".to_owned(),
        Reason::ForgotBecauseLifecycleDestroyInState
        | Reason::ForgotBecauseLifecycleDestroyInConfig
        | Reason::ReplaceBecauseTainted
        | Reason::ReplaceByRequest
        | Reason::ReplaceBecauseCannotUpdate
        | Reason::ReplaceByTriggers => return None,
    };
    Some(text)
}

/// The address of the resource within its module.
fn local(address: &ResourceInstance) -> String {
    address.resource.to_string()
}

fn wrong_repetition(key: &InstanceKey) -> &'static str {
    match key {
        InstanceKey::None => "(because resource uses count or for_each)",
        InstanceKey::Int(_) => "(because resource does not use count)",
        InstanceKey::String(_) => "(because resource does not use for_each)",
    }
}

fn push_import(change: &ResourceChange, notes: &mut Vec<Note>) {
    let Some(importing) = change.change.importing.as_deref() else { return };
    let mut push = |line: String| notes.push(Note::plain(line));
    if change.change.action == Action::NoOp && !change.change.generated_config.is_empty() {
        push("(config will be generated)".to_owned());
    }
    match importing {
        Importing::Id(id) => push(format!("(imported from \"{}\")", visible_line(id))),
        Importing::Identity(identity) => {
            let identity = crate::json::known(identity).unwrap_or_default();
            let text = format!("imported using resource identity: {identity:#}");
            text.lines().for_each(|line| push(visible_line(line)));
        }
    }
    if change.change.action.is_replace() {
        let text = "Warning: this will destroy the imported resource".to_owned();
        notes.push(Note { text, is_warning: true });
    }
}
