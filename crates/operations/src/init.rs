//! The operation `init`: installs modules and providers, and writes the lock file.

use std::path::{Path, PathBuf};

use db::{Diagnostic, Sources, Summary};
use hir::statics::LocalBackend;
use packages::{
    InstallError, InstallEvent, InstallRequest, Installed, Locks, Platform, RegistryWarnings,
};
use project::{Manifest, Project};
use state::State;

use crate::{
    backend_config::BackendConfig,
    located::{self, ProviderExecutables},
    modules::{
        copy,
        install::{self, ModuleOptions},
    },
    place::{
        self,
        migration::{self, Changes, OnChange},
    },
    provisioner_plugins,
    schema_cache::SchemaCache,
    session::{self, Failure, LOCK_FILE, Session},
    store::{self, StateOptions},
    test,
    view::{LockFileChange, Notice},
};

/// The options of `init`.
pub struct InitOptions {
    /// The source of a module that is copied into the working directory first.
    pub from_module: Option<String>,
    /// True if the newest versions are selected.
    pub upgrade: bool,
    /// The only directories in which providers and provisioners are looked for. Empty for the usual places; later
    /// commands search those of the last `init` that named any, and a single empty one restores the usual places.
    pub plugin_dirs: Vec<PathBuf>,
    /// True if the lock file must not change.
    pub is_lockfile_readonly: bool,
    /// True if the backend is initialized.
    pub backend: bool,
    /// Arguments of the backend, each `NAME=VALUE` or a file.
    pub backend_config: Vec<String>,
    /// True if the user is asked for variables that sources of modules or the backend need.
    pub input: bool,
    /// True if modules are installed.
    pub get: bool,
    /// True if states in the previous place are left where they are.
    pub reconfigure: bool,
    /// True if states are copied to the place that the configuration names.
    pub migrate_state: bool,
    /// The locking of states that are copied.
    pub lock: StateOptions,
    /// The directory with test files. The providers of the modules that they run are installed too.
    pub test_directory: PathBuf,
}

/// Prepares a root module for all other operations.
pub fn init(session: &Session, options: &InitOptions) -> Result<(), Failure> {
    refuse_contradictions(options)?;
    provisioner_plugins::choose_directories(session, &options.plugin_dirs)?;
    if let Some(source) = options.from_module.as_deref().filter(|it| !it.is_empty()) {
        copy::populate(session, source)?;
    }
    // Start without the installed modules: they may be broken, and `init` repairs them.
    let mut project = match options.get {
        true => session.project_with(Manifest::new())?,
        false => session.project_to_init()?,
    };
    if project.is_empty() {
        session.view.notice(&Notice::EmptyDirectory);
        return Ok(());
    }
    if options.input && session::lacks_values_only(&project) {
        session.ask_early(&mut project)?;
    }
    if let Some(failure) = session::unreadable(&project) {
        session.view.notice(&Notice::InvalidConfiguration);
        return Err(failure);
    }
    let place = session::place_of(&project)?;
    if options.backend {
        session.view.notice(&Notice::InitializingBackend);
        let arguments = backend_config(session, &project, options)?;
        let changes = Changes { on_change: on_change(options), lock: options.lock.clone() };
        migration::initialize(session, &place, arguments.as_ref(), &changes)?;
    }
    let before = session.locks()?;
    let mut module_locks = before.modules.clone();
    if options.get {
        let tests = test::tested_modules(session, &options.test_directory);
        let options = ModuleOptions {
            upgrade: options.upgrade,
            is_lockfile_readonly: options.is_lockfile_readonly,
            is_announced: true,
            tests: &tests,
        };
        (project, module_locks) = install::install(session, options, &before)?;
    }
    if let Some(failure) = session::broken(&project) {
        session.view.notice(&Notice::InvalidConfiguration);
        return Err(failure);
    }
    session.view.notice(&Notice::InitializingProviders);
    let state = present_state(session, &project, place);
    let mut requirements = session.requirements(&project, state.as_ref());
    test::add_requirements(session, &options.test_directory, &mut requirements);
    let config = session.cli_config()?;
    let mut sources = session.network_sources()?;
    let plugin_dirs: Vec<PathBuf> =
        options.plugin_dirs.iter().filter(|it| !it.as_os_str().is_empty()).cloned().collect();
    if !plugin_dirs.is_empty() {
        sources = sources.from_plugin_dirs(&plugin_dirs);
    }
    let target = session.data_dir().join("providers");
    let platform = session.platform();
    let unmanaged = located::reattached(session)?.into_keys().collect();
    let request = InstallRequest {
        requirements: &requirements,
        locks: &before,
        upgrade: options.upgrade,
        sources: &sources,
        target: &target,
        plugin_cache: config.plugin_cache_dir.as_deref(),
        cache_may_break_locks: config.cache_may_break_locks,
        unmanaged: &unmanaged,
        platform: &platform,
    };
    let mut on_event = |event: InstallEvent| session.view.notice(&Notice::Provider(&event));
    let installed = session.runtime.block_on(packages::install(&request, &mut on_event));
    if !installed.errors.is_empty() {
        let diagnostics: Vec<Diagnostic> = installed
            .errors
            .iter()
            .map(|error| Diagnostic::new(summary_of(error), error.detail()))
            .collect();
        return Err(diagnostics.into());
    }
    let cache = SchemaCache::new(session);
    for package in &installed.unpacked {
        session.runtime.block_on(cache.adopt(package));
    }
    let locks = Locks { modules: module_locks, providers: installed.locks.providers.clone() };
    write_locks(session, options.is_lockfile_readonly, &before, &locks)?;
    warn_of(session, &installed, &platform);
    session.view.notice(&Notice::Initialized);
    // Fill the schema cache, which makes the first `validate` faster and is the only source of schemas for the
    // language server. Failure is ignored: the provider may be for another machine, for example for a container.
    if let Ok(executables) = ProviderExecutables::locate(session, &requirements) {
        executables.read_ahead(session, requirements.keys());
        let kinds = hir::provisioner_kinds(project.db(), project.workspace());
        executables.read_ahead_provisioners(session, &kinds);
    }
    Ok(())
}

