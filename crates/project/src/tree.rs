//! The source tree: the files of all loaded modules, the overlay of files that an editor has open, and the path
//! from a change of either to the database.
//!
//! ```text
//!  disk ──┐
//!         ├─► overlay ─► text ─► blocks that changed ─► Block (input) ─► names that changed ─► Symbol (input)
//!  editor ┘
//! ```
//!
//! **Invariant:** the text of an open file is that of the editor, whatever is on the disk.
//! **Invariant:** every change of a text goes through [`SourceTree::apply`], which keeps the symbol table
//! consistent.
//! **Invariant:** files, directories and blocks keep their identity while they exist, so that results for parts
//! that an edit does not touch stay valid.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use addr::ProviderSource;
use db::{Block, BlockEdits, Directory, EditedText, File, System, input::floor_char_boundary};
use hir::{
    ProviderInput, SchemasHandle, Workspace,
    module_calls::called_paths as paths_of_call,
    names::{block_names, item},
    statics,
    symbols::{NameKind, Redeclared, all_of_kind, redeclare},
    workspace::{Given, InstalledModule},
};
use provider::ProviderSchemas;
use rustc_hash::{FxHashMap, FxHashSet};
use salsa::{Durability, Setter as _};
use values::Str;

use crate::{
    Handle,
    batches::map_files,
    load::{self, UnfitFile},
    reverse_index::{Edit, ReverseIndex, mentioned},
    warm_up,
};

/// The installed modules, by the directory of the caller and the name of the call.
pub type Manifest = BTreeMap<(Arc<str>, Str), Vec<InstalledModule>>;

/// All loaded modules in one database, and the configurations that they belong to.
pub struct SourceTree {
    db: Box<dyn Handle>,
    system: Arc<dyn System>,
    base: PathBuf,
    files: BTreeMap<Arc<str>, Loaded>,
    directories: BTreeMap<Arc<str>, Directory>,
    /// Files that cannot be loaded, by directory.
    unfit: BTreeMap<Arc<str>, Vec<UnfitFile>>,
    workspaces: Vec<Workspace>,
    /// The directories of module calls that could not be loaded.
    missing: BTreeSet<Arc<str>>,
    /// Texts of files that an editor has open but that belong to no module: their directory is not loaded, or
    /// another file hides them.
    unfiled: BTreeMap<Arc<str>, String>,
    /// The changes since the last [`SourceTree::take_changes`]; `None` before the first call.
    changes: Option<Changes>,
    /// The reverse indexes of the modules that are being edited.
    reverse_index: FxHashMap<Directory, ReverseIndex>,
}

/// The changes of a tree.
#[derive(Default)]
pub(crate) struct Changes {
    /// The edits of texts.
    pub(crate) edits: Vec<Edit>,
    /// True if anything else changed: the set of files, schemas, installed modules or values from outside.
    pub(crate) is_more: bool,
}

/// A loaded file of a module.
struct Loaded {
    file: File,
    directory: Directory,
    /// Set with the first edit.
    edited: Option<EditedText>,
    is_open: bool,
}

fn text_to_take(
    unfiled: &BTreeMap<Arc<str>, String>,
    system: &dyn System,
    base: &Path,
    shown: &Arc<str>,
) -> Result<load::Text, Box<UnfitFile>> {
    match unfiled.get(shown) {
        Some(text) => Ok(load::Text { text: text.clone(), decode_error: None }),
        None => load::read(system, base, shown),
    }
}

impl SourceTree {
    /// Creates a tree without modules. Relative paths resolve against `base`.
    pub fn new(db: impl Handle + 'static, system: Arc<dyn System>, base: PathBuf) -> SourceTree {
        SourceTree {
            db: Box::new(db),
            system,
            base,
            files: BTreeMap::new(),
            directories: BTreeMap::new(),
            unfit: BTreeMap::new(),
            workspaces: Vec::new(),
            missing: BTreeSet::new(),
            unfiled: BTreeMap::new(),
            changes: None,
            reverse_index: FxHashMap::default(),
        }
    }

