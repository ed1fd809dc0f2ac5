//! Files that are not part of a module: open variables files and test files, and files that the database rejects.
//!
//! **Invariant:** a variables file comes from the editor only. The server never reads one from the disk, because
//! it may hold secrets.

use hir::test_file;
use ide::{Module, VariablesFile};
use sorted::TreeSet;
use tower_lsp_server::ls_types::Diagnostic;

use crate::{
    convert::diagnostic::Converter, documents::is_variables_file, position::Lines,
    snapshot::Snapshot,
};

/// An open variables file with its lines. `None` if the path is not one.
pub(crate) fn variables_file<'s>(
    snapshot: &'s Snapshot,
    path: &'s str,
) -> Option<(VariablesFile<'s>, Lines)> {
    let text = snapshot.documents.get(path)?.text.as_deref().filter(|_| is_variables_file(path))?;
    let lines = Lines::of_text(text.to_owned(), snapshot.encoding);
    Some((VariablesFile { module: module_around(snapshot, path), path, text }, lines))
}

/// The module in the directory of a file, preferably from the configuration whose root module it is.
fn module_around<'s>(snapshot: &'s Snapshot, path: &str) -> Option<Module<'s>> {
    let db = &*snapshot.db;
    let (parent, _) = path.rsplit_once('/')?;
    let modules = snapshot.workspaces.iter().filter_map(|&workspace| {
        let directory = *workspace.directories(db).get(parent)?;
        Some(Module::new(db, workspace, directory))
    });
    let is_root = |module: &Module<'_>| module.workspace.root(db) == module.directory;
    modules.max_by_key(is_root)
}

/// The paths of all files outside of modules that may have diagnostics.
pub(crate) fn paths(snapshot: &Snapshot) -> TreeSet<String> {
    let open = snapshot.documents.iter().filter(|(_, document)| document.text.is_some());
    snapshot.rejected.keys().chain(open.map(|(path, _)| path)).cloned().collect()
}

/// The diagnostics of an open test file. `None` if the path is not one.
fn test_file_problems(snapshot: &Snapshot, path: &str) -> Option<Vec<Diagnostic>> {
    let text = snapshot.documents.get(path)?.text.as_deref().filter(|_| db::is_test_file(path))?;
    let lines = Lines::of_text(text.to_owned(), snapshot.encoding);
    let problems = test_file::read(path, text.as_bytes()).problems;
    Some(Converter::with_lines(snapshot, path, lines).diagnostics(&problems))
}

/// The diagnostics of a file outside of modules.
pub(crate) fn problems(snapshot: &Snapshot, path: &str) -> Vec<Diagnostic> {
    if let Some(rejected) = snapshot.rejected.get(path) {
        return Converter::new(snapshot).diagnostics(rejected);
    }
    if let Some(found) = test_file_problems(snapshot, path) {
        return found;
    }
    let Some((file, lines)) = variables_file(snapshot, path) else { return Vec::new() };
    Converter::with_lines(snapshot, path, lines).diagnostics(&file.problems())
}
