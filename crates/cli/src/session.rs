//! The environment of one command: the working directory, its configuration, providers and state.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{ErrorKind, IsTerminal as _},
    mem::ManuallyDrop,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::SystemTime,
};

use addr::{ProviderSource, VersionConstraint};
use db::{Diagnostic, DirectoryEntry, OsSystem, Sources, System, system::normalize};
use engine::{CancelToken, LogLevel, Redactor};
use hir::{
    item::ConstValue,
    statics::{self, LocalBackend},
    unsupported,
    workspace::{InstalledModule, is_local_source},
};
use packages::{CliConfig, ConfigEnvironment, ImpliedMirrors, Locks, ModuleManifest, Platform};
use project::{Manifest, Project};
use values::{Budget, Str, budget};

use crate::{
    args::ViewArgs,
    child_environment::ChildEnvironment,
    failpoint,
    located::ProviderExecutables,
    log::Log,
    modules::Of,
    place, signals,
    ui::{Stdout, Ui},
    variables::{self, Typed, VarFlag},
};

/// The argument that makes this program serve one of its bundled providers.
pub(crate) const SERVE_ARGUMENT: &str = "serve-bundled-provider";

/// The environment of a command.
pub(crate) struct Session {
    pub(crate) ui: Arc<Ui>,
    pub(crate) system: Arc<CliSystem>,
    pub(crate) redactor: Redactor,
    pub(crate) cancel: CancelToken,
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) child_environment: Arc<ChildEnvironment>,
    /// The directory for relative paths. Empty for the working directory of the process.
    base: PathBuf,
    cli_config: OnceLock<CliConfig>,
    /// A loaded configuration that is kept for the next call of [`Session::project`].
    project: Mutex<Option<Project>>,
    /// The values for static evaluation.
    early: Mutex<Early>,
}

/// The values for static evaluation, which decides the sources of modules and the place of the state before
/// anything is planned.
#[derive(Default)]
struct Early {
    /// The flags of the command. When the variables are known, flags for secret variables are removed.
    flags: Vec<VarFlag>,
    /// The values in a saved plan. They override all other values.
    planned: BTreeMap<Str, ConstValue>,
    /// The place of the state. `None` until it is determined.
    place: Option<LocalBackend>,
    /// True if a saved plan determines `place`, false if the configuration in the directory does.
    is_place_planned: bool,
    /// True if texts will change during the command, as in `watch` and `console`.
    expects_edits: bool,
}

/// The operating system for a command. Files are relative to the working directory; `path.cwd` is the directory in
/// which the command was called.
pub(crate) struct CliSystem {
    os: OsSystem,
    called_in: PathBuf,
    /// The contents of named pipes that the user gave as files. A pipe can be read only once.
    pipes: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
}

impl CliSystem {
    /// Creates the system. `os` works relative to the working directory of the command.
    pub(crate) fn new(os: OsSystem, called_in: PathBuf) -> CliSystem {
        CliSystem { os, called_in, pipes: Mutex::default() }
    }
}

impl System for CliSystem {
    fn read_file(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        self.os.read_file(path)
    }