    /// Loads the module in the directory with the display path `path`, and every module that it calls, as a new
    /// configuration.
    ///
    /// # Errors
    /// Fails if the directory cannot be listed. A called module that cannot be listed is a diagnostic instead.
    pub fn add_root(&mut self, path: &str, manifest: Manifest) -> io::Result<Workspace> {
        let workspace = self.add_unfinished_root(path, manifest)?;
        self.finish_roots();
        Ok(workspace)
    }

    /// Loads several configurations at once, which is cheaper than separate calls of [`SourceTree::add_root`].
    /// Omits configurations whose directory cannot be listed.
    pub fn add_roots(&mut self, roots: Vec<(String, Manifest)>) -> Vec<(String, Workspace)> {
        let add = |(path, manifest): (String, Manifest)| {
            let workspace = self.add_unfinished_root(&path, manifest).ok()?;
            Some((path, workspace))
        };
        let added = roots.into_iter().filter_map(add).collect();
        self.finish_roots();
        added
    }

    fn add_unfinished_root(&mut self, path: &str, manifest: Manifest) -> io::Result<Workspace> {
        let directory = self.load_directory(path)?;
        let (directories, providers) = (Arc::default(), BTreeMap::new());
        let workspace = Workspace::new(
            &*self.db,
            directory,
            directories,
            manifest,
            providers,
            Given::default(),
        );
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

    /// Removes a configuration. Its modules stay loaded, because other configurations may use them.
    pub fn remove_root(&mut self, workspace: Workspace) {
        self.workspaces.retain(|it| *it != workspace);
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
    pub fn set_schemas(
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
                inputs.insert(source, ProviderInput::new(&*self.db, handle));
                workspace.set_providers(&mut *self.db).to(inputs);
            }
        }
    }

    /// Returns the current text of a file and prepares the file for an edit. The byte range of the next edit
    /// refers to this text.
    pub fn edited_text(&mut self, path: &str) -> Option<&str> {
        let Some(loaded) = self.files.get_mut(path) else {
            return self.unfiled.get(path).map(String::as_str);
        };
        let edited = loaded.edited.get_or_insert_with(|| EditedText::of(&*self.db, loaded.file));
        Some(edited.text())
    }

    /// Sets the installed modules of a configuration, and loads modules that become reachable.
    pub fn set_manifest(&mut self, workspace: Workspace, manifest: Manifest) {
        if *workspace.manifest(&*self.db) != manifest {
            self.more_changed();
            workspace.set_manifest(&mut *self.db).to(manifest);
            self.load_called_modules();
        }
    }

    /// Returns true if a source, a version or a backend argument is not a literal, so that its value depends on
    /// [`SourceTree::give`].
    pub fn is_dynamic(&self, workspace: Workspace) -> bool {
        statics::needs_given(&*self.db, workspace)
    }

    /// Sets the values that the root module of a configuration gets from outside, except for files, which the tree
    /// reads itself. Returns true if they differ from the previous ones.
    pub fn give(&mut self, workspace: Workspace, given: Given) -> bool {
        let files = workspace.given(&*self.db).files.clone();
        let given = Given { files, ..given };
        let is_other = *workspace.given(&*self.db) != given;
        if is_other {
            self.more_changed();
            workspace.set_given(&mut *self.db).to(given);
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
            let mut given = workspace.given(&*self.db).clone();
            let root = self.base.join(&**workspace.root(&*self.db).path(&*self.db));
            for path in &wanted {
                let full = db::system::normalize(&root.join(&**path));
                // Reading a device may never end, and reading a pipe may block.
                let is_file = self.system.is_file(&full);
                let bytes = is_file.then(|| self.system.read_file(&full).ok()).flatten();
                given.files.insert(path.clone(), bytes.map(Arc::from));
            }
            self.more_changed();
            workspace.set_given(&mut *self.db).to(given);
            read = true;
        }
        read
    }

