//! Conversion of hover texts.

use tower_lsp_server::ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::{
    position::Lines,
    snapshot::{Snapshot, Target},
    tfvars,
};

pub(crate) fn hover(snapshot: &Snapshot, target: Target, position: Position) -> Option<Hover> {
    let lines = snapshot.lines(target.file);
    let found = ide::hover(snapshot.document(target), lines.offset(position))?;
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

fn card(found: ide::Hover, lines: &Lines) -> Hover {
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: found.markdown };
    Hover { contents: HoverContents::Markup(contents), range: Some(lines.range(found.range)) }
}
