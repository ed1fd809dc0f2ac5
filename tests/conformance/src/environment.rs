//! The environment of the engine in these tests: the playground provider in this process, a shell that only
//! prints, and files in memory.

use std::sync::{Arc, Mutex, OnceLock};

use addr::ProviderSource;
use db::{Diagnostic, MemorySystem, System};
use engine::{
    CancelToken, Command, CommandRunner, CommandStatus, Environment, Event, NoMachines, PluginName,
    ProviderFactory, Question, Redactor, Verdicts,
};
use provider::{BoxFuture, Provider, ProviderSchemas};
use providers::{local, playground};

use crate::playground_sources;

/// Runs a future to its end on a single-threaded runtime.
///
/// # Panics
/// If the runtime cannot be created.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(future)
}

/// The schemas of all providers that fixtures may use, under every source address that finds them.
pub(crate) fn schemas() -> Vec<(ProviderSource, Arc<ProviderSchemas>)> {
    static PLAYGROUND: OnceLock<Arc<ProviderSchemas>> = OnceLock::new();
    static LOCAL: OnceLock<Arc<ProviderSchemas>> = OnceLock::new();
    let ask = || block_on(async { playground::provider().schemas().await });
    let schemas = PLAYGROUND.get_or_init(|| ask().expect("the playground has schemas"));
    let playground = playground_sources().into_iter().map(|source| (source, Arc::clone(schemas)));
    let ask = || block_on(async { local::provider().schemas().await });
    let files = Arc::clone(LOCAL.get_or_init(|| ask().expect("the provider has schemas")));
    let others = [(local_source(), files), (engine::builtin::source(), engine::builtin::schemas())];
    playground.chain(others).collect()
}

/// The source address of the provider for local files.
fn local_source() -> ProviderSource {
    ProviderSource::parse(local::SOURCE).expect("the constant is a source address")
}

pub(crate) fn environment(
    system: &Arc<MemorySystem>,
    events: &Arc<Mutex<Vec<Event>>>,
    commands: &Arc<Mutex<Vec<String>>>,
) -> Environment {
    let events = Arc::clone(events);
    Environment {
        providers: Arc::new(Playground),
        system: Arc::clone(system) as Arc<dyn System>,
        temp: Arc::new(engine::NoTempDirectories),
        commands: Arc::new(Shell { ran: Arc::clone(commands) }),
        machines: Arc::new(NoMachines),
        journal: Arc::new(engine::NoJournal),
        changes: None,
        events: Arc::new(move |event: Event| events.lock().expect("not poisoned").push(event)),
        redactor: Redactor::new(),
        strict_secrets: false,
        cancel: CancelToken::new(),
    }
}

struct Playground;

impl ProviderFactory for Playground {
    fn start(
        &self,
        source: &ProviderSource,
    ) -> BoxFuture<'_, Result<Arc<dyn Provider>, Box<Diagnostic>>> {
        let provider: Arc<dyn Provider> = match engine::builtin_provider(source) {
            Some(builtin) => builtin,
            None if *source == local_source() => Arc::new(local::provider()),
            None => Arc::new(playground::provider()),
        };
        Box::pin(async move { Ok(provider) })
    }
}

/// A shell that prints the argument of its command, as `echo` does.
struct Shell {
    ran: Arc<Mutex<Vec<String>>>,
}

impl CommandRunner for Shell {
    fn run<'a>(
        &'a self,
        command: Command,
        output: &'a (dyn Fn(&str) + Send + Sync),
        _: &'a CancelToken,
    ) -> BoxFuture<'a, Result<CommandStatus, String>> {
        let text = command.arguments.last().cloned().unwrap_or_default();
        output(text.strip_prefix("echo ").unwrap_or(&text));
        self.ran.lock().expect("not poisoned").push(text);
        Box::pin(async { Ok(CommandStatus { success: true, text: "exit status 0".to_owned() }) })
    }
}

/// A store of validation verdicts that remembers none.
pub(crate) struct NothingKept;

impl Verdicts for NothingKept {
    fn has_passed(&self, _: &PluginName, _: &Question<'_>) -> bool {
        false
    }

    fn passed(&self, _: &PluginName, _: &Question<'_>) {}
}
