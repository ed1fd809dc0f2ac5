//! An apply whose state is kept in a store that takes very long.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use addr::ProviderSource;
use backend::{
    BoxFuture, Expected, Generation, HeldLock, JournalStore, LockInfo, MemoryJournal, MemoryStore,
    Snapshot, StateStore, StoreError,
};
use db::{Diagnostic, MemorySystem, System};
use durability::{Failpoints, Keeper, OpenedState, Writer};
use engine::{
    ApplyOptions, CancelToken, Command, CommandRunner, CommandStatus, Environment, Event,
    NoJournal, NoMachines, NoTempDirectories, PlanOptions, ProviderFactory, Redactor, TempRoot,
    VariableValues,
};
use project::{Configure as _, Project};
use provider::Provider;
use sorted::TreeMap;
use state::{PlanMode, State, StateFile, journal::Begin};
use tokio::sync::Semaphore;

#[path = "../../engine/tests/engine/fake.rs"]
mod fake;

/// An ephemeral resource that must be renewed while three objects are created one after the other.
const MAIN: &str = r#"
ephemeral "test_secret" "s" {
  name = "s"
}

resource "test_thing" "first" {
  name      = "first"
  secret_wo = ephemeral.test_secret.s.value
}

resource "test_thing" "slow" {
  name      = "slow"
  zone      = test_thing.first.id
  secret_wo = ephemeral.test_secret.s.value
}

resource "test_thing" "last" {
  name      = "last"
  zone      = test_thing.slow.id
  secret_wo = ephemeral.test_secret.s.value
}
"#;

/// A store whose writes wait for a permit each.
struct Slow {
    store: MemoryStore,
    permits: Semaphore,
    begun: Semaphore,
}

impl StateStore for Slow {
    fn read(&self) -> BoxFuture<'_, Result<Option<Snapshot>, StoreError>> {
        self.store.read()
    }

    fn write<'a>(
        &'a self,
        bytes: &'a [u8],
        expected: Expected,
    ) -> BoxFuture<'a, Result<Generation, StoreError>> {
        Box::pin(async move {
            self.begun.add_permits(1);
            self.permits.acquire().await.expect("is open").forget();
            self.store.write(bytes, expected).await
        })
    }

    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.store.check_writable()
    }

    fn lock(&self, info: LockInfo) -> BoxFuture<'_, Result<Box<dyn HeldLock>, StoreError>> {
        self.store.lock(info)
    }

    fn force_unlock<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.force_unlock(id)
    }
}

struct Factory(fake::SharedRef, Arc<MemorySystem>);

impl ProviderFactory for Factory {
    fn start(
        &self,
        _: &ProviderSource,
    ) -> provider::BoxFuture<'_, Result<Arc<dyn Provider>, Box<Diagnostic>>> {
        let fake: Arc<dyn Provider> = Arc::new(fake::Fake::new(self.0.clone(), self.1.now()));
        Box::pin(async move { Ok(fake) })
    }
}

struct NoCommands;

impl CommandRunner for NoCommands {
    fn run<'a>(
        &'a self,
        _: Command,
        _: &'a (dyn Fn(&str) + Send + Sync),
        _: &'a CancelToken,
    ) -> provider::BoxFuture<'a, Result<CommandStatus, String>> {
        unreachable!("the configuration has no provisioner")
    }
}

struct World {
    system: Arc<MemorySystem>,
    project: Project,
    provider: fake::SharedRef,
    events: Arc<Mutex<Vec<Event>>>,
    runtime: tokio::runtime::Runtime,
}

impl World {
    fn new() -> World {
        // Every change is due to be written.
        let always = ("MAYFLY_FOLD_ALWAYS".to_owned(), String::new());
        let system = Arc::new(MemorySystem::new().with_variables([always].into()));
        system.write("main.tf", MAIN);
        let as_system = Arc::clone(&system) as Arc<dyn System>;
        let loaded = Project::load(as_system, PathBuf::from("."), TreeMap::new());
        let mut project = loaded.expect("is readable");
        project.set_schemas(ProviderSource::default_for("test"), fake::schemas());
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().expect("can be made");
        let provider = fake::SharedRef::default();
        let project = project.finish();
        World { system, project, provider, events: Arc::default(), runtime }
    }

    fn environment(&self, journal: Arc<dyn engine::Journal>) -> Environment {
        let events = Arc::clone(&self.events);
        Environment {
            providers: Arc::new(Factory(self.provider.clone(), Arc::clone(&self.system))),
            system: Arc::clone(&self.system) as Arc<dyn System>,
            temp: Arc::new(NoTempDirectories),
            commands: Arc::new(NoCommands),
            machines: Arc::new(NoMachines),
            events: Arc::new(move |event: Event| events.lock().expect("not poisoned").push(event)),
            changes: None,
            journal,
            redactor: Redactor::new(),
            strict_secrets: false,
            cancel: CancelToken::new(),
        }
    }

