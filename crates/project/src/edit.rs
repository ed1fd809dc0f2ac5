//! The edits of a source tree: the overlay of files that an editor has open, and the path from a change of a text to
//! the database.
//!
//! ```text
//!  disk ──┐
//!         ├─► overlay ─► text ─► blocks that changed ─► Block (input) ─► names that changed ─► Symbol (input)
//!  editor ┘
//! ```
//!
//! **Invariant:** the text of an open file is that of the editor, whatever is on the disk.
//! **Invariant:** every change of a text goes through [`EditableTree::apply`], which keeps the index of names
//! consistent.
//! **Invariant:** files, directories and blocks keep their identity while they exist, so that results for parts
//! that an edit does not touch stay valid. When they are gone, their inputs are reused.

use std::{
    borrow::BorrowMut,
    collections::VecDeque,
    io,
    ops::{Deref, Range},
    path::PathBuf,
    sync::Arc,
};

use addr::ProviderSource;
use db::{Block, BlockEdits, Directory, EditedText, File, System, input::floor_char_boundary};
use hir::{
    Workspace, provisioner::ProvisionerSchemas, symbols::RedeclaredBlock, workspace::StaticInputs,
};
use provider::ProviderSchemas;
use rustc_hash::FxHashSet;
use salsa::Setter as _;
use sorted::TreeMap;

use crate::{
    Database, Handle, Manifest, SourceTree,
    name_index::{Edit, NameIndex},
    tree::{NewRoot, split_path},
};

/// The number of modules without callers that stay loaded.
const MAX_IDLE: usize = 16;

/// The state that a tree needs for edits only.
#[derive(Default)]
pub(crate) struct EditState {
    index: NameIndex,
    /// The edits since the last [`SourceTree::take_changes`]; `None` before the first call.
    made: Option<Vec<Edit>>,
    /// The directories of modules that no configuration reaches, in the order in which they lost their last caller.
    idle: VecDeque<Arc<str>>,
    /// True if module calls may have changed since idle modules were unloaded.
    pub(crate) are_calls_new: bool,
}

/// The changes of a tree.
pub(crate) struct Changes {
    /// The edits of texts.
    pub(crate) edits: Vec<Edit>,
    /// True if anything else changed: the set of files, schemas, installed modules or values from outside.
    pub(crate) is_more: bool,
}

/// A source tree whose texts, modules and settings change: an own one, or the borrowed one of an
/// [`EditableProject`].
///
/// [`EditableProject`]: crate::EditableProject
pub struct EditableTree<T = SourceTree>(T);

impl Deref for EditableTree {
    type Target = SourceTree;

    fn deref(&self) -> &SourceTree {
        &self.0
    }
}

impl EditableTree {
    /// Creates a tree without modules. Relative paths resolve against `base`.
    pub fn new(db: Database, system: Arc<dyn System>, base: PathBuf) -> EditableTree {
        EditableTree(SourceTree::new(db, system, base))
    }
}

impl<T: BorrowMut<SourceTree>> EditableTree<T> {
    /// Allows edits of a tree, whose database must be one whose texts change.
    pub(crate) fn of(tree: T) -> EditableTree<T> {
        EditableTree(tree)
    }

    /// Loads the module in the directory with the display path `path`, and every module that it calls, as a new
    /// configuration.
    ///
    /// # Errors
    /// Fails if the directory cannot be listed. A called module that cannot be listed is a diagnostic instead.
    pub fn add_root(&mut self, path: &str, manifest: Manifest) -> io::Result<Workspace> {
        self.0.borrow_mut().add_root(path, manifest)
    }

    /// Loads several configurations at once, which is cheaper than separate calls of [`EditableTree::add_root`].
    /// Omits configurations whose directory cannot be listed.
    pub fn add_roots(&mut self, roots: Vec<NewRoot>) -> Vec<(String, Workspace)> {
        self.0.borrow_mut().add_roots(roots)
    }

