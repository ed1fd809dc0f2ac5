//! Workspaces as text and as JSON lines.

use serde_json::json;

use crate::{
    event::json::Line,
    style::{Paint, Style},
};

/// The text after a workspace was created, with its name in quotes.
pub fn workspace_created(name: &str, style: &Style) -> String {
    let first =
        style.paint(Paint::BoldGreen, &format!("Created and switched to workspace {name:?}!"));
    let rest = style.paint(
        Paint::Green,
        "You're now on a new, empty workspace. Workspaces isolate their state,\nso if you run \
         \"mayfly plan\" Mayfly will not see any existing state\nfor this configuration.",
    );
    format!("{first}\n\n{rest}")
}

/// A result in green.
pub fn workspace_result(text: &str, style: &Style) -> String {
    style.paint(Paint::Green, text)
}

/// The list of workspaces. An asterisk marks the selected one.
pub fn workspaces(names: &[String], selected: &str) -> String {
    let lines = names.iter().map(|name| {
        let mark = if name == selected { '*' } else { ' ' };
        format!("{mark} {name}\n")
    });
    lines.collect()
}

/// The line with the list of workspaces.
pub fn workspaces_json(names: &[String], selected: &str, timestamp: &str) -> String {
    Line::new("workspace_list", "list of workspaces", timestamp)
        .with("current_workspace", selected.into())
        .with("workspaces", json!(names))
        .finish()
}
