//! The configuration in a plan file, which `apply FILE` and `show FILE` read instead of the one in the working
//! directory.
//!
//! **Invariant:** configuration files of the working directory never decide what is applied. They are compared
//! with the plan file for a warning only.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use db::{Diagnostic, DirectoryEntry, Severity, Summary, System, system::normalize};
use hir::{item::ConstValue, statics::LocalBackend, workspace::is_local_source};
use packages::Locks;
use project::{Project, UnsetProject};
use sorted::{TreeMap, TreeSet};
use state::{BackendRecord, ConfigSnapshot, ModuleSource, Plan, PlanFile, PlannedFiles};
use values::{Str, Type, Value};

use crate::{
    modules::{self, verify::verify},
    session::{
        Failure, LOCK_FILE, LockSource, LockedVersions, Session,
        loading::Loaded,
        manifest::{RecordedModule, modules_by_call},
    },
    variables::flag::VarFlag,
};

/// A file system with the planned configuration at its paths in the working directory. Of all other files, it has
/// only those that decide the sources of modules, and only if their content is unchanged since the plan.
struct PlannedSystem {
    /// The contents of configuration files by directory and name.
    directories: TreeMap<PathBuf, TreeMap<String, Vec<u8>>>,
    files: PlannedFiles,
    here: Arc<dyn System>,
}

impl PlannedSystem {
    fn new(session: &Session, file: &PlanFile) -> PlannedSystem {
        let mut directories: TreeMap<PathBuf, TreeMap<String, Vec<u8>>> = TreeMap::new();
        for module in file.config.modules.values() {
            let files = directories.entry(normalize(Path::new(&module.dir))).or_default();
            files.extend(module.files.iter().map(|(name, it)| (name.clone(), it.clone())));
        }
        let (files, here) = (file.plan.files.clone(), Arc::clone(&session.system));
        PlannedSystem { directories, files, here }
    }

    fn configuration_file(&self, path: &Path) -> Option<&Vec<u8>> {
        let path = normalize(path);
        let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
        let files = self.directories.get(directory.unwrap_or(Path::new(".")))?;
        files.get(path.file_name()?.to_str()?)
    }

    /// Returns true if a path is a file outside of the configuration whose content is unchanged since the plan.
    fn is_as_planned(&self, path: &Path) -> bool {
        let path = normalize(path);
        let is_it = |planned: &&String| normalize(Path::new(planned)) == path;
        self.files.read.keys().find(is_it).is_some_and(|planned| {
            engine::planned_file(&self.files, &*self.here, planned) == self.files.read[planned]
        })
    }
}

impl System for PlannedSystem {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.configuration_file(path) {
            Some(content) => Ok(content.clone()),
            None if self.is_as_planned(path) => self.here.read_file(path),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let files = self.directories.get(&normalize(path)).ok_or(io::ErrorKind::NotFound)?;
        let entry = |name: &String| DirectoryEntry { name: name.clone(), is_directory: false };
        Ok(files.keys().map(entry).collect())
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.directories.contains_key(&normalize(path))
    }

