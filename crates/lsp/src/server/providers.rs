//! The schemas of providers and the installed modules of the server: read where `init` left them.

use std::{path::Path, sync::Arc};

use addr::ProviderSource;
use hir::{
    names::{ItemName, item, lookup, provider_local_name, required_providers},
    provisioner::KINDS,
    statics::{self, Modules},
};
use project::Edit;
use sorted::TreeSet;
use tower_lsp_server::ls_types::*;
use values::Str;

use super::{Root, Server};
use crate::{
    documents::is_configuration,
    installation::Installed,
    outgoing::{Outgoing, Refresh, Status},
    reading::{SchemaRequest, Schemas},
};

impl Server {
    /// Requests the schemas of required providers and provisioner plugins that were not requested yet. Returns true if
    /// there are any.
    pub(super) fn load_schemas(&mut self, path: &str) -> bool {
        let Some(root) = self.roots.get_mut(path) else { return false };
        let workspace = root.workspace;
        let mut requirements = hir::provider_requirements(self.tree.db(), workspace);
        root.missing.retain(|source, _| requirements.contains_key(source));
        requirements.retain(|source, _| root.asked.insert(source.clone()));
        let provisioners = !std::mem::replace(&mut root.are_provisioners_asked, true);
        let is_any = provisioners || !requirements.is_empty();
        if is_any {
            let request =
                SchemaRequest { root: path.to_owned(), workspace, requirements, provisioners };
            self.reading.schemas(&self.installation, request);
        }
        is_any
    }

    pub(super) fn take_schemas(&mut self, schemas: Schemas) {
        let Schemas { root, workspace, found, provisioners } = schemas;
        // The configuration may have been removed.
        let Some(root) = self.roots.get_mut(&root).filter(|it| it.workspace == workspace) else {
            return;
        };
        let is_late =
            !std::mem::take(&mut root.is_unread) || self.reading.remaining_wait().is_none();
        for (source, installed) in found {
            match installed {
                Installed::Schemas(schemas) => {
                    root.missing.remove(&source);
                    self.tree.set_schemas(workspace, source, schemas);
                }
                Installed::Missing(why) => drop(root.missing.insert(source, why)),
            }
        }
        if let Some(provisioners) = provisioners {
            self.tree.set_provisioners(workspace, provisioners);
        }
        self.checks.everything_changed();
        self.report_missing_schemas();
        if is_late {
            self.refresh();
        }
    }

    /// Asks the client to pull data again that changed without a change of the text.
    pub(super) fn refresh(&self) {
        self.send(Outgoing::Refresh(Refresh {
            diagnostics: false,
            inlay_hints: self.client.refreshes_inlay_hints,
            code_lenses: self.client.refreshes_code_lenses,
            semantic_tokens: self.client.refreshes_semantic_tokens,
        }));
    }

    /// Requests the schemas of providers that an edit uses for the first time.
    pub(super) fn ask_for_providers(&mut self, edit: &Edit) {
        let db = self.tree.db();
        let directory = edit.directory;
        let is_about_providers = |name: &ItemName| {
            matches!(name, ItemName::Terraform | ItemName::Provider(..) | ItemName::Module(_))
        };
        let resources = edit.names.iter().filter_map(|name| {
            let key = lookup(db, directory, name)?;
            item(db, key).kind.as_resource()
        });
        let (mut used, mut kinds) = (TreeSet::new(), TreeSet::new());
        for resource in resources {
            let local_name = provider_local_name(resource);
            used.insert(required_providers(db, directory).source(local_name));
            kinds.extend(resource.provisioners.iter().map(|it| it.kind.clone()));
        }
        let is_any = edit.names.iter().any(is_about_providers);
        let roots = self.roots.iter().filter(|(_, root)| {
            let is_new = !used.is_subset(&root.asked)
                || kinds.iter().any(|kind| is_plugin_unknown(root, kind));
            (is_any || is_new) && hir::reachable(db, root.workspace).contains(&directory)
        });
        let roots: Vec<String> = roots.map(|(path, _)| path.clone()).collect();
        if !roots.is_empty() {
            for path in &roots {
                if let Some(root) = self.roots.get_mut(path) {
                    let new = kinds.iter().filter(|kind| is_plugin_unknown(root, kind));
                    let new: Vec<Str> = new.cloned().collect();
                    root.are_provisioners_asked &= new.is_empty();
                    root.asked_kinds.extend(new);
                }
                self.load_schemas(path);
            }
            self.report_missing_schemas();
        }
    }

    pub(super) fn report_missing_schemas(&mut self) {
        const WAY_OUT: &str = "run \"mayfly init\"";
        let missing: Vec<(&ProviderSource, &String)> =
            self.roots.values().flat_map(|root| &root.missing).collect();
        let names: TreeSet<String> =
            missing.iter().map(|(source, _)| source.for_display().to_string()).collect();
        let message = match names.first() {
            None => String::new(),
            Some(name) if names.len() == 1 => format!("no schema of {name}: {WAY_OUT}"),
            Some(_) => format!("no schemas of {} providers: {WAY_OUT}", names.len()),
        };
        let status = match message.is_empty() {
            true => Status::fine(),
            false => Status {
                message,
                severity: "warning".to_owned(),
                detail: missing.iter().map(|(_, why)| why.as_str()).collect::<Vec<_>>().join("\n"),
            },
        };
        if self.status != status {
            self.send(Outgoing::Status(status.clone()));
            // Some clients have no status line.
            if !self.client.shows_status && status.severity == "warning" {
                self.send(Outgoing::Message(MessageType::WARNING, status.detail.clone()));
            }
            self.status = status;
        }
    }

    /// Updates the variable values that the root modules get from outside. Module sources may depend on them, and
    /// so do some warnings.
    pub(super) fn set_static_inputs(&mut self) {
        for (path, root) in &self.roots {
            let workspace = root.workspace;
            let (db, directory) = (self.tree.db(), workspace.root(self.tree.db()));
            let static_inputs = self.installation.static_inputs(Path::new(path), db, directory);
            self.tree.set_static_inputs(workspace, static_inputs);
        }
    }

    /// The module sources that are not literals, evaluated.
    pub(super) fn sources(&self) -> Vec<Option<Modules>> {
        let db = self.tree.db();
        self.tree.workspaces().iter().map(|it| statics::modules(db, *it).clone()).collect()
    }

    /// Adds the directories of new files to the known modules.
    pub(super) fn find_modules(&mut self, changed: &[&String]) {
        let files = changed.iter().filter(|path| is_configuration(path));
        for path in files {
            let Some((directory, _)) = path.rsplit_once('/') else { continue };
            if !self.modules.contains(directory) && self.system.is_file(Path::new(path)) {
                Arc::make_mut(&mut self.modules).insert(directory.to_owned());
            }
        }
    }

    /// Reads the results of `init` again.
    pub(super) fn reload_installation(&mut self, root: &str) {
        let Some(workspace) = self.roots.get(root).map(|it| it.workspace) else { return };
        let manifest = self.installation.modules(Path::new(root));
        self.tree.set_manifest(workspace, manifest);
        if let Some(root) = self.roots.get_mut(root) {
            root.asked.clear();
            root.are_provisioners_asked = false;
            root.asked_kinds.clear();
            root.missing.clear();
        }
        self.load_schemas(root);
    }
}

/// Returns true if a provisioner is not built in, and its plugin was not looked for yet.
fn is_plugin_unknown(root: &Root, kind: &Str) -> bool {
    !KINDS.contains(&&**kind) && !root.asked_kinds.contains(kind)
}
