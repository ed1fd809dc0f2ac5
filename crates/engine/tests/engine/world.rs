//! A test environment: a directory, a state and a provider, in which a test plans and applies.

use std::{
    fmt::Write,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use addr::{ProviderSource, ResourceInstance, Target};
use db::{Diagnostic, MemorySystem, Summary, System, fixture::split_fixture};
use engine::*;
use hir::Program;
use project::{Configure as _, EditableProject};
use provider::{BoxFuture, Provider, ProviderSchemas, Provisioner};
use sorted::TreeMap;
use state::{ObjectAddress, PlanMode, ResourceChange, State};
use values::Value;

use crate::{
    fake::{self, Fake, Shared, SharedRef},
    network::Network,
    provisioner_plugins::{self, Echo},
};

/// The changes that were announced while a plan was made.
#[derive(Default)]
struct SeenChanges(Mutex<TreeMap<ObjectAddress, Arc<ResourceChange>>>);

impl ChangeSink for SeenChanges {
    fn planned(&self, change: &Arc<ResourceChange>, _: SchemasOfProvider<'_>) {
        let old = self.0.lock().expect("not poisoned").insert(change.object(), change.clone());
        assert!(old.is_none(), "{} is announced once", change.object());
    }
}

impl SeenChanges {
    fn check(&self, outcome: &PlanOutcome) {
        let seen = self.0.lock().expect("not poisoned");
        for change in &outcome.plan.resource_changes {
            let announced = seen.get(&change.object()).expect("each change is announced");
            // The end of a plan adds what depends on other objects.
            let is_completed = change.previous_addr != announced.previous_addr
                || change.reason != announced.reason;
            assert!(is_completed || Arc::ptr_eq(change, announced), "{}", change.object());
        }
    }
}

/// Finds the schemas of a provider.
type SchemasOfProvider<'a> = &'a dyn Fn(&ProviderSource) -> Option<Arc<ProviderSchemas>>;

pub(crate) struct World {
    pub(crate) project: EditableProject,
    system: Arc<MemorySystem>,
    pub(crate) shared: SharedRef,
    pub(crate) state: State,
    /// The planner; `None` if each plan is independent.
    pub(crate) planner: Option<Planner>,
    pub(crate) variables: VariableValues,
    pub(crate) mode: PlanMode,
    pub(crate) refresh: bool,
    pub(crate) replace: Vec<ResourceInstance>,
    pub(crate) targets: Vec<Target>,
    pub(crate) excludes: Vec<Target>,
    pub(crate) parallelism: usize,
    pub(crate) cancel: CancelToken,
    pub(crate) redactor: Redactor,
    pub(crate) strict_secrets: bool,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
    /// The output of commands.
    pub(crate) prints: &'static str,
    pub(crate) fails: bool,
    pub(crate) commands: Arc<Mutex<Vec<String>>>,
    /// The other machines.
    pub(crate) network: Network,
    /// The instance after whose change the run is cancelled.
    pub(crate) stop_after: Option<&'static str>,
    /// True if the run is then aborted instead of stopped.
    pub(crate) aborts: bool,
    /// True if the run is aborted while a command runs.
    pub(crate) command_aborts: bool,
    /// True if journal entries are recorded among the calls of the provider.
    pub(crate) journals: bool,
    /// A text in a journal entry from which on the journal fails.
    pub(crate) full: Option<&'static str>,
    /// Creations with an unknown result.
    pub(crate) uncertain: Vec<state::journal::Intent>,
    /// True if plans generate the configuration of imported objects.
    pub(crate) generates: bool,
    /// The instances that the journal recorded.
    pub(crate) persisted: Arc<Mutex<Vec<String>>>,
    pub(crate) plan_id: &'static str,
    /// True if plans are saved to files.
    pub(crate) is_saved: bool,
    /// The temporary directories that were created.
    pub(crate) temp: Arc<MadeDirectories>,
}

/// Records the requested directories without creating them.
#[derive(Default)]
pub(crate) struct MadeDirectories {
    pub(crate) made: Mutex<Vec<String>>,
    pub(crate) refuses: AtomicBool,
}

impl TempDirectories for MadeDirectories {
    fn make(&self, path: &str) -> std::io::Result<()> {
        if self.refuses.load(Ordering::Relaxed) {
            return Err(std::io::ErrorKind::PermissionDenied.into());
        }
        self.made.lock().expect("not poisoned").push(path.to_owned());
        Ok(())
    }
}

pub(crate) fn world(fixture: &str) -> World {
    let system = Arc::new(MemorySystem::new());
    for (path, text) in split_fixture(fixture) {
        system.write(path, text);
    }
    let mut project = EditableProject::load(
        Arc::clone(&system) as Arc<dyn System>,
        PathBuf::from("."),
        TreeMap::new(),
    )
    .expect("readable");
    project.set_schemas(source(), fake::schemas());
    project.set_schemas(builtin::source(), builtin::schemas());
    project
        .set_provisioners([("echo".into(), Some(Arc::new(provisioner_plugins::schema())))].into());
    World {
        project,
        system,
        shared: SharedRef::default(),
        state: State::default(),
        planner: None,
        variables: VariableValues::new(),
        mode: PlanMode::Normal,
        refresh: true,
        replace: Vec::new(),
        targets: Vec::new(),
        excludes: Vec::new(),
        parallelism: 10,
        cancel: CancelToken::new(),
        redactor: Redactor::new(),
        strict_secrets: false,
        events: Arc::default(),
        prints: "",
        fails: false,
        commands: Arc::default(),
        network: Network::default(),
        stop_after: None,
        aborts: false,
        command_aborts: false,
        journals: false,
        full: None,
        uncertain: Vec::new(),
        generates: false,
        persisted: Arc::default(),
        plan_id: "1111",
        is_saved: false,
        temp: Arc::default(),
    }
}

fn source() -> ProviderSource {
    ProviderSource::default_for("test")
}

struct Factory {
    shared: SharedRef,
    system: Arc<MemorySystem>,
    commands: Arc<Mutex<Vec<String>>>,
    cancel: CancelToken,
}

impl ProviderFactory for Factory {
    fn start_provisioner(
        &self,
        _: &str,
    ) -> BoxFuture<'_, Result<Arc<dyn Provisioner>, Box<Diagnostic>>> {
        let (calls, cancel) = (Arc::clone(&self.commands), self.cancel.clone());
        let echo: Arc<dyn Provisioner> = Arc::new(Echo { calls, cancel });
        Box::pin(async move { Ok(echo) })
    }

    fn start(
        &self,
        _: &ProviderSource,
    ) -> BoxFuture<'_, Result<Arc<dyn Provider>, Box<Diagnostic>>> {
        let fake: Arc<dyn Provider> =
            Arc::new(Fake::new(Arc::clone(&self.shared), self.system.now()));
        Box::pin(async move { Ok(fake) })
    }
}

