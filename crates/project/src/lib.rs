//! A directory as a project: which files make up a configuration, and the one database that holds them.
//!
//! Start reading at [`Project::load`]. Command line, language server and tests differ in the [`System`] they bring and
//! in how they report changes; the database, its inputs and its queries are the same.
//!
//! **Invariant:** everything is read through [`System`]; nothing here starts a process or opens a connection.
//! **Absent on purpose:** networks, LSP, state, plans.

mod again;
mod load;
mod mentions;
mod prime;
mod processors;
mod reload;
mod tree;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use addr::ProviderSource;
use db::{Directory, File, OneShot, System};
use hir::{Symbols, Workspace, diagnostics::FileProblems, workspace::Given};
use provider::ProviderSchemas;
use values::Str;

use crate::processors::side_by_side;
pub use crate::{
    load::{UnfitFile, configuration_files},
    mentions::Edit,
    reload::Files,
    tree::{Manifest, SourceTree},
};

/// The concrete database.
#[salsa::db]
#[derive(Clone, Default)]
pub struct Database {
    symbols: Symbols,
    one_shot: Option<Arc<OneShot>>,
    // Last, because what it drops may look at the others.
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl db::Db for Database {
    fn one_shot(&self) -> Option<&OneShot> {
        self.one_shot.as_deref()
    }
}

#[salsa::db]
impl hir::Db for Database {
    fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    fn symbols_mut(&mut self) -> &mut Symbols {
        &mut self.symbols
    }
}

impl Database {
    /// A database that reports what it executes, for tests of incrementality.
    pub fn with_events(callback: impl Fn(salsa::Event) + Send + Sync + 'static) -> Database {
        Database { storage: salsa::Storage::new(Some(Box::new(callback))), ..Database::default() }
    }

    /// A database for texts that are read once: to change one of them is an error of the program, which ends it.
    pub fn one_shot() -> Database {
        Database { one_shot: Some(Arc::default()), ..Database::default() }
    }
}

/// One configuration: a root module and everything that its calls lead to.
pub struct Project {
    tree: SourceTree,
    workspace: Workspace,
    looked: Option<again::Looked>,
}

impl Project {
    /// Reads the root module in `root` and every module that its calls lead to.
    ///
    /// `root` is relative to the system's working directory and is also what paths are shown relative to. `manifest` is
    /// the installed modules, by directory of the caller and name of the call.
    ///
    /// # Errors
    /// If the root directory or one of its files cannot be read. A module that cannot be read is a diagnostic instead.
    pub fn load(
        system: Arc<dyn System>,
        root: PathBuf,
        manifest: Manifest,
    ) -> std::io::Result<Project> {
        Project::load_into(Database::default(), system, root, manifest)
    }

    /// The same for somebody who looks at it once, and changes none of its texts ([`Database::one_shot`]).
    ///
    /// # Errors
    /// See [`Project::load`].
    pub fn load_once(
        system: Arc<dyn System>,
        root: PathBuf,
        manifest: Manifest,
    ) -> std::io::Result<Project> {
        Project::load_into(Database::one_shot(), system, root, manifest)
    }

    /// Reads a configuration into a database that is empty so far.
    ///
    /// # Errors
    /// See [`Project::load`].
    pub fn load_into(
        db: Database,
        system: Arc<dyn System>,
        root: PathBuf,
        manifest: Manifest,
    ) -> std::io::Result<Project> {
        let mut tree = SourceTree::new(db, system, root);
        let workspace = tree.add_root(".", manifest)?;
        Ok(Project { tree, workspace, looked: None })
    }

    /// The database with all inputs.
    pub fn db(&self) -> &Database {
        &self.tree.db
    }

    /// The inputs that belong together.
    pub fn workspace(&self) -> Workspace {
        self.workspace
    }

    /// The files and their texts.
    pub fn tree(&self) -> &SourceTree {
        &self.tree
    }

    /// The same, to be edited.
    pub fn tree_mut(&mut self) -> &mut SourceTree {
        &mut self.tree
    }