    /// The files of a directory that cannot be loaded.
    pub fn unfit_in(&self, directory: &str) -> &[UnfitFile] {
        self.unfit.get(directory).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the files that cannot be loaded in the modules of some configurations and in the directories of
    /// their module calls.
    pub fn unfit_of(&self, workspaces: &[Workspace]) -> Vec<&UnfitFile> {
        if self.unfit.values().all(Vec::is_empty) {
            return Vec::new();
        }
        let mut paths = self.called_by(workspaces);
        paths.extend(workspaces.iter().map(|it| it.root(&*self.db).path(&*self.db).clone()));
        paths.iter().flat_map(|path| self.unfit_in(path)).collect()
    }

    /// Replaces a byte range of the text of a file. `None` if the file belongs to no module.
    pub fn edit(&mut self, path: &str, replaced: Range<usize>, with: &str) -> Option<Edit> {
        if let Some(text) = self.unfiled.get_mut(path) {
            let end = floor_char_boundary(text, replaced.end);
            let start = floor_char_boundary(text, replaced.start.min(end));
            text.replace_range(start..end, with);
        }
        self.change(path, |text, db| text.replace(db, replaced, with))
    }

    /// Replaces the text of a file. `None` if the file belongs to no module.
    pub fn set_text(&mut self, path: &str, text: &str) -> Option<Edit> {
        if let Some(unfiled) = self.unfiled.get_mut(path) {
            text.clone_into(unfiled);
        }
        self.change(path, |edited, db| edited.set(db, text))
    }

    fn change(
        &mut self,
        path: &str,
        edit: impl FnOnce(&mut EditedText, &dyn Handle) -> BlockEdits,
    ) -> Option<Edit> {
        let loaded = self.files.get_mut(path)?;
        let edited = loaded.edited.get_or_insert_with(|| EditedText::of(&*self.db, loaded.file));
        let edits = edit(edited, &*self.db);
        let directory = loaded.directory;
        let edit = self.apply(directory, edits);
        // A module source that is not a literal can depend on any item, so that any edit can change it.
        if edit.changes_modules() || self.workspaces.iter().any(|it| self.is_dynamic(*it)) {
            self.load_called_modules();
        }
        Some(edit)
    }

    /// Builds the reverse index of a module, which [`SourceTree::reached`] needs. Called for modules that are
    /// edited.
    pub fn follow(&mut self, directory: Directory) {
        let db = &*self.db;
        self.reverse_index.entry(directory).or_insert_with(|| ReverseIndex::of(db, directory));
    }

    /// Returns the blocks of its module that an edit can affect. `None` if it can affect every block, or if the
    /// module has no reverse index.
    pub fn reached(&self, edit: &Edit) -> Option<FxHashSet<Block>> {
        self.reverse_index.get(&edit.directory)?.reached(&*self.db, edit)
    }

    /// Opens a file with the text of an editor, which need not be on the disk. If the directory of the file is not
    /// loaded, the text is kept until it is.
    pub fn open(&mut self, path: &str, text: &str) {
        if let Some(loaded) = self.files.get_mut(path) {
            loaded.is_open = true;
            let file = loaded.file;
            // A decode error refers to the bytes on the disk; the text of the editor is valid.
            if file.decode_error(&*self.db).is_some() {
                file.set_decode_error(&mut *self.db).to(None);
            }
            self.set_text(path, text);
            return;
        }
        self.unfiled.insert(Arc::from(path), text.to_owned());
        let (parent, _) = split_path(path);
        match self.directories.contains_key(parent) {
            true => self.reload_directory(parent, &BTreeSet::new()),
            false => self.load_called_modules(),
        }
    }

    /// Closes a file: the text on the disk is used again.
    pub fn close(&mut self, path: &str) {
        self.unfiled.remove(path);
        if let Some(loaded) = self.files.get_mut(path) {
            loaded.is_open = false;
        }
        self.reload([path]);
    }

    /// Returns true if a module, or the missing directory of a module call, is this directory or lies below it.
    pub fn is_above_modules(&self, path: &str) -> bool {
        self.directories().any(|it| is_within(it, path))
    }

    /// Reloads changed files and directories from the disk, by display path: files that were written, added or
    /// removed, and directories that were added or removed with their content.
    pub fn reload<'p>(&mut self, changed: impl IntoIterator<Item = &'p str>) {
        let mut by_directory: BTreeMap<Arc<str>, BTreeSet<Arc<str>>> = BTreeMap::new();
        for path in changed {
            let (parent, _) = split_path(path);
            by_directory.entry(Arc::from(parent)).or_default().insert(Arc::from(path));
            for below in self.directories().filter(|it| is_within(it, path)) {
                let files =
                    self.directories.get(below).into_iter().flat_map(|it| self.paths_in(*it));
                by_directory.entry(below.clone()).or_default().extend(files);
            }
        }
        for (parent, changed) in by_directory {
            if self.directories.contains_key(&parent) {
                self.reload_directory(&parent, &changed);
            } else if self.missing.contains(&parent) {
                self.load_called_modules();
            }
        }
    }

