//! The environment of one command: the working directory, its configuration, providers and state.

pub mod loading;
pub mod manifest;

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
};

use db::{Diagnostic, OsSystem, Rule, Sources, Summary, System};
use durability::Failpoints;
use engine::{CancelToken, LogLevel, Redactor};
use hir::{
    item::ConstValue,
    statics::{self, LocalBackend},
    unsupported,
};
use packages::{
    CliConfig, ConfigEnvironment, Download, ImpliedMirrors, Locks, Network, Platform,
    hosts::HostCredentials,
};
use plugin::Processes;
use project::{Project, UnsetProject};
use sorted::TreeMap;
use values::{Budget, Str, budget};

use crate::{
    child_environment::{ChildEnvironment, ReadArguments},
    root_system::{RootSystem, Variables},
    runtime::Runtime,
    variables::flag::VarFlag,
    view::{Notice, View},
};

/// The argument that makes this program serve one of its bundled providers.
pub const SERVE_ARGUMENT: &str = "serve-bundled-provider";

/// The choices of the caller for a [`Session`].
pub struct SessionOptions {
    /// Shows what happens.
    pub view: Arc<dyn View>,
    /// The files, the environment variables and the clock.
    pub system: RootSystem,
    /// The directory of the root module. `None` for the working directory of the process; messages then have relative
    /// paths.
    pub directory: Option<PathBuf>,
    /// Runs provider calls. Several sessions may share it.
    pub runtime: Runtime,
    /// True if it is an error that a provider repeats a write-only value, also without the setting of the CLI
    /// configuration.
    pub strict_secrets: bool,
    /// Interrupts the operations.
    pub cancel: CancelToken,
    /// The list that plugins and commands are added to.
    pub processes: Processes,
    /// The executable that serves the bundled providers, or the reason why it is unknown.
    pub executable: Result<PathBuf, String>,
    /// Understands the texts of `TF_CLI_ARGS`.
    pub arguments: ReadArguments,
}

/// The environment of the operations on one root module.
pub struct Session {
    pub view: Arc<dyn View>,
    pub system: Arc<dyn System>,
    pub redactor: Redactor,
    pub cancel: CancelToken,
    /// The plugins and commands of this session.
    pub processes: Processes,
    pub runtime: Runtime,
    pub child_environment: Arc<ChildEnvironment>,
    /// The places where a test makes this root's operations die.
    pub failpoints: Failpoints,
    /// The environment variables.
    variables: Variables,
    /// The directory for relative paths. Empty for the working directory of the process.
    base: PathBuf,
    /// The executable that serves the bundled providers, or the reason why it is unknown.
    pub(crate) executable: Result<PathBuf, String>,
    arguments: ReadArguments,
    strict_secrets: bool,
    cli_config: OnceLock<CliConfig>,
    /// The access to hosts, from its first use on.
    network: OnceLock<Arc<Network>>,
    /// A loaded configuration that is kept for the next call of [`Session::project`].
    project: Mutex<Option<UnsetProject>>,
    /// The values for static evaluation.
    early: Mutex<StaticValues>,
}

/// The values for static evaluation, which decides the sources of modules and the place of the state before
/// anything is planned.
#[derive(Default)]
struct StaticValues {
    /// The flags of the command. When the variables are known, flags for secret variables are removed.
    flags: Vec<VarFlag>,
    /// The values in a saved plan. They override all other values.
    planned: TreeMap<Str, ConstValue>,
    /// The directory of the configuration; `None` for the working directory.
    config: Option<PathBuf>,
    /// The place of the state. `None` until it is determined.
    place: Option<LocalBackend>,
    /// True if a saved plan determines `place`, false if the configuration in the directory does.
    is_place_planned: bool,
}

/// The reason why a command failed.
pub enum Failure {
    /// Diagnostics to print, with the source texts that they refer to.
    Diagnostics(Vec<Diagnostic>, Sources),
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        Failure::Diagnostics(vec![diagnostic], Sources::default())
    }
}

