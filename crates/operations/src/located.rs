//! The executables of providers and provisioner plugins: their locations, their schemas, and starting them.

mod provisioners;

use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use addr::{ProviderSource, VersionConstraint};
use db::{Diagnostic, Sources, Summary};
use engine::{CancelLevel, Event, EventSink, LogLevel, PluginName, ProviderFactory, Redactor};
use packages::{LocateError, LocateRequest, Located};
use plugin::{GrpcProvider, LaunchOptions, PluginEvent, PluginSink, Processes, Redact, TlsMode};
use provider::{
    BoxFuture, Provider, ProviderDiagnostic, ProviderSchemas, Provisioner,
    schema_codec::ExecutableHash,
};
use sorted::TreeMap;
use values::{Str, Value};

use crate::{
    child_environment::ChildEnvironment,
    provisioner_plugins,
    sandboxes::{self, ProviderSandboxes},
    schema_cache::{Fingerprint, SchemaCache},
    session::{Failure, LockSource, LockedVersions, Session},
    view::{Run, RunView},
};

/// The maximum time that `init` spends on reading schemas in advance. The largest schemas take about four seconds.
const READ_AHEAD: Duration = Duration::from_secs(20);

/// The providers of one run.
pub struct ProviderExecutables {
    located: TreeMap<ProviderSource, Located>,
    reattached: TreeMap<ProviderSource, plugin::Reattach>,
    tls: TlsMode,
    environment: Arc<ChildEnvironment>,
    /// The list that the processes of providers are added to.
    processes: Processes,
    cache: SchemaCache,
    /// The schemas that this run has read. Plugins are not asked for them again.
    known: Mutex<TreeMap<ProviderSource, KnownSchemas>>,
    /// The digests of the executables of the processes that this run started. A plugin is missing if its digest is
    /// uncertain.
    started: Mutex<TreeMap<PluginName, ExecutableHash>>,
    /// True if a provider has changed since it was located.
    is_outdated: AtomicBool,
    /// The executables of the provisioner plugins, by the name of the provisioner.
    provisioners: TreeMap<String, PathBuf>,
    sandboxes: ProviderSandboxes,
}

/// The schemas of a provider, and the fingerprint of the executable that they come from.
#[derive(Clone)]
struct KnownSchemas {
    schemas: Arc<ProviderSchemas>,
    executable: Option<Fingerprint>,
}

impl ProviderExecutables {
    /// Locates the required providers, in the versions that the lock file of the directory selects.
    pub fn locate(
        session: &Session,
        requirements: &TreeMap<ProviderSource, VersionConstraint>,
    ) -> Result<ProviderExecutables, Failure> {
        let locks = LockedVersions { locks: &session.locks()?, source: LockSource::Directory };
        Self::locate_locked(session, requirements, locks)
    }