struct Shell {
    prints: &'static str,
    fails: bool,
    aborts: bool,
    ran: Arc<Mutex<Vec<String>>>,
}

impl CommandRunner for Shell {
    fn run<'a>(
        &'a self,
        command: Command,
        output: &'a (dyn Fn(&str) + Send + Sync),
        cancel: &'a CancelToken,
    ) -> BoxFuture<'a, Result<CommandStatus, String>> {
        self.ran.lock().expect("not poisoned").push(command.arguments.join(" "));
        self.prints.lines().for_each(output);
        if self.aborts {
            cancel.cancel();
            cancel.cancel();
            return Box::pin(std::future::pending());
        }
        let (success, text) =
            if self.fails { (false, "exit status 3") } else { (true, "exit status 0") };
        let status = CommandStatus { success, text: text.to_owned() };
        Box::pin(async move { Ok(status) })
    }
}

/// A journal that can record its entries among the calls of the provider.
struct Taker {
    shared: SharedRef,
    is_shown: bool,
    /// A text in an entry from which on the journal fails.
    full: Option<&'static str>,
    failed: Mutex<bool>,
    numbers: Mutex<u64>,
    persisted: Arc<Mutex<Vec<String>>>,
    stop_after: Option<&'static str>,
    aborts: bool,
    cancel: CancelToken,
}

impl Taker {
    fn take(&self, what: String) {
        if self.full.is_some_and(|it| what.contains(it)) {
            *self.failed.lock().expect("not poisoned") = true;
        }
        if self.is_shown {
            self.shared.lock().expect("not poisoned").calls.push(format!("journal: {what}"));
        }
    }

