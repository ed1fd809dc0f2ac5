//! A directory as a project: the files of a configuration, and the single database that holds them.
//!
//! Start reading at [`Project::load`], for a configuration that is read once, and at [`EditableProject`], for one
//! whose texts change. The command line, the language server and tests differ in their [`System`]
//! and in how they report changes. The database, its inputs and its queries are the same.
//!
//! **Invariant:** all reads go through [`System`]; nothing here starts a process or opens a connection.
//! **Absent on purpose:** networks, LSP, state, plans.

mod batches;
mod database;
mod edit;
mod editable;
mod load;
mod name_index;
mod reload;
mod test_files;
mod tree;
mod warm_up;

use std::{ops::Deref, path::PathBuf, sync::Arc};

use addr::ProviderSource;
use db::{Directory, File, System};
use hir::{
    Workspace,
    diagnostics::FileProblems,
    provisioner::ProvisionerSchemas,
    statics::{self, ProviderInstances},
    workspace::StaticInputs,
};
use provider::ProviderSchemas;
use sorted::TreeMap;
use values::Str;

use crate::database::FrozenDatabase;
pub use crate::{
    database::{Database, Handle},
    edit::EditableTree,
    editable::EditableProject,
    load::{UnloadableFile, configuration_files},
    name_index::Edit,
    tree::{Manifest, NewRoot, SourceTree},
};

/// A configuration: a root module and all modules that it calls, directly or indirectly.
///
/// No method changes it. Its database is frozen, unless it is the view of an [`EditableProject`]:
///
/// ```compile_fail
/// fn edit(mut project: project::Project) {
///     project.set_text("main.tf", "");
/// }
/// ```
///
/// ```
/// fn edit(mut project: project::EditableProject) {
///     project.set_text("main.tf", "");
/// }
/// ```
pub struct Project {
    tree: SourceTree,
    workspace: Workspace,
}

/// A project with a frozen database that still takes settings.
pub struct UnsetProject(Project);

/// A project that takes settings from outside.
pub trait Configure: Deref<Target = Project> {
    /// Sets the schemas of a provider.
    fn set_schemas(&mut self, source: ProviderSource, schemas: Arc<ProviderSchemas>);

    /// Sets the schemas of the provisioner plugins that the configuration uses.
    fn set_provisioners(&mut self, schemas: ProvisionerSchemas);

    /// Sets the values that the root module gets from outside. Returns true if they differ from the previous ones.
    fn set_static_inputs(&mut self, static_inputs: StaticInputs) -> bool;
}

impl Deref for UnsetProject {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.0
    }
}

impl Configure for UnsetProject {
    fn set_schemas(&mut self, source: ProviderSource, schemas: Arc<ProviderSchemas>) {
        self.0.tree.set_schemas(self.0.workspace, source, schemas);
    }

    fn set_provisioners(&mut self, schemas: ProvisionerSchemas) {
        self.0.tree.set_provisioners(self.0.workspace, schemas);
    }

    fn set_static_inputs(&mut self, static_inputs: StaticInputs) -> bool {
        self.0.tree.set_static_inputs(self.0.workspace, static_inputs)
    }
}

impl UnsetProject {
    /// Returns the project with its final settings.
    pub fn finish(self) -> Project {
        self.0
    }
}

impl Project {
    /// Loads the root module in `root` and every module that it calls, directly or indirectly, for callers that
    /// change no text.
    ///
    /// `root` is relative to the working directory of the system, and display paths are relative to `root`.
    /// `manifest` lists the installed modules, by directory of the caller and name of the call.
    ///
    /// # Errors
    /// Fails if the root directory cannot be listed. A file or a called module that cannot be read is a diagnostic
    /// instead.
    pub fn load(
        system: Arc<dyn System>,
        root: PathBuf,
        manifest: Manifest,
    ) -> std::io::Result<UnsetProject> {
        Project::load_into(FrozenDatabase::default(), system, root, manifest).map(UnsetProject)
    }

    /// Loads the module in the directory with the display path `path` as a root module, for a test that runs it on
    /// its own. Other display paths stay relative to `base`.
    ///
    /// # Errors
    /// Fails if the directory cannot be listed.
    pub fn load_module(
        system: Arc<dyn System>,
        base: PathBuf,
        path: &str,
        manifest: Manifest,
    ) -> std::io::Result<UnsetProject> {
        let mut tree = SourceTree::new(FrozenDatabase::default(), system, base);
        let workspace = tree.add_root(path, manifest)?;
        Ok(UnsetProject(Project { tree, workspace }))
    }

