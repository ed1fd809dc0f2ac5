//! A directory as a project: which files make up a configuration, and the one database that holds them.
//!
//! Start reading at [`Project::load`]. Command line, language server and tests differ in the [`System`] they bring and
//! in how they report changes; the database, its inputs and its queries are the same.
//!
//! **Invariant:** everything is read through [`System`]; nothing here starts a process or opens a connection.
//! **Absent on purpose:** networks, LSP, state, plans.

mod load;
mod prime;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use addr::ProviderSource;
use db::{Directory, System};
use hir::{ProviderInput, SchemasHandle, Workspace};
use provider::ProviderSchemas;
use salsa::Setter;
use values::Str;

use crate::load::Found;

/// The concrete database.
#[salsa::db]
#[derive(Clone, Default)]
pub struct Database {
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl db::Db for Database {}

impl Database {
    /// A database that reports what it executes, for tests of incrementality.
    pub fn with_events(callback: impl Fn(salsa::Event) + Send + Sync + 'static) -> Database {
        Database { storage: salsa::Storage::new(Some(Box::new(callback))) }
    }
}

/// A configuration, loaded.
pub struct Project {
    /// The database with all inputs.
    pub db: Database,
    /// The inputs that belong together.
    pub workspace: Workspace,
    system: Arc<dyn System>,
    root: PathBuf,
    found: Found,
}

impl Project {
    /// Reads the root module in `root` and every module that its calls lead to.
    ///
    /// `root` is relative to the system's working directory and is also what paths are shown relative to. `manifest` is
    /// the installed modules: directory of the caller and name of the call, to the directory called.
    ///
    /// # Errors
    /// If the root directory or one of its files cannot be read. A module that cannot be read is a diagnostic instead.
    pub fn load(
        system: Arc<dyn System>,
        root: PathBuf,
        manifest: BTreeMap<(Arc<str>, Str), Arc<str>>,
    ) -> std::io::Result<Project> {
        Project::load_into(Database::default(), system, root, manifest)
    }

    /// Reads a configuration into a database that is empty so far.
    ///
    /// # Errors
    /// See [`Project::load`].
    pub fn load_into(
        db: Database,
        system: Arc<dyn System>,
        root: PathBuf,
        manifest: BTreeMap<(Arc<str>, Str), Arc<str>>,
    ) -> std::io::Result<Project> {
        let mut found = Found::default();
        let directory = load::directory(&db, &*system, &root, ".", &mut found)?;
        let directories = BTreeMap::from([(directory.path(&db).clone(), directory)]);
        let workspace = Workspace::new(&db, directory, directories, manifest, BTreeMap::new());
        let mut project = Project { db, workspace, system, root, found };
        prime::names(&project.db, project.workspace);
        project.load_called_modules();
        Ok(project)
    }

    /// Reads modules until no call leads to one that was not read.
    fn load_called_modules(&mut self) {
        let mut missing = std::collections::BTreeSet::new();
        loop {
            let mut directories = self.workspace.directories(&self.db).clone();
            let known = directories.len();
            let called = load::called(&self.db, self.workspace);
            for path in
                called.into_iter().filter(|path| !missing.contains(path)).collect::<Vec<_>>()
            {
                match load::directory(&self.db, &*self.system, &self.root, &path, &mut self.found) {
                    Ok(directory) if !directory.files(&self.db).is_empty() => {
                        directories.insert(path, directory);
                    }
                    _ => {
                        missing.insert(path);
                    }
                }
            }
            if directories.len() == known {
                return;
            }
            self.workspace.set_directories(&mut self.db).to(directories);
            prime::names(&self.db, self.workspace);
        }
    }

    /// Every provider that the configuration names, with the constraints on its version.
    pub fn provider_requirements(&self) -> BTreeMap<ProviderSource, Vec<Str>> {
        hir::provider_requirements(&self.db, self.workspace)
    }

    /// Gives the database the schemas of a provider.
    pub fn set_schemas(&mut self, source: ProviderSource, schemas: Arc<ProviderSchemas>) {
        let handle = SchemasHandle(schemas);
        let mut inputs = self.workspace.providers(&self.db).clone();
        match inputs.get(&source) {
            Some(input) => drop(input.set_schemas(&mut self.db).to(handle)),
            None => {
                inputs.insert(source, ProviderInput::new(&self.db, handle));
                self.workspace.set_providers(&mut self.db).to(inputs);
            }
        }
    }

    /// Gives a file that is part of the configuration a new text, as an editor does.
    pub fn set_text(&mut self, path: &str, text: &str) -> bool {
        let Some(&file) = self.found.files.get(path) else { return false };
        db::input::set_file_text(&mut self.db, file, text);
        prime::names(&self.db, self.workspace);
        self.load_called_modules();
        true
    }

    /// Everything that is wrong with the configuration, hints included.
    pub fn diagnostics(&self) -> Vec<db::Diagnostic> {
        prime::values(&self.db, self.workspace);
        self.problems()
    }

    fn problems(&self) -> Vec<db::Diagnostic> {
        let mut diagnostics: Vec<_> = self.found.problems.values().flatten().cloned().collect();
        diagnostics.extend(hir::diagnostics::diagnostics(&self.db, self.workspace));
        diagnostics
    }

    /// What is wrong, and the program, made side by side.
    pub fn checked(&self) -> (Vec<db::Diagnostic>, hir::Program) {
        prime::values(&self.db, self.workspace);
        let workspace = self.workspace;
        let program = move |db: &Database| hir::program(db, workspace);
        let (diagnostics, program) = prime::side_by_side(&self.db, || self.problems(), program);
        (diagnostics, program.unwrap_or_else(|| self.program()))
    }

    /// The program that the engine runs.
    pub fn program(&self) -> hir::Program {
        hir::program(&self.db, self.workspace)
    }

    /// The root module.
    pub fn root(&self) -> Directory {
        self.workspace.root(&self.db)
    }

    /// Whether the root module has no configuration file at all, not even one that could not be taken.
    pub fn is_empty(&self) -> bool {
        self.root().files(&self.db).is_empty() && self.found.problems.values().all(Vec::is_empty)
    }
}
