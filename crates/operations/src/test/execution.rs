//! Runs test files: each run in order, with the states that earlier runs of the file left.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ::values::{Mark, Str, Value};
use db::{Diagnostic, SourceText, Summary as Words};
use engine::{
    ApplyOptions, Environment, EventSink, NoJournal, PlanOutcome, Redactor, VariableValues,
};
use hir::{
    Entry, Program,
    test_file::TestFile,
    test_item::{TestCommand, TestRun, WrittenAddress},
};
use sorted::TreeMap;
use state::State;

use crate::{
    goal::{Goal, GoalFlags},
    local_exec::Commands,
    located::Factory,
    plan::end_temp,
    session::{Failure, Session},
    temp::TempFiles,
    test::{
        AbandonedState, Cleanup, Counts, FileResult, RunResult, Status, Suite, Summary,
        TestOptions, TestView, Verbose,
        failures::{Expectations, is_of_assertion, is_of_check},
        interrupt::{Interrupts, interrupted},
        objects::{addresses, created},
        program::{RunProgram, with_assertions, with_file},
        records::{self, StateRecord},
        suite::Tested,
        values::{self, RunOutputs},
    },
    view::Run,
};

/// The most files that run at the same time.
const MOST_FILES: usize = 4;

/// Runs the files of a suite. Neighbouring files that only plan run at the same time: they create nothing that another
/// one could find.
pub fn run(
    session: &Session,
    suite: &Suite,
    options: &TestOptions,
    view: &Arc<dyn TestView>,
) -> Summary {
    session.view.diagnostics(&records::recover(session), &db::Sources::default());
    let interrupts = Interrupts::new(session, view);
    let mut summary = Summary { status: Status::Pass, counts: Counts::default() };
    let variables_files = suite.variables_files(session, options);
    let variables_files = &variables_files;
    let common = Common { session, suite, options, variables_files, interrupts: &interrupts };
    let mut show = |result: &FileResult| {
        summary.status = summary.status.max(result.status);
        result.runs.iter().for_each(|it| summary.counts.add(it.status));
        view.file(result);
    };
    let only_plans = |file: &TestFile| file.runs().all(|(_, run)| run.command == TestCommand::Plan);
    for files in suite.files.chunk_by(|a, b| only_plans(a) && only_plans(b)) {
        if interrupts.is_aborting() {
            break;
        }
        if let [file] = files {
            let mut running = FileRun::new(common, file);
            show(&running.run());
            running.clean_up(&mut |cleanup: &Cleanup| view.cleanup(cleanup));
            interrupts.release(&file.path);
            continue;
        }
        let results = parallel::map_on(MOST_FILES, files, |file| FileRun::new(common, file).run());
        results.iter().for_each(&mut show);
        files.iter().for_each(|file| interrupts.release(&file.path));
    }
    summary
}

/// The context that all files of a test have in common.
#[derive(Clone, Copy)]
struct Common<'a> {
    session: &'a Session,
    suite: &'a Suite,
    options: &'a TestOptions,
    variables_files: &'a [SourceText],
    interrupts: &'a Interrupts,
}

/// One file that is running.
pub(super) struct FileRun<'a> {
    pub(super) session: &'a Session,
    suite: &'a Suite,
    pub(super) options: &'a TestOptions,
    pub(super) file: &'a TestFile,
    variables_files: &'a [SourceText],
    pub(super) interrupts: &'a Interrupts,
    /// The redactor of this file, because files may run at the same time.
    redactor: Redactor,
    /// The states by the source of the module. `None` is the module under test.
    pub(super) states: TreeMap<Option<Str>, FileState>,
    /// The records of these states.
    pub(super) records: TreeMap<Option<Str>, StateRecord>,
    outputs: RunOutputs,
}

/// A state of a file.
#[derive(Default)]
pub(super) struct FileState {
    pub(super) state: State,
    /// The run that changed the state last. `None` before the first change.
    pub(super) last: Option<LastRun>,
}

