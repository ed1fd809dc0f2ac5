//! Which files make up a module, and reading them.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::Arc,
};

use db::{Db, Diagnostic, Directory, DirectoryEntry, File, System, system::normalize};
use hir::{
    Workspace,
    names::{ItemName, item, module_scope},
    workspace::{is_local_source, local_module_directory},
};

/// What was found while modules were read.
#[derive(Default)]
pub(crate) struct Found {
    /// Every configuration file by the path that it is shown as.
    pub(crate) files: BTreeMap<Arc<str>, File>,
    /// Files that could not be taken, by the directory that they are in.
    pub(crate) problems: BTreeMap<Arc<str>, Vec<Diagnostic>>,
}

/// Reads the module in the directory shown as `shown`; no file at all is no error.
pub(crate) fn directory(
    db: &dyn Db,
    system: &dyn System,
    root: &Path,
    shown: &str,
    found: &mut Found,
) -> io::Result<Directory> {
    let path = normalize(&root.join(shown));
    let mut loaded = Vec::new();
    let entries = system.list_directory(&path)?;
    let shown_as = |name: &str| -> Arc<str> {
        match shown {
            "." => Arc::from(name),
            _ => Arc::from(format!("{shown}/{name}")),
        }
    };
    let mut problems: Vec<Diagnostic> =
        json_files(&entries).map(|name| unsupported_json(&shown_as(name))).collect();
    for name in configuration_files(&entries) {
        let shown_file = shown_as(&name);
        let bytes = match system.read_file(&path.join(&name)) {
            Ok(bytes) => bytes,
            Err(error) => {
                problems.push(unreadable(&shown_file, &error));
                continue;
            }
        };
        let (text, error) = syntax::decode(&bytes);
        let error = error.map(|error| u32::from(error.range.start()));
        let file = db::input::file_from_text(db, shown_file.clone(), &text, error);
        found.files.insert(shown_file, file);
        loaded.push(file);
    }
    // What was wrong when the directory was read before does not count any more.
    found.problems.insert(Arc::from(shown), problems);
    Ok(Directory::new(db, Arc::from(shown), loaded))
}

fn json_files(entries: &[DirectoryEntry]) -> impl Iterator<Item = &str> {
    let names = entries.iter().filter(|entry| !entry.is_directory).map(|entry| entry.name.as_str());
    names
        .filter(|name| name.ends_with(".tf.json") || name.ends_with(".tofu.json"))
        .filter(|name| !is_ignored(name))
}

fn unsupported_json(shown: &str) -> Diagnostic {
    let detail = format!(
        "{shown} is written in the JSON syntax, which this version of Mayfly does not read. Without it the configuration would seem to lack what it \
         declares, so nothing is done. Write the file in the native syntax."
    );
    Diagnostic::error("json-configuration", "JSON syntax is not supported yet", detail)
}

fn unreadable(shown: &str, error: &io::Error) -> Diagnostic {
    let detail = format!("The configuration file {shown} cannot be read: {error}.");
    Diagnostic::error("unreadable-file", "Failed to read file", detail)
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
