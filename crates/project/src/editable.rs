//! A project whose texts and settings change, and its check after edits.
//!
//! **Invariant:** the result of a check equals that of a full check. If the effect of the edits since the last check
//! is unknown, everything is checked.

use std::{cell::RefCell, io, ops::Deref, path::PathBuf, sync::Arc};

use addr::ProviderSource;
use db::{Block, Diagnostic, Directory, File, System};
use hir::{
    Program,
    provisioner::ProvisionerSchemas,
    statics::{self, Modules},
    workspace::StaticInputs,
};
use provider::ProviderSchemas;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Configure, Database, EditableTree, Handle, Manifest, Project, SourceTree, batches,
    edit::Changes, name_index::Edit, warm_up,
};

/// A project whose texts and settings change.
pub struct EditableProject {
    project: Project,
    last: Option<LastCheck>,
}

/// The part of the last check that the next one needs, beside the database and the index of names.
struct LastCheck {
    /// The program, which edits without new names update.
    program: Program,
    /// The modules at computed sources. Their problems are reported in modules other than the edited one.
    modules: Option<Modules>,
}

/// Blocks by module.
type Blocks = FxHashMap<Directory, FxHashSet<Block>>;

impl Deref for EditableProject {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.project
    }
}

impl Configure for EditableProject {
    fn set_schemas(&mut self, source: ProviderSource, schemas: Arc<ProviderSchemas>) {
        let workspace = self.workspace();
        self.tree_mut().set_schemas(workspace, source, schemas);
    }

    fn set_provisioners(&mut self, schemas: ProvisionerSchemas) {
        let workspace = self.workspace();
        self.tree_mut().set_provisioners(workspace, schemas);
    }

    fn set_static_inputs(&mut self, static_inputs: StaticInputs) -> bool {
        let workspace = self.workspace();
        self.tree_mut().set_static_inputs(workspace, static_inputs)
    }
}

impl EditableProject {
    /// Loads the root module in `root` and every module that it calls, directly or indirectly. See
    /// [`Project::load`] for the arguments.
    ///
    /// # Errors
    /// See [`Project::load`].
    pub fn load(
        system: Arc<dyn System>,
        root: PathBuf,
        manifest: Manifest,
    ) -> io::Result<EditableProject> {
        EditableProject::load_into(Database::default(), system, root, manifest)
    }

    /// Loads a configuration into an empty database.
    ///
    /// # Errors
    /// See [`Project::load`].
    pub fn load_into(
        db: Database,
        system: Arc<dyn System>,
        root: PathBuf,
        manifest: Manifest,
    ) -> io::Result<EditableProject> {
        let project = Project::load_into(db, system, root, manifest)?;
        Ok(EditableProject { project, last: None })
    }

    /// The source tree, for edits.
    pub fn tree_mut(&mut self) -> EditableTree<&mut SourceTree> {
        EditableTree::of(&mut self.project.tree)
    }

    /// Replaces the text of a file. Returns false if the file is not part of the configuration.
    pub fn set_text(&mut self, path: &str, text: &str) -> bool {
        self.tree_mut().set_text(path, text).is_some()
    }

    /// Returns the diagnostics and the program. The first call checks everything, as [`Project::checked`] does.
    /// Later calls need no dependency order, because most items are inferred already, and check only the blocks
    /// that the edits can affect.
    pub fn recheck(&mut self) -> (Vec<Diagnostic>, Program) {
        let changes = self.project.tree.take_changes();
        let last = self.last.take();
        if last.is_none() {
            warm_up::values(self.db(), self.workspace());
        }
        let modules = statics::modules(self.db(), self.workspace());
        let is_same = last.as_ref().is_some_and(|it| it.modules == *modules);
        let affected = self.affected(&changes).filter(|_| is_same);
        let (diagnostics, program) = match (last, affected) {
            (Some(last), Some(affected)) => {
                let diagnostics = self.diagnostics_after(&affected);
                let program = self.program_after(last.program, &changes.edits);
                (diagnostics, program.unwrap_or_else(|| self.program()))
            }
            _ => self.check_everything(),
        };
        let modules = statics::modules(self.db(), self.workspace()).clone();
        self.last = Some(LastCheck { program: program.clone(), modules });
        (diagnostics, program)
    }

    /// Returns the blocks that the changes can affect; `None` if they can affect everything.
    fn affected(&self, changes: &Changes) -> Option<Blocks> {
        if changes.is_more {
            return None;
        }
        let mut all = Blocks::default();
        for edit in &changes.edits {
            let affected = self.tree().index().affected(self.db(), edit)?;
            let is_root = edit.directory == self.root();
            if edit.changes_modules() || (!is_root && edit.changes_signature(&affected, self.db()))
            {
                return None;
            }
            all.entry(edit.directory).or_default().extend(affected);
        }
        Some(all)
    }

    fn check_everything(&mut self) -> (Vec<Diagnostic>, Program) {
        let directories = hir::reachable(self.db(), self.workspace());
        let tree = &mut self.project.tree;
        directories.iter().for_each(|directory| tree.follow(*directory));
        let (db, workspace) = (self.db(), self.workspace());
        for &directory in &directories {
            warm_up::problems(db, workspace, directory);
        }
        let found = RefCell::new(Blocks::default());
        let diagnostics = || self.diagnostics_of(&found, |_, _| true);
        let program = move |db: &dyn Handle| hir::program(db, workspace);
        let (diagnostics, program) = batches::join(db, diagnostics, program);
        self.note_problems(found.into_inner());
        (diagnostics, program)
    }

    /// Returns all diagnostics. Checks the affected blocks, and the blocks with problems, whose locations may have
    /// moved; no other block has a problem.
    fn diagnostics_after(&mut self, affected: &Blocks) -> Vec<Diagnostic> {
        let index = self.tree().index();
        let directories = hir::reachable(self.db(), self.workspace()).into_iter();
        let with_problems: Blocks =
            directories.map(|directory| (directory, index.with_problems(directory))).collect();
        let is_in = |blocks: &Blocks, directory, block| {
            blocks.get(&directory).is_some_and(|it| it.contains(&block))
        };
        let found = RefCell::new(Blocks::default());
        let diagnostics = self.diagnostics_of(&found, |directory, block| {
            is_in(affected, directory, block) || is_in(&with_problems, directory, block)
        });
        self.note_problems(found.into_inner());
        diagnostics
    }

    /// Returns the diagnostics of the selected blocks, and collects in `found` the blocks that have one.
    fn diagnostics_of(
        &self,
        found: &RefCell<Blocks>,
        is_asked: impl Fn(Directory, Block) -> bool,
    ) -> Vec<Diagnostic> {
        let (db, workspace) = (self.db(), self.workspace());
        self.problems_with(|directory, file: File| {
            let is_asked = |block| is_asked(directory, block);
            let of_file =
                hir::diagnostics::of_blocks_of_file(db, workspace, directory, file, is_asked);
            found.borrow_mut().entry(directory).or_default().extend(of_file.blocks);
            of_file.diagnostics
        })
    }

    fn note_problems(&mut self, mut found: Blocks) {
        for directory in hir::reachable(self.db(), self.workspace()) {
            let blocks = found.remove(&directory).unwrap_or_default();
            self.project.tree.index_mut().set_with_problems(directory, blocks);
        }
    }

    /// Updates the program after edits. `None` if it must be built again.
    fn program_after(&self, mut program: Program, edits: &[Edit]) -> Option<Program> {
        for edit in edits {
            if edit.redeclares {
                return None;
            }
            program = hir::program_with(self.db(), &program, edit.directory, &edit.blocks)?;
        }
        Some(program)
    }
}
