//! Conversion of folding ranges, selection ranges and links.

use db::ByteRange;
use ide::{FoldKind, LinkTarget};
use tower_lsp_server::ls_types::*;

use crate::{
    documents::uri_of,
    snapshot::{Snapshot, Target},
};

pub(crate) fn folds(snapshot: &Snapshot, target: Target) -> Option<Vec<FoldingRange>> {
    let lines = snapshot.lines(target.file);
    let folds = ide::folding_ranges(snapshot.document(target)).into_iter().filter_map(|fold| {
        let range = lines.range(fold.range);
        // The line with the closing delimiter stays visible.
        let end_line = match fold.kind {
            FoldKind::Block | FoldKind::Value | FoldKind::Heredoc => {
                range.end.line.saturating_sub(1)
            }
            FoldKind::Comment => range.end.line,
        };
        (end_line > range.start.line).then_some(FoldingRange {
            start_line: range.start.line,
            start_character: None,
            end_line,
            end_character: None,
            kind: matches!(fold.kind, FoldKind::Comment).then_some(FoldingRangeKind::Comment),
            collapsed_text: None,
        })
    });
    Some(folds.collect())
}

pub(crate) fn selections(
    snapshot: &Snapshot,
    target: Target,
    positions: &[Position],
) -> Option<Vec<SelectionRange>> {
    let lines = snapshot.lines(target.file);
    let document = snapshot.document(target);
    let selection = |position: &Position| {
        let ranges: Vec<ByteRange> = ide::selection_ranges(document, lines.offset(*position));
        let outer = ranges.into_iter().rev().fold(None, |parent, range| {
            let parent = parent.map(Box::new);
            Some(SelectionRange { range: lines.range(range), parent })
        });
        let here = || SelectionRange { range: Range::new(*position, *position), parent: None };
        outer.unwrap_or_else(here)
    };
    Some(positions.iter().map(selection).collect())
}

pub(crate) fn links(snapshot: &Snapshot, target: Target) -> Option<Vec<DocumentLink>> {
    let lines = snapshot.lines(target.file);
    let links = ide::document_links(snapshot.document(target)).into_iter().filter_map(|link| {
        let uri = match link.target {
            LinkTarget::File(file) => snapshot.uri(file)?,
            LinkTarget::Path(path) => uri_of(&path)?,
            LinkTarget::Url(url) => url.parse().ok()?,
        };
        Some(DocumentLink {
            range: lines.range(link.range),
            target: Some(uri),
            tooltip: None,
            data: None,
        })
    });
    Some(links.collect())
}
