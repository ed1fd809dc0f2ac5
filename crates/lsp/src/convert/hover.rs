//! Cards about what the pointer is on.

use tower_lsp_server::ls_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

use crate::snapshot::{Snapshot, Target};

pub(crate) fn hover(snapshot: &Snapshot, target: Target, position: Position) -> Option<Hover> {
    let lines = snapshot.lines(target.file);
    let found = ide::hover(snapshot.document(target), lines.offset(position))?;
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: found.markdown,
        }),
        range: Some(lines.range(found.range)),
    })
}