    /// Every provider that the configuration names, with the constraints on its version.
    pub fn provider_requirements(&self) -> BTreeMap<ProviderSource, Vec<Str>> {
        hir::provider_requirements(self.db(), self.workspace)
    }

    /// Gives the database the schemas of a provider.
    pub fn set_schemas(&mut self, source: ProviderSource, schemas: Arc<ProviderSchemas>) {
        self.tree.set_schemas(self.workspace, source, schemas);
    }

    /// Gives the configuration what its root module is given from outside. Gives whether that is something else than before.
    pub fn give(&mut self, given: Given) -> bool {
        self.tree.give(self.workspace, given)
    }

    /// Gives a file that is part of the configuration a new text, as an editor does.
    pub fn set_text(&mut self, path: &str, text: &str) -> bool {
        self.tree.set_text(path, text).is_some()
    }

    /// Everything that is wrong with the configuration, hints included.
    pub fn diagnostics(&self) -> Vec<db::Diagnostic> {
        let are_items_sound = prime::values(self.db(), self.workspace);
        self.problems(are_items_sound)
    }

    /// Where nothing is wrong with any item, that need not be asked of each.
    fn problems(&self, are_items_sound: bool) -> Vec<db::Diagnostic> {
        self.problems_with(|directory, file| {
            let directory = (directory, are_items_sound);
            hir::diagnostics::of_file_once(self.db(), self.workspace, directory, file)
        })
    }

    fn problems_with(
        &self,
        of_file: impl Fn(Directory, File) -> Vec<db::Diagnostic>,
    ) -> Vec<db::Diagnostic> {
        // What a call leads to and is no module may hold files that could not be taken.
        let unfit = self.tree.unfit_of(&[self.workspace]);
        let mut diagnostics: Vec<_> = unfit.into_iter().map(|it| it.problem.clone()).collect();
        let db = self.db();
        diagnostics.extend(hir::diagnostics::diagnostics_with(db, self.workspace, of_file));
        diagnostics
    }

    /// What is wrong with the configuration before anything is installed. No item is inferred for it but settings.
    pub fn setup_problems(&self) -> Vec<db::Diagnostic> {
        self.problems_with(|directory, file| {
            hir::diagnostics::of_file_for_setup(self.db(), self.workspace, directory, file)
        })
    }

    /// What is wrong, and the program, made side by side.
    pub fn checked(&self) -> (Vec<db::Diagnostic>, hir::Program) {
        let are_items_sound = prime::values(self.db(), self.workspace);
        let workspace = self.workspace;
        let here = || (self.problems(are_items_sound), hir::Locals::of(self.db(), workspace));
        let others = move |db: &Database| hir::ProgramButLocals::of(db, workspace);
        let ((diagnostics, locals), made) =
            side_by_side(self.db(), prime::INFERENCE_STACK, here, others);
        let made = made.unwrap_or_else(|| others(self.db()));
        (diagnostics, made.with(locals))
    }

    /// The program that the engine runs.
    pub fn program(&self) -> hir::Program {
        hir::program(self.db(), self.workspace)
    }

    /// The root module.
    pub fn root(&self) -> Directory {
        self.workspace.root(self.db())
    }

    /// Whether the root module has no configuration file at all, not even one that could not be taken.
    pub fn is_empty(&self) -> bool {
        let root = self.root();
        root.files(self.db()).is_empty() && self.tree.unfit_in(root.path(self.db())).is_empty()
    }
}

/// Infers every item of a configuration that was just read, in the order of dependencies: what is asked later finds all
/// that it needs, however long the chains of references are.
pub fn infer(db: &Database, workspace: Workspace) {
    prime::values(db, workspace);
}

/// Everything that is wrong with the files of a module, hints included, file by file. One processor is left for others.
pub fn module_problems(
    db: &Database,
    workspace: Workspace,
    directory: Directory,
) -> Vec<(File, FileProblems)> {
    prime::problems(db, workspace, directory);
    let of_file =
        |file| hir::diagnostics::of_blocks_of_file(db, workspace, directory, file, |_| true);
    directory.files(db).iter().map(|&file| (file, of_file(file))).collect()
}