impl From<Box<Diagnostic>> for Failure {
    fn from(diagnostic: Box<Diagnostic>) -> Failure {
        Failure::from(*diagnostic)
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(diagnostics: Vec<Diagnostic>) -> Failure {
        Failure::Diagnostics(diagnostics, Sources::default())
    }
}

impl Session {
    /// Creates the environment of the operations on one root module.
    pub fn new(options: SessionOptions) -> Session {
        let SessionOptions {
            view,
            system,
            directory,
            runtime,
            strict_secrets,
            cancel,
            processes,
            executable,
            arguments,
        } = options;
        let base = directory.unwrap_or_default();
        let variables = system.environment().clone();
        let child = ChildEnvironment::new(arguments, variables.clone(), base.clone());
        Session {
            view,
            failpoints: Failpoints::of(&system),
            system: Arc::new(system),
            redactor: Redactor::new(),
            cancel,
            processes,
            runtime,
            child_environment: Arc::new(child),
            variables,
            base,
            executable,
            arguments,
            strict_secrets,
            cli_config: OnceLock::new(),
            network: OnceLock::new(),
            project: Mutex::default(),
            early: Mutex::default(),
        }
    }

    /// Refuses invalid settings in environment variables.
    pub fn check_settings(&self) -> Result<(), Failure> {
        let Some(text) = self.system.variable(Budget::VARIABLE) else { return Ok(()) };
        if budget::parse_size(&text).is_some() {
            return Ok(());
        }
        let detail = format!(
            "The environment variable {} is {text:?}, which is no size. Write a number of bytes, \
             or a whole number with a unit, such as 4GiB.",
            Budget::VARIABLE
        );
        Err(Diagnostic::new(Summary::INVALID_EVALUATION_MEMORY, detail).into())
    }

    /// Creates an environment for another working directory, to inspect the installed modules and providers there.
    /// Runs no process in it.
    pub fn in_directory(&self, directory: &Path) -> std::io::Result<Session> {
        let os =
            OsSystem::at(directory.to_owned()).waiting_for_pipes(self.failpoints.reads_pipes());
        let variables = self.variables.clone();
        let system = RootSystem::new(os, directory.to_owned()).with_variables(variables.clone());
        let child = ChildEnvironment::new(self.arguments, variables, directory.to_owned());
        Ok(Session {
            view: Arc::clone(&self.view),
            failpoints: self.failpoints.clone(),
            system: Arc::new(system),
            redactor: self.redactor.clone(),
            cancel: self.cancel.clone(),
            processes: self.processes.clone(),
            runtime: Runtime::on_this_thread()?,
            child_environment: Arc::new(child),
            variables: self.variables.clone(),
            base: directory.to_owned(),
            executable: self.executable.clone(),
            arguments: self.arguments,
            strict_secrets: self.strict_secrets,
            cli_config: self.cli_config.clone(),
            network: self.network.clone(),
            project: Mutex::default(),
            early: Mutex::default(),
        })
    }

    /// True if it is an error that a provider repeats a write-only value: by the command, or by the CLI configuration,
    /// whose own errors are reported where it is needed.
    pub fn is_strict_about_secrets(&self) -> bool {
        self.strict_secrets || self.cli_config().is_ok_and(|it| it.strict_secrets)
    }

    /// Resolves a path relative to the directory of the root module.
    pub fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        self.base.join(path)
    }

    /// The data directory: `TF_DATA_DIR`, or `.terraform` by default.
    pub fn data_dir(&self) -> PathBuf {
        let named = self.system.variable("TF_DATA_DIR").filter(|it| !it.is_empty());
        self.base.join(named.unwrap_or_else(|| ".terraform".to_owned()))
    }

