//! The source tree: the files of all loaded modules, and the configurations that they belong to.
//!
//! A tree is read here. [`EditableTree`] changes it: it has the overlay of files that an editor has open.
//!
//! [`EditableTree`]: crate::EditableTree

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use addr::ProviderSource;
use db::{Directory, EditedText, File, SpareInputs, System};
use hir::{
    ProviderInput, SchemasHandle, Workspace,
    module_calls::called_paths as paths_of_call,
    names::item,
    provisioner::ProvisionerSchemas,
    statics,
    symbols::{NameKind, all_of_kind},
    workspace::{CallKey, InstalledModule, StaticInputs},
};
use provider::ProviderSchemas;
use rustc_hash::FxHashMap;
use salsa::{Durability, Setter as _};
use sorted::{TreeMap, TreeSet};

use crate::{
    Handle,
    batches::map_files,
    edit::EditState,
    load::{self, UnloadableFile},
    name_index,
    test_files::TestFiles,
};

/// The installed modules, by the directory of the caller and the name of the call.
pub type Manifest = TreeMap<CallKey, Vec<InstalledModule>>;

/// A configuration to load.
pub struct NewRoot {
    /// The directory of the root module.
    pub path: String,
    /// The installed modules.
    pub manifest: Manifest,
}

/// All loaded modules in one database, and the configurations that they belong to.
pub struct SourceTree {
    pub(crate) db: Box<dyn Handle>,
    pub(crate) system: Arc<dyn System>,
    pub(crate) base: PathBuf,
    pub(crate) files: TreeMap<Arc<str>, Loaded>,
    pub(crate) directories: TreeMap<Arc<str>, Directory>,
    /// Files that cannot be loaded, by directory.
    pub(crate) unloadable: TreeMap<Arc<str>, Vec<UnloadableFile>>,
    pub(crate) workspaces: Vec<Workspace>,
    /// The directories of module calls that could not be loaded.
    pub(crate) missing: TreeSet<Arc<str>>,
    /// Texts of files that an editor has open but that belong to no module: their directory is not loaded, or
    /// another file hides them.
    pub(crate) unfiled: TreeMap<Arc<str>, String>,
    /// The inputs that are reused. None in a tree without edits.
    pub(crate) spare: ReusableInputs,
    pub(crate) edits: EditState,
    pub(crate) tests: TestFiles,
    /// True if something other than the text of a block changed since [`SourceTree::take_changes`]: the set of
    /// files, schemas, installed modules or values from outside.
    pub(crate) is_more: bool,
    /// The number of changes so far.
    pub(crate) changes: u64,
}

/// The inputs that stand for nothing any more.
#[derive(Default)]
pub(crate) struct ReusableInputs {
    /// The blocks and files of each module, including those of spare directories.
    pub(crate) of_modules: FxHashMap<Directory, SpareInputs>,
    pub(crate) directories: Vec<Directory>,
    pub(crate) workspaces: Vec<Workspace>,
    pub(crate) providers: Vec<ProviderInput>,
}

/// A loaded file of a module.
pub(crate) struct Loaded {
    pub(crate) file: File,
    pub(crate) directory: Directory,
    /// Set with the first edit.
    pub(crate) edited: Option<EditedText>,
    pub(crate) is_open: bool,
}

fn text_to_take(
    unfiled: &TreeMap<Arc<str>, String>,
    system: &dyn System,
    base: &Path,
    shown: &Arc<str>,
) -> Result<load::Text, Box<UnloadableFile>> {
    match unfiled.get(shown) {
        Some(text) => Ok(load::Text { text: text.clone(), decode_error: None }),
        None => load::read(system, base, shown),
    }
}

impl SourceTree {
    /// Creates a tree without modules. Relative paths resolve against `base`.
    pub(crate) fn new(
        db: impl Handle + 'static,
        system: Arc<dyn System>,
        base: PathBuf,
    ) -> SourceTree {
        SourceTree {
            db: Box::new(db),
            system,
            base,
            files: TreeMap::new(),
            directories: TreeMap::new(),
            unloadable: TreeMap::new(),
            workspaces: Vec::new(),
            missing: TreeSet::new(),
            unfiled: TreeMap::new(),
            spare: ReusableInputs::default(),
            edits: EditState::default(),
            tests: TestFiles::default(),
            is_more: false,
            changes: 0,
        }
    }