    fn read_file_or_pipe(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = pipes.get(path) {
            return Ok(bytes.clone());
        }
        match self.os.read_file(path) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                let bytes = self.os.read_file_or_pipe(path)?;
                pipes.insert(path.to_owned(), bytes.clone());
                Ok(bytes)
            }
            read => read,
        }
    }

    fn list_directory(&self, path: &Path) -> std::io::Result<Vec<DirectoryEntry>> {
        self.os.list_directory(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.os.is_directory(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.os.is_file(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.os.variable(name)
    }

    fn variables(&self, prefix: &str) -> Vec<(String, String)> {
        self.os.variables(prefix)
    }

    fn current_directory(&self) -> PathBuf {
        self.called_in.clone()
    }

    fn base_directory(&self) -> PathBuf {
        self.os.current_directory()
    }

    fn now(&self) -> SystemTime {
        self.os.now()
    }
}

/// The reason why a command failed.
pub(crate) enum Failure {
    /// Diagnostics to print, with the source texts that they refer to.
    Diagnostics(Vec<Diagnostic>, Sources),
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        Failure::Diagnostics(vec![diagnostic], Sources::default())
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(diagnostics: Vec<Diagnostic>) -> Failure {
        Failure::Diagnostics(diagnostics, Sources::default())
    }
}

/// A configuration with the providers that it needs.
pub(crate) struct Loaded {
    /// Never dropped: the process ends soon after, and dropping a large database takes a considerable part of the
    /// time of `validate`.
    pub(crate) project: ManuallyDrop<Project>,
    pub(crate) executables: Arc<ProviderExecutables>,
    /// The texts given for ephemeral variables outside of files.
    pub(crate) typed: Typed,
}

impl Session {
    /// Creates the environment of a command in the working directory of the process.
    pub(crate) fn new(
        view: &ViewArgs,
        system: CliSystem,
        stdout: Stdout,
    ) -> std::io::Result<Session> {
        let cancel = CancelToken::new();
        let no_color = system.variable("NO_COLOR").is_some_and(|it| !it.is_empty());
        let (log, problems) = Log::from_environment(&system);
        let ui = Arc::new(Ui::new(view, no_color, stdout, cancel.clone(), log));
        problems.iter().for_each(|problem| ui.print_error(problem));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let entered = runtime.enter();
        signals::report_file_size_limit()?;
        drop(entered);
        Ok(Session {
            ui,
            system: Arc::new(system),
            redactor: Redactor::new(),
            cancel,
            runtime,
            child_environment: Arc::default(),
            base: PathBuf::new(),
            cli_config: OnceLock::new(),
            project: Mutex::default(),
            early: Mutex::default(),
        })
    }

    /// Refuses invalid settings in environment variables.
    pub(crate) fn check_settings(&self) -> Result<(), Failure> {
        let Some(text) = self.system.variable(Budget::VARIABLE) else { return Ok(()) };
        if budget::parse_size(&text).is_some() {
            return Ok(());
        }
        let detail = format!(
            "The environment variable {} is {text:?}, which is no size. Write a number of bytes, \
             or a whole number with a unit, such as 4GiB.",
            Budget::VARIABLE
        );
        Err(Diagnostic::error("invalid-evaluation-memory", "Invalid memory limit", detail).into())
    }

    /// Creates an environment for another working directory, to inspect the installed modules and providers there.
    /// Runs no process in it.
    pub(crate) fn in_directory(&self, directory: &Path) -> std::io::Result<Session> {
        let os = OsSystem::at(directory.to_owned()).waiting_for_pipes(failpoint::reads_pipes());
        Ok(Session {
            ui: Arc::clone(&self.ui),
            system: Arc::new(CliSystem::new(os, directory.to_owned())),
            redactor: self.redactor.clone(),
            cancel: self.cancel.clone(),
            runtime: tokio::runtime::Builder::new_current_thread().build()?,
            child_environment: Arc::default(),
            base: directory.to_owned(),
            cli_config: self.cli_config.clone(),
            project: Mutex::default(),
            early: Mutex::default(),
        })
    }

    /// The data directory: `TF_DATA_DIR`, or `.terraform` by default.
    pub(crate) fn data_dir(&self) -> PathBuf {
        let named = self.system.variable("TF_DATA_DIR").filter(|it| !it.is_empty());
        self.base.join(named.unwrap_or_else(|| ".terraform".to_owned()))
    }

    /// The name of the selected workspace for output and evaluation. Falls back to the default workspace. A
    /// command that needs the state has called [`selected_workspace`](Session::selected_workspace) before, which
    /// reports the error.
    pub(crate) fn workspace(&self) -> Str {
        self.selected_workspace().unwrap_or_else(|_| backend::DEFAULT_WORKSPACE.into())
    }

    /// The selected workspace.
    ///
    /// # Errors
    /// The file that names the workspace exists but cannot be read. Falling back to the default workspace would
    /// select another state.
    pub(crate) fn selected_workspace(&self) -> Result<Str, Failure> {
        let named = self.system.variable("TF_WORKSPACE").filter(|it| !it.is_empty());
        if let Some(named) = named {
            return Ok(named.into());
        }
        let path = self.data_dir().join("environment");
        let unreadable = |error: &dyn std::fmt::Display| {
            let detail = format!(
                "{} says which workspace is selected, and cannot be read: {error}. Mend its \
                 permissions, or name the workspace in TF_WORKSPACE.",
                path.display()
            );
            let summary = "Failed to read the selected workspace";
            Failure::from(Diagnostic::error("invalid-workspace", summary, detail))
        };
        let bytes = match self.system.read_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| unreadable(&error))?,
        };
        let name = String::from_utf8(bytes).map_err(|error| unreadable(&error))?;
        let name = name.trim();
        Ok(if name.is_empty() { backend::DEFAULT_WORKSPACE.into() } else { name.into() })
    }

    /// Refuses to run with `TF_ENCRYPTION`, because state and plan would be written without the requested
    /// encryption.
    pub(crate) fn refuse_encryption(&self) -> Result<(), Failure> {
        match self.system.variable("TF_ENCRYPTION").is_some_and(|it| !it.trim().is_empty()) {
            false => Ok(()),
            true => {
                let detail = "TF_ENCRYPTION asks for encryption of state and plan, which this \
                              version of Mayfly does not support. Nothing was done. Unset it to go \
                              on without encryption.";
                Err(Diagnostic::error(unsupported::ID, unsupported::SUMMARY, detail).into())
            }
        }
    }

    /// Returns true if the user may be asked for values of variables. `TF_INPUT` can disable these questions. It
    /// does not disable the approval of an apply, as in OpenTofu.
    pub(crate) fn may_ask(&self) -> bool {
        const NO: [&str; 6] = ["0", "f", "F", "false", "False", "FALSE"];
        !self.system.variable("TF_INPUT").is_some_and(|it| NO.contains(&it.as_str()))
    }

    /// The CLI configuration. Its problems are printed when it is first read.
    pub(crate) fn cli_config(&self) -> Result<&CliConfig, Failure> {
        match self.cli_config.get() {
            Some(known) => Ok(known),
            None => {
                let read = self.read_cli_config()?;
                Ok(self.cli_config.get_or_init(|| read))
            }
        }
    }

    /// Resolves a path relative to the directory in which the command was called. The path stays as given if that
    /// is the working directory.
    fn as_called(&self, path: PathBuf) -> PathBuf {
        let called_in = self.system.current_directory();
        if called_in == self.system.base_directory() { path } else { called_in.join(path) }
    }

    fn read_cli_config(&self) -> Result<CliConfig, Failure> {
        let variable = |name: &str| self.system.variable(name);
        let path = |name: &str| variable(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let environment = ConfigEnvironment {
            // The only file whose path is resolved before `-chdir` is applied.
            config_file: path("TF_CLI_CONFIG_FILE")
                .or_else(|| path("TERRAFORM_CONFIG"))
                .map(|it| self.as_called(it)),
            home: path("HOME"),
            xdg_config_home: path("XDG_CONFIG_HOME"),
            variable: &variable,
        };
        let (config, problems) = CliConfig::load(&environment);
        let diagnostics: Vec<Diagnostic> = problems
            .into_iter()
            .map(|problem| match problem.is_error {
                true => Diagnostic::error("cli-config", problem.summary, problem.detail),
                false => Diagnostic::warning("cli-config", problem.summary, problem.detail),
            })
            .collect();
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(diagnostics.into());
        }
        self.ui.diagnostics_aside(&diagnostics);
        let methods = config.installation.as_ref().map_or(0, Vec::len);
        let overrides = config.dev_overrides.len();
        let cache = if config.plugin_cache_dir.is_some() { "with" } else { "without" };
        let text =
            format!("{methods} installation methods, {overrides} overrides, {cache} a cache");
        self.ui.log(LogLevel::Debug, "cli-config", &text);
        Ok(config)
    }

    /// All sources of providers.
    pub(crate) fn sources(&self, config: &CliConfig) -> Result<packages::Sources, Failure> {
        let executable = own_executable()?;
        let bundled = providers::bundled()
            .into_iter()
            .map(|it| packages::BundledProvider {
                arguments: vec![SERVE_ARGUMENT.to_owned(), it.source.to_string()],
                source: it.source,
                version: it.version,
                executable: executable.clone(),
            })
            .collect();
        let implied = ImpliedMirrors { directories: self.implied_mirrors() };
        Ok(packages::Sources::new(config, &implied, bundled))
    }

    /// The directories that are searched for providers if the CLI configuration has no installation methods, in
    /// the order of OpenTofu.
    fn implied_mirrors(&self) -> Vec<PathBuf> {
        let variable = |name: &str| self.system.variable(name).filter(|it| !it.is_empty());
        let home = variable("HOME").map(PathBuf::from);
        let data_home = variable("XDG_DATA_HOME").map(PathBuf::from);
        let data_dirs = variable("XDG_DATA_DIRS");
        let data_dirs = data_dirs.as_deref().unwrap_or("/usr/local/share:/usr/share");
        let of_user = data_home.clone().or_else(|| Some(home.as_ref()?.join(".local/share")));
        let mut directories = vec![self.base.join("terraform.d/plugins")];
        directories.extend(home.map(|it| it.join(".terraform.d/plugins")));
        directories.extend(data_home.map(|it| it.join("opentofu/plugins")));
        directories.extend(of_user.map(|it| it.join("terraform/plugins")));
        let shared = data_dirs.split(':').filter(|it| !it.is_empty()).map(Path::new);
        directories.extend(shared.map(|it| it.join("terraform/plugins")));
        directories
    }

    /// The bytes of the lock file. Empty if there is none.
    pub(crate) fn lock_file(&self) -> Result<Vec<u8>, Failure> {
        match self.system.read_file(Path::new(LOCK_FILE)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            read => read.map_err(|error| {
                let detail = format!("{LOCK_FILE} cannot be read: {error}.");
                let summary = "Failed to read dependency lock file";
                Diagnostic::error("lock-file", summary, detail).into()
            }),
        }
    }

    /// The parsed lock file. Empty if there is none.
    pub(crate) fn locks(&self) -> Result<Locks, Failure> {
        let bytes = self.lock_file()?;
        let text = String::from_utf8_lossy(&bytes);
        let mut locks = Locks::parse(&text).map_err(|error| {
            let detail = format!(
                "{}\n\n(at {LOCK_FILE} line {}, column {})\n\nCorrect the file, or delete it and \
                 run \"mayfly init\", which selects versions anew.",
                error.detail, error.line, error.column
            );
            Diagnostic::error("lock-file", error.summary, detail)
        })?;
        locks.adopt_other_registry();
        Ok(locks)
    }

    /// The configuration in the working directory, without schemas.
    pub(crate) fn project(&self) -> Result<Project, Failure> {
        match self.lock_project().take() {
            Some(mut project) => {
                self.give(&mut project);
                Ok(project)
            }
            None => self.project_with(self.installed_modules()?),
        }
    }

    /// Takes the flags that set variables, for use in static evaluation.
    pub(crate) fn take_flags(&self, flags: &[VarFlag]) {
        self.lock_early().flags = flags.to_vec();
    }

    /// Takes the variable values and the place of the state from a saved plan, for use in static evaluation.
    pub(crate) fn take_planned(&self, values: BTreeMap<Str, ConstValue>, place: LocalBackend) {
        let mut early = self.lock_early();
        early.planned = values;
        early.place = Some(place);
        early.is_place_planned = true;
    }

    /// Declares that texts will change. A configuration that is loaded afterwards can be edited.
    pub(crate) fn expect_edits(&self) {
        self.lock_early().expects_edits = true;
    }

    fn lock_early(&self) -> MutexGuard<'_, Early> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a configuration the values for static evaluation, which decide its modules and the place of its
    /// state. Returns true if they changed. From now on, child processes inherit the environment variables that
    /// the declarations of this configuration allow.
    pub(crate) fn give(&self, project: &mut Project) -> bool {
        self.child_environment.declare(project);
        let mut early = self.lock_early();
        if !early.flags.is_empty() {
            let flags = std::mem::take(&mut early.flags);
            early.flags = variables::plain_flags(project.db(), project.root(), flags);
        }
        if !project.tree().is_dynamic(project.workspace()) {
            return false;
        }
        drop(early);
        self.give_values(project)
    }

    /// Gives a configuration the values of its variables that are not secret, even if static evaluation does not
    /// need them. Returns true if they changed.
    pub(crate) fn give_values(&self, project: &mut Project) -> bool {
        let early = self.lock_early();
        let mut given = variables::given(self, project.db(), project.root(), &early.flags);
        let is_plain = |name: &Str| variables::is_plain(project.db(), project.root(), name);
        let planned = early.planned.iter().filter(|(name, _)| is_plain(name));
        given.variables.extend(planned.map(|(name, value)| (name.clone(), value.clone())));
        project.give(given)
    }

    /// Asks for the variables that static evaluation needs and that have no value, if stdin is a terminal. The
    /// answers count as flags.
    pub(crate) fn ask_early(&self, project: &mut Project) -> Result<(), Failure> {
        let mut asked = BTreeSet::new();
        // An answer may lead to a module whose source needs another variable.
        while std::io::stdin().is_terminal() {
            let unset = statics::unset_variables(project.db(), project.workspace());
            let Some(name) = unset.into_iter().find(|it| !asked.contains(it)) else { break };
            let flag = variables::ask_early(self, project.db(), project.root(), &name)?;
            self.lock_early().flags.extend(flag);
            asked.insert(name);
            self.give(project);
        }
        Ok(())
    }

    fn lock_project(&self) -> MutexGuard<'_, Option<Project>> {
        self.project.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a configuration with an unsupported backend, before the state of the working directory is opened.
    /// The state is elsewhere, and continuing would create a second one. Keeps the loaded configuration for the
    /// next [`Session::project`].
    pub(crate) fn refuse_other_backends(&self) -> Result<(), Failure> {
        if self.lock_early().is_place_planned {
            return Ok(());
        }
        let project = self.project()?;
        let checked = self.check_backend(&project);
        *self.lock_project() = Some(project);
        checked
    }

    /// Like [`Session::refuse_other_backends`], for a configuration that is already loaded.
    pub(crate) fn check_backend(&self, project: &Project) -> Result<(), Failure> {
        let place = place::check(self, place_of(project)?)?;
        self.lock_early().place = Some(place);
        Ok(())
    }

    /// The place of the working directory's state.
    pub(crate) fn place(&self) -> Result<LocalBackend, Failure> {
        if let Some(known) = self.lock_early().place.clone() {
            return Ok(known);
        }
        self.refuse_other_backends()?;
        Ok(self.lock_early().place.clone().unwrap_or_default())
    }

    /// Like [`Session::project`], but ignores a damaged module manifest, because `init` writes a new one.
    pub(crate) fn project_to_init(&self) -> Result<Project, Failure> {
        self.project_with(self.installed_modules().unwrap_or_default())
    }

    /// Like [`Session::project`], with the given module manifest.
    pub(crate) fn project_with(&self, manifest: Manifest) -> Result<Project, Failure> {
        engine::enter_phase(engine::RunPhase::Reading);
        let load = match self.lock_early().expects_edits {
            true => Project::load,
            false => Project::load_once,
        };
        let loaded = load(self.system.clone(), PathBuf::from("."), manifest);
        let mut project = loaded.map_err(|error| {
            let detail = format!("The working directory cannot be read: {error}.");
            Diagnostic::error("unreadable-directory", "Failed to read module directory", detail)
        })?;
        self.give(&mut project);
        Ok(project)
    }

    /// The directory of installed modules, in normalized form, because paths of modules are compared with it.
    pub(crate) fn modules_dir(&self) -> PathBuf {
        normalize(&self.data_dir().join("modules"))
    }

    /// The path of the module manifest.
    pub(crate) fn module_manifest_path(&self) -> PathBuf {
        self.modules_dir().join("modules.json")
    }

    /// Reads the module manifest. Empty if there is none.
    pub(crate) fn read_manifest(&self) -> Result<ModuleManifest, Failure> {
        let path = self.module_manifest_path();
        let unreadable = |problem: String| {
            let detail = format!("{} {problem}", path.display());
            Diagnostic::error("module-manifest", "Failed to read module manifest", detail).into()
        };
        let bytes = match self.system.read_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(ModuleManifest::default());
            }
            read => read.map_err(|error| {
                unreadable(format!("cannot be read: {error}. Mend its permissions."))
            })?,
        };
        ModuleManifest::parse(&bytes).map_err(|error| {
            unreadable(format!("is damaged: {error}. Run \"mayfly init\" to write it again."))
        })
    }

    /// The installed modules by caller. Modules with a local source are left out, because their source is their
    /// directory.
    pub(crate) fn installed_modules(&self) -> Result<Manifest, Failure> {
        let manifest = self.read_manifest()?;
        let modules = manifest.modules.iter();
        let placed =
            modules.map(|(key, it)| (&**key, (&*it.source, &*it.dir, it.version.as_deref())));
        Ok(called_elsewhere(&placed.collect()))
    }

    /// The providers of a planned configuration and state, located without an error: if one of them is missing,
    /// the result is empty.
    pub(crate) fn providers_at_hand(
        &self,
        project: &Project,
        state: &mut state::State,
        locks: &Locks,
    ) -> ProviderExecutables {
        let required = project.provider_requirements();
        state.adopt_other_registry(&|source| required.contains_key(source));
        let requirements = self.requirements(project, Some(state));
        ProviderExecutables::locate_locked(self, &requirements, locks, Of::Plan)
            .unwrap_or_else(|_| ProviderExecutables::none(self))
    }

    /// Loads the configuration with the schemas of all providers that it or the state needs.
    pub(crate) fn load(&self, state: Option<&mut state::State>) -> Result<Loaded, Failure> {
        self.load_with_values(state, &[])
    }

    /// Like [`Session::load`], where `flags` set variables.
    pub(crate) fn load_with_values(
        &self,
        state: Option<&mut state::State>,
        flags: &[VarFlag],
    ) -> Result<Loaded, Failure> {
        self.equip(self.project()?, state, flags, (&self.locks()?, Of::Directory))
    }

    /// Locates the providers of a configuration in the versions that `locks` selects, and adds their schemas to
    /// the configuration.
    pub(crate) fn equip(
        &self,
        mut project: Project,
        state: Option<&mut state::State>,
        flags: &[VarFlag],
        (locks, of): (&Locks, Of),
    ) -> Result<Loaded, Failure> {
        // Teach the redactor first: schemas come from provider processes, whose output must not quote a secret.
        let typed = Typed::find(&*self.system, &project, flags);
        typed.teach(&self.redactor);
        let mut state = state;
        if let Some(state) = state.as_deref_mut() {
            let required = project.provider_requirements();
            state.adopt_other_registry(&|source| required.contains_key(source));
        }
        let requirements = self.requirements(&project, state.as_deref());
        let located = ProviderExecutables::locate_locked(self, &requirements, locks, of);
        // A provider may be missing because the configuration is wrong, so report the errors of the configuration
        // first.
        let located = located.map_err(|failure| broken(&project).unwrap_or(failure));
        let executables = Arc::new(located?);
        for source in requirements.keys() {
            let schemas = executables.schemas(self, source)?;
            project.set_schemas(source.clone(), schemas);
        }
        Ok(Loaded { project: ManuallyDrop::new(project), executables, typed })
    }

    /// The providers that configuration and state need, with the combined constraints of all modules. An invalid
    /// constraint is ignored here, because the diagnostics of the configuration report it.
    pub(crate) fn requirements(
        &self,
        project: &Project,
        state: Option<&state::State>,
    ) -> BTreeMap<ProviderSource, VersionConstraint> {
        let all = |constraints: Vec<Str>| {
            let understood =
                constraints.iter().filter_map(|text| VersionConstraint::parse_provider(text).ok());
            understood.fold(VersionConstraint::any(), |all, constraint| all.and(&constraint))
        };
        let configured = project.provider_requirements().into_iter();
        let mut requirements: BTreeMap<_, _> =
            configured.map(|(source, constraints)| (source, all(constraints))).collect();
        for (_, resource) in state.into_iter().flat_map(state::State::resources) {
            requirements
                .entry(resource.provider.source.clone())
                .or_insert_with(VersionConstraint::any);
        }
        requirements
    }

    /// The current time in RFC 3339, UTC, rounded down to seconds.
    pub(crate) fn timestamp(&self) -> String {
        timestamp(&*self.system)
    }

    /// The current time in RFC 3339, UTC, for events.
    pub(crate) fn now(&self) -> String {
        time_of_day(&*self.system)
    }

    /// The platform that packages are installed for.
    pub(crate) fn platform(&self) -> Platform {
        Platform::current()
    }
}

