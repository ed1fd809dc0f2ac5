//! The `test` command: what a person or a script sees of a test.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use db::{Diagnostic, Sources, Summary};
use engine::{CancelLevel, LogLevel};
use operations::{
    session::Failure,
    test::{
        self, Abandoned, Cleanup, Counts, FileResult, RunResult, Status, TestOptions, TestView,
        Verbose,
    },
    variables::flag::VarFlag,
};
use render::{
    InterruptedModule, InterruptedTest, JunitCase, JunitSuite, LeftObjects, Style, TestCounts,
    TestPlace, TestStatus,
};

use crate::{
    args::TestArgs,
    exit::Exit,
    session::CommandSession,
    signals,
    ui::{self, Ui},
};

/// Runs `test`.
pub(crate) fn run(
    session: &CommandSession,
    args: &TestArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    signals::listen(session);
    let options = TestOptions {
        filter: args.filter.clone(),
        directory: args.test_directory.clone(),
        flags,
        parallelism: args.parallelism.get(),
        is_verbose: args.verbose,
    };
    session.ui.log(LogLevel::Info, "test", "starting Test operation");
    let suite = test::load(session, &options)?;
    session.ui.diagnostics(&suite.warnings, &Sources::default());
    if session.ui.has_json_lines() {
        let files: Vec<(&str, Vec<&str>)> = suite
            .files
            .iter()
            .map(|file| (&*file.path, file.runs().map(|(_, run)| &*run.name).collect()))
            .collect();
        session.ui.json_line(&render::test_abstract_json(&files, &session.now()));
    }
    let shown = Arc::new(ShownTest { ui: Arc::clone(&session.ui), report: Mutex::default() });
    let view: Arc<dyn TestView> = shown.clone();
    let summary = test::run(session, &suite, &options, &view);
    if let Some(path) = &args.junit_xml {
        let report = shown.report.lock().unwrap_or_else(PoisonError::into_inner);
        write_report(session, path, &report)?;
    }
    let (status, counts) = (shown_status(summary.status), shown_counts(summary.counts));
    if session.cancel.level() == CancelLevel::Aborting {
        return Ok(Exit::Failure);
    }
    shown.show(
        |style| render::test_conclusion(status, counts, style),
        |now| render::test_summary_json(status, counts, now),
    );
    session.ui.log(LogLevel::Info, "test", "test operation completed");
    Ok(if summary.status == Status::Pass { Exit::Success } else { Exit::Failure })
}

fn write_report(
    session: &CommandSession,
    path: &Path,
    suites: &[JunitSuite],
) -> Result<(), Failure> {
    std::fs::write(session.at(path), render::junit_xml(suites)).map_err(|error| {
        let detail = format!("{} cannot be written: {error}.", path.display());
        Diagnostic::new(Summary::JUNIT_REPORT, detail).into()
    })
}

fn shown_status(status: Status) -> TestStatus {
    match status {
        Status::Pending => TestStatus::Pending,
        Status::Skip => TestStatus::Skip,
        Status::Pass => TestStatus::Pass,
        Status::Fail => TestStatus::Fail,
        Status::Error => TestStatus::Error,
    }
}

fn shown_counts(counts: Counts) -> TestCounts {
    let Counts { passed, failed, errored, skipped } = counts;
    TestCounts { passed, failed, errored, skipped }
}

/// Shows a test on the standard streams, and collects its JUnit report.
struct ShownTest {
    ui: Arc<Ui>,
    report: Mutex<Vec<JunitSuite>>,
}

impl ShownTest {
    /// Prints text, where the output has text, and a JSON line, where it has these.
    fn show(&self, text: impl FnOnce(&Style) -> String, json: impl FnOnce(&str) -> String) {
        if self.ui.prints_text() {
            self.ui.print(&text(&self.ui.out));
        }
        if self.ui.has_json_lines() {
            self.ui.json_line(&json(&ui::now()));
        }
    }

    fn diagnostics(&self, place: TestPlace<'_>, found: &[Diagnostic], sources: &Sources) {
        self.ui.text_diagnostics(found, sources);
        if self.ui.has_json_lines() {
            let lines = render::test_diagnostics_json(place, found, sources, &ui::now());
            lines.iter().for_each(|it| self.ui.json_line(it));
        }
    }