    /// Locates the required providers, in the versions that `locked` selects.
    pub fn locate_locked(
        session: &Session,
        requirements: &TreeMap<ProviderSource, VersionConstraint>,
        locked: LockedVersions<'_>,
    ) -> Result<ProviderExecutables, Failure> {
        let reattached = reattached(session)?;
        let mut wanted = requirements.clone();
        wanted.retain(|source, _| !reattached.contains_key(source));
        let config = session.cli_config()?;
        let sources = session.sources(config)?;
        let installed = session.data_dir().join("providers");
        let cache = SchemaCache::new(session);
        let hashes = &cache;
        let hash = |package: PathBuf| -> BoxFuture<'_, _> {
            Box::pin(async move { hashes.package_hash(&package).await })
        };
        let platform = session.platform();
        let request = LocateRequest {
            requirements: &wanted,
            locks: locked.locks,
            sources: &sources,
            installed: &installed,
            platform: &platform,
            hash: &hash,
        };
        let located = session.runtime.block_on(packages::locate(&request));
        let located = located.map_err(|error| not_located(&error, locked.source))?;
        let tls = match session.system.variable("TF_DISABLE_PLUGIN_TLS").filter(|it| !it.is_empty())
        {
            Some(_) => TlsMode::Off,
            None => TlsMode::Auto,
        };
        let sandboxes = ProviderSandboxes::new(session, config);
        sandboxes.log(session, &located);
        sandboxes.log_reattached(session, reattached.keys());
        Ok(ProviderExecutables {
            located,
            reattached,
            tls,
            environment: Arc::clone(&session.child_environment),
            processes: session.processes.clone(),
            cache,
            known: Mutex::default(),
            started: Mutex::default(),
            is_outdated: AtomicBool::new(false),
            provisioners: provisioner_plugins::find(session)?,
            sandboxes,
        })
    }

    /// An empty set of providers.
    pub fn none(session: &Session) -> ProviderExecutables {
        ProviderExecutables {
            located: TreeMap::new(),
            reattached: TreeMap::new(),
            tls: TlsMode::Auto,
            environment: Arc::clone(&session.child_environment),
            processes: session.processes.clone(),
            cache: SchemaCache::new(session),
            known: Mutex::default(),
            started: Mutex::default(),
            is_outdated: AtomicBool::new(false),
            provisioners: TreeMap::new(),
            sandboxes: ProviderSandboxes::default(),
        }
    }

    /// Returns true if a provider has changed since it was located. The caller must then locate all providers
    /// again.
    pub fn is_outdated(&self) -> bool {
        self.is_outdated.load(Ordering::Relaxed)
    }

    /// Marks a provider as changed, and removes its schemas from the cache.
    fn forget(&self, source: &ProviderSource) {
        self.is_outdated.store(true, Ordering::Relaxed);
        if let Some(executable) = self.executable(source) {
            self.cache.remove(executable);
        }
    }

    /// The schemas of a provider. They come from the cache if the executable is unchanged, otherwise from the
    /// provider itself.
    pub fn schemas(
        &self,
        session: &Session,
        source: &ProviderSource,
    ) -> Result<Arc<ProviderSchemas>, Failure> {
        if let Some(known) = self.known_schemas(source) {
            return Ok(known);
        }
        let file = self.executable(source);
        // Take the fingerprint before reading the schemas, so that a change in between is detected later.
        let executable = file.and_then(|it| self.cache.fingerprint(it));
        // Do not cache by the hash of a script: it may run a different program each time.
        let cached = file.filter(|it| !is_script(it)).and_then(|it| self.cache.get(it));
        let schemas = match cached {
            Some(schemas) => {
                let text = format!("{}: schemas are cached", source.for_display());
                session.view.log(LogLevel::Trace, "provider", &text);
                schemas
            }
            None => self.read_schemas(session, source)?,
        };
        let known = KnownSchemas { schemas: schemas.clone(), executable };
        self.lock_known().insert(source.clone(), known);
        Ok(schemas)
    }

    /// The schemas of a provider, if they are available without starting a process.
    pub fn schemas_at_hand(
        &self,
        session: &Session,
        source: &ProviderSource,
    ) -> Option<Arc<ProviderSchemas>> {
        match self.located.get(source)? {
            Located::Installed { executable, .. } | Located::Overridden { executable } => {
                self.cache.get(executable)
            }
            Located::Builtin => Some(engine::builtin::schemas()),
            Located::Bundled { .. } => {
                let bundled = providers::bundled().into_iter().find(|it| it.source == *source)?;
                session.runtime.block_on((bundled.provider)().schemas()).ok()
            }
        }
    }

    /// Fills the cache with schemas that are not cached yet. A provider that fails is skipped; the command that
    /// needs it reports the error.
    pub fn read_ahead<'p>(
        &self,
        session: &Session,
        sources: impl Iterator<Item = &'p ProviderSource>,
    ) {
        let wanted = sources.filter(|it| {
            let file = self.executable(it);
            file.is_some_and(|it| self.cache.get(it).is_none())
        });
        let reading = async {
            for source in wanted {
                let asked = self.ask_schemas(session, source).await;
                if let (Ok(schemas), Some(executable)) = (asked, self.executable(source)) {
                    self.cache.put(executable, &schemas);
                }
            }
        };
        session.runtime.block_on(async {
            // A provider that hangs must not block the command.
            let _ = tokio::time::timeout(READ_AHEAD, reading).await;
        });
    }

    fn read_schemas(
        &self,
        session: &Session,
        source: &ProviderSource,
    ) -> Result<Arc<ProviderSchemas>, Failure> {
        let schemas = session.runtime.block_on(async {
            tokio::select! {
                biased;
                schemas = self.ask_schemas(session, source) => schemas,
                // No operation has begun, so an interrupt can end the command at once.
                () = session.cancel.reached(CancelLevel::Stopping) => {
                    Err(vec![interrupted(&format!("provider {}", source.for_display()), "GetProviderSchema")])
                },
            }
        });
        let schemas = schemas.map_err(Failure::from)?;
        if let Some(executable) = self.executable(source) {
            self.cache.put(executable, &schemas);
        }
        Ok(schemas)
    }

    async fn ask_schemas(
        &self,
        session: &Session,
        source: &ProviderSource,
    ) -> Result<Arc<ProviderSchemas>, Vec<Diagnostic>> {
        let text = format!("{}: reading the schemas from its process", source.for_display());
        session.view.log(LogLevel::Debug, "provider", &text);
        let log = session.view.run(Run::Quiet, &Sources::default(), &session.redactor);
        let sink = Arc::new(Logging {
            plugin: PluginName::Provider(source.clone()),
            log: Arc::clone(&log),
        });
        let started = self.start(source, &session.redactor, sink).await;
        let provider = started.map_err(|error| vec![*error])?;
        let schemas = provider.schemas().await;
        provider.close().await;
        log.end_log();
        let redacted = |it: ProviderDiagnostic| {
            let detail = session.redactor.redact(&it.detail);
            let detail = format!("{}: {detail}", source.for_display());
            Diagnostic::new(Summary::provider_schema(it.summary), detail)
        };
        schemas.map_err(|diagnostics| diagnostics.into_iter().map(redacted).collect())
    }

    fn known_schemas(&self, source: &ProviderSource) -> Option<Arc<ProviderSchemas>> {
        self.lock_known().get(source).map(|it| it.schemas.clone())
    }

    fn lock_known(&self) -> std::sync::MutexGuard<'_, TreeMap<ProviderSource, KnownSchemas>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The executable file whose content determines the schemas of a provider. `None` if there is no such file.
    fn executable(&self, source: &ProviderSource) -> Option<&Path> {
        match self.located.get(source)? {
            Located::Installed { executable, .. } | Located::Overridden { executable } => {
                Some(executable)
            }
            // One executable contains several bundled providers, so its digest does not identify their schemas.
            Located::Bundled { .. } => None,
            // Built into this program; its schemas are available without a process.
            Located::Builtin => None,
        }
    }

    /// The SHA-256 of the executable from which the last process of this plugin was started. `None` if no process
    /// was started, or if the executable is uncertain.
    pub fn started_identity(&self, plugin: &PluginName) -> Option<ExecutableHash> {
        self.lock_started().get(plugin).copied()
    }

    fn lock_started(&self) -> std::sync::MutexGuard<'_, TreeMap<PluginName, ExecutableHash>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The SHA-256 of the file that would be started for a plugin. `None` if it is uncertain, as for a provider in
    /// `TF_REATTACH_PROVIDERS`.
    pub fn identity(&self, plugin: &PluginName) -> Option<ExecutableHash> {
        self.cache.executable_hash(self.runs(plugin)?)
    }

    /// The file that is started for a plugin. `None` if its content does not determine the plugin's behavior: a
    /// script, or a provider that already runs.
    fn runs(&self, plugin: &PluginName) -> Option<&Path> {
        let source = match plugin {
            PluginName::Provider(source) => source,
            PluginName::Provisioner(name) => {
                return self.provisioners.get(&**name).map(|it| &**it).filter(|it| !is_script(it));
            }
        };
        if self.reattached.contains_key(source) {
            return None;
        }
        match self.located.get(source)? {
            Located::Installed { executable, .. }
            | Located::Overridden { executable }
            | Located::Bundled { executable, .. } => {
                Some(executable.as_path()).filter(|it| !is_script(it))
            }
            Located::Builtin => None,
        }
    }

    /// Records the executable of a started process. `before` is the fingerprint from just before the start; if it
    /// no longer matches, the executable is uncertain and nothing is recorded.
    fn note_started(&self, plugin: &PluginName, before: Option<&Fingerprint>) {
        let same = self.runs(plugin).zip(before);
        let same = same.filter(|(executable, before)| self.cache.is_still(executable, before));
        let hash = same.and_then(|(_, before)| before.hash());
        match hash {
            Some(hash) => drop(self.lock_started().insert(plugin.clone(), hash)),
            None => drop(self.lock_started().remove(plugin)),
        }
    }

    /// Returns true if the executable of a provider changed since its schemas were read.
    fn is_replaced(&self, source: &ProviderSource) -> bool {
        let known = self.lock_known().get(source).and_then(|it| it.executable.clone());
        match (known, self.executable(source)) {
            (Some(known), Some(executable)) => !self.cache.is_still(executable, &known),
            _ => false,
        }
    }

    /// Starts a provider without configuring it.
    async fn start(
        &self,
        source: &ProviderSource,
        redactor: &Redactor,
        sink: Arc<dyn PluginSink>,
    ) -> Result<Arc<dyn Provider>, Box<Diagnostic>> {
        let redact = Arc::new(Redaction(redactor.clone()));
        if let Some(reattach) = self.reattached.get(source) {
            let known = self.known_schemas(source);
            let name = source.for_display();
            let attached = GrpcProvider::attach(reattach, name, sink, redact, known).await;
            return attached
                .map(|it| Arc::new(it) as Arc<dyn Provider>)
                .map_err(|error| start_error(source, &error.to_string()));
        }
        let located = self
            .located
            .get(source)
            .ok_or_else(|| start_error(source, "it was not found among the installed providers"))?;
        let (executable, arguments): (&PathBuf, &[String]) = match located {
            Located::Builtin => {
                return engine::builtin_provider(source)
                    .ok_or_else(|| start_error(source, "there is no such built-in provider"));
            }
            Located::Bundled { executable, arguments, .. } => (executable, arguments),
            Located::Installed { executable, .. } | Located::Overridden { executable } => {
                (executable, &[])
            }
        };
        let mut command = Command::new(executable);
        command.args(arguments);
        self.environment.prepare_provider(&mut command);
        let mut options =
            LaunchOptions::new(source.for_display(), self.processes.clone(), sink, redact);
        options.tls = self.tls;
        options.sandbox = self.sandboxes.enter(source, located, &mut command);
        let plugin = PluginName::Provider(source.clone());
        let before = self.runs(&plugin).and_then(|it| self.cache.fingerprint(it));
        let process = plugin::launch(command, options).await.map_err(|error| {
            let text = sandboxes::start_error(source, &error);
            start_error(source, &redactor.redact(&text))
        })?;
        if self.is_replaced(source) {
            self.forget(source);
            process.shutdown().await;
            return Err(replaced(source, executable));
        }
        self.note_started(&plugin, before.as_ref());
        Ok(Arc::new(GrpcProvider::new(process, self.known_schemas(source))))
    }
}