/// Installs the modules that the configuration and its test files call, and locks their packages. `upgrade` selects the
/// newest ones.
///
/// # Errors
/// The reason why nothing is installed, such as errors in test files.
pub fn get(session: &Session, upgrade: bool, test_directory: &Path) -> Result<(), Failure> {
    let (problems, sources) = test::problems(session, test_directory);
    if problems.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(problems, sources));
    }
    let project = session.project_with(Manifest::new())?;
    if let Some(failure) = session::unreadable(&project) {
        return Err(failure);
    }
    let before = session.locks()?;
    let tests = test::tested_modules(session, test_directory);
    let options =
        ModuleOptions { upgrade, is_lockfile_readonly: false, is_announced: false, tests: &tests };
    let (_, modules) = install::install(session, options, &before)?;
    let after = Locks { modules, ..before.clone() };
    write_locks(session, false, &before, &after)
}

fn on_change(options: &InitOptions) -> OnChange {
    match (options.reconfigure, options.migrate_state) {
        (true, _) => OnChange::Leave,
        (false, true) => OnChange::Copy,
        (false, false) => OnChange::Refuse,
    }
}

/// The current state. Its objects need their providers for destruction even if the configuration no longer names
/// them. `None` if no state can be read; a command that needs the state reports the reason.
fn present_state(session: &Session, project: &Project, place: LocalBackend) -> Option<State> {
    let place = place::check(session, place).ok()?;
    let paths = place::workspaces(session, &place).paths(&session.workspace()).ok()?;
    let mut state = store::open_unlocked(session, Some(&paths.read)).ok()?.file.state;
    let required = project.provider_requirements();
    state.adopt_other_registry(&|source| required.contains_key(source));
    Some(state)
}

/// The backend arguments of the flags. If the configuration has no backend block, the flags have no effect and a
/// warning is shown.
fn backend_config(
    session: &Session,
    project: &Project,
    options: &InitOptions,
) -> Result<Option<BackendConfig>, Failure> {
    let arguments = BackendConfig::read(session, &options.backend_config)?;
    let has_backend = hir::names::state_settings(project.db(), project.root()).is_some();
    if arguments.is_none() || has_backend {
        return Ok(arguments);
    }
    let detail = "-backend-config was used without a \"backend\" block in the configuration, so it \
                  has no effect. To configure the backend with this option, add this \
                  block:\n\nterraform {\n  backend \"local\" {}\n}";
    let warning = Diagnostic::new(Summary::MISSING_BACKEND_CONFIG, detail);
    session.view.diagnostics(&[warning], &Sources::default());
    Ok(None)
}