    fn load_into(
        db: impl Handle + 'static,
        system: Arc<dyn System>,
        root: PathBuf,
        manifest: Manifest,
    ) -> std::io::Result<Project> {
        let mut tree = SourceTree::new(db, system, root);
        let workspace = tree.add_root(".", manifest)?;
        Ok(Project { tree, workspace })
    }

    /// Returns to the settings, to check the configuration with other ones.
    pub fn unset(self) -> UnsetProject {
        UnsetProject(self)
    }

    /// The database, with all inputs set.
    pub fn db(&self) -> &dyn Handle {
        self.tree.db()
    }

    /// The workspace: the inputs that form this configuration.
    pub fn workspace(&self) -> Workspace {
        self.workspace
    }

    /// The source tree, with the files and their texts.
    pub fn tree(&self) -> &SourceTree {
        &self.tree
    }

    /// Returns the providers that the configuration requires, with their version constraints.
    pub fn provider_requirements(&self) -> TreeMap<ProviderSource, Vec<Str>> {
        hir::provider_requirements(self.db(), self.workspace)
    }

    /// Returns the instances of `provider` blocks that are known before a plan.
    pub fn provider_instances(&self) -> ProviderInstances {
        statics::provider_instances(self.db(), self.workspace)
    }

    /// Returns all diagnostics of the configuration, including hints.
    pub fn diagnostics(&self) -> Vec<db::Diagnostic> {
        let are_items_sound = warm_up::values(self.db(), self.workspace);
        self.problems(are_items_sound)
    }

    /// Returns all diagnostics. With `are_items_sound`, skips the problems of items, because there are none.
    fn problems(&self, are_items_sound: bool) -> Vec<db::Diagnostic> {
        self.problems_with(|directory, file| {
            let (db, workspace) = (self.db(), self.workspace);
            hir::diagnostics::of_file_once(db, workspace, directory, file, are_items_sound)
        })
    }

    fn problems_with(
        &self,
        of_file: impl Fn(Directory, File) -> Vec<db::Diagnostic>,
    ) -> Vec<db::Diagnostic> {
        // A called directory without a module may contain files that cannot be read.
        let unloadable = self.tree.unloadable_of(&[self.workspace]);
        let mut diagnostics: Vec<_> = unloadable.into_iter().map(|it| it.problem.clone()).collect();
        let db = self.db();
        diagnostics.extend(hir::diagnostics::diagnostics_with(db, self.workspace, of_file));
        diagnostics
    }

    /// Returns the diagnostics that do not require installed modules and providers. Infers only settings, no other
    /// items.
    pub fn setup_problems(&self) -> Vec<db::Diagnostic> {
        self.problems_with(|directory, file| {
            hir::diagnostics::of_file_for_setup(self.db(), self.workspace, directory, file)
        })
    }

    /// Returns the diagnostics and the program, computed in parallel.
    pub fn checked(&self) -> (Vec<db::Diagnostic>, hir::Program) {
        let are_items_sound = warm_up::values(self.db(), self.workspace);
        let workspace = self.workspace;
        let here = || (self.problems(are_items_sound), hir::NamedValues::of(self.db(), workspace));
        let others = move |db: &dyn Handle| hir::ProgramButValues::of(db, workspace);
        let ((diagnostics, values), made) = batches::join(self.db(), here, others);
        (diagnostics, made.with(values))
    }

    /// Returns the program for the engine.
    pub fn program(&self) -> hir::Program {
        hir::program(self.db(), self.workspace)
    }

    /// Returns the root module.
    pub fn root(&self) -> Directory {
        self.workspace.root(self.db())
    }

    /// Returns true if the root module has no configuration file, not even an unreadable one.
    pub fn is_empty(&self) -> bool {
        let root = self.root();
        root.files(self.db()).is_empty() && self.tree.unloadable_in(root.path(self.db())).is_empty()
    }
}

/// Infers every item of a newly loaded configuration in dependency order. Later queries then find their
/// dependencies in the cache, so that long chains of references cause no deep recursion.
pub fn infer(db: &dyn Handle, workspace: Workspace) {
    warm_up::values(db, workspace);
}

/// Returns all diagnostics of a module, including hints, by file. Leaves one processor free.
pub fn module_problems(
    db: &dyn Handle,
    workspace: Workspace,
    directory: Directory,
) -> Vec<(File, FileProblems)> {
    warm_up::problems(db, workspace, directory);
    let of_file =
        |file| hir::diagnostics::of_blocks_of_file(db, workspace, directory, file, |_| true);
    directory.files(db).iter().map(|&file| (file, of_file(file))).collect()
}