/// Redacts the output of plugins with the redactor of the run, and adds secrets to the redactor.
struct Redaction(Redactor);

impl Redact for Redaction {
    fn redact(&self, text: &str) -> String {
        self.0.redact(text)
    }

    fn learn_opened(&self, result: &Value) {
        self.0.learn_whole(result);
    }

    fn learn_private(&self, private: &[u8]) {
        self.0.learn_private(private);
    }
}

fn not_located(error: &LocateError, locks: LockSource) -> Diagnostic {
    let detail = match (locks, error) {
        (LockSource::Directory, _) | (_, LocateError::Overridden { .. }) => error.detail(),
        (
            LockSource::Plan,
            LocateError::Inconsistent { problems, .. } | LocateError::NotInstalled { problems },
        ) => {
            let list: String = problems.iter().map(|it| format!("\n  - {it}")).collect();
            format!(
                "The plan was made with other providers than those that are installed \
                 here:{list}\n\nNothing was done. The plan file is a zip archive, and holds the \
                 configuration (tfconfig/m-/) and the lock file (.terraform.lock.hcl) that it was \
                 made with: run \"mayfly init\" with these, and apply the plan again. Or make a new plan."
            )
        }
    };
    let summary = match error {
        LocateError::Inconsistent { .. } => Summary::INCONSISTENT_LOCK_FILE,
        LocateError::NotInstalled { .. } => Summary::PROVIDERS_NOT_INSTALLED,
        LocateError::Overridden { .. } => Summary::UNUSABLE_OVERRIDE,
    };
    Diagnostic::new(summary, detail)
}