    fn reload_directory(&mut self, path: &str, changed: &BTreeSet<Arc<str>>) {
        let Some(&directory) = self.directories.get(path) else { return };
        let listing = match load::list(&*self.system, &self.base, path, &self.open_in(path)) {
            Ok(listing) => listing,
            Err(error) if load::is_gone(&error) => load::Listing::default(),
            // Keep the files: without them, the plan would destroy everything that the module declares.
            Err(_) => return,
        };
        let mut unfit = listing.unfit;
        let mut present = BTreeSet::new();
        for shown in listing.files {
            let known = self.files.contains_key(&shown);
            if !known || (changed.contains(&shown) && !self.is_open(&shown)) {
                match self.text_to_take(&shown) {
                    Ok(text) => self.take_text(&shown, directory, &text),
                    Err(file) => {
                        unfit.push(*file);
                        continue;
                    }
                }
            }
            present.insert(shown);
        }
        if self.unfit_in(path) != unfit {
            self.more_changed();
        }
        self.unfit.insert(Arc::from(path), unfit);
        let gone: Vec<Arc<str>> =
            self.paths_in(directory).filter(|it| !present.contains(it)).collect();
        for path in gone {
            self.remove(&path);
        }
        self.take_files(directory);
    }

    /// Returns the text of a file that is new or changed on the disk. For an open file this is the text of the
    /// editor.
    fn text_to_take(&self, shown: &Arc<str>) -> Result<load::Text, Box<UnfitFile>> {
        text_to_take(&self.unfiled, &*self.system, &self.base, shown)
    }

    fn take_text(&mut self, shown: &Arc<str>, directory: Directory, text: &load::Text) {
        match self.files.get(shown) {
            Some(loaded) => {
                let file = loaded.file;
                if file.decode_error(&*self.db) != text.decode_error {
                    self.more_changed();
                    file.set_decode_error(&mut *self.db).to(text.decode_error);
                }
                self.set_text(shown, &text.text);
            }
            None => {
                let file = text.file(&mut *self.db, shown);
                let is_open = self.unfiled.remove(shown).is_some();
                self.insert(shown, file, directory, is_open);
            }
        }
    }

    /// Adds a new file to the map of files. Its names are declared when the file is added to its directory.
    fn insert(&mut self, path: &str, file: File, directory: Directory, is_open: bool) {
        self.files.insert(Arc::from(path), Loaded { file, directory, edited: None, is_open });
    }

    fn remove(&mut self, path: &str) {
        let open = if self.is_open(path) { self.text(path) } else { None };
        if let Some(loaded) = self.files.remove(path) {
            self.unfiled.extend(open.map(|text| (Arc::from(path), text)));
            let blocks = loaded.file.blocks(&*self.db).clone();
            let changes = self.forget(loaded.directory, &blocks);
            redeclare(&mut *self.db, loaded.directory, &changes);
        }
    }