    fn number(&self) -> Number {
        let mut last = self.numbers.lock().expect("not poisoned");
        *last += 1;
        Number(*last)
    }
}

impl Journal for Taker {
    fn intent(
        &self,
        address: &ObjectAddress,
        action: state::journal::IntentAction,
        _: &addr::ProviderConfigRef,
        named: Option<String>,
    ) -> Number {
        let number = self.number();
        let named = named.unwrap_or_default();
        self.take(format!("intent {} {action:?} {address} {named}", number.0));
        number
    }

    fn changed(
        &self,
        state: &State,
        changed: &ResourceInstance,
        answers: Option<Number>,
    ) -> Result<(), Box<Diagnostic>> {
        let text = changed.to_string();
        if self.stop_after == Some(text.as_str()) {
            self.cancel.cancel();
            if self.aborts {
                self.cancel.cancel();
            }
        }
        let answers = answers.map(|it| format!(" answers {}", it.0)).unwrap_or_default();
        let is = match state.current(changed) {
            Some(object) => format!("{:?}", object.status),
            None => "gone".to_owned(),
        };
        self.take(format!("{text} is {is}{answers}"));
        self.persisted.lock().expect("not poisoned").push(text);
        Ok(())
    }

    fn unchanged(&self, answers: Number) {
        self.take(format!("unchanged answers {}", answers.0));
    }

    fn opening(&self, address: &ResourceInstance, _: &ProviderSource) -> Number {
        let number = self.number();
        self.take(format!("opening {} {address}", number.0));
        number
    }

    fn closed(&self, opening: Number) {
        self.take(format!("closed {}", opening.0));
    }

    fn durable(&self) -> BoxFuture<'_, Result<(), Box<Diagnostic>>> {
        let failed = *self.failed.lock().expect("not poisoned");
        Box::pin(async move {
            if self.is_shown {
                // Let other tasks run during the wait.
                tokio::task::yield_now().await;
            }
            if failed {
                return Err(Box::new(Diagnostic::new(Summary::JOURNAL_WRITE, "As told.")));
            }
            self.take("durable".to_owned());
            Ok(())
        })
    }
}

impl World {
    pub(crate) fn program(&self) -> Arc<Program> {
        Arc::new(self.project.program())
    }

    /// Changes a configuration file, as an editor does.
    pub(crate) fn edit(&mut self, path: &str, text: &str) {
        assert!(self.project.set_text(path, text), "{path} is part of the configuration");
        self.system.write(path, text);
    }

    /// Writes a file that is not part of the configuration.
    pub(crate) fn write(&self, path: &str, text: &str) {
        self.system.write(path, text);
    }

    /// The file system of the test.
    pub(crate) fn system(&self) -> &dyn System {
        &*self.system
    }

    /// Returns the text of the only file of the root module.
    pub(crate) fn text(&self) -> String {
        let bytes = self.system.read_file("main.tf".as_ref()).expect("is there");
        String::from_utf8(bytes).expect("is text")
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) -> &mut World {
        self.variables.set(name, Value::string(value), ValueSource::CommandLine);
        self
    }

    pub(crate) fn environment(&self) -> Environment {
        let events = Arc::clone(&self.events);
        Environment {
            providers: Arc::new(Factory {
                shared: Arc::clone(&self.shared),
                system: Arc::clone(&self.system),
                commands: Arc::clone(&self.commands),
                cancel: self.cancel.clone(),
            }),
            system: Arc::clone(&self.system) as Arc<dyn System>,
            temp: Arc::clone(&self.temp) as Arc<dyn TempDirectories>,
            commands: Arc::new(Shell {
                prints: self.prints,
                fails: self.fails,
                aborts: self.command_aborts,
                ran: Arc::clone(&self.commands),
            }),
            machines: Arc::new(self.network.clone()),
            events: Arc::new(move |event: Event| events.lock().expect("not poisoned").push(event)),
            changes: None,
            journal: Arc::new(Taker {
                shared: Arc::clone(&self.shared),
                is_shown: self.journals,
                full: self.full,
                failed: Mutex::default(),
                numbers: Mutex::default(),
                persisted: Arc::clone(&self.persisted),
                stop_after: self.stop_after,
                aborts: self.aborts,
                cancel: self.cancel.clone(),
            }),
            redactor: self.redactor.clone(),
            strict_secrets: self.strict_secrets,
            cancel: self.cancel.clone(),
        }
    }

