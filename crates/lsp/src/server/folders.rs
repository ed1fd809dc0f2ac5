//! The workspaces of the server: which directories are root modules, and when one is loaded or removed.

use std::{path::Path, sync::Arc};

use db::Directory;
use hir::Workspace;
use project::NewRoot;
use rustc_hash::FxHashSet;
use sorted::TreeSet;
use tower_lsp_server::ls_types::*;

use super::{Root, Server};
use crate::{
    documents::path_of,
    roots::{CallGraph, owning_workspaces},
    snapshot::RejectedFiles,
};

impl Server {
    /// Loads the module in a directory, as part of every configuration that leads to it.
    pub(super) fn load(&mut self, directory: &str) {
        if self.tree.directory(directory).is_some() {
            return;
        }
        match self.reading.graph.as_ref().map(|graph| graph.roots_of(directory)) {
            Some(roots) => self.add_roots(roots),
            None => self.reading.place(directory, &self.system, &self.folders),
        }
        // The module has no known callers, or the text that looked like a call of it was not one.
        if self.tree.directory(directory).is_none() {
            self.add_roots(vec![directory.to_owned()]);
        }
    }

    /// Loads every module of the workspace.
    pub(super) fn load_everything(&mut self) {
        match self.reading.graph.as_ref().map(CallGraph::roots) {
            Some(roots) => self.add_roots(roots),
            None => self.reading.find_everything(&self.system, &self.folders),
        }
    }

    /// Takes the result of a scan: open modules become part of the configurations that call them.
    pub(super) fn take_graph(&mut self, graph: CallGraph) {
        let (unplaced, wants_everything) = self.reading.scanned();
        self.modules = Arc::new(graph.modules().clone());
        for directory in unplaced {
            let roots = graph.roots_of(&directory);
            let is_root = roots.contains(&directory);
            self.add_roots(roots);
            if !is_root {
                self.remove_called_root(&directory);
            }
        }
        if wants_everything {
            self.add_roots(graph.roots());
        }
        self.reading.keep(graph);
    }

    /// Removes the configuration that was created for a module before its callers were known. Keeps it if no other
    /// configuration really reaches the module.
    pub(super) fn remove_called_root(&mut self, directory: &str) {
        let Some(workspace) = self.roots.get(directory).map(|root| root.workspace) else { return };
        let db = self.tree.db();
        let own = workspace.root(db);
        let mut others = self.tree.workspaces().iter().filter(|it| **it != workspace);
        if others.any(|&other| hir::reachable(db, other).contains(&own)) {
            self.roots.remove(directory);
            self.new.retain(|it| *it != workspace);
            self.tree.remove_root(workspace);
            self.owners = None;
            self.checks.everything_changed();
        }
    }

    pub(super) fn add_roots(&mut self, mut paths: Vec<String>) {
        paths.retain(|path| !self.roots.contains_key(path));
        if paths.is_empty() {
            return;
        }
        let with_manifest = |path: String| {
            let manifest = self.installation.modules(Path::new(&path));
            NewRoot { path, manifest }
        };
        let roots = paths.into_iter().map(with_manifest).collect();
        let added = self.tree.add_roots(roots);
        for (path, workspace) in &added {
            self.roots.insert(path.clone(), Root::new(*workspace));
            self.new.push(*workspace);
        }
        self.set_static_inputs();
        self.owners = None;
        // Loading cancelled the running checks.
        self.checks.changed(None);
        for (path, _) in &added {
            if self.load_schemas(path) {
                self.reading.wait();
                self.roots.get_mut(path).into_iter().for_each(|root| root.is_unread = true);
            }
        }
        self.report_missing_schemas();
    }

    pub(super) fn change_folders(&mut self, event: WorkspaceFoldersChangeEvent) {
        let removed: Vec<String> = event.removed.iter().filter_map(|it| path_of(&it.uri)).collect();
        self.folders.retain(|folder| !removed.contains(folder));
        self.folders.extend(event.added.iter().filter_map(|it| path_of(&it.uri)));
        self.reading.files_changed();
        self.remove_roots_below(&removed);
    }

    /// Removes the configurations of removed folders, except those with open files.
    pub(super) fn remove_roots_below(&mut self, folders: &[String]) {
        let is_below = |path: &str, all: &[String]| {
            all.iter().any(|folder| Path::new(path).starts_with(folder))
        };
        let db = self.tree.db();
        let edited: FxHashSet<Directory> =
            self.documents.keys().filter_map(|path| Some(self.tree.file(path)?.1)).collect();
        let is_edited = |workspace| {
            hir::reachable(db, workspace).iter().any(|directory| edited.contains(directory))
        };
        let gone: Vec<(String, Workspace)> = self
            .roots
            .iter()
            .map(|(path, root)| (path.clone(), root.workspace))
            .filter(|(path, _)| is_below(path, folders) && !is_below(path, &self.folders))
            .filter(|(_, workspace)| !is_edited(*workspace))
            .collect();
        for (path, workspace) in gone {
            self.roots.remove(&path);
            self.tree.remove_root(workspace);
        }
        self.owners = None;
        self.checks.changed(None);
        self.report_missing_schemas();
    }

    /// Clears the diagnostics of files that are gone and of modules that are no longer part of a configuration.
    pub(super) fn forget_files(&mut self) {
        self.settle_modules();
        let mut rejected = RejectedFiles::new();
        for file in self.tree.unloadable_of(self.tree.workspaces()) {
            rejected.entry(file.path.to_string()).or_default().push(file.problem.clone());
        }
        self.rejected = Arc::new(rejected);
        let (tree, owners) = (&self.tree, self.owners.as_ref());
        let is_outside_modules = |path: &str| {
            self.rejected.contains_key(path)
                || self.documents.get(path).is_some_and(|it| it.text.is_some())
        };
        let is_there = |path: &str| {
            if is_outside_modules(path) {
                return true;
            }
            let directory = tree.file(path).map(|(_, directory)| directory);
            directory.is_some_and(|it| owners.is_some_and(|owners| owners.contains_key(&it)))
        };
        let gone = self.checks.forget(is_there);
        if self.client.pulls_diagnostics {
            return self.refresh_diagnostics(!gone.is_empty());
        }
        gone.iter().for_each(|path| self.publish_of(path, Vec::new()));
    }

    /// Determines the configuration of each module after modules were added or removed. An edited module without
    /// callers becomes a configuration of its own.
    pub(super) fn settle_modules(&mut self) {
        if self.owners.is_some() {
            return;
        }
        let known = owning_workspaces(self.tree.db(), self.tree.workspaces());
        let edited = self.documents.keys().filter_map(|path| Some(self.tree.file(path)?.1));
        let uncalled: TreeSet<String> = edited
            .filter(|directory| !known.contains_key(directory))
            .map(|directory| directory.path(self.tree.db()).to_string())
            .collect();
        self.owners = Some(match uncalled.is_empty() {
            true => known,
            false => {
                self.add_roots(uncalled.into_iter().collect());
                owning_workspaces(self.tree.db(), self.tree.workspaces())
            }
        });
        self.are_modules_new = true;
    }
}