fn refuse_contradictions(options: &InitOptions) -> Result<(), Failure> {
    if options.upgrade && options.is_lockfile_readonly {
        let detail = "The -upgrade flag conflicts with -lockfile=readonly: upgraded versions must \
                      be written to the lock file.";
        return Err(Diagnostic::new(Summary::CONTRADICTING_OPTIONS, detail).into());
    }
    if options.reconfigure && options.migrate_state {
        let detail = "-reconfigure leaves states where they are, and -migrate-state copies them to \
                      the new location. Use only one of the two.";
        return Err(Diagnostic::new(Summary::CONTRADICTING_OPTIONS, detail).into());
    }
    Ok(())
}

/// Warns of what registries say, and of providers whose packages for other platforms are not locked.
fn warn_of(session: &Session, installed: &Installed, platform: &Platform) {
    let mut diagnostics = Vec::new();
    for RegistryWarnings { source, texts } in &installed.warnings {
        let texts: String = texts.iter().map(|it| format!("\n- {it}")).collect();
        let source = source.for_display();
        let detail = format!("The remote registry returned warnings for {source}:{texts}");
        diagnostics.push(Diagnostic::new(Summary::REGISTRY_WARNING, detail));
    }
    if !installed.incomplete.is_empty() {
        let names = installed.incomplete.iter();
        let names: String = names.map(|it| format!("\n  - {}", it.for_display())).collect();
        let detail = format!(
            "Due to your customized provider installation methods, Mayfly calculated the checksums in the lock file \
             from the packages of these providers for this platform alone:{names}\n\nThe current {LOCK_FILE} file \
             only includes checksums for {platform}, so Mayfly and OpenTofu running on another platform will fail \
             to install these providers.\n\nTo calculate additional checksums for another platform, run:\n  mayfly \
             providers lock -platform=linux_amd64\n(where linux_amd64 is the platform to generate)"
        );
        diagnostics.push(Diagnostic::new(Summary::INCOMPLETE_LOCKS, detail));
    }
    session.view.diagnostics(&diagnostics, &Sources::default());
}

fn summary_of(error: &InstallError) -> Summary {
    match error {
        InstallError::Query { .. } => Summary::PROVIDER_QUERY,
        InstallError::Install { .. } => Summary::PROVIDER_INSTALL,
        InstallError::Builtin { .. } => Summary::BUILTIN_PROVIDER,
    }
}

fn write_locks(
    session: &Session,
    is_readonly: bool,
    before: &Locks,
    after: &Locks,
) -> Result<(), Failure> {
    let exists = session.system.is_file(Path::new(LOCK_FILE));
    if after == before || (*after == Locks::default() && !exists) {
        return Ok(());
    }
    if is_readonly {
        let summary = match after.providers == before.providers {
            true => Summary::LOCKED_MODULES,
            false => Summary::LOCKED_PROVIDERS,
        };
        let detail = "Changes to the required dependencies were detected, but the lock file is \
                      read-only. To use and record these requirements, run \"mayfly init\" without \
                      the \"-lockfile=readonly\" flag.";
        return Err(Diagnostic::new(summary, detail).into());
    }
    save_locks(session, after)?;
    let change = match (exists, after.providers == before.providers) {
        (false, _) if after.providers.is_empty() => LockFileChange::CreatedForModules,
        (false, _) => LockFileChange::Created,
        (true, true) => LockFileChange::Modules,
        (true, false) => LockFileChange::Providers,
    };
    session.view.notice(&Notice::LockFile(change));
    Ok(())
}

/// Writes the lock file.
pub(crate) fn save_locks(session: &Session, locks: &Locks) -> Result<(), Failure> {
    std::fs::write(session.at(LOCK_FILE), locks.to_text()).map_err(|error| {
        let detail = format!(
            "{LOCK_FILE} cannot be written: {error}. Check its permissions, and those of the \
             directory that it is in."
        );
        Diagnostic::new(Summary::LOCK_FILE_SAVE, detail).into()
    })
}