    fn keeper(&self, store: Arc<dyn StateStore>, journal: &MemoryJournal) -> Keeper {
        let begin = Begin { lineage: "l".to_owned(), ..Begin::default() };
        let failpoints = Failpoints::of(&*self.system);
        let store_of_journal = Arc::new(journal.clone());
        let writer = Writer::new(store_of_journal, begin.clone(), Vec::new(), failpoints.clone());
        let opened = OpenedState {
            stored: None,
            store,
            writer: Some(Arc::new(writer)),
            begin,
            generation: Expected::Missing,
            cost: Duration::ZERO,
            lock: None,
        };
        let system = Arc::clone(&self.system) as Arc<dyn System>;
        Keeper::new(opened, system, failpoints, self.runtime.handle())
    }

    fn plan(&self) -> engine::PlanOutcome {
        let options = PlanOptions {
            writes: engine::PlanWrites { is_saved: false, generates_configuration: false },
            mode: PlanMode::Normal,
            refresh: true,
            parallelism: 10,
            applying: true,
            workspace: "default".into(),
            replace: Vec::new(),
            targets: Vec::new(),
            excludes: Vec::new(),
            uncertain: Vec::new(),
            timestamp: "2025-01-01T00:00:00Z".into(),
            temp: TempRoot::without_plan(),
        };
        let (program, environment) =
            (Arc::new(self.project.program()), self.environment(Arc::new(NoJournal)));
        let variables = VariableValues::new();
        let plan = engine::plan(&program, State::default(), variables, &environment, options);
        self.runtime.block_on(plan)
    }

    fn apply(&self, planned: engine::PlanOutcome, keeper: &Arc<Keeper>) -> engine::ApplyOutcome {
        let program = Arc::new(self.project.program());
        let environment = self.environment(Arc::clone(keeper) as Arc<dyn engine::Journal>);
        let options = ApplyOptions {
            parallelism: 10,
            workspace: "default".into(),
            suppress_forget_errors: false,
            uncertain: Vec::new(),
        };
        let (plan, state, variables) = (planned.plan, planned.refreshed, VariableValues::new());
        let apply = engine::apply(&program, &plan, state, variables, &environment, options);
        self.runtime.block_on(apply)
    }

    fn calls(&self, what: &str) -> usize {
        let shared = self.provider.lock().expect("not poisoned");
        shared.calls.iter().filter(|it| it.ends_with(what)).count()
    }
}

fn errors(diagnostics: &[Diagnostic]) -> Vec<String> {
    let errors = diagnostics.iter().filter(|it| it.is_error());
    errors.map(|it| format!("{}: {}", it.summary, it.detail)).collect()
}

fn stored(world: &World, store: &MemoryStore) -> Option<StateFile> {
    let read = world.runtime.block_on(store.read()).expect("memory")?;
    Some(StateFile::read(&read.bytes).expect("a state"))
}

#[test]
fn slow_store_delays_neither_answers_nor_renewals() {
    let (permits, begun) = (Semaphore::new(0), Semaphore::new(0));
    let slow = Arc::new(Slow { store: MemoryStore::default(), permits, begun });
    let (world, journal) = (World::new(), MemoryJournal::default());
    {
        let mut provider = world.provider.lock().expect("not poisoned");
        provider.renew_after = Some(3);
        provider.slow = Some(("create slow", Duration::from_secs(10)));
    }
    let planned = world.plan();
    assert_eq!(errors(&planned.diagnostics), [""; 0]);
    let keeper = Arc::new(world.keeper(slow.clone(), &journal));
    // No write of the state ends before the whole run has ended.
    let outcome = world.apply(planned, &keeper);
    assert_eq!(errors(&outcome.diagnostics), [""; 0]);
    assert_eq!(world.calls("create last"), 1);
    assert!(world.calls("renew s") >= 3, "renewed after 3, 6 and 9 seconds of the slow creation");
    world.runtime.block_on(slow.begun.acquire()).expect("is open").forget();
    assert!(stored(&world, &slow.store).is_none(), "the first write has begun and not ended");
    // The journal has all answers.
    let entries = journal.read().expect("memory").expect("is there");
    let read = state::journal::Journal::read(&entries).expect("reads").expect("has begun");
    let mut recovered = State::default();
    state::journal::replay(&mut recovered, read.since(None).expect("nothing was stored"));
    assert!(recovered.instances().eq(outcome.state.instances()));
    assert_eq!(recovered.instances().count(), 3);
    // The end of the run waits for the store.
    slow.permits.add_permits(100);
    world.runtime.block_on(keeper.write(&outcome.state)).expect("memory");
    assert_eq!(stored(&world, &slow.store).expect("is written").state, outcome.state);
    assert!(world.runtime.block_on(keeper.close()).expect("the task lives").is_none());
    assert!(journal.read().expect("memory").is_none(), "the journal has ended");
}
