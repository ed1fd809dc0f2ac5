//! Conversion of inlay hints.

use ide::InlayKind;
use tower_lsp_server::ls_types::*;

use crate::snapshot::{Snapshot, Target};

pub(crate) fn inlay_hints(
    snapshot: &Snapshot,
    target: Target,
    range: Range,
) -> Option<Vec<InlayHint>> {
    let lines = snapshot.lines(target.file);
    let found = ide::inlay_hints(snapshot.document(target), lines.bytes(range));
    let shown = snapshot.settings.inlay_hints;
    let wanted = found.into_iter().filter(|hint| match hint.kind {
        InlayKind::Type => shown.types,
        InlayKind::Mark => shown.marks,
        InlayKind::Unknown => shown.unknown,
    });
    let hints = wanted.map(|hint| InlayHint {
        position: lines.position(hint.offset),
        label: InlayHintLabel::String(hint.label),
        kind: matches!(hint.kind, InlayKind::Type).then_some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: hint.tooltip.map(InlayHintTooltip::String),
        padding_left: Some(!matches!(hint.kind, InlayKind::Type)),
        padding_right: None,
        data: None,
    });
    Some(hints.collect())
}
