//! The configurations that a module is part of: the modules that call it, found in the text of the workspace.
//!
//! Only edited modules are loaded, with all modules that they call and all that call them. A scan therefore
//! searches the files of the workspace for module calls once, by text patterns. A false match costs a little time
//! and nothing else.

use std::path::Path;

use db::{Directory, System, system::normalize};
use hir::Workspace;
use project::Handle;
use rustc_hash::FxHashMap;
use sorted::{TreeMap, TreeSet};

/// Directories that contain no configuration of the user's own.
const IGNORED: &[&str] = &["node_modules", "terraform.tfstate.d", "target", "vendor"];
/// The maximal number of directory entries in a scan, because a workspace may be a whole disk.
const MAX_ENTRIES: usize = 200_000;
const DEEPEST: usize = 32;
/// The maximal number of configurations of one module.
const MAX_ROOTS: usize = 8;

/// The call graph of the modules of a workspace: the callers of each directory.
#[derive(Default)]
pub(crate) struct CallGraph {
    callers: TreeMap<String, TreeSet<String>>,
    /// The directories with configuration files.
    modules: TreeSet<String>,
}

impl CallGraph {
    /// Scans the files of some folders.
    pub(crate) fn scan(system: &dyn System, folders: &[String]) -> CallGraph {
        let mut graph = CallGraph::default();
        let mut entries = 0;
        let mut open: Vec<(String, usize)> = folders.iter().map(|it| (it.clone(), 0)).collect();
        while let Some((directory, depth)) = open.pop() {
            let Ok(listing) = system.list_directory(Path::new(&directory)) else { continue };
            for entry in listing {
                entries += 1;
                if entries > MAX_ENTRIES {
                    return graph;
                }
                let path = format!("{}/{}", directory.trim_end_matches('/'), entry.name);
                if entry.is_directory {
                    let is_own = !entry.name.starts_with('.') && !IGNORED.contains(&&*entry.name);
                    if is_own && depth < DEEPEST {
                        open.push((path, depth + 1));
                    }
                } else if crate::documents::is_configuration(&path) {
                    graph.read(system, &directory, &path);
                }
            }
        }
        graph
    }

    fn read(&mut self, system: &dyn System, directory: &str, path: &str) {
        if !self.modules.contains(directory) {
            self.modules.insert(directory.to_owned());
        }
        let Ok(bytes) = system.read_file(Path::new(path)) else { return };
        for source in local_sources(&String::from_utf8_lossy(&bytes)) {
            let called = normalize(&Path::new(directory).join(source));
            let callers = self.callers.entry(called.to_string_lossy().into_owned()).or_default();
            callers.insert(directory.to_owned());
        }
    }

    /// The directories that contain configuration files.
    pub(crate) fn modules(&self) -> &TreeSet<String> {
        &self.modules
    }

    /// The modules without callers.
    pub(crate) fn roots(&self) -> Vec<String> {
        let roots = self.modules.iter().filter(|module| !self.callers.contains_key(*module));
        roots.cloned().collect()
    }

    /// The root modules from which a directory is reachable; the directory itself if it has no callers.
    pub(crate) fn roots_of(&self, directory: &str) -> Vec<String> {
        let mut roots = Vec::new();
        let mut seen = TreeSet::from([directory.to_owned()]);
        let mut next = vec![directory.to_owned()];
        while !next.is_empty() && roots.len() < MAX_ROOTS {
            for module in std::mem::take(&mut next) {
                match self.callers.get(&module) {
                    Some(callers) => {
                        let new = callers.iter().filter(|it| seen.insert((*it).clone()));
                        next.extend(new.cloned().collect::<Vec<_>>());
                    }
                    None => roots.push(module),
                }
            }
        }
        // Modules that call each other in a cycle have no root.
        if roots.is_empty() {
            roots.push(directory.to_owned());
        }
        roots.truncate(MAX_ROOTS);
        roots
    }
}

/// The local paths that the text assigns to `source`, as in `source = "./…"`.
fn local_sources(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let value = line.trim_start().strip_prefix("source")?.trim_start().strip_prefix('=')?;
        let (source, _) = value.trim_start().strip_prefix('"')?.split_once('"')?;
        hir::workspace::is_local_source(source).then_some(source)
    })
}

/// The configuration to which each module belongs: the first one that calls it, else the one whose root module it
/// is.
pub(crate) fn owning_workspaces(
    db: &dyn Handle,
    workspaces: &[Workspace],
) -> FxHashMap<Directory, Workspace> {
    let mut owning_workspaces = FxHashMap::default();
    for &workspace in workspaces {
        let root = workspace.root(db);
        let called = hir::reachable(db, workspace).into_iter().filter(|it| *it != root);
        for directory in called {
            owning_workspaces.entry(directory).or_insert(workspace);
        }
    }
    for &workspace in workspaces {
        owning_workspaces.entry(workspace.root(db)).or_insert(workspace);
    }
    owning_workspaces
}

#[cfg(test)]
mod tests {
    use db::MemorySystem;

    use super::*;

    #[track_caller]
    fn check(files: &[(&str, &str)], directory: &str, expected: &[&str]) {
        let system = MemorySystem::new();
        for (path, text) in files {
            system.write(path, *text);
        }
        let graph = CallGraph::scan(&system, &["/w".to_owned()]);
        assert_eq!(graph.roots_of(directory), expected);
    }

    #[test]
    fn roots_of_a_module_are_its_transitive_callers() {
        let files = [
            ("/w/a/main.tf", "module \"m\" {\n  source = \"../m\"\n}\n"),
            ("/w/b/main.tf", "module \"m\" {\n  source=\"../m/\"\n}\n"),
            ("/w/m/main.tf", "module \"n\" {\n  source = \"./n\" # here\n}\n"),
            ("/w/m/n/main.tf", "locals {}\n"),
            ("/w/.terraform/x/main.tf", "module \"m\" {\n  source = \"../../m\"\n}\n"),
        ];
        check(&files, "/w/m/n", &["/w/a", "/w/b"]);
        check(&files, "/w/m", &["/w/a", "/w/b"]);
        check(&files, "/w/a", &["/w/a"]);
        check(&files, "/elsewhere", &["/elsewhere"]);
    }

    #[test]
    fn module_cycle_has_a_root() {
        let files = [
            ("/w/a/main.tf", "module \"b\" {\n  source = \"../b\"\n}\n"),
            ("/w/b/main.tf", "module \"a\" {\n  source = \"../a\"\n}\n"),
        ];
        check(&files, "/w/a", &["/w/a"]);
    }
}
