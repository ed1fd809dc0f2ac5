//! Changes of texts: by the editor, and by other programs on the disk.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use sorted::TreeSet;
use tower_lsp_server::ls_types::{DidChangeTextDocumentParams, Uri};

use super::Server;
use crate::documents::{Document, edited, is_configuration, is_standalone, path_of};

/// The paths that `init` writes, and their directories, whose creation also counts.
const INSTALLATION: [&str; 5] = [
    "/.terraform.lock.hcl",
    "/.terraform",
    "/.terraform/modules",
    "/.terraform/modules/modules.json",
    "/.terraform/plugin_path",
];

/// The most modules that are loaded for the runs of one test file.
const MOST_RUN_MODULES: usize = 20;

impl Server {
    pub(super) fn open(&mut self, path: String, document: Document, text: &str) {
        if is_standalone(&path) {
            return self.open_standalone(path, document, text);
        }
        if !is_configuration(&path) {
            return;
        }
        self.edits.add_one();
        self.documents.insert(path.clone(), document);
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        self.tree.open(&path, text);
        self.load(parent);
        self.owners = None;
        self.checks.close(&path);
        self.follow_documents();
    }

    /// Opens a file that is not part of a module.
    fn open_standalone(&mut self, path: String, document: Document, text: &str) {
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        self.load(parent);
        if db::is_test_file(&path) {
            self.edits.add_one();
            self.load_for_test(&path, text);
            self.tree.set_test_file(&path, text);
        }
        self.documents.insert(path, Document { text: Some(Arc::from(text)), ..document });
        self.checks.tfvars_changed();
    }

    /// Loads the modules that a test file is about: the one under test, which may be in the directory above, and those
    /// that its runs execute instead.
    fn load_for_test(&mut self, path: &str, text: &str) {
        let Some((parent, _)) = path.rsplit_once('/') else { return };
        let has_files = |it: &Server| {
            let directory = it.tree.directory(parent);
            directory.is_some_and(|directory| !directory.files(it.tree.db()).is_empty())
        };
        let mut under_test = parent;
        if parent.ends_with("/tests") || !has_files(self) {
            under_test = parent.rsplit_once('/').map_or(parent, |(above, _)| above);
            self.load(under_test);
        }
        let file = hir::test_file::read(path, text.as_bytes());
        let sources = file.runs().filter_map(|(_, run)| run.module.as_ref()?.source.as_deref());
        let sources = sources.filter(|it| hir::workspace::is_local_source(it));
        let directories: TreeSet<Arc<str>> = sources
            .take(MOST_RUN_MODULES)
            .map(|it| hir::workspace::local_module_directory(under_test, it))
            .collect();
        directories.iter().for_each(|it| self.load(it));
    }

    /// Registers the open files that are part of modules for checks, and unregisters the others. An open file may
    /// hide another one.
    pub(super) fn follow_documents(&mut self) {
        for path in self.documents.keys() {
            match self.tree.file(path) {
                Some((file, directory)) => {
                    self.tree.follow(directory);
                    self.checks.open(path, file);
                }
                None => self.checks.close(path),
            }
        }
    }

    pub(super) fn change(&mut self, params: DidChangeTextDocumentParams) {
        let Some(path) = path_of(&params.text_document.uri) else { return };
        let Some(document) = self.documents.get_mut(&path) else { return };
        document.version = params.text_document.version;
        self.edits.add_one();
        self.deferred =
            std::mem::take(&mut self.deferred).into_iter().filter_map(|it| it.outdated()).collect();
        if let Some(text) = &document.text {
            let changes = params.content_changes.iter();
            let edited =
                changes.fold(text.to_string(), |text, change| edited(&text, change, self.encoding));
            document.text = Some(Arc::from(&*edited));
            if db::is_test_file(&path) {
                self.load_for_test(&path, &edited);
                self.tree.set_test_file(&path, &edited);
            }
            return self.checks.tfvars_changed();
        }
        let mut sources = self.sources();
        for change in params.content_changes {
            let edit = match change.range {
                None => self.tree.set_text(&path, &change.text),
                Some(range) => {
                    let Some(text) = self.tree.edited_text(&path) else { return };
                    let start = self.encoding.offset(text, range.start);
                    let end = self.encoding.offset(text, range.end).max(start);
                    self.tree.edit(&path, start..end, &change.text)
                }
            };
            // An edit of a file that is not part of a module has no further effects.
            let Some(edit) = edit else { continue };
            if edit.changes_modules() {
                self.set_static_inputs();
                self.owners = None;
            }
            // Other modules may now be part of the configuration, and a diagnostic about a source may be in
            // another file.
            let now = self.sources();
            if now != sources {
                sources = now;
                self.owners = None;
                self.checks.everything_changed();
            }
            self.ask_for_providers(&edit);
            let reached = self.tree.reached(&edit);
            let db = self.tree.db();
            self.checks.edited(&edit, reached, |block| block.file(db));
        }
    }

    pub(super) fn close(&mut self, uri: &Uri) {
        let Some(path) = path_of(uri) else { return };
        if self.documents.remove(&path).is_some() {
            self.tree.close(&path);
            self.tree.close_test_file(&path);
            self.owners = None;
            self.checks.close(&path);
            // The closed file may have hidden another one.
            self.follow_documents();
        }
    }

    pub(super) fn reload(&mut self, paths: &[String]) {
        let is_plugin = |path: &String| {
            let name = path.rsplit('/').next();
            name.is_some_and(|it| it.starts_with("terraform-provisioner-"))
        };
        let is_installation =
            |path: &String| is_plugin(path) || INSTALLATION.iter().any(|it| path.ends_with(it));
        let is_text = |path: &&String| is_configuration(path) || self.tree.is_above_modules(path);
        let texts: Vec<&String> = paths.iter().filter(is_text).collect();
        let is_reinstalled = paths.iter().any(is_installation);
        let gives_values =
            paths.iter().any(|it| it.ends_with(".tfvars") || it.ends_with(".tfvars.json"));
        if texts.is_empty() && !is_reinstalled && !gives_values {
            return;
        }
        if !texts.is_empty() {
            self.reading.files_changed();
            self.find_modules(&texts);
            self.tree.reload(texts.iter().map(|path| path.as_str()));
        }
        if is_reinstalled {
            let roots: Vec<String> = self.roots.keys().cloned().collect();
            roots.iter().for_each(|root| self.reload_installation(root));
            self.report_missing_schemas();
        }
        self.set_static_inputs();
        self.owners = None;
        self.follow_documents();
        self.checks.everything_changed();
    }

    /// Watches the directories of the loaded modules, if the client does not watch files itself.
    pub(super) fn watch(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let wanted = watched_directories(self.tree.directories().map(|path| &**path));
        let appeared = watcher.set(&wanted).appeared;
        let appeared: Vec<String> =
            appeared.iter().filter_map(|it| it.to_str()).map(str::to_owned).collect();
        // These may have changed before the watch began.
        self.reload(&appeared);
    }
}

/// The directories whose files are relevant for the given modules: their own, and the one in which `init` installs
/// modules.
fn watched_directories<'m>(modules: impl Iterator<Item = &'m str>) -> TreeSet<PathBuf> {
    let mut directories = TreeSet::new();
    for module in modules {
        let module = Path::new(module);
        let (installed, plugins) =
            (module.join(".terraform/modules"), module.join("terraform.d/plugins"));
        directories.extend([module.to_owned(), installed, plugins]);
    }
    directories
}
