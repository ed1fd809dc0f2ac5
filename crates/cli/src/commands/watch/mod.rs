//! The `watch` command: plans, and plans again after every saved change.
//!
//! ```text
//!   files, keys, signals ──Input──► loop ─► follow the files ─► check ─► Planner::plan ─► report
//!                                    └── meanwhile Planner::wait renews ephemeral resources
//! ```
//!
//! Start reading at [`run`] and [`Watch::replan`]. `configuration.rs` tracks the files, `report.rs` shows the
//! results, `screen.rs` draws the screen.
//!
//! **Invariant:** no lock on the state is held while planning. An apply takes the lock, and refuses a plan that
//! was made for another state.
//! **Invariant:** as long as an ephemeral resource is open, a journal beside the state records it, so that a later
//! command can report it if the process is killed.
//! **Invariant:** an apply carries out the plan on the screen, with the code of the `apply` command.

mod apply;
mod configuration;
mod files;
mod input;
mod report;
mod screen;

use std::{
    collections::VecDeque,
    io::IsTerminal,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use db::{Diagnostic, Sources};
use engine::{CancelLevel, Environment, PlanOptions, PlanOutcome, Planner, VariableValues};
use file_watcher::FileWatcher;
use hir::Program;
use state::{Plan, PlanMode, State, journal::Intent};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use values::Str;

use self::{
    configuration::Configuration,
    input::{Input, Key, Reason},
    report::{Report, Sink},
};
use operations::{
    PROGRAM,
    causes::record,
    goal::Goal,
    modules::{verify::verify, writes::ModuleDirectories},
    offline::Analysis,
    prepare::{self, Checked, Purpose},
    session::{Failure, LockSource, LockedVersions},
    store::{self, WatchJournal},
    temp::TempFiles,
    variables::{self, flag::VarFlag},
};

use crate::{
    args::WatchArgs,
    exit::Exit,
    session::{self, CommandSession},
    signals,
};

/// Compares the installed module packages with the lock file.
fn verified(session: &CommandSession) -> Result<Vec<Diagnostic>, Failure> {
    let locks = LockedVersions { locks: &session.locks()?, source: LockSource::Directory };
    verify(session, locks)
}

/// The time to wait for more changes: an editor performs several file operations for one save.
const SETTLE: Duration = Duration::from_millis(10);

/// The maximum delay of a plan. A program that writes continuously must not delay it forever.
const LONGEST: Duration = Duration::from_millis(200);

/// The interval in which displayed ages are updated, and in which files are polled if there is no file system
/// watcher.
const TICK: Duration = Duration::from_secs(1);

/// The most changes whose causes are shown.
const MOST_EXPLAINED: usize = 200;

/// The last plan without errors, with everything that is needed to apply it.
struct LastValidPlan {
    plan: Plan,
    refreshed: State,
    program: Arc<Program>,
    values: VariableValues,
    warnings: Vec<Diagnostic>,
}

struct Watch<'s> {
    session: &'s CommandSession,
    args: WatchArgs,
    goal: Goal,
    flags: Vec<VarFlag>,
    configuration: Configuration,
    planner: Planner,
    report: Report,
    sink: Arc<Sink>,
    inputs: UnboundedReceiver<Input>,
    /// Inputs that arrived while the loop waited for files to settle.
    kept: VecDeque<Input>,
    watcher: FileWatcher,
    /// The journal of the ephemeral resources that are open between plans.
    journal: WatchJournal,
    /// Answers of the user to questions about variables. A question is asked only once.
    answers: VariableValues,
    good: Option<LastValidPlan>,
    /// True if the last attempt failed. `good` is then an older plan.
    is_broken: bool,
    /// True if the module packages matched the lock file at the last check.
    is_verified: bool,
    plans: u64,
    /// The time at which the files were checked for the next plan.
    checked_at: Instant,
    /// True during an apply: an interrupt must then wait for running operations.
    is_applying: Arc<AtomicBool>,
    /// The value of `plantimestamp()`, the same for all plans.
    timestamp: Str,
    /// The temporary files, shared by all plans.
    files: Arc<TempFiles>,
}

/// Runs `watch` until the user quits or a signal arrives.
pub(crate) fn run(
    session: &CommandSession,
    args: WatchArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    let goal = args.operation.goal(session, false)?;
    let mut watch = Watch::new(session, args, goal, flags)?;
    watch.begin();
    watch.run();
    watch.end();
    Ok(Exit::Success)
}

