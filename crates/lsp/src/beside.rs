//! Files beside those that modules are made of: variables files, which are open in the editor, and files that cannot be taken.
//!
//! **Invariant:** a variables file is what the editor says. On the disk none is read: it may hold secrets.

use std::collections::{BTreeMap, BTreeSet};

use ide::{Module, VariablesFile};
use tower_lsp_server::ls_types::Diagnostic;

use crate::{
    convert::diagnostic::Converter, documents::is_variables_file, position::Lines,
    snapshot::Snapshot,
};

/// Why files cannot be taken, by path.
pub(crate) type Unfit = BTreeMap<String, Vec<db::Diagnostic>>;

/// A variables file that is open, with its lines.
pub(crate) fn variables_file<'s>(
    snapshot: &'s Snapshot,
    path: &'s str,
) -> Option<(VariablesFile<'s>, Lines)> {
    let text = snapshot.documents.get(path)?.text.as_deref().filter(|_| is_variables_file(path))?;
    let lines = Lines::of_text(text.to_owned(), snapshot.encoding);
    Some((VariablesFile { module: module_around(snapshot, path), path, text }, lines))
}

/// The module in the directory of a file, as a root module where it is one.
fn module_around<'s>(snapshot: &'s Snapshot, path: &str) -> Option<Module<'s>> {
    let db = &snapshot.db;
    let (parent, _) = path.rsplit_once('/')?;
    let modules = snapshot.workspaces.iter().filter_map(|&workspace| {
        let directory = *workspace.directories(db).get(parent)?;
        Some(Module { db, workspace, directory })
    });
    let is_root = |module: &Module<'_>| module.workspace.root(db) == module.directory;
    modules.max_by_key(is_root)
}

/// The paths of all that something can be wrong with, or could until somebody mended it.
pub(crate) fn paths(snapshot: &Snapshot) -> BTreeSet<String> {
    let open = snapshot.documents.iter().filter(|(_, document)| document.text.is_some());
    snapshot.unfit.keys().chain(open.map(|(path, _)| path)).cloned().collect()
}

/// What is wrong with a file.
pub(crate) fn problems(snapshot: &Snapshot, path: &str) -> Vec<Diagnostic> {
    if let Some(unfit) = snapshot.unfit.get(path) {
        return Converter::new(snapshot).diagnostics(unfit);
    }
    let Some((file, lines)) = variables_file(snapshot, path) else { return Vec::new() };
    Converter::with_lines(snapshot, path, lines).diagnostics(&file.problems())
}