    /// Removes a configuration. Modules that it alone calls are unloaded after a while.
    pub fn remove_root(&mut self, workspace: Workspace) {
        self.change(|it| it.remove_root(workspace));
    }

    /// Sets the schemas of a provider in a configuration.
    pub fn set_schemas(
        &mut self,
        workspace: Workspace,
        source: ProviderSource,
        schemas: Arc<ProviderSchemas>,
    ) {
        self.0.borrow_mut().set_schemas(workspace, source, schemas);
    }

    /// Sets the schemas of the provisioner plugins of a configuration.
    pub fn set_provisioners(&mut self, workspace: Workspace, schemas: ProvisionerSchemas) {
        self.0.borrow_mut().set_provisioners(workspace, schemas);
    }

    /// Sets the values that the root module of a configuration gets from outside, except for files, which the tree
    /// reads itself. Returns true if they differ from the previous ones.
    pub fn set_static_inputs(&mut self, workspace: Workspace, static_inputs: StaticInputs) -> bool {
        self.change(|it| it.set_static_inputs(workspace, static_inputs))
    }

    /// Sets the installed modules of a configuration, and loads modules that become reachable.
    pub fn set_manifest(&mut self, workspace: Workspace, manifest: Manifest) {
        self.change(|it| it.set_manifest(workspace, manifest));
    }

    /// Returns the current text of a file and prepares the file for an edit. The byte range of the next edit
    /// refers to this text.
    pub fn edited_text(&mut self, path: &str) -> Option<&str> {
        self.0.borrow_mut().edited_text(path)
    }

    /// Replaces a byte range of the text of a file. `None` if the file belongs to no module.
    pub fn edit(&mut self, path: &str, replaced: Range<usize>, with: &str) -> Option<Edit> {
        self.change(|it| it.edit(path, replaced, with))
    }

    /// Replaces the text of a file. `None` if the file belongs to no module.
    pub fn set_text(&mut self, path: &str, text: &str) -> Option<Edit> {
        self.change(|it| it.set_text(path, text))
    }

    /// Starts to follow the references of a module, which [`SourceTree::reached`] needs. Called for modules that
    /// are edited.
    pub fn follow(&mut self, directory: Directory) {
        self.0.borrow_mut().follow(directory);
    }

    /// Opens a file with the text of an editor, which need not be on the disk. If the directory of the file is not
    /// loaded, the text is kept until it is.
    pub fn open(&mut self, path: &str, text: &str) {
        self.change(|it| it.open(path, text));
    }

    /// Closes a file: the text on the disk is used again.
    pub fn close(&mut self, path: &str) {
        self.change(|it| it.close(path));
    }

    /// Reloads changed files and directories from the disk, by display path: files that were written, added or
    /// removed, and directories that were added or removed with their content.
    pub fn reload<'p>(&mut self, changed: impl IntoIterator<Item = &'p str>) {
        self.change(|it| it.reload(changed));
    }

    /// Reads the directories and files of all modules again, and takes over what differs. Returns true if anything
    /// does.
    pub fn reload_all(&mut self) -> bool {
        self.change(SourceTree::reload_all)
    }

    /// The tree, for edits that concern no module.
    pub(crate) fn tree_of_edits(&mut self) -> &mut SourceTree {
        self.0.borrow_mut()
    }

    /// Makes a change of the tree, and unloads the modules that nothing calls any more. A change may need them until
    /// it is complete.
    fn change<R>(&mut self, change: impl FnOnce(&mut SourceTree) -> R) -> R {
        let tree = self.0.borrow_mut();
        let changed = change(tree);
        tree.unload_idle_modules();
        changed
    }
}

impl SourceTree {
    /// The index of names.
    pub(crate) fn index(&self) -> &NameIndex {
        &self.edits.index
    }

    /// The index of names, to note which blocks have problems.
    pub(crate) fn index_mut(&mut self) -> &mut NameIndex {
        &mut self.edits.index
    }