impl<'s> Watch<'s> {
    fn new(
        session: &'s CommandSession,
        args: WatchArgs,
        goal: Goal,
        flags: Vec<VarFlag>,
    ) -> Result<Watch<'s>, Failure> {
        let (sender, inputs) = unbounded_channel();
        let is_applying = Arc::new(AtomicBool::new(false));
        signals::listen_while(session, is_applying.clone());
        let configuration = Configuration::new(session, &args.state.options(), &flags)?;
        let journal = WatchJournal::new(session, &args.state.options())?;
        store::report_dead_watchers(session, &args.state.options())?;
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let report = Report::new(session, args.operation.json.json, is_terminal);
        if let Report::Screen(terminal) = &report {
            report::lock(terminal).listen(sender.clone(), session.cancel.clone());
        }
        Ok(Watch {
            sink: Arc::new(Sink::new(session, &report)),
            session,
            args,
            goal,
            flags,
            configuration,
            planner: Planner::new(),
            report,
            inputs,
            kept: VecDeque::new(),
            watcher: FileWatcher::new(move |_| {
                // Sending fails only after the end of the loop.
                let _ = sender.send(Input::Files);
            }),
            journal,
            answers: VariableValues::new(),
            good: None,
            is_broken: false,
            is_verified: true,
            plans: 0,
            checked_at: Instant::now(),
            is_applying,
            timestamp: session.timestamp().into(),
            files: TempFiles::of_watcher(session),
        })
    }

    fn begin(&mut self) {
        self.report.watching(self.session);
        self.replan(Reason::Start);
    }

    fn run(&mut self) {
        loop {
            let again = match self.next_input() {
                Input::Quit => return,
                Input::Tick if session::is_stdout_closed() => return,
                Input::Tick if !self.watcher.is_complete() => self.follow(),
                Input::Tick => {
                    self.report.tick();
                    None
                }
                Input::Files => self.follow(),
                Input::Key(key) => self.key(key),
            };
            if self.session.cancel.level() > CancelLevel::Running {
                return;
            }
            if let Some(reason) = again {
                self.replan(reason);
            }
        }
    }

    fn end(&mut self) {
        let mut problems = self.close();
        problems.extend(self.files.clear());
        self.journal.end(self.session);
        self.report.end(self.session, &problems, &self.sources());
    }

    /// Waits for the next input. All file changes of one save count as one input.
    fn next_input(&mut self) -> Input {
        if let Some(input) = self.kept.pop_front() {
            return input;
        }
        let environment = self.environment();
        let Watch { session, inputs, planner, .. } = self;
        let next = async {
            tokio::select! {
                biased;
                () = session.cancel.reached(CancelLevel::Stopping) => Input::Quit,
                input = inputs.recv() => input.unwrap_or(Input::Quit),
                () = tokio::time::sleep(TICK) => Input::Tick,
            }
        };
        let (input, problems) = session.runtime.block_on(planner.wait(&environment, next));
        self.forget_closed();
        if !problems.is_empty() {
            let sources = self.sources();
            self.report.problems_between(self.session, &problems, &sources);
        }
        self.sink.show();
        if input == Input::Files {
            self.settle();
        }
        input
    }

    /// Waits until no more file changes arrive. Keeps other inputs for later.
    fn settle(&mut self) {
        let Watch { session, inputs, kept, .. } = self;
        let latest = Instant::now() + LONGEST;
        session.runtime.block_on(async {
            while Instant::now() < latest
                && let Ok(Some(input)) = tokio::time::timeout(SETTLE, inputs.recv()).await
            {
                if input != Input::Files {
                    kept.push_back(input);
                }
            }
        });
    }

    /// Checks for changes in anything that the plan depends on. `None` if nothing changed.
    fn follow(&mut self) -> Option<Reason> {
        self.checked_at = Instant::now();
        let changed = self.configuration.follow(self.session) || self.planner.files_differ();
        let is_verified = verified(self.session).is_ok();
        (changed || is_verified != self.is_verified).then_some(Reason::Edit)
    }

    fn environment(&mut self) -> Environment {
        let executables = self.configuration.executables(self.session);
        let acting =
            prepare::acting(self.session, &executables, self.sink.clone(), self.files.clone());
        Environment { journal: self.journal.openings(self.session), ..acting }
    }

    /// Closes all ephemeral resources and providers that stay open between plans. Returns the problems.
    fn close(&mut self) -> Vec<Diagnostic> {
        let environment = self.environment();
        let problems = self.session.runtime.block_on(self.planner.close(&environment));
        self.forget_closed();
        problems
    }

    /// Ends the journal if nothing is open anymore.
    fn forget_closed(&mut self) {
        self.journal.end_if_all_is_closed(self.session);
    }

    fn sources(&self) -> Sources {
        self.good.as_ref().map(|it| it.program.sources.clone()).unwrap_or_default()
    }

    /// Plans once, and shows the result.
    fn replan(&mut self, reason: Reason) {
        let begun = match reason {
            Reason::Edit => self.checked_at,
            Reason::Start | Reason::Refresh => Instant::now(),
        };
        self.plans += 1;
        self.report.plan_started(self.session, self.plans, reason);
        if reason == Reason::Refresh {
            self.planner.read_again();
        }
        let mut planned = self.plan();
        // The error may be due to a newly required provider whose schemas are not loaded.
        if planned.is_err() && self.configuration.needs_other_providers(self.session) {
            planned = self.plan();
        }
        self.sink.show();
        match planned {
            Ok((outcome, checked)) if !outcome.has_errors() => {
                self.take(outcome, checked, reason, begun)
            }
            Ok((outcome, checked)) => {
                let found = [checked.warnings, outcome.diagnostics].concat();
                self.fail(&found, &checked.program.sources, begun);
            }
            Err(Failure::Diagnostics(found, sources)) => self.fail(&found, &sources, begun),
        }
        if self.configuration.needs_other_providers(self.session) {
            self.kept.push_back(Input::Files);
        }
        let directories = self.configuration.directories();
        let read = self.planner.files_read();
        let read = read.iter().map(|path| files::directory_of(path));
        let begun = self.watcher.set(&directories.into_iter().chain(read).collect());
        if !begun.watched.is_empty() {
            // A change between reading the files and this call was not reported, so check the files again.
            self.kept.push_back(Input::Files);
        }
    }

    fn plan(&mut self) -> Result<(PlanOutcome, Checked), Failure> {
        if self.configuration.is_setup_outdated() {
            // The running providers may be of another version.
            self.close();
        }
        let verified = verified(self.session);
        self.is_verified = verified.is_ok();
        let verified = verified?;
        let before = self.environment();
        let loaded =
            self.configuration.load(self.session, &self.args.state.options(), &self.flags)?;
        if self.session.child_environment.take_outdated() {
            // A running provider has a variable in its environment that is now declared as a secret, or lacks one
            // that no longer is.
            self.session.runtime.block_on(self.planner.close(&before));
        }
        let state = &loaded.state.file.state;
        let (diagnostics, program) = loaded.project.recheck();
        let analysis = Analysis { diagnostics, program };
        let mut checked = prepare::check(
            &*self.session.system,
            &loaded.project,
            analysis,
            &self.flags,
            state,
            Purpose::Plan,
        )?;
        let (executables, program) = (&loaded.executables, &checked.program);
        checked.warnings.extend(prepare::check_provisioners(
            self.session,
            executables,
            program,
            Purpose::Plan,
        ));
        if checked.warnings.iter().any(Diagnostic::is_error) {
            return Err(Failure::Diagnostics(checked.warnings, checked.program.sources.clone()));
        }
        checked.warnings.extend(verified);
        let asks = self.args.operation.input && !self.args.operation.json.json;
        if self.plans == 1 && asks && self.session.may_ask() {
            let mut values = checked.values.clone();
            variables::ask(
                self.session,
                checked.program.root(),
                &mut values,
                &mut loaded.ephemeral_inputs,
            )?;
            for (name, given) in values.iter().filter(|(name, _)| !checked.values.contains(name)) {
                self.answers.set(name.clone(), given.value.clone(), given.source.clone());
            }
        }
        for (name, given) in self.answers.iter() {
            let is_declared = checked.program.root().variables.contains_key(name);
            if is_declared && !checked.values.contains(name) {
                checked.values.set(name.clone(), given.value.clone(), given.source.clone());
            }
        }
        self.report.enter();
        loaded.ephemeral_inputs.teach(&self.session.redactor);
        let (state, identity) = (state.clone(), loaded.identity());
        let uncertain = loaded.state.uncertain.clone();
        let environment = self.environment();
        let options = self.options(uncertain);
        let plan = self.planner.plan(
            &checked.program,
            state,
            checked.values.clone(),
            &environment,
            options,
        );
        let directories = ModuleDirectories::of(self.session, &checked.program);
        let mut outcome = self.session.runtime.block_on(plan);
        outcome.diagnostics.extend(directories.changes(&checked.program));
        self.forget_closed();
        outcome.plan.prior_state = identity;
        outcome.plan.made_by = PROGRAM.to_owned();
        Ok((outcome, checked))
    }

    fn options(&self, uncertain: Vec<Intent>) -> PlanOptions {
        PlanOptions {
            mode: PlanMode::Normal,
            refresh: self.args.operation.refresh,
            parallelism: self.args.operation.parallelism.get(),
            applying: false,
            writes: engine::PlanWrites { is_saved: false, generates_configuration: false },
            workspace: self.session.workspace(),
            replace: self.goal.replace.clone(),
            targets: self.goal.targets.clone(),
            excludes: self.goal.excludes.clone(),
            uncertain: match self.args.operation.retry_uncertain {
                true => Vec::new(),
                false => uncertain,
            },
            timestamp: self.timestamp.clone(),
            temp: self.files.root(),
        }
    }

    fn take(&mut self, outcome: PlanOutcome, checked: Checked, reason: Reason, begun: Instant) {
        let Checked { program, values, warnings } = checked;
        let PlanOutcome { plan, refreshed, diagnostics, .. } = outcome;
        let is_read = reason != Reason::Edit && self.args.operation.refresh;
        let found = [&*warnings, &*diagnostics].concat();
        let new = LastValidPlan { plan, refreshed, program, values, warnings };
        self.is_broken = false;
        let before = self.good.replace(new);
        let Some(good) = &self.good else { return };
        let news = before.as_ref().map(|it| render::plan_news(&it.plan, &good.plan));
        self.analyze(good, |analysis| {
            let causes = match (&news, &self.report) {
                // Only JSON lists the changes of the first plan as news.
                (None, Report::Screen(_) | Report::Lines) => Vec::new(),
                (news, _) => explained(analysis, &good.plan, news.as_ref()),
            };
            let plan = report::ValidPlan {
                number: self.plans,
                plan: &good.plan,
                before: before.as_ref().map(|it| &it.plan),
                causes: &causes,
                warnings: &found,
                sources: &good.program.sources,
                took: begun.elapsed(),
                is_read,
            };
            self.report.good(self.session, &plan, news);
            // The screen comes first: the record takes longer for a plan with many changes.
            record::renew(self.session, analysis, &good.program.sources);
        });
    }

    fn fail(&mut self, found: &[Diagnostic], sources: &Sources, begun: Instant) {
        self.is_broken = true;
        self.report.enter();
        self.report.broken(self.session, self.plans, found, sources, begun.elapsed());
    }

    fn key(&mut self, key: Key) -> Option<Reason> {
        let Report::Screen(terminal) = &self.report else { return None };
        let command = report::key(&mut report::lock(terminal), key);
        match command {
            report::KeyCommand::Nothing => {}
            report::KeyCommand::Quit => self.session.cancel.cancel(),
            report::KeyCommand::Refresh => return Some(Reason::Refresh),
            report::KeyCommand::Details => self.show_details(),
            report::KeyCommand::Question => self.ask_to_apply(),
            report::KeyCommand::Apply => return self.apply(),
        }
        None
    }

    fn show_details(&self) {
        let Some(good) = &self.good else { return };
        let executables = self.configuration.executables(self.session);
        let schemas =
            |source: &addr::ProviderSource| executables.schemas(self.session, source).ok();
        let view = render::PlanView {
            plan: &good.plan,
            schemas: &schemas,
            show_sensitive: self.args.operation.show_sensitive,
        };
        let style = &self.session.ui.out;
        let text = format!("{}\n{}", self.causes(good), render::plan(&view, style));
        self.report.details(text);
    }

    /// The cause of each change, in one line.
    fn causes(&self, good: &LastValidPlan) -> String {
        let style = &self.session.ui.out;
        let changes = self.analyze(good, |it| it.explain_first_changes(MOST_EXPLAINED));
        match changes.is_empty() {
            true => String::new(),
            false => format!("Why:\n{}", render::causes_overview(&changes, style)),
        }
    }

    fn analyze<T>(&self, good: &LastValidPlan, ask: impl FnOnce(&causes::Analysis<'_>) -> T) -> T {
        let previous = self.configuration.state();
        let inputs = causes::Inputs {
            program: &good.program,
            plan: &good.plan,
            previous: &previous,
            refreshed: &good.refreshed,
            values: &good.values,
            system: Arc::clone(&self.session.system),
            workspace: self.session.workspace(),
        };
        causes::analyze(&inputs, ask)
    }
}

/// Explains the changes that differ from the previous plan, all of them if there is none.
fn explained(
    analysis: &causes::Analysis<'_>,
    plan: &Plan,
    news: Option<&render::PlanNews>,
) -> Vec<causes::Finding> {
    let objects = render::changed_objects(news, plan).into_iter();
    let objects = objects.map(|it| analysis.explain_change(it));
    let outputs = render::changed_outputs(news, plan).into_iter();
    let outputs = outputs.filter_map(|it| analysis.explain_output_change(it));
    objects.chain(outputs).take(MOST_EXPLAINED).collect()
}
