//! Which files make up a module, and reading them.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::Arc,
};

use db::{Db, Directory, DirectoryEntry, File, System, system::normalize};
use hir::{
    Workspace,
    names::{ItemName, item, module_scope},
    workspace::{is_local_source, local_module_directory},
};

/// Reads the module in the directory shown as `shown`; no file at all is no error.
pub(crate) fn directory(
    db: &dyn Db,
    system: &dyn System,
    root: &Path,
    shown: &str,
    files: &mut BTreeMap<Arc<str>, File>,
) -> io::Result<Directory> {
    let path = normalize(&root.join(shown));
    let mut loaded = Vec::new();
    for name in configuration_files(&system.list_directory(&path)?) {
        let shown_file: Arc<str> = match shown {
            "." => Arc::from(name.as_str()),
            _ => Arc::from(format!("{shown}/{name}")),
        };
        let bytes = system.read_file(&path.join(&name))?;
        let (text, error) = syntax::decode(&bytes);
        let error = error.map(|error| u32::from(error.range.start()));
        let file = db::input::file_from_text(db, shown_file.clone(), &text, error);
        files.insert(shown_file, file);
        loaded.push(file);
    }
    Ok(Directory::new(db, Arc::from(shown), loaded))
}

/// The configuration files among a directory's entries, in order. `x.tofu` hides `x.tf` (`reference`: surface 2.1).
fn configuration_files(entries: &[DirectoryEntry]) -> Vec<String> {
    let candidates: Vec<&str> = entries
        .iter()
        .filter(|entry| !entry.is_directory)
        .map(|entry| entry.name.as_str())
        .filter(|name| !is_ignored(name))
        .collect();
    let tofu: BTreeSet<&str> =
        candidates.iter().filter_map(|name| name.strip_suffix(".tofu")).collect();
    let kept = candidates.iter().filter(|name| match name.strip_suffix(".tf") {
        Some(stem) => !tofu.contains(stem),
        None => name.ends_with(".tofu"),
    });
    kept.map(|name| (*name).to_owned()).collect()
}

/// Editors' backup and lock files.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

/// The directories that module calls lead to and that were not read yet.
pub(crate) fn called(db: &dyn Db, workspace: Workspace) -> BTreeSet<Arc<str>> {
    let mut called = BTreeSet::new();
    for directory in workspace.directories(db).values() {
        let caller = directory.path(db);
        for (name, &key) in &module_scope(db, *directory).names {
            let ItemName::Module(call_name) = name else { continue };
            let Some(call) = item(db, key).kind.as_module_call() else { continue };
            let path = match call.source.as_deref() {
                Some(source) if is_local_source(source) => {
                    Some(local_module_directory(caller, source))
                }
                _ => workspace.manifest(db).get(&(caller.clone(), call_name.clone())).cloned(),
            };
            called.extend(path);
        }
    }
    called.retain(|path| !workspace.directories(db).contains_key(path));
    called
}