    fn run(&self, file: &str, run: &RunResult) {
        let place = TestPlace { file, run: Some(&run.name) };
        let status = shown_status(run.status);
        self.show(
            |style| render::test_run(&run.name, status, style),
            |now| render::test_run_json(file, &run.name, status, now),
        );
        if let Some(verbose) = &run.verbose {
            self.verbose(place, verbose);
        }
        self.diagnostics(place, &run.diagnostics, &run.sources);
    }

    fn verbose(&self, place: TestPlace<'_>, verbose: &Verbose) {
        let Verbose { program, plan, state, refreshed, .. } = verbose;
        let schemas = |source: &addr::ProviderSource| program.schemas.get(source).cloned();
        let schemas: render::Schemas<'_> = &schemas;
        let view = || render::PlanView { plan, schemas, show_sensitive: false };
        match state {
            Some(state) => self.show(
                |style| render::state(state, schemas, false, style),
                |now| {
                    let written_by = state::WRITTEN_VERSION;
                    let state = render::StateJson { state: Some(state), written_by, schemas };
                    render::test_state_json(place, &state, now)
                },
            ),
            None => self.show(
                |style| render::plan(&view(), style),
                |now| {
                    let (prior_state, program) = (Some(refreshed), Some(&**program));
                    let plan = render::PlanJson { view: view(), prior_state, program };
                    render::test_plan_json(place, &plan, now)
                },
            ),
        }
    }

    fn add_to_report(&self, result: &FileResult) {
        let case = |run: &RunResult| {
            JunitCase {
                name: run.name.to_string(),
                status: shown_status(run.status),
                assertions: run.assertions,
                seconds: (run.status >= Status::Pass).then_some(run.elapsed.as_secs_f64()),
                timestamp: ui::now(),
                failed: Vec::new(),
                text: String::new(),
            }
            .with_problems(&run.diagnostics, &run.sources)
        };
        let suite = JunitSuite {
            name: result.path.to_string(),
            cases: result.runs.iter().map(case).collect(),
        };
        self.report.lock().unwrap_or_else(PoisonError::into_inner).push(suite);
    }
}

impl TestView for ShownTest {
    fn file(&self, result: &FileResult) {
        let status = shown_status(result.status);
        self.show(
            |style| render::test_file(&result.path, status, style),
            |now| render::test_file_json(&result.path, status, now),
        );
        result.runs.iter().for_each(|run| self.run(&result.path, run));
        self.add_to_report(result);
    }

    fn cleanup(&self, cleanup: &Cleanup) {
        let Cleanup { file, run, diagnostics, sources, left, saved_in, problem } = cleanup;
        let place = TestPlace { file, run: Some(run) };
        let (ui, style) = (&self.ui, &self.ui.err);
        let name = saved_in.as_deref().unwrap_or_default();
        let left = LeftObjects { place, addresses: left, saved_in: name };
        if ui.prints_text() && diagnostics.iter().any(Diagnostic::is_error) {
            ui.print_error(&render::test_cleanup_failed(place, style));
        }
        if ui.has_json_lines() && saved_in.is_some() {
            ui.json_line(&render::test_cleanup_json(&left, &ui::now()));
        }
        self.diagnostics(place, diagnostics, sources);
        if saved_in.is_none() {
            return;
        }
        let message = format!("Writing state to file: {name}");
        if ui.prints_text() {
            ui.print_error(&render::test_left(&left, style));
            ui.print_error(&format!("\n{message}\n"));
        }
        if ui.has_json_lines() {
            ui.json_line(&render::log_json(&message, &ui::now()));
        }
        self.diagnostics(place, problem.as_slice(), sources);
    }

    fn abandoned(&self, abandoned: &Abandoned) {
        let others: Vec<InterruptedModule<'_>> = abandoned
            .others
            .iter()
            .map(|it| InterruptedModule {
                run: &it.run,
                source: &it.source,
                addresses: &it.addresses,
            })
            .collect();
        let test = InterruptedTest {
            place: TestPlace { file: &abandoned.file, run: abandoned.run.as_deref() },
            module: abandoned.module.as_deref(),
            main: &abandoned.main,
            others: &others,
            creating: &abandoned.creating,
        };
        if self.ui.prints_text() {
            self.ui.print_error(&render::test_interrupted(&test, &self.ui.err));
        }
        if self.ui.has_json_lines() {
            let line = render::test_interrupted_json(&test, &ui::now());
            line.iter().for_each(|it| self.ui.json_line(it));
        }
    }
}
