//! `watch`: plans, and plans again after every save.
//!
//! ```text
//!   files, keys, signals ──Input──► loop ─► follow the files ─► check ─► Planner::plan ─► report: screen │ lines │ JSON
//!                                    └── meanwhile Planner::wait renews what is open
//! ```
//!
//! Start reading at [`run`] and [`Watch::attempt`]; `configuration.rs` follows the files, `report.rs` shows what came of
//! it, `terminal.rs` has the terminal.
//!
//! **Invariant:** while it plans, no lock on the state is held; an apply takes it, and refuses a plan of another state.
//! **Invariant:** as long as something is open, a journal beside the state says so, for who comes after a kill.
//! **Invariant:** what is applied is the plan that is shown, by the code of `apply`.

mod apply;
mod configuration;
mod files;
mod report;
pub(crate) mod terminal;

use std::{
    collections::VecDeque,
    io::IsTerminal,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use db::{Diagnostic, Sources};
use engine::{CancelLevel, Environment, PlanOptions, PlanOutcome, Planner, VariableValues};
use hir::Program;
use state::{Plan, PlanMode, State, journal::Intent};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use values::Str;

use self::{
    configuration::Configuration,
    files::Watched,
    report::{Report, Sink},
    terminal::Key,
};
use crate::{
    args::WatchArgs,
    exit::Exit,
    modules::{self, ModuleDirectories, Of},
    operation::{self, Checked, Purpose},
    session::{self, Failure, Session},
    signals,
    store::{self, WatchJournal},
    temp::TempFiles,
    variables::{self, VarFlag},
};

/// Compares packages of modules with their locks.
fn verified(session: &Session) -> Result<Vec<Diagnostic>, Failure> {
    modules::verify(session, &session.locks()?, Of::Directory)
}

/// An editor that saves does more than one thing to a file.
const SETTLE: Duration = Duration::from_millis(10);

/// Something that writes without end must not put a plan off for ever.
const LONGEST: Duration = Duration::from_millis(200);

/// How often ages are drawn anew, and files looked at where nobody tells that they changed.
const TICK: Duration = Duration::from_secs(1);

/// What happens to a watcher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Input {
    /// Something happened to files.
    Files,
    Key(Key),
    /// Some time went by.
    Tick,
    Quit,
}

/// Why it plans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    Start,
    /// Something that the plan is made from was changed.
    Edit,
    /// Somebody asked for it.
    Refresh,
}

impl Reason {
    fn word(self) -> &'static str {
        match self {
            Reason::Start => "start",
            Reason::Edit => "edit",
            Reason::Refresh => "refresh",
        }
    }
}

/// The last good plan, with what it takes to apply it.
struct Good {
    plan: Plan,
    refreshed: State,
    program: Arc<Program>,
    values: VariableValues,
    warnings: Vec<Diagnostic>,
}

struct Watch<'s> {
    session: &'s Session,
    args: WatchArgs,
    flags: Vec<VarFlag>,
    configuration: Configuration,
    planner: Planner,
    report: Report,
    sink: Arc<Sink>,
    inputs: UnboundedReceiver<Input>,
    /// What came while files settled.
    kept: VecDeque<Input>,
    watched: Watched,
    /// Has what is open between plans.
    journal: WatchJournal,
    /// Answers to questions; nobody is asked twice.
    answers: VariableValues,
    good: Option<Good>,
    /// Whether the last attempt failed, so that the good plan is an old one.
    is_broken: bool,
    /// Whether the packages of modules were what is locked, the last time that somebody looked.
    is_verified: bool,
    plans: u64,
    /// When the files were looked at for the plan that comes.
    looked: Instant,
    /// Whether an interrupt takes something with it.
    is_applying: Arc<AtomicBool>,
    /// `plantimestamp()` of all plans.
    timestamp: Str,
    /// The temporary files of all plans.
    files: Arc<TempFiles>,
}

