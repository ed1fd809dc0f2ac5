//! Conversion of hover texts.

use std::path::Path;

use tower_lsp_server::ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::{
    installation::{PlannedCauses, PlannedQuestion},
    position::Lines,
    snapshot::{Snapshot, Target},
    tfvars,
};

pub(crate) fn hover(snapshot: &Snapshot, target: Target, position: Position) -> Option<Hover> {
    let lines = snapshot.lines(target.file);
    let offset = lines.offset(position);
    let mut found = ide::hover(snapshot.document(target), offset)?;
    if let Some(planned) = planned(snapshot, target, offset) {
        found.markdown = format!("{}\n\n---\n\n{planned}", found.markdown);
    }
    Some(card(found, &lines))
}

pub(crate) fn hover_in_variables_file(
    snapshot: &Snapshot,
    path: &str,
    position: Position,
) -> Option<Hover> {
    let (file, lines) = tfvars::variables_file(snapshot, path)?;
    Some(card(file.hover(lines.offset(position))?, &lines))
}

/// The causes of the planned change at an offset, in Markdown.
fn planned(snapshot: &Snapshot, target: Target, offset: u32) -> Option<String> {
    let subject = ide::planned_subject(snapshot.document(target), offset)?;
    let db = &*snapshot.db;
    let root = target.workspace.root(db).path(db);
    let file = target.file.path(db).strip_prefix(&**root)?.trim_start_matches('/');
    let text = db::file_text(db, target.file);
    let question = PlannedQuestion {
        file,
        text: &text,
        block: &subject.block,
        argument: subject.argument.as_deref(),
    };
    Some(planned_text(&snapshot.installation.planned(Path::new(&**root), question)?))
}

fn planned_text(planned: &PlannedCauses) -> String {
    let time: String = planned.made_at.chars().take("2026-01-01T00:00".len()).collect();
    let time = time.replace('T', " ");
    let note = match planned.is_current {
        true => "",
        false => ", before this file was changed",
    };
    let lines = planned.lines.join("\n");
    // A longer fence than any in the text keeps the text from ending the block.
    let longest = lines.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("At the last plan ({time} UTC){note}:\n\n{fence}text\n{lines}\n{fence}")
}

fn card(found: ide::Hover, lines: &Lines) -> Hover {
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: found.markdown };
    Hover { contents: HoverContents::Markup(contents), range: Some(lines.range(found.range)) }
}