    /// Loads the module in the directory with the display path `path`, and every module that it calls, as a new
    /// configuration.
    ///
    /// # Errors
    /// Fails if the directory cannot be listed. A called module that cannot be listed is a diagnostic instead.
    pub(crate) fn add_root(&mut self, path: &str, manifest: Manifest) -> io::Result<Workspace> {
        let workspace = self.add_unfinished_root(path, manifest)?;
        self.finish_roots();
        Ok(workspace)
    }

    /// Loads several configurations at once, which is cheaper than separate calls of [`SourceTree::add_root`].
    /// Omits configurations whose directory cannot be listed.
    pub(crate) fn add_roots(&mut self, roots: Vec<NewRoot>) -> Vec<(String, Workspace)> {
        let add = |NewRoot { path, manifest }: NewRoot| {
            let workspace = self.add_unfinished_root(&path, manifest).ok()?;
            Some((path, workspace))
        };
        let added = roots.into_iter().filter_map(add).collect();
        self.finish_roots();
        added
    }

    fn add_unfinished_root(&mut self, path: &str, manifest: Manifest) -> io::Result<Workspace> {
        let directory = self.load_directory(path)?;
        let workspace = match self.spare.workspaces.pop() {
            Some(workspace) => {
                workspace.set_root(&mut *self.db).to(directory);
                workspace.set_manifest(&mut *self.db).to(manifest);
                workspace
            }
            None => {
                let (directories, providers) = (Arc::default(), TreeMap::new());
                let static_inputs = StaticInputs::default();
                Workspace::new(
                    &*self.db,
                    directory,
                    directories,
                    manifest,
                    providers,
                    TreeMap::new(),
                    static_inputs,
                )
            }
        };
        self.workspaces.push(workspace);
        Ok(workspace)
    }

    fn finish_roots(&mut self) {
        self.directories_changed();
        self.load_called_modules();
    }

    /// The database, with all inputs set.
    pub fn db(&self) -> &dyn Handle {
        &*self.db
    }

    /// The configurations, in the order of their addition.
    pub fn workspaces(&self) -> &[Workspace] {
        &self.workspaces
    }

    /// Returns the module with this display path; `None` if it is not loaded.
    pub fn directory(&self, path: &str) -> Option<Directory> {
        self.directories.get(path).copied()
    }

    /// Returns the file with this display path and its module; `None` if it is not loaded.
    pub fn file(&self, path: &str) -> Option<(File, Directory)> {
        self.files.get(path).map(|loaded| (loaded.file, loaded.directory))
    }

    /// The display paths of all loaded files.
    pub fn paths(&self) -> impl Iterator<Item = &Arc<str>> {
        self.files.keys()
    }

    /// The display paths of the directories of all modules, including missing ones.
    pub fn directories(&self) -> impl Iterator<Item = &Arc<str>> {
        self.directories.keys().chain(&self.missing)
    }

    /// Returns the current text of a file; `None` if it is neither loaded nor open.
    pub fn text(&self, path: &str) -> Option<String> {
        let Some(loaded) = self.files.get(path) else { return self.unfiled.get(path).cloned() };
        match &loaded.edited {
            Some(edited) => Some(edited.text().to_owned()),
            None => Some(db::file_text(&*self.db, loaded.file)),
        }
    }

    /// Sets the schemas of a provider in a configuration.
    pub(crate) fn set_schemas(
        &mut self,
        workspace: Workspace,
        source: ProviderSource,
        schemas: Arc<ProviderSchemas>,
    ) {
        self.more_changed();
        let handle = SchemasHandle(schemas);
        let mut inputs = workspace.providers(&*self.db).clone();
        match inputs.get(&source) {
            Some(input) => drop(input.set_schemas(&mut *self.db).to(handle)),
            None => {
                let input = match self.spare.providers.pop() {
                    Some(spare) => {
                        spare.set_schemas(&mut *self.db).to(handle);
                        spare
                    }
                    None => ProviderInput::new(&*self.db, handle),
                };
                inputs.insert(source, input);
                workspace.set_providers(&mut *self.db).to(inputs);
            }
        }
    }

    /// Sets the schemas of the provisioner plugins of a configuration.
    pub(crate) fn set_provisioners(&mut self, workspace: Workspace, schemas: ProvisionerSchemas) {
        if *workspace.provisioners(&*self.db) != schemas {
            self.more_changed();
            workspace.set_provisioners(&mut *self.db).to(schemas);
        }
    }

    /// Returns true if a source, a version or a backend argument is not a literal, so that its value depends on
    /// [`SourceTree::set_static_inputs`].
    pub fn is_dynamic(&self, workspace: Workspace) -> bool {
        statics::needs_given(&*self.db, workspace)
    }