    fn is_file(&self, path: &Path) -> bool {
        self.configuration_file(path).is_some() || self.is_as_planned(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.here.variable(name)
    }

    fn variables(&self, prefix: &str) -> Vec<(String, String)> {
        self.here.variables(prefix)
    }

    fn current_directory(&self) -> PathBuf {
        self.here.current_directory()
    }

    fn now(&self) -> SystemTime {
        self.here.now()
    }
}

/// Makes the session use the variables and the place of the state from the plan, instead of those of the working
/// directory.
pub fn take(session: &Session, plan: &Plan) -> Result<LocalBackend, Failure> {
    let place = place(plan)?;
    let values = plan.variables.iter();
    let values = values.map(|(name, value)| (Str::from(&**name), ConstValue(value.clone())));
    session.take_planned(values.collect(), place.clone());
    Ok(place)
}

/// Refuses a saved plan for a state in another place than `init` recorded.
///
/// # Errors
/// A diagnostic if the places differ.
pub fn check_place(session: &Session, place: &LocalBackend) -> Result<(), Failure> {
    crate::place::check_planned(session, place)
}

/// Loads the configuration without schemas. The session must have [taken](take) the plan before.
pub fn project(session: &Session, file: &PlanFile) -> Result<UnsetProject, Failure> {
    let modules = file.config.modules.iter();
    let recorded = modules.map(|(key, it)| {
        let version = it.version.as_deref();
        (&**key, RecordedModule { source: &it.source, dir: &it.dir, version })
    });
    let modules = recorded.collect();
    let system = Arc::new(PlannedSystem::new(session, file));
    let loaded = Project::load(system, PathBuf::from("."), modules_by_call(&modules));
    let mut project = loaded.map_err(|error| {
        damaged(format!("The configuration in the plan file cannot be read: {error}."))
    })?;
    session.set_static_inputs(&mut project);
    Ok(project)
}

/// Loads the configuration with the provider versions of the plan.
pub fn load(session: &Session, file: &mut PlanFile, flags: &[VarFlag]) -> Result<Loaded, Failure> {
    let (project, locks) = (project(session, file)?, locks(file)?);
    session.finish(
        project,
        Some(&mut file.prior_state.state),
        flags,
        LockedVersions { locks: &locks, source: LockSource::Plan },
    )
}

/// The locks in a plan file. Providers and module packages must still match them.
pub fn locks(file: &PlanFile) -> Result<Locks, Failure> {
    let mut locks = Locks::parse(&String::from_utf8_lossy(&file.locks))
        .map_err(|error| damaged(format!("Its lock file cannot be read: {}", error.detail)))?;
    locks.adopt_other_registry();
    Ok(locks)
}

fn damaged(detail: String) -> Diagnostic {
    Diagnostic::new(Summary::INVALID_PLAN_FILE, detail)
}

/// The type of the only supported backend.
const LOCAL: &str = "local";

/// The record of the state's place for a plan file.
pub fn backend_record(place: &LocalBackend, workspace: &str) -> BackendRecord {
    let text = |it: &Option<Str>| match it {
        Some(text) => Value::string(text.clone()),
        None => Value::null(Type::String),
    };
    BackendRecord {
        type_name: LOCAL.to_owned(),
        config: Value::object_from([
            ("path", text(&place.path)),
            ("workspace_dir", text(&place.workspace_dir)),
        ]),
        workspace: workspace.to_owned(),
    }
}

fn place(plan: &Plan) -> Result<LocalBackend, Failure> {
    let BackendRecord { type_name, config, .. } = &plan.backend;
    if type_name != LOCAL {
        let detail = format!("Its state is in the backend {type_name:?}, which is not supported.");
        return Err(damaged(detail).into());
    }
    let argument = |name: &str| config.get_attr(name)?.as_str().map(Str::from);
    Ok(LocalBackend { path: argument("path"), workspace_dir: argument("workspace_dir") })
}

/// Warnings about differences between the working directory and the plan.
pub fn differences(session: &Session, file: &PlanFile) -> Vec<Diagnostic> {
    let mut warnings: Vec<Diagnostic> = configuration_differs(session, file).into_iter().collect();
    let verified = locks(file).and_then(|locks| {
        verify(session, LockedVersions { locks: &locks, source: LockSource::Plan })
    });
    let found = verified.unwrap_or_else(|Failure::Diagnostics(found, _)| found);
    let warning =
        |it: Diagnostic| Diagnostic { summary: it.summary.at_most(Severity::Warning), ..it };
    warnings.extend(found.into_iter().map(warning));
    warnings
}

/// The maximum number of files that a warning lists.
const LISTED: usize = 10;

/// A warning if the configuration in the working directory differs from the plan. `None` if the directory has no
/// configuration, because it cannot be mistaken for the applied one.
fn configuration_differs(session: &Session, file: &PlanFile) -> Option<Diagnostic> {
    let root = file.config.modules.get("")?;
    if project::configuration_files(&*session.system, Path::new(&root.dir)).is_empty() {
        return None;
    }
    let mut lines = changed_files(&*session.system, &file.config);
    match session.system.read_file(Path::new(LOCK_FILE)) {
        Ok(locks) if locks != file.locks => lines.push(format!("{LOCK_FILE} was changed")),
        Err(_) if !file.locks.is_empty() => lines.push(format!("{LOCK_FILE} is gone")),
        _ => {}
    }
    let more = lines.len().saturating_sub(LISTED);
    let mut list: String = lines.iter().take(LISTED).map(|it| format!("\n  - {it}")).collect();
    if more > 0 {
        list.push_str(&format!("\n  - and {more} more"));
    }
    let detail = format!(
        "The plan file holds the configuration that was planned, and that is applied. Since then, \
         in this directory:\n{list}\n\nTo apply what is in this directory now, make a new plan."
    );
    (!lines.is_empty()).then(|| Diagnostic::new(Summary::PLANNED_CONFIGURATION_DIFFERS, detail))
}

fn changed_files(system: &dyn System, config: &ConfigSnapshot) -> Vec<String> {
    let mut lines = Vec::new();
    let mut seen = TreeSet::new();
    for module in config.modules.values().filter(|it| seen.insert(&it.dir)) {
        let directory = Path::new(&module.dir);
        // A package that is not installed is no difference: the plan file contains the module.
        let is_own = module.source.is_empty() || is_local_source(&module.source);
        if !is_own && !system.is_directory(directory) {
            continue;
        }
        let here: TreeSet<String> =
            project::configuration_files(system, directory).into_iter().collect();
        let names: TreeSet<&String> = here.iter().chain(module.files.keys()).collect();
        for name in names {
            let path = normalize(&directory.join(name));
            let how = match (module.files.get(name), here.contains(name)) {
                (None, _) => "was added",
                (Some(_), false) => "is gone",
                (Some(planned), true) if is_text(system, &path, planned) => continue,
                (Some(_), true) => "was changed",
            };
            lines.push(format!("{} {how}", path.display()));
        }
    }
    lines
}

fn is_text(system: &dyn System, path: &Path, planned: &[u8]) -> bool {
    let bytes = system.read_file(path).unwrap_or_default();
    syntax::decode(&bytes).0.as_bytes() == planned
}

/// The configuration of a program for a plan file.
///
/// # Errors
/// A diagnostic if there are too many paths of module calls.
pub fn snapshot(session: &Session, program: &hir::Program) -> Result<ConfigSnapshot, Failure> {
    let mut texts: TreeMap<&str, TreeMap<String, Vec<u8>>> = TreeMap::new();
    for file in program.sources.files.iter().filter(|file| !file.may_hold_secrets) {
        let (directory, name) = file.path.rsplit_once('/').unwrap_or((".", &file.path));
        texts.entry(directory).or_default().insert(name.to_owned(), file.text().into_bytes());
    }
    let manifest = session.read_manifest()?;
    let mut snapshot = ConfigSnapshot::default();
    for path in modules::paths(program)? {
        let dir = path.module.dir.to_string();
        let installed = manifest.modules.get(&path.key).filter(|it| it.dir == dir);
        let record = ModuleSource {
            source: modules::without_password(path.source),
            version: installed.and_then(|it| it.version.clone()),
            files: texts.get(&*path.module.dir).cloned().unwrap_or_default(),
            dir,
        };
        snapshot.modules.insert(path.key, record);
    }
    Ok(snapshot)
}