/// The installed modules, by calling directory and call name. `modules` maps a module's key to its source,
/// directory and version.
pub(crate) fn called_elsewhere(modules: &BTreeMap<&str, (&str, &str, Option<&str>)>) -> Manifest {
    let dir_of = |key: &str| modules.get(key).map(|(_, dir, _)| *dir);
    let mut calls = Manifest::new();
    for (key, (source, dir, version)) in modules {
        // Other tools leave the directory empty for a module that they failed to install.
        if dir.is_empty() || is_local_source(source) {
            continue;
        }
        let (parent, name) = key.rsplit_once('.').unwrap_or(("", key));
        let caller = if parent.is_empty() { Some(".") } else { dir_of(parent) };
        if let (Some(caller), false) = (caller, name.is_empty()) {
            let (source, version) = (Str::from(*source), version.map(Str::from));
            let installed = InstalledModule { source, version, dir: Arc::from(*dir) };
            let known = calls.entry((Arc::from(caller), Str::from(name))).or_default();
            // Several paths of calls may lead to the same directory.
            if !known.contains(&installed) {
                known.push(installed);
            }
        }
    }
    calls
}

/// The current time in RFC 3339, UTC, rounded down to seconds.
pub(crate) fn timestamp(system: &dyn System) -> String {
    let whole = jiff::TimestampRound::new().smallest(jiff::Unit::Second);
    let now = timestamp_of(system);
    now.round(whole.mode(jiff::RoundMode::Floor)).unwrap_or(now).to_string()
}