pub(crate) fn run(
    session: &Session,
    args: WatchArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    operation::introduce(session, &args.operation);
    operation::replaced(&args.operation.replace)?;
    session.expect_edits();
    let mut watch = Watch::new(session, args, flags)?;
    watch.begin();
    watch.run();
    watch.end();
    Ok(Exit::Success)
}

impl<'s> Watch<'s> {
    fn new(
        session: &'s Session,
        args: WatchArgs,
        flags: Vec<VarFlag>,
    ) -> Result<Watch<'s>, Failure> {
        let (sender, inputs) = unbounded_channel();
        let is_applying = Arc::new(AtomicBool::new(false));
        signals::listen_while(session, is_applying.clone());
        let configuration = Configuration::new(session, &args.state, &flags)?;
        let journal = WatchJournal::new(session, &args.state)?;
        store::report_dead_watchers(session, &args.state)?;
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let report = Report::new(session, args.operation.json, is_terminal);
        if let Report::Screen(terminal) = &report {
            report::lock(terminal).listen(sender.clone(), session.cancel.clone());
            session.runtime.spawn(terminal::notice_sizes(sender.clone()));
        }
        Ok(Watch {
            sink: Arc::new(Sink::new(session, &report)),
            session,
            args,
            flags,
            configuration,
            planner: Planner::new(),
            report,
            inputs,
            kept: VecDeque::new(),
            watched: Watched::new(sender),
            journal,
            answers: VariableValues::new(),
            good: None,
            is_broken: false,
            is_verified: true,
            plans: 0,
            looked: Instant::now(),
            is_applying,
            timestamp: session.timestamp().into(),
            files: TempFiles::of_watcher(session),
        })
    }

    fn begin(&mut self) {
        self.report.watching(self.session);
        self.attempt(Reason::Start);
    }

    fn run(&mut self) {
        loop {
            let again = match self.next_input() {
                Input::Quit => return,
                Input::Tick if session::nobody_reads() => return,
                Input::Tick if self.watched.is_blind() => self.follow(),
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
                self.attempt(reason);
            }
        }
    }

    fn end(&mut self) {
        let mut problems = self.close();
        problems.extend(self.files.clear());
        self.journal.end(self.session);
        self.report.end(self.session, &problems, &self.sources());
    }

    /// Waits for what happens next. What editors do in one go is one input.
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

    /// Waits until nothing more happens to files. Keys that are pressed meanwhile keep.
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

    /// Looks whether something changed that the plan is made from.
    fn follow(&mut self) -> Option<Reason> {
        self.looked = Instant::now();
        let changed = self.configuration.follow(self.session) || self.planner.files_differ();
        let is_verified = verified(self.session).is_ok();
        (changed || is_verified != self.is_verified).then_some(Reason::Edit)
    }

    fn environment(&mut self) -> Environment {
        let executables = self.configuration.executables(self.session);
        let acting =
            operation::acting(self.session, &executables, self.sink.clone(), self.files.clone());
        Environment { journal: self.journal.openings(self.session), ..acting }
    }

    /// Ends everything that lives between plans.
    fn close(&mut self) -> Vec<Diagnostic> {
        let environment = self.environment();
        let problems = self.session.runtime.block_on(self.planner.close(&environment));
        self.forget_closed();
        problems
    }

    /// A journal is there for what is open.
    fn forget_closed(&mut self) {
        self.journal.end_if_all_is_closed(self.session);
    }

    fn sources(&self) -> Sources {
        self.good.as_ref().map(|it| it.program.sources.clone()).unwrap_or_default()
    }

    /// Plans once, and shows what came of it.
    fn attempt(&mut self, reason: Reason) {
        let begun = match reason {
            Reason::Edit => self.looked,
            Reason::Start | Reason::Refresh => Instant::now(),
        };
        self.plans += 1;
        self.report.plan_started(self.session, self.plans, reason);
        if reason == Reason::Refresh {
            self.planner.read_again();
        }
        let mut planned = self.plan();
        // What is wrong may be that schemas of a new provider are not there.
        if planned.is_err() && self.configuration.needs_others(self.session) {
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
        if self.configuration.needs_others(self.session) {
            self.kept.push_back(Input::Files);
        }
        let directories = self.configuration.directories();
        let read = self.planner.files_read();
        let read = read.iter().map(|path| files::directory_of(path));
        self.watched.set(self.session, directories.into_iter().chain(read));
    }

    fn plan(&mut self) -> Result<(PlanOutcome, Checked), Failure> {
        if self.configuration.is_other_setup() {
            // What runs is perhaps of another version.
            self.close();
        }
        let verified = verified(self.session);
        self.is_verified = verified.is_ok();
        let verified = verified?;
        let before = self.environment();
        let loaded = self.configuration.load(self.session, &self.args.state, &self.flags)?;
        if self.session.child_environment.take_outdated() {
            // A running provider has a variable in its environment that is declared a secret now, or lacks one that no longer is.
            self.session.runtime.block_on(self.planner.close(&before));
        }
        let state = &loaded.state.file.state;
        let found = loaded.project.checked_again();
        let mut checked = operation::check(
            self.session,
            &loaded.project,
            found,
            &self.flags,
            state,
            Purpose::Plan,
        )?;
        checked.warnings.extend(verified);
        let asks = self.args.operation.input && !self.args.operation.json;
        if self.plans == 1 && asks && self.session.may_ask() {
            let mut values = checked.values.clone();
            variables::ask(self.session, checked.program.root(), &mut values, &mut loaded.typed)?;
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
        loaded.typed.teach(&self.session.redactor);
        let (state, identity) = (state.clone(), loaded.identity());
        let uncertain = loaded.state.uncertain.clone();
        let environment = self.environment();
        let options = self.options(uncertain)?;
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
        outcome.plan.made_by = operation::PROGRAM.to_owned();
        Ok((outcome, checked))
    }

    fn options(&self, uncertain: Vec<Intent>) -> Result<PlanOptions, Failure> {
        Ok(PlanOptions {
            mode: PlanMode::Normal,
            refresh: self.args.operation.refresh,
            parallelism: self.args.operation.parallelism.get(),
            applying: false,
            is_saved: false,
            workspace: self.session.workspace(),
            replace: operation::replaced(&self.args.operation.replace)?,
            uncertain: match self.args.operation.retry_uncertain {
                true => Vec::new(),
                false => uncertain,
            },
            timestamp: self.timestamp.clone(),
            temp: self.files.root(),
        })
    }

    fn take(&mut self, outcome: PlanOutcome, checked: Checked, reason: Reason, begun: Instant) {
        let Checked { program, values, warnings } = checked;
        let PlanOutcome { plan, refreshed, diagnostics, .. } = outcome;
        let is_read = reason != Reason::Edit && self.args.operation.refresh;
        let found = [&*warnings, &*diagnostics].concat();
        self.report.good(
            self.session,
            &report::GoodPlan {
                number: self.plans,
                plan: &plan,
                before: self.good.as_ref().map(|it| &it.plan),
                warnings: &found,
                sources: &program.sources,
                took: begun.elapsed(),
                is_read,
            },
        );
        self.is_broken = false;
        self.good = Some(Good { plan, refreshed, program, values, warnings });
    }

    fn fail(&mut self, found: &[Diagnostic], sources: &Sources, begun: Instant) {
        self.is_broken = true;
        self.report.enter();
        self.report.broken(self.session, self.plans, found, sources, begun.elapsed());
    }

    fn key(&mut self, key: Key) -> Option<Reason> {
        let Report::Screen(terminal) = &self.report else { return None };
        let asked = report::key(&mut report::lock(terminal), key);
        match asked {
            report::Asked::Nothing => {}
            report::Asked::Quit => self.session.cancel.cancel(),
            report::Asked::Refresh => return Some(Reason::Refresh),
            report::Asked::Details => self.show_details(),
            report::Asked::Question => self.ask_to_apply(),
            report::Asked::Apply => return self.apply(),
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
        self.report.details(render::plan(&view, &self.session.ui.out));
    }
}