fn start_error(source: &ProviderSource, cause: &str) -> Box<Diagnostic> {
    let detail = format!("Could not start the provider {}: {cause}", source.for_display());
    Box::new(Diagnostic::new(Summary::PROVIDER_START, detail))
}

fn replaced(source: &ProviderSource, executable: &Path) -> Box<Diagnostic> {
    let detail = format!(
        "The executable of the provider {}, {}, has changed since its schemas were read: it was \
         rebuilt or replaced. Nothing was sent to it. Run the command again to read the new \
         schemas.",
        source.for_display(),
        executable.display()
    );
    Box::new(Diagnostic::new(Summary::PROVIDER_REPLACED, detail))
}

/// Returns true if a file is a script with a `#!` line.
fn is_script(path: &Path) -> bool {
    let mut begin = [0; 2];
    std::fs::File::open(path).and_then(|mut it| it.read_exact(&mut begin)).is_ok()
        && begin == *b"#!"
}

fn interrupted(plugin: &str, call: &str) -> Diagnostic {
    let detail = format!(
        "The command was interrupted while the {plugin} was asked for its schemas ({call}). Nothing was done."
    );
    Diagnostic::new(Summary::RUN_INTERRUPTED, detail)
}

/// The providers in `TF_REATTACH_PROVIDERS`, which already run.
pub fn reattached(session: &Session) -> Result<TreeMap<ProviderSource, plugin::Reattach>, Failure> {
    match session.system.variable("TF_REATTACH_PROVIDERS").filter(|it| !it.is_empty()) {
        Some(text) => plugin::parse_reattach(&text)
            .map_err(|error| Diagnostic::new(Summary::INVALID_REATTACH, error.to_string()).into()),
        None => Ok(TreeMap::new()),
    }
}

