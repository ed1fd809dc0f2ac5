//! Conversion of the call hierarchy of modules.

use ide::{CalledModule, ModuleCalls};
use tower_lsp_server::ls_types::*;

use crate::snapshot::{Snapshot, Target};

pub(crate) fn prepare(
    snapshot: &Snapshot,
    target: Target,
    position: Position,
) -> Option<Vec<CallHierarchyItem>> {
    let offset = snapshot.lines(target.file).offset(position);
    let module = ide::module_at(snapshot.document(target), offset)?;
    Some(vec![item(snapshot, &module)?])
}

pub(crate) fn incoming(
    snapshot: &Snapshot,
    target: Target,
) -> Option<Vec<CallHierarchyIncomingCall>> {
    let found = ide::calling_modules(&*snapshot.db, target.workspace, target.directory);
    let calls = found.iter().filter_map(|it| {
        Some(CallHierarchyIncomingCall {
            from: item(snapshot, &it.module)?,
            from_ranges: ranges(snapshot, it),
        })
    });
    Some(calls.collect())
}

pub(crate) fn outgoing(
    snapshot: &Snapshot,
    target: Target,
) -> Option<Vec<CallHierarchyOutgoingCall>> {
    let found = ide::called_modules(&*snapshot.db, target.workspace, target.directory);
    let calls = found.iter().filter_map(|it| {
        Some(CallHierarchyOutgoingCall {
            to: item(snapshot, &it.module)?,
            from_ranges: ranges(snapshot, it),
        })
    });
    Some(calls.collect())
}

fn ranges(snapshot: &Snapshot, calls: &ModuleCalls) -> Vec<Range> {
    calls.calls.iter().map(|it| snapshot.lines(it.file).range(it.range)).collect()
}

/// The item of a module. Its URI is the file that represents the module, by which later requests find the module
/// again.
fn item(snapshot: &Snapshot, module: &CalledModule) -> Option<CallHierarchyItem> {
    let lines = snapshot.lines(module.place.name.file);
    let name = module.path.rsplit('/').next().unwrap_or_default().to_owned();
    Some(CallHierarchyItem {
        name,
        kind: SymbolKind::MODULE,
        tags: None,
        detail: Some(module.path.clone()),
        uri: snapshot.uri(module.place.name.file)?,
        range: lines.range(module.place.full),
        selection_range: lines.range(module.place.name.range),
        data: None,
    })
}