    /// Sets the values that the root module of a configuration gets from outside, except for files, which the tree
    /// reads itself. Returns true if they differ from the previous ones.
    pub(crate) fn set_static_inputs(
        &mut self,
        workspace: Workspace,
        static_inputs: StaticInputs,
    ) -> bool {
        let files = workspace.static_inputs(&*self.db).files.clone();
        let static_inputs = StaticInputs { files, ..static_inputs };
        let is_other = *workspace.static_inputs(&*self.db) != static_inputs;
        if is_other {
            self.more_changed();
            workspace.set_static_inputs(&mut *self.db).to(static_inputs);
            self.load_called_modules();
        }
        is_other
    }

    /// Reads the files that module sources depend on. Returns true if one of them was not read before.
    fn read_wanted_files(&mut self) -> bool {
        let mut read = false;
        for workspace in self.workspaces.clone() {
            let wanted = statics::wanted_files(&*self.db, workspace);
            if wanted.is_empty() {
                continue;
            }
            let mut static_inputs = workspace.static_inputs(&*self.db).clone();
            let root = self.base.join(&**workspace.root(&*self.db).path(&*self.db));
            for path in &wanted {
                let full = db::system::normalize(&root.join(&**path));
                // Reading a device may never end, and reading a pipe may block.
                let is_file = self.system.is_file(&full);
                let bytes = is_file.then(|| self.system.read_file(&full).ok()).flatten();
                static_inputs.files.insert(path.clone(), bytes.map(Arc::from));
            }
            self.more_changed();
            workspace.set_static_inputs(&mut *self.db).to(static_inputs);
            read = true;
        }
        read
    }