    fn remove_root(&mut self, workspace: Workspace) {
        self.workspaces.retain(|it| *it != workspace);
        let db = &mut *self.db;
        let providers = workspace.providers(db).clone();
        workspace.set_providers(db).to(TreeMap::new());
        workspace.set_directories(db).to(Arc::default());
        workspace.set_manifest(db).to(Manifest::new());
        workspace.set_provisioners(db).to(TreeMap::new());
        workspace.set_static_inputs(db).to(StaticInputs::default());
        self.spare.providers.extend(providers.into_values());
        self.spare.workspaces.push(workspace);
        self.edits.are_calls_new = true;
    }

    fn edited_text(&mut self, path: &str) -> Option<&str> {
        let Some(loaded) = self.files.get_mut(path) else {
            return self.unfiled.get(path).map(String::as_str);
        };
        let edited = loaded.edited.get_or_insert_with(|| EditedText::of(&*self.db, loaded.file));
        Some(edited.text())
    }

    fn set_manifest(&mut self, workspace: Workspace, manifest: Manifest) {
        if *workspace.manifest(&*self.db) != manifest {
            self.more_changed();
            workspace.set_manifest(&mut *self.db).to(manifest);
            self.load_called_modules();
        }
    }

    fn edit(&mut self, path: &str, replaced: Range<usize>, with: &str) -> Option<Edit> {
        if let Some(text) = self.unfiled.get_mut(path) {
            let end = floor_char_boundary(text, replaced.end);
            let start = floor_char_boundary(text, replaced.start.min(end));
            text.replace_range(start..end, with);
        }
        self.change(path, |text, db| text.replace(db, replaced, with))
    }

    pub(crate) fn set_text(&mut self, path: &str, text: &str) -> Option<Edit> {
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

    pub(crate) fn follow(&mut self, directory: Directory) {
        self.edits.index.follow(&*self.db, directory);
    }

    /// Returns the blocks of its module that an edit can affect. `None` if it can affect every block, or if the
    /// module is not followed.
    pub fn reached(&self, edit: &Edit) -> Option<FxHashSet<Block>> {
        self.edits.index.affected(&*self.db, edit)
    }

    fn open(&mut self, path: &str, text: &str) {
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
            true => self.reload_directory(parent, |_| false),
            false => self.load_called_modules(),
        }
    }

    fn close(&mut self, path: &str) {
        self.unfiled.remove(path);
        if let Some(loaded) = self.files.get_mut(path) {
            loaded.is_open = false;
        }
        self.reload([path]);
    }

    /// Removes a file from the map of files, with the names that it declares. The caller removes it from its
    /// directory, and only then it is spare.
    pub(crate) fn remove(&mut self, path: &str) -> Option<File> {
        let open = if self.is_open(path) { self.text(path) } else { None };
        let loaded = self.files.remove(path)?;
        self.unfiled.extend(open.map(|text| (Arc::from(path), text)));
        let db = &mut *self.db;
        let blocks = loaded.file.blocks(db).clone();
        let mut changes = self.edits.index.before(db, loaded.directory, &blocks);
        self.edits.index.after(db, loaded.directory, &mut changes, |_| false);
        Some(loaded.file)
    }

    /// Sets the files of a directory to the files in the map, and declares the names of the new ones.
    pub(crate) fn take_files(&mut self, directory: Directory) {
        let of_path = |path| Some(self.files.get(&path)?.file);
        let files: Vec<File> = self.paths_in(directory).filter_map(of_path).collect();
        let db = &mut *self.db;
        let old = directory.files(db).clone();
        if old == files {
            return;
        }
        let new: Vec<File> = files.iter().copied().filter(|file| !old.contains(file)).collect();
        directory.set_files(db).to(files);
        let added = new.iter().flat_map(|file| file.blocks(db).iter().copied());
        let mut changes: Vec<RedeclaredBlock> = added.map(RedeclaredBlock::of).collect();
        self.edits.index.after(db, directory, &mut changes, |_| true);
        // References in an override file belong to the blocks that it overrides, so the index is built again.
        let mut files = old.iter().chain(directory.files(db));
        if files.any(|file| db::is_override(file.path(db))) {
            self.edits.index.refresh(db, directory);
        }
        self.more_changed();
        self.directories_changed();
        self.load_called_modules();
    }