/// The run that changed a state last. The state is destroyed as this run configures it.
pub(super) struct LastRun {
    pub(super) index: usize,
    pub(super) name: Str,
    pub(super) program: Arc<Program>,
    pub(super) values: VariableValues,
    pub(super) tested: Arc<Tested>,
}

/// A run that is ready to be planned.
struct Ready<'a> {
    tested: Arc<Tested>,
    program: Arc<Program>,
    values: VariableValues,
    building: RunProgram<'a>,
    goal: Goal,
}

/// The outcome of a run.
#[derive(Default)]
struct Outcome {
    diagnostics: Vec<Diagnostic>,
    sources: db::Sources,
    verbose: Option<Verbose>,
}

impl Outcome {
    /// The worst that the problems of a run say about it.
    fn status(&self) -> Status {
        let errors: Vec<&Diagnostic> = self.diagnostics.iter().filter(|it| it.is_error()).collect();
        match errors.is_empty() {
            true => Status::Pass,
            false if errors.iter().all(|it| it.summary == Words::TEST_ASSERTION) => Status::Fail,
            false => Status::Error,
        }
    }
}

impl<'a> FileRun<'a> {
    fn new(common: Common<'a>, file: &'a TestFile) -> FileRun<'a> {
        let Common { session, suite, options, variables_files, interrupts } = common;
        FileRun {
            session,
            suite,
            options,
            file,
            variables_files,
            interrupts,
            redactor: Redactor::new(),
            states: TreeMap::new(),
            records: TreeMap::new(),
            outputs: RunOutputs::new(),
        }
    }

    /// Executes the runs of the file in order.
    fn run(&mut self) -> FileResult {
        let mut result = FileResult {
            path: Arc::clone(&self.file.path),
            status: Status::Pass,
            runs: Vec::new(),
        };
        let (_, file) = with_file(&self.suite.main.program, self.file, self.variables_files);
        for (index, (entry, run)) in file.runs().enumerate() {
            let mut of_run = RunResult {
                name: run.name.clone(),
                status: Status::Pending,
                assertions: run.asserts.len(),
                diagnostics: Vec::new(),
                sources: db::Sources::default(),
                elapsed: Duration::ZERO,
                verbose: None,
            };
            if self.interrupts.is_aborting() {
                // The run stays pending.
            } else if self.interrupts.is_stopping() || result.status == Status::Error {
                of_run.status = Status::Skip;
            } else {
                let begun = Instant::now();
                let outcome = self.execute(index, entry, run);
                of_run.status = outcome.status();
                of_run.elapsed = begun.elapsed();
                let Outcome { diagnostics, sources, verbose } = outcome;
                (of_run.diagnostics, of_run.sources) = (diagnostics, sources);
                of_run.verbose = verbose;
            }
            result.status = result.status.max(of_run.status);
            result.runs.push(of_run);
        }
        result
    }

    /// Executes one run.
    fn execute(&mut self, index: usize, entry: &Entry, run: &TestRun) -> Outcome {
        let source = run.module.as_ref().and_then(|it| it.source.clone());
        let tested = match self.suite.module(source.as_ref()) {
            Ok(tested) => Arc::clone(tested),
            Err(found) => return self.not_loaded(entry, run, *found),
        };
        let (program, file) = with_file(&tested.program, self.file, self.variables_files);
        let Some((entry, run)) = file.runs().nth(index) else { return Outcome::default() };
        let mut ready = match self.ready(tested, RunProgram::new(program, &file, entry, run)) {
            Ok(ready) => ready,
            Err(outcome) => return *outcome,
        };
        self.interrupts.hold(&self.file.path, |held| {
            (held.run, held.module) = (Some(run.name.clone()), source.clone());
        });
        let outcome = match run.command {
            TestCommand::Plan => self.plan_only(&mut ready, &source),
            TestCommand::Apply => self.apply(index, &mut ready, &source),
        };
        self.interrupts.hold(&self.file.path, |held| {
            (held.run, held.module) = (None, None);
            held.creating.clear();
        });
        outcome
    }

    fn not_loaded(&self, entry: &Entry, run: &TestRun, found: Diagnostic) -> Outcome {
        let (program, file) = with_file(&self.suite.main.program, self.file, self.variables_files);
        let mut building = RunProgram::new(program, &file, entry, run);
        let found_at_place = found.location.is_some();
        match run.module.as_ref().filter(|_| !found_at_place) {
            Some(module) => building.report(entry, module.source_node, found),
            None => building.diagnostics.push(found),
        }
        let sources = building.program.sources.clone();
        Outcome { diagnostics: building.diagnostics, sources, verbose: None }
    }

    /// Prepares the program and the values of a run.
    ///
    /// # Errors
    /// The outcome, if there are errors.
    fn ready<'b>(
        &self,
        tested: Arc<Tested>,
        mut building: RunProgram<'b>,
    ) -> Result<Ready<'b>, Box<Outcome>> {
        building.diagnostics.extend(tested.problems.iter().cloned());
        let environment = self.environment(&tested, &building.program, None);
        let values =
            values::collect(self.session, self.options, &mut building, &self.outputs, &environment);
        building.set_providers();
        building.set_overrides();
        building.check_references();
        let goal = self.goal(&mut building);
        if building.diagnostics.iter().any(Diagnostic::is_error) {
            return Err(Box::new(outcome_of(&mut building, None)));
        }
        let program = Arc::new(building.program.clone());
        Ok(Ready { tested, program, values, building, goal })
    }

    /// The goal of a run's plan. Reports addresses and modes that are wrong.
    fn goal(&self, building: &mut RunProgram<'_>) -> Goal {
        let (entry, options) = (building.entry, &building.run.options);
        let texts = |list: &[WrittenAddress]| list.iter().map(|it| it.text.to_string()).collect();
        let flags = GoalFlags {
            refresh_only: options.refresh_only,
            refresh: options.refresh,
            replace: texts(&options.replace),
            targets: texts(&options.target),
            ..GoalFlags::default()
        };
        Goal::new(self.session, &flags).unwrap_or_else(|Failure::Diagnostics(found, _)| {
            let addresses = options.target.iter().chain(&options.replace).map(|it| it.node);
            let node = addresses.chain(options.mode_node).next().unwrap_or(entry.item.header);
            found.into_iter().for_each(|it| building.report(entry, node, it));
            Goal::default()
        })
    }

    /// The options of a plan that is to be applied.
    pub(super) fn plan_options(&self, files: &TempFiles, goal: Goal) -> engine::PlanOptions {
        let Goal { mode, targets, excludes, replace } = goal;
        engine::PlanOptions {
            mode,
            refresh: true,
            parallelism: self.options.parallelism,
            applying: true,
            workspace: self.session.workspace(),
            replace,
            targets,
            excludes,
            uncertain: Vec::new(),
            timestamp: self.session.timestamp().into(),
            temp: files.root(),
            writes: engine::PlanWrites::default(),
        }
    }

    pub(super) fn apply_options(&self) -> ApplyOptions {
        ApplyOptions {
            uncertain: Vec::new(),
            parallelism: self.options.parallelism,
            workspace: self.session.workspace(),
            suppress_forget_errors: true,
        }
    }

    /// The environment for the engine. It records nothing.
    pub(super) fn environment(
        &self,
        tested: &Tested,
        program: &Program,
        files: Option<&Arc<TempFiles>>,
    ) -> Environment {
        let session = self.session;
        let events: Arc<dyn EventSink> =
            session.view.run(Run::Quiet, &program.sources, &self.redactor);
        let factory =
            Factory::new(Arc::clone(&tested.executables), self.redactor.clone(), events.clone());
        let temp: Arc<dyn engine::TempDirectories> = match files {
            Some(files) => files.clone(),
            None => Arc::new(engine::NoTempDirectories),
        };
        Environment {
            providers: Arc::new(factory),
            system: session.system.clone(),
            temp,
            commands: Arc::new(Commands {
                environment: Arc::clone(&session.child_environment),
                processes: session.processes.clone(),
            }),
            machines: Arc::new(remote::Ssh),
            events,
            changes: None,
            journal: Arc::new(NoJournal),
            redactor: self.redactor.clone(),
            strict_secrets: session.is_strict_about_secrets(),
            cancel: self.interrupts.operations.clone(),
        }
    }

    /// The state of the module that a run is for.
    fn state(&self, source: &Option<Str>) -> State {
        self.states.get(source).map(|it| it.state.clone()).unwrap_or_default()
    }

    /// Plans a run. `program` is that of the run, with or without its assertions.
    fn planned(
        &self,
        ready: &Ready<'_>,
        program: &Arc<Program>,
        prior: State,
        files: &Arc<TempFiles>,
    ) -> PlanOutcome {
        let environment = self.environment(&ready.tested, program, Some(files));
        let run = ready.building.run;
        let request = engine::PlanOptions {
            refresh: run.options.refresh,
            applying: run.command == TestCommand::Apply,
            ..self.plan_options(files, ready.goal.clone())
        };
        let values = ready.values.clone();
        self.session.runtime.block_on(engine::plan(program, prior, values, &environment, request))
    }

    /// Executes a run whose command is `plan`.
    fn plan_only(&self, ready: &mut Ready<'_>, source: &Option<Str>) -> Outcome {
        let files = TempFiles::new(self.session);
        let program = with_assertions(&ready.program, ready.building.entry);
        let PlanOutcome { plan, refreshed, diagnostics, assertions, .. } =
            self.planned(ready, &program, self.state(source), &files);
        end_temp(self.session, &files, false);
        let has_plan = !plan.resource_changes.is_empty() || !plan.has_errors;
        let verbose = (self.options.is_verbose && has_plan).then(|| Verbose {
            program,
            plan,
            state: None,
            refreshed,
        });
        self.judge(ready, diagnostics, assertions, verbose)
    }

    /// Plans and applies a run whose command is `apply`.
    fn apply(&mut self, index: usize, ready: &mut Ready<'_>, source: &Option<Str>) -> Outcome {
        let files = TempFiles::new(self.session);
        let program = Arc::clone(&ready.program);
        let planned = self.planned(ready, &program, self.state(source), &files);
        let has_errors = planned.has_errors();
        let PlanOutcome { plan, refreshed, mut diagnostics, .. } = planned;
        if has_errors || ready.building.diagnostics.iter().any(Diagnostic::is_error) {
            end_temp(self.session, &files, false);
            let warnings = Expectations::of(ready.building.run).warnings_of_plan(&diagnostics);
            diagnostics.extend(warnings);
            let building = &mut ready.building;
            building.diagnostics.extend(diagnostics);
            return outcome_of(building, None);
        }
        // The apply evaluates checks again.
        diagnostics.retain(|it| !is_of_check(it));
        add_news(&mut ready.building, diagnostics);
        self.interrupts.hold(&self.file.path, |held| held.creating = created(&plan));
        let program = with_assertions(&ready.program, ready.building.entry);
        let environment = self.environment(&ready.tested, &program, Some(&files));
        let environment = self.recorded(source, environment, &mut ready.building);
        let options = self.apply_options();
        let before = refreshed.clone();
        let values = ready.values.clone();
        let apply = engine::apply(&program, &plan, refreshed, values, &environment, options);
        let applied = self.session.runtime.block_on(apply);
        end_temp(self.session, &files, false);
        let record = self.records.get(source);
        let problem = record.and_then(|it| it.write(self.session, &applied.state));
        ready.building.diagnostics.extend(problem);
        self.keep(index, ready, source, &applied.state);
        let verbose = self.options.is_verbose.then(|| Verbose {
            program,
            plan,
            state: Some(applied.state.clone()),
            refreshed: before,
        });
        self.judge(ready, applied.diagnostics, applied.assertions, verbose)
    }

    /// Makes an apply record its changes. Warns if that is not possible.
    fn recorded(
        &mut self,
        source: &Option<Str>,
        environment: Environment,
        building: &mut RunProgram<'_>,
    ) -> Environment {
        if !self.records.contains_key(source) {
            match StateRecord::begin(self.session) {
                Ok(record) => drop(self.records.insert(source.clone(), record)),
                Err(warning) => building.diagnostics.push(*warning),
            }
        }
        match self.records.get(source) {
            Some(record) => Environment { journal: record.journal(), ..environment },
            None => environment,
        }
    }

    /// Keeps the state and the outputs that an apply left.
    fn keep(&mut self, index: usize, ready: &Ready<'_>, source: &Option<Str>, state: &State) {
        let name = ready.building.run.name.clone();
        let outputs = state.outputs.iter().map(|(name, it)| {
            let value = match it.sensitive {
                true => it.value.with_mark(Mark::Sensitive),
                false => it.value.clone(),
            };
            (Str::from(&name[..]), value)
        });
        self.outputs.insert(name.clone(), Value::object(outputs.collect()));
        self.interrupts.hold(&self.file.path, |held| match source {
            None => held.main = addresses(state),
            Some(source) => {
                held.others.retain(|it| it.source != *source);
                held.others.push(AbandonedState::of(&name, source, state));
            }
        });
        let last = LastRun {
            index,
            name,
            program: Arc::clone(&ready.program),
            values: ready.values.clone(),
            tested: Arc::clone(&ready.tested),
        };
        self.states.insert(source.clone(), FileState { state: state.clone(), last: Some(last) });
    }

    /// Decides what the problems of a plan or an apply mean for the run.
    fn judge(
        &self,
        ready: &mut Ready<'_>,
        found: Vec<Diagnostic>,
        assertions: usize,
        verbose: Option<Verbose>,
    ) -> Outcome {
        let building = &mut ready.building;
        let run = building.run;
        let (of_assertions, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|it| is_of_assertion(it, building));
        let mut expected = Expectations::of(run);
        let others = expected.remaining(others);
        add_news(building, others);
        expected.report_missing(building);
        if self.interrupts.is_aborting() {
            building.diagnostics.push(interrupted());
        }
        if building.diagnostics.iter().any(Diagnostic::is_error) {
            return outcome_of(building, verbose);
        }
        let has_error = of_assertions.iter().any(Diagnostic::is_error);
        building.diagnostics.extend(of_assertions);
        if assertions < run.asserts.len() && !has_error {
            report_unevaluated(building);
        }
        outcome_of(building, verbose)
    }
}

/// Adds problems that are not reported yet. The analysis reports some problems that a plan finds again.
fn add_news(building: &mut RunProgram<'_>, found: Vec<Diagnostic>) {
    let sign = |it: &Diagnostic| (it.id(), it.summary.to_string(), it.location.clone());
    let known: Vec<_> = building.diagnostics.iter().map(sign).collect();
    let is_new = |it: &Diagnostic| it.is_error() || !known.contains(&sign(it));
    building.diagnostics.extend(found.into_iter().filter(is_new));
}

/// Reports that assertions were not evaluated, because something that they refer to failed.
fn report_unevaluated(building: &mut RunProgram<'_>) {
    let detail = "Condition expression could not be evaluated at this time: an object that it \
                  refers to has failed.";
    let entry = building.entry;
    let Some(first) = building.run.asserts.first() else { return };
    let found = Diagnostic::new(Words::UNKNOWN_TEST_CONDITION, detail);
    building.report(entry, first.condition, found);
}

fn outcome_of(building: &mut RunProgram<'_>, verbose: Option<Verbose>) -> Outcome {
    let diagnostics = std::mem::take(&mut building.diagnostics);
    Outcome { diagnostics, sources: building.program.sources.clone(), verbose }
}