    /// The files of a directory that cannot be loaded.
    pub fn unloadable_in(&self, directory: &str) -> &[UnloadableFile] {
        self.unloadable.get(directory).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the files that cannot be loaded in the modules of some configurations and in the directories of
    /// their module calls.
    pub fn unloadable_of(&self, workspaces: &[Workspace]) -> Vec<&UnloadableFile> {
        if self.unloadable.values().all(Vec::is_empty) {
            return Vec::new();
        }
        let mut paths = self.called_by(workspaces);
        paths.extend(workspaces.iter().map(|it| it.root(&*self.db).path(&*self.db).clone()));
        paths.iter().flat_map(|path| self.unloadable_in(path)).collect()
    }

    /// Returns true if a module, or the missing directory of a module call, is this directory or lies below it.
    pub fn is_above_modules(&self, path: &str) -> bool {
        self.directories().any(|it| is_within(it, path))
    }

    /// Returns the text of a file that is new or changed on the disk. For an open file this is the text of the
    /// editor.
    pub(crate) fn text_to_take(&self, shown: &Arc<str>) -> Result<load::Text, Box<UnloadableFile>> {
        text_to_take(&self.unfiled, &*self.system, &self.base, shown)
    }

    /// Adds a new file to the map of files. Its names are declared when the file is added to its directory.
    pub(crate) fn insert(&mut self, path: &str, file: File, directory: Directory, is_open: bool) {
        self.files.insert(Arc::from(path), Loaded { file, directory, edited: None, is_open });
    }

    /// The display paths of the files of a directory, sorted.
    pub(crate) fn paths_in(&self, directory: Directory) -> impl Iterator<Item = Arc<str>> {
        let path = directory.path(&*self.db);
        let prefix = match &**path {
            "." => String::new(),
            path => format!("{path}/"),
        };
        let from: Arc<str> = Arc::from(prefix.as_str());
        let all = self.files.range(from..).take_while(move |(it, _)| it.starts_with(&prefix));
        all.filter(move |(_, it)| it.directory == directory).map(|(path, _)| path.clone())
    }

    /// The names of the files in a directory that an editor has open.
    pub(crate) fn open_in(&self, path: &str) -> TreeSet<String> {
        let directory = self.directories.get(path);
        let loaded = directory.into_iter().flat_map(|it| self.paths_in(*it));
        let loaded = loaded.filter(|it| self.is_open(it));
        let unfiled = self.unfiled.keys().filter(|it| split_path(it).0 == path).cloned();
        loaded.chain(unfiled).map(|path| split_path(&path).1.to_owned()).collect()
    }

    pub(crate) fn is_open(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(|loaded| loaded.is_open)
    }

    /// Loads the module in a directory. A directory without files is not an error.
    fn load_directory(&mut self, shown: &str) -> io::Result<Directory> {
        if let Some(&directory) = self.directories.get(shown) {
            return Ok(directory);
        }
        let listing = load::list(&*self.system, &self.base, shown, &self.open_in(shown))?;
        let mut unloadable = listing.unloadable;
        let directory = self.new_directory(shown);
        let mut spare = self.spare.of_modules.remove(&directory).unwrap_or_default();
        let mut files = Vec::new();
        let (unfiled, system, base) = (&self.unfiled, &*self.system, &self.base);
        let texts = map_files(&listing.files, |path| {
            text_to_take(unfiled, system, base, path).map(|text| text.cut(path))
        });
        let has_overrides = listing.files.iter().any(|path| db::is_override(path));
        for (path, text) in listing.files.into_iter().zip(texts) {
            match text {
                Ok(text) => {
                    let file = text.file(&mut *self.db, &path, has_overrides, &mut spare);
                    let is_open = self.unfiled.remove(&path).is_some();
                    self.insert(&path, file, directory, is_open);
                    files.push(file);
                }
                Err(file) => unloadable.push(*file),
            }
        }
        self.spare.of_modules.insert(directory, spare);
        self.unloadable.insert(Arc::from(shown), unloadable);
        let durability = self.db.durability(Durability::LOW);
        directory.set_files(&mut *self.db).with_durability(durability).to(files);
        name_index::declare(&mut *self.db, directory);
        self.directories.insert(Arc::from(shown), directory);
        Ok(directory)
    }

    fn new_directory(&mut self, shown: &str) -> Directory {
        let Some(spare) = self.spare.directories.pop() else {
            let directory = Directory::builder(Arc::from(shown), Vec::new());
            return directory.path_durability(Durability::HIGH).new(&*self.db);
        };
        spare.set_path(&mut *self.db).to(Arc::from(shown));
        spare
    }

    /// Loads modules until every module call refers to a loaded or missing directory.
    pub(crate) fn load_called_modules(&mut self) {
        let mut missing = TreeSet::new();
        loop {
            if self.read_wanted_files() {
                continue;
            }
            let called = self.called_by(&self.workspaces);
            let new: Vec<Arc<str>> = called
                .into_iter()
                .filter(|path| !self.directories.contains_key(path) && !missing.contains(path))
                .collect();
            if new.is_empty() {
                break;
            }
            for path in new {
                if self.load_directory(&path).is_err() {
                    missing.insert(path);
                }
            }
            self.directories_changed();
        }
        self.missing = missing;
        self.edits.are_calls_new = true;
    }

    /// Returns the directories that the module calls of the configurations refer to.
    pub(crate) fn called_by(&self, workspaces: &[Workspace]) -> TreeSet<Arc<str>> {
        let of_workspace = |workspace: &Workspace| {
            called_paths(&*self.db, *workspace, &hir::reachable(&*self.db, *workspace))
        };
        workspaces.iter().flat_map(of_workspace).collect()
    }

    /// Returns the directories with files: a directory without files is not a module.
    fn directories_with_files(&self) -> TreeMap<Arc<str>, Directory> {
        let with_files = self.directories.iter().filter(|(_, it)| !it.files(&*self.db).is_empty());
        with_files.map(|(path, directory)| (path.clone(), *directory)).collect()
    }

    pub(crate) fn more_changed(&mut self) {
        self.is_more = true;
        self.changes += 1;
    }

    pub(crate) fn directories_changed(&mut self) {
        let directories = Arc::new(self.directories_with_files());
        for workspace in self.workspaces.clone() {
            if *workspace.directories(&*self.db) != directories {
                self.more_changed();
                workspace.set_directories(&mut *self.db).to(Arc::clone(&directories));
            }
        }
    }
}

/// Returns the directories that the calls in these modules refer to, even if there is no module.
fn called_paths(db: &dyn Handle, workspace: Workspace, callers: &[Directory]) -> TreeSet<Arc<str>> {
    let calls = callers.iter().flat_map(|&caller| {
        all_of_kind(db, caller, NameKind::Module).into_iter().map(move |key| (caller, key))
    });
    let paths = calls.filter_map(|(caller, key)| {
        Some(paths_of_call(db, workspace, caller, item(db, key).kind.as_module_call()?))
    });
    paths.flatten().collect()
}

/// Splits a display path into directory and file name. The directory of a plain name is `.`.
pub(crate) fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or((".", path))
}

pub(crate) fn is_within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
