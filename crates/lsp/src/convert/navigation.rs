//! Conversion of definitions, references and highlights.

use ide::Role;
use tower_lsp_server::ls_types::*;

use crate::snapshot::{Snapshot, Target};

pub(crate) fn definition(
    snapshot: &Snapshot,
    target: Target,
    position: Position,
) -> Option<GotoDefinitionResponse> {
    let lines = snapshot.lines(target.file);
    let found = ide::definition(snapshot.document(target), lines.offset(position))?;
    let origin = lines.range(found.name.range);
    if !snapshot.client.links_definitions {
        let places = found.declarations.iter().filter_map(|it| snapshot.location(it.name));
        return Some(GotoDefinitionResponse::Array(places.collect()));
    }
    let links = found.declarations.iter().filter_map(|it| {
        let there = snapshot.lines(it.name.file);
        Some(LocationLink {
            origin_selection_range: Some(origin),
            target_uri: snapshot.uri(it.name.file)?,
            target_range: there.range(it.full),
            target_selection_range: there.range(it.name.range),
        })
    });
    Some(GotoDefinitionResponse::Link(links.collect()))
}

pub(crate) fn references(
    snapshot: &Snapshot,
    target: Target,
    position: Position,
    with_declarations: bool,
) -> Option<Vec<Location>> {
    let offset = snapshot.lines(target.file).offset(position);
    let tests: Vec<_> = snapshot.test_documents().collect();
    let found = ide::references_with_tests(snapshot.document(target), offset, &tests)?;
    let wanted = found.iter().filter(|it| with_declarations || it.role != Role::Declaration);
    let mut lines = snapshot.lines_of_files();
    Some(wanted.filter_map(|it| lines.location(it.place)).collect())
}

pub(crate) fn highlights(
    snapshot: &Snapshot,
    target: Target,
    position: Position,
) -> Option<Vec<DocumentHighlight>> {
    let lines = snapshot.lines(target.file);
    let found = ide::document_highlights(snapshot.document(target), lines.offset(position));
    let highlights = found.iter().map(|it| DocumentHighlight {
        range: lines.range(it.place.range),
        kind: Some(match it.role {
            Role::Declaration | Role::Write => DocumentHighlightKind::WRITE,
            Role::Read => DocumentHighlightKind::READ,
        }),
    });
    Some(highlights.collect())
}