    fn options(&self, applying: bool) -> PlanOptions {
        PlanOptions {
            writes: PlanWrites { is_saved: self.is_saved, generates_configuration: self.generates },
            mode: self.mode,
            refresh: self.refresh,
            parallelism: self.parallelism,
            applying,
            workspace: "default".into(),
            replace: self.replace.clone(),
            targets: self.targets.clone(),
            excludes: self.excludes.clone(),
            uncertain: self.uncertain.clone(),
            timestamp: "2025-01-01T00:00:00Z".into(),
            temp: TempRoot::new(".terraform", self.plan_id),
        }
    }

    /// Plans without changing the state.
    pub(crate) fn plan(&mut self) -> PlanOutcome {
        self.plan_with(false)
    }

    fn plan_with(&mut self, applying: bool) -> PlanOutcome {
        let (program, environment, options) =
            (self.program(), self.environment(), self.options(applying));
        let (state, variables) = (self.state.clone(), self.variables.clone());
        match &mut self.planner {
            Some(planner) => {
                block_on(planner.plan(&program, state, variables, &environment, options))
            }
            None => {
                let seen = Arc::new(SeenChanges::default());
                let environment = Environment { changes: Some(seen.clone()), ..environment };
                let outcome = block_on(plan(&program, state, variables, &environment, options));
                seen.check(&outcome);
                outcome
            }
        }
    }

    /// Makes all further plans with one planner.
    pub(crate) fn watch(mut self) -> World {
        self.planner = Some(Planner::new());
        self
    }

    /// Lets time pass between two plans of the planner.
    pub(crate) fn idle(&mut self, seconds: u64) -> Vec<Diagnostic> {
        let environment = self.environment();
        let planner = self.planner.as_mut().expect("is watched");
        let time = tokio::time::Duration::from_secs(seconds);
        block_on(async { planner.wait(&environment, tokio::time::sleep(time)).await.1 })
    }

    /// Closes the planner.
    pub(crate) fn close(&mut self) -> Vec<Diagnostic> {
        let environment = self.environment();
        block_on(self.planner.as_mut().expect("is watched").close(&environment))
    }

    /// Plans and applies, as `apply -auto-approve` does.
    pub(crate) fn apply(&mut self) -> Vec<Diagnostic> {
        let planned = self.plan_with(true);
        if planned.has_errors() {
            return planned.diagnostics;
        }
        self.apply_plan(planned.plan, planned.refreshed)
    }

    pub(crate) fn apply_plan(&mut self, plan: state::Plan, refreshed: State) -> Vec<Diagnostic> {
        let (program, environment) = (self.program(), self.environment());
        let options = ApplyOptions {
            parallelism: self.parallelism,
            workspace: "default".into(),
            suppress_forget_errors: false,
            uncertain: self.uncertain.clone(),
        };
        let outcome = block_on(apply(
            &program,
            &plan,
            refreshed,
            self.variables.clone(),
            &environment,
            options,
        ));
        self.state = outcome.state;
        outcome.diagnostics
    }

    /// Takes the recorded calls of the provider.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.lock().expect("not poisoned").calls)
    }

    /// Takes the number of calls of any kind.
    pub(crate) fn asked(&self) -> u32 {
        std::mem::take(&mut self.shared.lock().expect("not poisoned").asked)
    }

    /// Takes the events, formatted as lines.
    pub(crate) fn log(&self) -> String {
        let events = std::mem::take(&mut *self.events.lock().expect("not poisoned"));
        let mut log = String::new();
        for event in events {
            if let Some(line) = line(&event) {
                let _ = writeln!(log, "{line}");
            }
        }
        log
    }

    /// Asserts that the log has a text before another one.
    #[track_caller]
    pub(crate) fn assert_logged_before(&self, first: &str, second: &str) {
        let log = self.log();
        let at = |text: &str| log.find(text).unwrap_or_else(|| panic!("{text} in {log}"));
        assert!(at(first) < at(second), "{log}");
    }

    pub(crate) fn fault(&self, call: &'static str) {
        self.shared.lock().expect("not poisoned").faults.push(call);
    }

    pub(crate) fn mend(&self) {
        self.shared.lock().expect("not poisoned").faults.clear();
    }

    pub(crate) fn with_shared(&self, change: impl FnOnce(&mut Shared)) {
        change(&mut self.shared.lock().expect("not poisoned"));
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("builds");
    runtime.block_on(future)
}

