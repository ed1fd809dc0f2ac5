//! Conversion of code lenses, which count the references of declarations.

use serde_json::json;
use tower_lsp_server::ls_types::*;

use crate::snapshot::{Snapshot, Target};

/// The command that shows references in a client that does not name one.
const SHOW_REFERENCES: &str = "editor.action.showReferences";

pub(crate) fn code_lenses(snapshot: &Snapshot, target: Target) -> Option<Vec<CodeLens>> {
    if !snapshot.settings.reference_counts {
        return Some(Vec::new());
    }
    let lines = snapshot.lines(target.file);
    let uri = snapshot.uri(target.file)?;
    let lenses = ide::code_lenses(snapshot.document(target)).into_iter().map(|lens| {
        let range = lines.range(lens.name.range);
        let title = match lens.uses {
            0 => "no references".to_owned(),
            1 => "1 reference".to_owned(),
            uses => format!("{uses} references"),
        };
        let command = Command { title, command: String::new(), arguments: None };
        // `resolve` searches the references when the client shows the lens, because the search is expensive.
        let data = json!({ "uri": uri.as_str(), "position": range.start });
        CodeLens { range, command: Some(command), data: Some(data) }
    });
    Some(lenses.collect())
}

/// Adds the command that shows the references of a lens. `None` if the client has no such command.
pub(crate) fn resolve(snapshot: &Snapshot, target: Target, mut lens: CodeLens) -> Option<CodeLens> {
    let position = lens.range.start;
    let places = super::navigation::references(snapshot, target, position, false)?;
    let command = snapshot.client.show_references.as_deref()?;
    let title = lens.command.take().map(|it| it.title).unwrap_or_default();
    let arguments =
        vec![json!(snapshot.uri(target.file)?.as_str()), json!(position), json!(places)];
    let command = if command.is_empty() { SHOW_REFERENCES } else { command };
    lens.command = Some(Command { title, command: command.to_owned(), arguments: Some(arguments) });
    Some(lens)
}