    /// Sets the blocks that an edit touched, and declares their new names.
    fn apply(&mut self, directory: Directory, edits: BlockEdits) -> Edit {
        let touched: Vec<Block> = edits.touched().collect();
        let gone: Vec<Block> = edits.removed().to_vec();
        let removed: FxHashSet<Block> = gone.iter().copied().collect();
        let db = &mut *self.db;
        let spare = self.spare.of_modules.entry(directory).or_default();
        let mut changes = self.edits.index.before(db, directory, &touched);
        let added = edits.apply(db, spare);
        let blocks_came = !added.is_empty();
        changes.extend(added.into_iter().map(RedeclaredBlock::of));
        self.edits.index.after(db, directory, &mut changes, |block| !removed.contains(&block));
        gone.into_iter().for_each(|block| spare.take_block(db, block));
        let redeclares = changes.iter().any(|it| it.before != it.after);
        let names = changes.iter().flat_map(|it| it.before.iter().chain(&it.after));
        let names = names.cloned().collect();
        let blocks = changes.iter().map(|it| it.block).filter(|it| !removed.contains(it)).collect();
        // Added or removed blocks count even if they declare no names.
        let redeclares = redeclares || blocks_came || !removed.is_empty();
        let edit = Edit { directory, blocks, names, redeclares };
        self.changes += 1;
        if let Some(edits) = &mut self.edits.made {
            edits.push(edit.clone());
        }
        edit
    }

    /// Unloads modules that no configuration reaches, except for the latest [`MAX_IDLE`]: a call that the user is
    /// about to complete often leads back to one of them. Modules with open files stay. Does nothing unless module
    /// calls may have changed. Each change of the tree ends with it.
    fn unload_idle_modules(&mut self) {
        if !std::mem::take(&mut self.edits.are_calls_new) {
            return;
        }
        let db = &*self.db;
        let workspaces = self.workspaces.iter();
        let called: FxHashSet<Directory> =
            workspaces.flat_map(|it| hir::reachable(db, *it)).collect();
        let mut idle = std::mem::take(&mut self.edits.idle);
        let is_idle = |path: &Arc<str>| {
            let directory = self.directories.get(path);
            directory.is_some_and(|it| !called.contains(it)) && self.open_in(path).is_empty()
        };
        idle.retain(is_idle);
        if called.len() + idle.len() < self.directories.len() {
            let new = self.directories.keys().filter(|it| is_idle(it) && !idle.contains(it));
            let new: Vec<Arc<str>> = new.cloned().collect();
            idle.extend(new);
        }
        self.edits.idle = idle;
        if self.edits.idle.len() > MAX_IDLE {
            let gone: Vec<Arc<str>> =
                self.edits.idle.drain(..self.edits.idle.len() - MAX_IDLE).collect();
            gone.iter().for_each(|path| self.unload(path));
            self.directories_changed();
        }
    }

    fn unload(&mut self, path: &Arc<str>) {
        let Some(directory) = self.directories.remove(path) else { return };
        let paths: Vec<Arc<str>> = self.paths_in(directory).collect();
        let files: Vec<File> = paths.iter().filter_map(|path| self.remove(path)).collect();
        directory.set_files(&mut *self.db).to(Vec::new());
        let spare = self.spare.of_modules.entry(directory).or_default();
        files.into_iter().for_each(|file| spare.take_file(&mut *self.db, file));
        self.spare.directories.push(directory);
        self.unloadable.remove(path);
        self.edits.index.forget(directory);
    }

    /// Returns the changes since the last call. The first call reports that everything changed.
    pub(crate) fn take_changes(&mut self) -> Changes {
        let is_more = std::mem::take(&mut self.is_more);
        match self.edits.made.replace(Vec::new()) {
            Some(edits) => Changes { edits, is_more },
            None => Changes { edits: Vec::new(), is_more: true },
        }
    }
}
