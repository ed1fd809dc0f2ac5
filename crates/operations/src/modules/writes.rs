//! Detects modules that write into their own directories.

use std::path::{Path, PathBuf};

use db::{Diagnostic, Summary};
use hir::{ModulePath, Program};
use packages::{Snapshot, module_package_below};
use sorted::TreeMap;

use super::{MAX_PATHS, verify::listed};
use crate::session::Session;

/// Snapshots of the directories of called modules from before a run. The root module is left out, because the user
/// may write there.
pub struct ModuleDirectories {
    /// The directory of the root module.
    root: PathBuf,
    before: Vec<DirectorySnapshot>,
}

struct DirectorySnapshot {
    directory: PathBuf,
    is_package: bool,
    before: Snapshot,
}

fn snapshot(directory: &Path, is_package: bool) -> Option<Snapshot> {
    match is_package {
        true => Snapshot::of_package(directory).ok(),
        false => Snapshot::of_directory(directory).ok(),
    }
}

impl ModuleDirectories {
    /// Takes the snapshots. A directory that cannot be read, or has too many files, is skipped.
    pub fn of(session: &Session, program: &Program) -> ModuleDirectories {
        let (modules, root) = (session.modules_dir(), session.at("."));
        let called = program.modules[1..].iter().map(|it| Path::new(&*it.dir));
        let mut directories: Vec<(PathBuf, bool)> = called
            .map(|it| match module_package_below(&modules, it) {
                Some(package) => (package, true),
                None => (it.to_owned(), false),
            })
            .filter(|(it, _)| !is_above_root(&root, it))
            .collect();
        sorted::sort(&mut directories);
        // A directory inside of another one is part of that one's snapshot.
        directories.dedup_by(|(next, _), (kept, _)| next.starts_with(&*kept));
        let snapshots = directories.into_iter().filter_map(|(directory, is_package)| {
            let before = snapshot(&root.join(&directory), is_package)?;
            Some(DirectorySnapshot { directory, is_package, before })
        });
        let before = snapshots.collect();
        ModuleDirectories { root, before }
    }

    /// Returns a warning if files in the directories changed since the snapshot.
    pub fn changes(&self, program: &Program) -> Option<Diagnostic> {
        let changed = self.before.iter().flat_map(|it| {
            let now = snapshot(&self.root.join(&it.directory), it.is_package);
            let names = now.map(|now| it.before.changes(&now)).unwrap_or_default();
            names.into_iter().map(|name| it.directory.join(name))
        });
        let changed: Vec<PathBuf> = changed.collect();
        (!changed.is_empty()).then(|| written(program, &changed))
    }
}

/// Returns true if a directory contains the root module. Changes are allowed there.
fn is_above_root(root: &Path, directory: &Path) -> bool {
    directory.components().all(|it| matches!(it, std::path::Component::ParentDir))
        || std::fs::canonicalize(root.join(directory)).is_ok_and(|directory| {
            std::fs::canonicalize(root).is_ok_and(|root| root.starts_with(directory))
        })
}

fn written(program: &Program, files: &[PathBuf]) -> Diagnostic {
    let paths: Vec<ModulePath<'_>> =
        program.module_paths().take(MAX_PATHS).filter(|it| !it.key.is_empty()).collect();
    let mut of_modules: TreeMap<String, Vec<String>> = TreeMap::new();
    for file in files {
        // The deepest module directory that contains the file. If several calls lead to it, the first one.
        let above = paths.iter().rev().filter(|it| file.starts_with(&*it.module.dir));
        let module = above.max_by_key(|it| it.module.dir.len());
        let module = module.map_or_else(
            || "a module".to_owned(),
            |it| format!("module.{}", it.key.replace('.', ".module.")),
        );
        of_modules.entry(module).or_default().push(file.display().to_string());
    }
    let lines: Vec<String> = of_modules
        .iter()
        .map(|(module, files)| format!("  - in the directory of {module}: {}", listed(files)))
        .collect();
    let detail = format!(
        "These files changed during the run:\n{}\n\nAll instances and calls of a module share its \
         directory, so they overwrite each other's files, and a saved plan does not include these \
         files. Write files that a plan and its apply need below \"${{path.temp}}\", which is a \
         separate directory for each instance. For permanent files, let the caller pass the path.",
        lines.join("\n")
    );
    Diagnostic::new(Summary::MODULE_WRITES_INTO_ITSELF, detail)
}
