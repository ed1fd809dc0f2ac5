//! Conversion of code actions and renames.

use std::collections::HashMap;

use ide::{Action, ActionKind, Edit};
use rustc_hash::FxHashSet;
use tower_lsp_server::{
    jsonrpc::{Error, ErrorCode, Result},
    ls_types::*,
};

use crate::{
    convert::diagnostic::Converter,
    outgoing::Outgoing,
    snapshot::{Snapshot, Target},
};

pub(crate) fn code_actions(
    snapshot: &Snapshot,
    target: Target,
    params: &CodeActionParams,
) -> Option<CodeActionResponse> {
    let lines = snapshot.lines(target.file);
    let range = lines.bytes(params.range);
    let document = snapshot.document(target);
    let blocks: FxHashSet<db::Block> = document.blocks_in(range).map(|(block, _)| block).collect();
    let Target { workspace, directory, file } = target;
    let problems =
        hir::diagnostics::of_blocks_of_file(&*snapshot.db, workspace, directory, file, |block| {
            blocks.contains(&block)
        });
    let shown = Converter::new(snapshot).diagnostics(&problems.diagnostics);
    let actions = ide::code_actions(document, range, &problems.diagnostics);
    let wanted = actions.into_iter().filter(|it| {
        params.context.only.as_ref().is_none_or(|only| {
            only.iter().any(|wanted| is_within(kind(it.kind).as_str(), wanted.as_str()))
        })
    });
    let converted = wanted.filter_map(|it| {
        let fixed = it.diagnostic.and_then(|index| shown.get(index)).cloned();
        code_action(snapshot, it, fixed).map(CodeActionOrCommand::CodeAction)
    });
    Some(converted.collect())
}

/// Returns true if a kind equals `wanted` or is a subkind of it, as `quickfix.x` is of `quickfix`.
fn is_within(kind: &str, wanted: &str) -> bool {
    let rest = kind.strip_prefix(wanted);
    wanted.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn code_action(
    snapshot: &Snapshot,
    action: Action,
    fixed: Option<Diagnostic>,
) -> Option<CodeAction> {
    Some(CodeAction {
        edit: Some(workspace_edit(snapshot, &action.edits)?),
        title: action.title,
        kind: Some(kind(action.kind)),
        diagnostics: fixed.map(|it| vec![it]),
        is_preferred: action.is_preferred.then_some(true),
        ..CodeAction::default()
    })
}

fn kind(kind: ActionKind) -> CodeActionKind {
    match kind {
        ActionKind::QuickFix => CodeActionKind::QUICKFIX,
        ActionKind::Extract => CodeActionKind::REFACTOR_EXTRACT,
        ActionKind::Inline => CodeActionKind::REFACTOR_INLINE,
        ActionKind::Rewrite => CodeActionKind::REFACTOR_REWRITE,
    }
}

/// The workspace edit for edits in any files. `None` if one of the files has no URI, because a partial change
/// would be harmful.
fn workspace_edit(snapshot: &Snapshot, edits: &[Edit]) -> Option<WorkspaceEdit> {
    let mut files = Vec::new();
    for edit in edits {
        match files.iter_mut().find(|(file, _)| *file == edit.place.file) {
            Some((_, of_file)) => of_file,
            None => {
                files.push((edit.place.file, Vec::new()));
                &mut files.last_mut()?.1
            }
        }
        .push(edit);
    }
    let mut changes = Vec::new();
    for (file, edits) in files {
        let lines = snapshot.lines(file);
        let text_edits = edits.into_iter().map(|edit| TextEdit {
            range: lines.range(edit.place.range),
            new_text: edit.text.clone(),
        });
        changes.push((file, snapshot.uri(file)?, text_edits.collect::<Vec<TextEdit>>()));
    }
    if !snapshot.client.versioned_edits {
        let changes: HashMap<Uri, Vec<TextEdit>> =
            changes.into_iter().map(|(_, uri, edits)| (uri, edits)).collect();
        return Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() });
    }
    let documents = changes.into_iter().map(|(file, uri, edits)| TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier {
            uri,
            version: snapshot.version(file),
        },
        edits: edits.into_iter().map(OneOf::Left).collect(),
    });
    Some(WorkspaceEdit {
        document_changes: Some(DocumentChanges::Edits(documents.collect())),
        ..WorkspaceEdit::default()
    })
}

pub(crate) fn prepare_rename(
    snapshot: &Snapshot,
    target: Target,
    position: Position,
) -> Result<PrepareRenameResponse> {
    let lines = snapshot.lines(target.file);
    let found = ide::prepare_rename(snapshot.document(target), lines.offset(position));
    let found = found.map_err(|refusal| refused(&refusal.0))?;
    Ok(PrepareRenameResponse::RangeWithPlaceholder {
        range: lines.range(found.range),
        placeholder: found.name,
    })
}

pub(crate) fn rename(
    snapshot: &Snapshot,
    target: Target,
    position: Position,
    new_name: &str,
) -> Result<Option<WorkspaceEdit>> {
    let offset = snapshot.lines(target.file).offset(position);
    let renamed = ide::rename(snapshot.document(target), offset, new_name);
    let renamed = renamed.map_err(|refusal| refused(&refusal.0))?;
    for note in renamed.notes {
        snapshot.send(Outgoing::Message(MessageType::INFO, note));
    }
    Ok(workspace_edit(snapshot, &renamed.edits))
}

/// The error for a refused rename, which the client shows to the user.
fn refused(why: &str) -> Error {
    Error { code: ErrorCode::ServerError(-32803), message: why.to_owned().into(), data: None }
}