/// The current time in RFC 3339, UTC, with the full precision of the system.
pub(crate) fn time_of_day(system: &dyn System) -> String {
    timestamp_of(system).to_string()
}

fn timestamp_of(system: &dyn System) -> jiff::Timestamp {
    jiff::Timestamp::try_from(system.now()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// Returns true if stdout is a pipe whose reader is gone, so that a command that never ends by itself can stop.
pub(crate) fn nobody_reads() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = std::io::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&at_once)).is_ok()
        && polled.iter().any(|it| it.revents().contains(PollFlags::ERR))
}

/// The name of the dependency lock file.
pub(crate) const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The ids of errors that are reported before providers and modules are located. With such an error, the required
/// providers and modules may be other ones than intended.
const FIRST: &[&str] = &[
    "syntax-error",
    "unreadable-file",
    "missing-name",
    "invalid-name",
    "missing-base",
    "invalid-override",
    "invalid-ephemeral-block",
    "invalid-ephemeral-lifecycle",
    "invalid-required-providers",
    "duplicate-required-providers",
    "misplaced-required-providers",
    "invalid-provider-source",
    "module-not-installed",
    "invalid-module-source",
    "module-cycle",
    "dynamic-value",
    "unset-static-variable",
    "invalid-static-value",
    "sensitive-static-value",
    "ephemeral-static-value",
    "invalid-version-constraint",
    "unsupported-opentofu-version",
    "duplicate-backend",
    unsupported::ID,
];

