//! Conversion of outlines and workspace symbols.

use ide::{Symbol, SymbolKind as Kind};
use tower_lsp_server::ls_types::*;

use crate::{
    position::Lines,
    snapshot::{Snapshot, Target},
};

/// The maximal number of symbols in one answer.
const MAX_FOUND: usize = 200;

pub(crate) fn document_symbols(
    snapshot: &Snapshot,
    target: Target,
) -> Option<DocumentSymbolResponse> {
    let lines = snapshot.lines(target.file);
    let found = ide::document_symbols(snapshot.document(target));
    if snapshot.client.nests_symbols {
        let nested = found.iter().map(|it| nested(it, &lines)).collect();
        return Some(DocumentSymbolResponse::Nested(nested));
    }
    let uri = snapshot.uri(target.file)?;
    let mut all = Vec::new();
    flatten(&found, None, &lines, &uri, &mut all);
    Some(DocumentSymbolResponse::Flat(all))
}

#[expect(deprecated, reason = "the type has a field that nobody sets any more")]
fn nested(symbol: &Symbol, lines: &Lines) -> DocumentSymbol {
    let children: Vec<DocumentSymbol> =
        symbol.children.iter().map(|it| nested(it, lines)).collect();
    DocumentSymbol {
        name: symbol.name.clone(),
        detail: Some(symbol.detail.clone()).filter(|it| !it.is_empty()),
        kind: kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: lines.range(symbol.range),
        selection_range: lines.range(symbol.name_range),
        children: Some(children).filter(|it| !it.is_empty()),
    }
}

#[expect(deprecated, reason = "the type has a field that nobody sets any more")]
fn flatten(
    symbols: &[Symbol],
    container: Option<&str>,
    lines: &Lines,
    uri: &Uri,
    all: &mut Vec<SymbolInformation>,
) {
    for symbol in symbols {
        all.push(SymbolInformation {
            name: symbol.name.clone(),
            kind: kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: Location::new(uri.clone(), lines.range(symbol.range)),
            container_name: container.map(str::to_owned),
        });
        flatten(&symbol.children, Some(&symbol.name), lines, uri, all);
    }
}

pub(crate) fn workspace_symbols(snapshot: &Snapshot, query: &str) -> Vec<WorkspaceSymbol> {
    let mut lines = snapshot.lines_of_files();
    let mut found = Vec::new();
    for &workspace in &snapshot.workspaces {
        found.extend(ide::workspace_symbols(&*snapshot.db, workspace, query, MAX_FOUND));
    }
    // A module may be part of several configurations; the list shows it once.
    let mut seen = rustc_hash::FxHashSet::default();
    found.retain(|it| seen.insert(it.place));
    found.truncate(MAX_FOUND);
    let symbols = found.into_iter().filter_map(|it| {
        Some(WorkspaceSymbol {
            kind: kind(it.kind),
            tags: None,
            container_name: Some(it.module),
            location: OneOf::Left(lines.location(it.place)?),
            name: it.name,
            data: None,
        })
    });
    symbols.collect()
}

fn kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Variable => SymbolKind::VARIABLE,
        Kind::Local => SymbolKind::CONSTANT,
        Kind::Output => SymbolKind::FIELD,
        Kind::Resource => SymbolKind::CLASS,
        Kind::Data => SymbolKind::STRUCT,
        Kind::Ephemeral => SymbolKind::EVENT,
        Kind::Module => SymbolKind::MODULE,
        Kind::Provider => SymbolKind::INTERFACE,
        Kind::Check => SymbolKind::METHOD,
        Kind::Block => SymbolKind::NAMESPACE,
        Kind::Attribute => SymbolKind::PROPERTY,
    }
}