    /// Sets the files of a directory to the files in the map, and declares the names of the new ones.
    fn take_files(&mut self, directory: Directory) {
        let files: Vec<File> =
            self.paths_in(directory).filter_map(|path| Some(self.files.get(&path)?.file)).collect();
        let old = directory.files(&*self.db).clone();
        if old == files {
            return;
        }
        let new: Vec<File> = files.iter().copied().filter(|file| !old.contains(file)).collect();
        directory.set_files(&mut *self.db).to(files);
        let mut changes = Vec::new();
        for &block in new.iter().flat_map(|file| file.blocks(&*self.db)) {
            let after = block_names(&*self.db, block).into();
            changes.push(Redeclared { after, ..Redeclared::of(block) });
            if let Some(mentions) = self.reverse_index.get_mut(&directory) {
                mentions.add(block, &mentioned(&*self.db, block));
            }
        }
        redeclare(&mut *self.db, directory, &changes);
        // References in an override file belong to the blocks that it overrides, so the index is built again.
        let mut files = old.iter().chain(directory.files(&*self.db));
        if files.any(|file| db::is_override(file.path(&*self.db)))
            && let Some(mentions) = self.reverse_index.get_mut(&directory)
        {
            *mentions = ReverseIndex::of(&*self.db, directory);
        }
        self.directories_changed();
        self.load_called_modules();
    }

