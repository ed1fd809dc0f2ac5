//! Starts checks, and publishes their diagnostics.

use db::Directory;
use hir::Workspace;
use tower_lsp_server::ls_types::Diagnostic;

use super::Server;
use crate::{
    checks::{self, Check, Checked, CheckedModule},
    documents::uri_of,
    message::Message,
    outgoing::{Outgoing, Refresh},
};

impl Server {
    /// Starts the checks of edited files.
    pub(super) fn check(&mut self) {
        self.settle();
        let generation = self.checks.generation;
        let held: Vec<String> =
            self.documents.keys().filter(|path| self.is_held(path)).cloned().collect();
        for (path, blocks) in self.checks.begin(|path| held.iter().any(|it| it == path)) {
            if let Some(target) = self.target(&path) {
                let check = Check::Blocks { path, target, blocks };
                self.start(check, generation);
            }
        }
        let are_other_files =
            !self.rejected.is_empty() || self.documents.values().any(|it| it.text.is_some());
        if are_other_files && self.checks.begin_tfvars() {
            self.start(Check::OtherFiles, generation);
        }
    }

    /// Starts the check of all modules.
    pub(super) fn check_modules(&mut self) {
        if let Some(edited) = self.checks.begin_modules() {
            let modules = self.modules(&edited);
            let new = std::mem::take(&mut self.new);
            self.start(Check::Modules { modules, new }, self.checks.generation);
        }
    }

    fn start(&self, check: Check, generation: u64) {
        let snapshot = self.snapshot();
        let messages = self.messages.clone();
        let report = move |checked| drop(messages.send(Message::Checked(checked)));
        let workers = match check {
            Check::Blocks { .. } | Check::OtherFiles => &self.quick,
            Check::Modules { .. } => &self.slow,
        };
        workers.spawn(move || checks::run(snapshot, check, generation, report));
    }

    /// Every module once: first the edited ones, then their callers, then the rest.
    fn modules(&mut self, edited: &[Directory]) -> Vec<CheckedModule> {
        self.settle_modules();
        let owners = self.owners.iter().flatten();
        let module = |(directory, workspace): (&Directory, &Workspace)| CheckedModule {
            workspace: *workspace,
            directory: *directory,
        };
        let mut modules: Vec<CheckedModule> = owners.map(module).collect();
        let db = self.tree.db();
        modules.sort_by_cached_key(|CheckedModule { workspace, directory }| {
            let calls_edited = || {
                hir::module_calls::module_calls(db, *workspace, *directory)
                    .any(|(_, called)| edited.contains(&called))
            };
            let turn = match () {
                () if edited.contains(directory) => 0,
                () if calls_edited() => 1,
                () => 2,
            };
            (turn, directory.path(db).clone())
        });
        modules
    }

    pub(super) fn publish(&mut self, checked: Checked) {
        let published = self.checks.finish(checked);
        if self.client.pulls_diagnostics {
            return self.refresh_diagnostics(!published.is_empty());
        }
        for (path, diagnostics) in published {
            self.publish_of(&path, diagnostics);
        }
    }

    pub(super) fn publish_of(&self, path: &str, diagnostics: Vec<Diagnostic>) {
        let (uri, version) = match self.documents.get(path) {
            Some(document) => (Some(document.uri.clone()), Some(document.version)),
            None => (uri_of(path), None),
        };
        if let Some(uri) = uri {
            self.send(Outgoing::Diagnostics(uri, diagnostics, version));
        }
    }

    pub(super) fn refresh_diagnostics(&self, are_others: bool) {
        if are_others && self.client.refreshes_diagnostics {
            self.send(Outgoing::Refresh(Refresh { diagnostics: true, ..Refresh::default() }));
        }
    }
}