/// The errors of a configuration that prevent any further step. `None` if there are none.
pub(crate) fn broken(project: &Project) -> Option<Failure> {
    broken_beside(project, &[])
}

/// The errors of a configuration that prevent the installation of its modules. `None` if there are none.
pub(crate) fn unreadable(project: &Project) -> Option<Failure> {
    broken_beside(project, &["module-not-installed"])
}

/// Returns true if all setup errors may be due to missing values of variables, so that asking for values helps.
pub(crate) fn lacks_values_only(project: &Project) -> bool {
    broken_beside(project, &["module-not-installed", "unset-static-variable"]).is_none()
}

fn broken_beside(project: &Project, but: &[&str]) -> Option<Failure> {
    let mut problems = project.setup_problems();
    problems.retain(|it| it.is_error() && !but.contains(&it.id));
    (!problems.is_empty()).then(|| Failure::Diagnostics(problems, project.program().sources))
}

/// The ids of errors in a backend block. They are reported together with those in [`FIRST`].
const OF_BACKEND: &[&str] = &[
    "ephemeral-backend",
    "sensitive-backend",
    "invalid-backend",
    "unknown-backend",
    "unsupported-argument",
    "unsupported-block",
];

/// The place of the configuration's state. Only the local backend is supported.
pub(crate) fn place_of(project: &Project) -> Result<LocalBackend, Failure> {
    if let Some(place) = statics::local_backend(project.db(), project.workspace()) {
        return Ok(place);
    }
    // The analysis reports the error at its location.
    let mut problems = project.diagnostics();
    problems.retain(Diagnostic::is_error);
    // Report errors of the backend together with unsupported features, so that fixing the latter does not reveal
    // the former.
    let is_first = |it: &Diagnostic| FIRST.contains(&it.id) && it.id != unsupported::ID;
    if problems.iter().any(|it| is_first(it) || OF_BACKEND.contains(&it.id)) {
        problems.retain(|it| FIRST.contains(&it.id) || OF_BACKEND.contains(&it.id));
    }
    if problems.is_empty() {
        let detail = unsupported::detail("this backend");
        problems.push(Diagnostic::error(unsupported::ID, unsupported::SUMMARY, detail));
    }
    Err(Failure::Diagnostics(problems, project.program().sources))
}

/// The path of this program's executable.
pub(crate) fn own_executable() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        let detail = format!(
            "The path of this program cannot be found out, which running its own \
                              providers needs: {error}."
        );
        Diagnostic::error("own-executable", "Failed to find own executable", detail).into()
    })
}