    /// The name of the selected workspace for output and evaluation. Falls back to the default workspace. A
    /// command that needs the state has called [`selected_workspace`](Session::selected_workspace) before, which
    /// reports the error.
    pub fn workspace(&self) -> Str {
        self.selected_workspace().unwrap_or_else(|_| backend::DEFAULT_WORKSPACE.into())
    }

    /// The selected workspace.
    ///
    /// # Errors
    /// The file that names the workspace exists but cannot be read. Falling back to the default workspace would
    /// select another state.
    pub fn selected_workspace(&self) -> Result<Str, Failure> {
        let named = self.system.variable("TF_WORKSPACE").filter(|it| !it.is_empty());
        if let Some(named) = named {
            return Ok(named.into());
        }
        let path = self.data_dir().join("environment");
        let unreadable = |error: &dyn std::fmt::Display| {
            let detail = format!(
                "{} records the selected workspace, and cannot be read: {error}. Correct its \
                 permissions, or set the workspace in TF_WORKSPACE.",
                path.display()
            );
            Failure::from(Diagnostic::new(Summary::UNREADABLE_WORKSPACE, detail))
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
    pub fn refuse_encryption(&self) -> Result<(), Failure> {
        match self.system.variable("TF_ENCRYPTION").is_some_and(|it| !it.trim().is_empty()) {
            false => Ok(()),
            true => {
                let detail = "TF_ENCRYPTION configures encryption of state and plan, which this \
                              version of Mayfly does not support. Nothing was done. Unset it to \
                              continue without encryption.";
                Err(Diagnostic::new(Summary::NOT_SUPPORTED_YET, detail).into())
            }
        }
    }

    /// Returns true if the user may be asked for values of variables. `TF_INPUT` can disable these questions. It
    /// does not disable the approval of an apply, as in OpenTofu.
    pub fn may_ask(&self) -> bool {
        const NO: [&str; 6] = ["0", "f", "F", "false", "False", "FALSE"];
        !self.system.variable("TF_INPUT").is_some_and(|it| NO.contains(&it.as_str()))
    }

    /// The CLI configuration. Its problems are printed when it is first read.
    pub fn cli_config(&self) -> Result<&CliConfig, Failure> {
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

    fn config_environment<'a>(
        &self,
        variable: &'a dyn Fn(&str) -> Option<String>,
    ) -> ConfigEnvironment<'a> {
        let path = |name: &str| variable(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        ConfigEnvironment {
            // The only file whose path is resolved before `-chdir` is applied.
            config_file: path("TF_CLI_CONFIG_FILE")
                .or_else(|| path("TERRAFORM_CONFIG"))
                .map(|it| self.as_called(it)),
            home: path("HOME"),
            xdg_config_home: path("XDG_CONFIG_HOME"),
            variable,
        }
    }

    fn read_cli_config(&self) -> Result<CliConfig, Failure> {
        let variable = |name: &str| self.system.variable(name);
        let (config, problems) = CliConfig::load(&self.config_environment(&variable));
        let diagnostics: Vec<Diagnostic> = problems
            .into_iter()
            .map(|problem| match problem.is_error {
                true => Diagnostic::new(Summary::cli_config_fault(problem.summary), problem.detail),
                false => {
                    Diagnostic::new(Summary::cli_config_doubt(problem.summary), problem.detail)
                }
            })
            .collect();
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(diagnostics.into());
        }
        self.view.diagnostics_aside(&diagnostics);
        let methods = config.installation.as_ref().map_or(0, Vec::len);
        let overrides = config.dev_overrides.len();
        let cache = if config.plugin_cache_dir.is_some() { "with" } else { "without" };
        let text =
            format!("{methods} installation methods, {overrides} overrides, {cache} a cache");
        self.view.log(LogLevel::Debug, Rule::CliConfig.code(), &text);
        Ok(config)
    }

    /// Creates an HTTP client with the proxies and certificates that the environment names.
    pub(crate) fn http_client(&self) -> http_client::Client {
        let user_agent = concat!("Mayfly/", env!("CARGO_PKG_VERSION"));
        let user_agent = http_client::header::HeaderValue::from_static(user_agent);
        let variable = |name: &str| self.system.variable(name);
        let config = http_client::ClientConfig::from_environment(user_agent, &variable);
        http_client::Client::new(config)
    }

    /// All sources of providers, with access to registries and network mirrors.
    pub(crate) fn network_sources(&self) -> Result<packages::Sources, Failure> {
        Ok(self.sources(self.cli_config()?)?.with_network(Arc::clone(self.network()?)))
    }

    /// The access to the hosts of registries and mirrors.
    pub(crate) fn network(&self) -> Result<&Arc<Network>, Failure> {
        if let Some(network) = self.network.get() {
            return Ok(network);
        }
        let config = self.cli_config()?;
        let variable = |name: &str| self.system.variable(name);
        let credentials = self.host_credentials(config);
        let environment = self.config_environment(&variable);
        let withheld = self.child_environment.withheld_from_git();
        let client = self.http_client();
        let view = Arc::clone(&self.view);
        let observer = move |it: &[Download]| view.notice(&Notice::Downloads(it));
        let network = Network::new(client, config, &environment, credentials, withheld)
            .with_observer(Box::new(observer));
        Ok(self.network.get_or_init(|| Arc::new(network)))
    }

    /// The tokens of hosts.
    pub(crate) fn host_credentials(&self, config: &CliConfig) -> HostCredentials {
        let variable = |name: &str| self.system.variable(name);
        HostCredentials::new(
            config,
            &self.config_environment(&variable),
            &self.system.variables("TF_TOKEN_"),
            self.child_environment.withheld_from_git(),
        )
    }

    /// All sources of providers on this machine.
    pub fn sources(&self, config: &CliConfig) -> Result<packages::Sources, Failure> {
        let executable = self.own_executable()?;
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
    pub fn lock_file(&self) -> Result<Vec<u8>, Failure> {
        match self.system.read_file(Path::new(LOCK_FILE)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            read => read.map_err(|error| {
                let detail = format!("{LOCK_FILE} cannot be read: {error}.");
                Diagnostic::new(Summary::LOCK_FILE_READ, detail).into()
            }),
        }
    }

    /// The parsed lock file. Empty if there is none.
    pub fn locks(&self) -> Result<Locks, Failure> {
        let bytes = self.lock_file()?;
        let text = String::from_utf8_lossy(&bytes);
        let mut locks = Locks::parse(&text).map_err(|error| {
            let detail = format!(
                "{}\n\n(at {LOCK_FILE} line {}, column {})\n\nCorrect the file, or delete it and \
                 run \"mayfly init\", which selects versions anew.",
                error.detail, error.line, error.column
            );
            Diagnostic::new(Summary::lock_file_fault(error.summary), detail)
        })?;
        locks.adopt_other_registry();
        Ok(locks)
    }

    fn own_executable(&self) -> Result<PathBuf, Failure> {
        self.executable.clone().map_err(|error| {
            let detail = format!(
                "The path of the Mayfly executable, which is needed to run the bundled providers, \
                 cannot be determined: {error}."
            );
            Diagnostic::new(Summary::OWN_EXECUTABLE, detail).into()
        })
    }

    /// The current time in RFC 3339, UTC, rounded down to seconds.
    pub fn timestamp(&self) -> String {
        durability::timestamp(&*self.system)
    }

    /// The current time in RFC 3339, UTC, for events.
    pub fn now(&self) -> String {
        time_of_day(&*self.system)
    }

    /// The platform that packages are installed for.
    pub fn platform(&self) -> Platform {
        Platform::current()
    }
}

/// The current time in RFC 3339, UTC, with the full precision of the system.
pub fn time_of_day(system: &dyn System) -> String {
    timestamp_of(system).to_string()
}

fn timestamp_of(system: &dyn System) -> jiff::Timestamp {
    jiff::Timestamp::try_from(system.now()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// The name of the dependency lock file.
pub const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The origin of the locks by which providers and modules are selected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LockSource {
    /// The lock file of the working directory.
    Directory,
    /// The locks in a saved plan.
    Plan,
}

/// The locked versions of providers and modules.
#[derive(Clone, Copy)]
pub struct LockedVersions<'a> {
    pub locks: &'a Locks,
    pub source: LockSource,
}

/// The ids of errors that are reported before providers and modules are located. With such an error, the required
/// providers and modules may be other ones than intended.
const FIRST: &[Rule] = &[
    Rule::SyntaxError,
    Rule::UnreadableFile,
    Rule::MissingName,
    Rule::InvalidName,
    Rule::MissingBase,
    Rule::InvalidOverride,
    Rule::InvalidEphemeralBlock,
    Rule::InvalidEphemeralLifecycle,
    Rule::InvalidRequiredProviders,
    Rule::DuplicateRequiredProviders,
    Rule::MisplacedRequiredProviders,
    Rule::InvalidProviderSource,
    Rule::ModuleNotInstalled,
    Rule::InvalidModuleSource,
    Rule::ModuleCycle,
    Rule::DynamicValue,
    Rule::UnsetStaticVariable,
    Rule::InvalidStaticValue,
    Rule::SensitiveStaticValue,
    Rule::EphemeralStaticValue,
    Rule::InvalidVersionConstraint,
    Rule::UnsupportedOpentofuVersion,
    Rule::DuplicateBackend,
    unsupported::ID,
];

/// The errors of a configuration that prevent any further step. `None` if there are none.
pub fn broken(project: &Project) -> Option<Failure> {
    broken_beside(project, &[])
}

/// The errors of a configuration that prevent the installation of its modules. `None` if there are none.
pub fn unreadable(project: &Project) -> Option<Failure> {
    broken_beside(project, &[Rule::ModuleNotInstalled])
}

/// Returns true if all setup errors may be due to missing values of variables, so that asking for values helps.
pub fn lacks_values_only(project: &Project) -> bool {
    broken_beside(project, &[Rule::ModuleNotInstalled, Rule::UnsetStaticVariable]).is_none()
}

fn broken_beside(project: &Project, but: &[Rule]) -> Option<Failure> {
    let mut problems = project.setup_problems();
    problems.retain(|it| it.is_error() && !but.contains(&it.id()));
    (!problems.is_empty()).then(|| Failure::Diagnostics(problems, project.program().sources))
}

/// The ids of errors in a backend block. They are reported together with those in [`FIRST`].
const OF_BACKEND: &[Rule] = &[
    Rule::EphemeralBackend,
    Rule::SensitiveBackend,
    Rule::InvalidBackend,
    Rule::UnknownBackend,
    Rule::UnsupportedArgument,
    Rule::UnsupportedBlock,
];

/// The place of the configuration's state. Only the local backend is supported.
pub fn place_of(project: &Project) -> Result<LocalBackend, Failure> {
    if let Some(place) = statics::local_backend(project.db(), project.workspace()) {
        return Ok(place);
    }
    // The analysis reports the error at its location.
    let mut problems = project.diagnostics();
    problems.retain(Diagnostic::is_error);
    // Report errors of the backend together with unsupported features, so that fixing the latter does not reveal
    // the former.
    let is_first = |it: &Diagnostic| FIRST.contains(&it.id()) && it.id() != unsupported::ID;
    if problems.iter().any(|it| is_first(it) || OF_BACKEND.contains(&it.id())) {
        problems.retain(|it| FIRST.contains(&it.id()) || OF_BACKEND.contains(&it.id()));
    }
    if problems.is_empty() {
        let detail = unsupported::detail("this backend");
        problems.push(Diagnostic::new(Summary::NOT_SUPPORTED_YET, detail));
    }
    Err(Failure::Diagnostics(problems, project.program().sources))
}