/// Starts providers for the engine.
pub struct Factory {
    executables: Arc<ProviderExecutables>,
    redactor: Redactor,
    events: Arc<dyn EventSink>,
}

impl Factory {
    /// Creates a factory. `redactor` is applied to all output of the providers.
    pub fn new(
        executables: Arc<ProviderExecutables>,
        redactor: Redactor,
        events: Arc<dyn EventSink>,
    ) -> Factory {
        Factory { executables, redactor, events }
    }

    fn relay(&self, plugin: PluginName) -> Arc<Relay> {
        let (events, executables) = (self.events.clone(), self.executables.clone());
        Arc::new(Relay { plugin, events, executables })
    }
}

impl ProviderFactory for Factory {
    fn start(
        &self,
        source: &ProviderSource,
    ) -> BoxFuture<'_, Result<Arc<dyn Provider>, Box<Diagnostic>>> {
        let source = source.clone();
        let sink = self.relay(PluginName::Provider(source.clone()));
        Box::pin(async move {
            if let Some(located) = self.executables.located.get(&source) {
                self.executables.sandboxes.make_temporary(&source, located);
            }
            self.executables.start(&source, &self.redactor, sink).await
        })
    }

    fn start_provisioner(
        &self,
        name: &str,
    ) -> BoxFuture<'_, Result<Arc<dyn Provisioner>, Box<Diagnostic>>> {
        let name = Str::from(name);
        let sink = self.relay(PluginName::Provisioner(name.clone()));
        Box::pin(
            async move { self.executables.start_provisioner(&name, &self.redactor, sink).await },
        )
    }
}

/// Forwards the events of a plugin, which are already redacted, to the events of the run.
struct Relay {
    plugin: PluginName,
    events: Arc<dyn EventSink>,
    executables: Arc<ProviderExecutables>,
}

impl PluginSink for Relay {
    fn event(&self, _: &str, event: PluginEvent) {
        if let (PluginEvent::OtherSchemas, PluginName::Provider(source)) = (&event, &self.plugin) {
            return self.executables.forget(source);
        }
        if let Some((level, message)) = logged(event) {
            self.events.event(Event::PluginLog { plugin: self.plugin.clone(), level, message });
        }
    }
}

/// The log line of an event. `None` if its text is logged elsewhere.
fn logged(event: PluginEvent) -> Option<(LogLevel, String)> {
    match event {
        PluginEvent::Log(record) => Some((level(record.level), log_text(&record))),
        PluginEvent::Output { text, .. } => {
            Some((LogLevel::Warn, format!("unexpected output: {text}")))
        }
        // The lines of a panic also arrive as log lines of their own.
        PluginEvent::OtherSchemas | PluginEvent::Panicked { .. } | PluginEvent::Exited { .. } => {
            None
        }
    }
}

fn level(level: plugin::LogLevel) -> LogLevel {
    match level {
        plugin::LogLevel::Trace => LogLevel::Trace,
        plugin::LogLevel::Debug => LogLevel::Debug,
        plugin::LogLevel::Info => LogLevel::Info,
        plugin::LogLevel::Warn => LogLevel::Warn,
        plugin::LogLevel::Error => LogLevel::Error,
    }
}

fn log_text(record: &plugin::LogRecord) -> String {
    let mut text = record.message.clone();
    for (key, value) in &record.fields {
        text.push_str(&format!(" {key}={value}"));
    }
    text
}

/// Logs the lines of a plugin while its schemas are read, and drops its other events.
struct Logging {
    plugin: PluginName,
    log: Arc<dyn RunView>,
}

impl PluginSink for Logging {
    fn event(&self, _: &str, event: PluginEvent) {
        if let Some((level, message)) = logged(event) {
            self.log.event(Event::PluginLog { plugin: self.plugin.clone(), level, message });
        }
    }
}