/// Returns the summaries of errors and warnings.
pub(crate) fn summaries(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().fold(String::new(), |mut text, it| {
        let severity = if it.is_error() { "error" } else { "warning" };
        let _ = writeln!(text, "{severity}: {}", it.summary);
        text
    })
}

/// Returns the planned actions as lines.
pub(crate) fn actions(plan: &state::Plan) -> String {
    let mut text = String::new();
    for change in &plan.resource_changes {
        let reason = change.reason.map(|it| format!(" ({})", it.as_str())).unwrap_or_default();
        let _ = writeln!(text, "{} {:?}{reason}", change.object(), change.change.action);
    }
    for (name, change) in &plan.output_changes {
        let _ = writeln!(text, "output {name} {:?}", change.action);
    }
    text
}

fn line(event: &Event) -> Option<String> {
    let verb = |action: EphemeralAction| match action {
        EphemeralAction::Open => "Opening",
        EphemeralAction::Renew => "Renewing",
        EphemeralAction::Close => "Closing",
    };
    let apply_verb = |action: ApplyAction| match action {
        ApplyAction::Create => "Creating",
        ApplyAction::Update => "Modifying",
        ApplyAction::Delete => "Destroying",
        ApplyAction::Read => "Reading",
    };
    Some(match event {
        Event::RefreshStart { address, .. } => format!("{address}: Refreshing state..."),
        Event::ImportPrepare { address, id } => {
            let id = id.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
            format!("{address}: Preparing import...{id}")
        }
        Event::ImportApplyStart { address, .. } => format!("{address}: Importing..."),
        Event::ImportApplyComplete { address, .. } => format!("{address}: Import complete"),
        Event::ApplyStart { address, action, .. } => {
            format!("{address}: {}...", apply_verb(*action))
        }
        Event::ApplyProgress { address, action, elapsed, .. } => {
            format!(
                "{address}: Still {}... [{}s]",
                apply_verb(*action).to_lowercase(),
                elapsed.as_secs()
            )
        }
        Event::ApplyComplete { address, action, id, .. } => {
            let id = id.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
            format!("{address}: {} complete{id}", apply_verb(*action))
        }
        Event::ApplyErrored { address, action, .. } => {
            format!("{address}: {} errored", apply_verb(*action))
        }
        Event::ProvisionStart { address, provisioner } => {
            format!("{address}: Provisioning with '{provisioner}'...")
        }
        Event::ProvisionOutput { address, provisioner, line } => {
            format!("{address} ({provisioner}): {line}")
        }
        Event::ProvisionErrored { address, .. } => format!("{address}: provisioner errored"),
        Event::EphemeralStart { address, action } => format!("{address}: {}...", verb(*action)),
        Event::EphemeralProgress { address, action, elapsed } => {
            format!("{address}: Still {}... [{}s]", verb(*action).to_lowercase(), elapsed.as_secs())
        }
        Event::EphemeralComplete { address, action, .. } => {
            format!("{address}: {} complete", verb(*action))
        }
        Event::EphemeralErrored { address, action, .. } => {
            format!("{address}: {} errored", verb(*action))
        }
        Event::Deferred { address, .. } => {
            format!("{address}: Configuration unknown, deferring...")
        }
        Event::Diagnostic(it) => {
            format!("{}: {}", if it.is_error() { "Error" } else { "Warning" }, it.summary)
        }
        Event::Stopping => "Stopping".to_owned(),
        Event::Summary { operation, counts } => {
            let forgotten = match counts.forget {
                0 => String::new(),
                forgotten => format!(", {forgotten} forgotten"),
            };
            let imported = match counts.import {
                0 => String::new(),
                imported => format!("{imported} imported, "),
            };
            format!(
                "{operation:?}: {imported}{} added, {} changed, {} destroyed{forgotten}",
                counts.add, counts.change, counts.destroy
            )
        }
        _ => return None,
    })
}