    /// The display paths of the files of a directory, sorted.
    fn paths_in(&self, directory: Directory) -> impl Iterator<Item = Arc<str>> {
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
    fn open_in(&self, path: &str) -> BTreeSet<String> {
        let directory = self.directories.get(path);
        let loaded = directory.into_iter().flat_map(|it| self.paths_in(*it));
        let loaded = loaded.filter(|it| self.is_open(it));
        let unfiled = self.unfiled.keys().filter(|it| split_path(it).0 == path).cloned();
        loaded.chain(unfiled).map(|path| split_path(&path).1.to_owned()).collect()
    }

    fn is_open(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(|loaded| loaded.is_open)
    }

    /// Sets the blocks that an edit touched, and declares their new names.
    fn apply(&mut self, directory: Directory, edits: BlockEdits) -> Edit {
        let touched: Vec<Block> = edits.touched().collect();
        let removed: FxHashSet<Block> = edits.removed().iter().copied().collect();
        let mut changes = self.forget(directory, &touched);
        let added = edits.apply(&mut *self.db);
        let blocks_came = !added.is_empty();
        changes.extend(added.into_iter().map(Redeclared::of));
        for change in changes.iter_mut().filter(|it| !removed.contains(&it.block)) {
            change.after = block_names(&*self.db, change.block).into();
            if let Some(mentions) = self.reverse_index.get_mut(&directory) {
                mentions.add(change.block, &mentioned(&*self.db, change.block));
            }
        }
        redeclare(&mut *self.db, directory, &changes);
        let redeclares = changes.iter().any(|it| it.before != it.after);
        let names = changes.iter().flat_map(|it| it.before.iter().chain(&it.after));
        let names = names.cloned().collect();
        let blocks = changes.iter().map(|it| it.block).filter(|it| !removed.contains(it)).collect();
        // Added or removed blocks count even if they declare no names.
        let redeclares = redeclares || blocks_came || !removed.is_empty();
        let edit = Edit { directory, blocks, names, redeclares };
        if let Some(changes) = &mut self.changes {
            changes.edits.push(edit.clone());
        }
        edit
    }

    /// Returns the names that the blocks declare before they change or disappear, and removes the blocks from the
    /// reverse index.
    fn forget(&mut self, directory: Directory, blocks: &[Block]) -> Vec<Redeclared> {
        let db = &*self.db;
        let mut mentions = self.reverse_index.get_mut(&directory);
        let before = blocks.iter().map(|&block| {
            if let Some(mentions) = &mut mentions {
                mentions.remove(block, &mentioned(db, block));
            }
            Redeclared { before: block_names(db, block).into(), ..Redeclared::of(block) }
        });
        before.collect()
    }

    /// Loads the module in a directory. A directory without files is not an error.
    fn load_directory(&mut self, shown: &str) -> io::Result<Directory> {
        if let Some(&directory) = self.directories.get(shown) {
            return Ok(directory);
        }
        let listing = load::list(&*self.system, &self.base, shown, &self.open_in(shown))?;
        let mut unfit = listing.unfit;
        let directory = Directory::builder(Arc::from(shown), Vec::new())
            .path_durability(Durability::HIGH)
            .new(&*self.db);
        let mut files = Vec::new();
        let (unfiled, system, base) = (&self.unfiled, &*self.system, &self.base);
        let texts = map_files(&listing.files, |path| {
            text_to_take(unfiled, system, base, path).map(|text| text.cut(path))
        });
        let has_overrides = listing.files.iter().any(|path| db::is_override(path));
        for (path, text) in listing.files.into_iter().zip(texts) {
            match text {
                Ok(text) => {
                    let file = text.file(&mut *self.db, &path, has_overrides);
                    let is_open = self.unfiled.remove(&path).is_some();
                    self.insert(&path, file, directory, is_open);
                    files.push(file);
                }
                Err(file) => unfit.push(*file),
            }
        }
        self.unfit.insert(Arc::from(shown), unfit);
        let durability = self.db.durability(Durability::LOW);
        directory.set_files(&mut *self.db).with_durability(durability).to(files);
        warm_up::declare(&mut *self.db, directory);
        self.directories.insert(Arc::from(shown), directory);
        Ok(directory)
    }

    /// Loads modules until every module call refers to a loaded or missing directory.
    fn load_called_modules(&mut self) {
        let mut missing = BTreeSet::new();
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
    }

    /// Returns the directories that the module calls of the configurations refer to.
    fn called_by(&self, workspaces: &[Workspace]) -> BTreeSet<Arc<str>> {
        let of_workspace = |workspace: &Workspace| {
            called_paths(&*self.db, *workspace, &hir::reachable(&*self.db, *workspace))
        };
        workspaces.iter().flat_map(of_workspace).collect()
    }

    /// Returns the directories with files: a directory without files is not a module.
    fn directories_with_files(&self) -> BTreeMap<Arc<str>, Directory> {
        let with_files = self.directories.iter().filter(|(_, it)| !it.files(&*self.db).is_empty());
        with_files.map(|(path, directory)| (path.clone(), *directory)).collect()
    }

    /// Returns the changes since the last call. The first call reports that everything changed.
    pub(crate) fn take_changes(&mut self) -> Changes {
        let everything = || Changes { edits: Vec::new(), is_more: true };
        self.changes.replace(Changes::default()).unwrap_or_else(everything)
    }

    fn more_changed(&mut self) {
        if let Some(changes) = &mut self.changes {
            changes.is_more = true;
        }
    }

    fn directories_changed(&mut self) {
        self.more_changed();
        let directories = Arc::new(self.directories_with_files());
        for workspace in self.workspaces.clone() {
            if *workspace.directories(&*self.db) != directories {
                workspace.set_directories(&mut *self.db).to(Arc::clone(&directories));
            }
        }
    }
}

/// Returns the directories that the calls in these modules refer to, even if there is no module.
pub(crate) fn called_paths(
    db: &dyn Handle,
    workspace: Workspace,
    callers: &[Directory],
) -> BTreeSet<Arc<str>> {
    let calls = callers.iter().flat_map(|&caller| {
        all_of_kind(db, caller, NameKind::Module).into_iter().map(move |key| (caller, key))
    });
    let paths = calls.filter_map(|(caller, key)| {
        Some(paths_of_call(db, workspace, caller, item(db, key).kind.as_module_call()?))
    });
    paths.flatten().collect()
}

/// Splits a display path into directory and file name. The directory of a plain name is `.`.
fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or((".", path))
}

fn is_within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
