//! Names and addresses of the working directory.

use std::path::{Path, PathBuf};

use db::OsSystem;
use hir::Program;
use operations::{root_system::RootSystem, store, workspaces};
use plugin::Processes;
use sorted::TreeSet;
use state::State;

use crate::{
    args::{Command, Deferred},
    directories,
    session::CommandSession,
};

/// Reads names on demand.
pub(super) struct Names {
    processes: Processes,
    /// True if names of files are read.
    has_files: bool,
    /// The directory of `-chdir`.
    directory: Option<PathBuf>,
}

impl Names {
    pub(super) fn new(processes: Processes, has_files: bool) -> Names {
        Names { processes, has_files, directory: None }
    }

    /// Reads from another directory.
    pub(super) fn enter(&mut self, directory: &str) {
        self.directory = Some(directory.into());
    }

    /// A session that prints nothing.
    fn session(&mut self) -> Option<CommandSession> {
        let directories = directories::enter(self.directory.as_deref()).ok()?;
        // The process works there from now on.
        self.directory = None;
        let system = OsSystem::at(directories.works_in);
        let system = RootSystem::new(system, directories.called_in);
        let mut command = Command::Version(Deferred::default());
        let session = CommandSession::new(&mut command, system, self.processes.clone()).ok()?;
        session.ui.fall_silent();
        Some(session)
    }

    fn state(&mut self) -> Option<State> {
        let session = self.session()?;
        Some(store::open_unlocked(&session, None).ok()?.file.state)
    }

    fn program(&mut self) -> Option<Program> {
        Some(self.session()?.project().ok()?.program())
    }

    /// The addresses of the objects in the state.
    pub(super) fn objects(&mut self) -> Vec<String> {
        let state = self.state().unwrap_or_default();
        state.instances().map(|it| it.address.to_string()).collect()
    }

    /// The addresses of objects, resources and modules, in the state and in the configuration.
    pub(super) fn targets(&mut self) -> Vec<String> {
        let mut found = TreeSet::new();
        for entry in self.state().unwrap_or_default().instances() {
            found.insert(entry.address.to_string());
            found.insert(entry.address.containing_resource().to_string());
            let module = &entry.address.module;
            if !module.is_root() {
                found.insert(module.to_string());
            }
        }
        for resource in self.program().iter().flat_map(declared) {
            found.insert(resource);
        }
        found.into_iter().collect()
    }

    /// The names of the workspaces.
    pub(super) fn workspaces(&mut self) -> Vec<String> {
        let listed = self.session().and_then(|it| workspaces::list(&it).ok());
        listed.map(|it| it.names).unwrap_or_default()
    }

    /// The names of the outputs in the state.
    pub(super) fn outputs(&mut self) -> Vec<String> {
        let state = self.state().unwrap_or_default();
        state.outputs.keys().map(ToString::to_string).collect()
    }

    /// The names of the root module's variables, each with "=".
    pub(super) fn variables(&mut self) -> Vec<String> {
        let program = self.program();
        let names = program.iter().flat_map(|it| it.root().variables.keys());
        names.map(|it| format!("{it}=")).collect()
    }

    /// The files and directories that the typed path may lead to. Directories end with a slash.
    pub(super) fn files(&mut self, typed: &str, only_directories: bool) -> Vec<String> {
        if !self.has_files {
            return Vec::new();
        }
        let before = typed.rfind('/').map_or("", |at| &typed[..=at]);
        let directory = if before.is_empty() { Path::new(".") } else { Path::new(before) };
        let directory = match &self.directory {
            Some(base) => base.join(directory),
            None => directory.to_owned(),
        };
        let is_hidden_wanted = typed[before.len()..].starts_with('.');
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let file = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let is_directory = entry.path().is_dir();
            let is_wanted = is_hidden_wanted || !name.starts_with('.');
            let slash = if is_directory { "/" } else { "" };
            (is_wanted && (is_directory || !only_directories))
                .then(|| format!("{before}{name}{slash}"))
        };
        entries.filter_map(file).collect()
    }
}

/// The most module calls whose resources are candidates.
const MOST_MODULES: usize = 1000;

/// The addresses of the resources and modules that a configuration declares.
fn declared(program: &Program) -> Vec<String> {
    let mut found = Vec::new();
    for path in program.module_paths().take(MOST_MODULES) {
        let calls = path.key.split('.').filter(|it| !it.is_empty());
        let module: String = calls.map(|it| format!("module.{it}.")).collect();
        if let Some(module) = module.strip_suffix('.') {
            found.push(module.to_owned());
        }
        found.extend(path.module.resources.keys().map(|it| format!("{module}{it}")));
    }
    found
}
