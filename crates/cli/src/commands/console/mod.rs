//! The `console` command: evaluates expressions and prints their values.
//!
//! Start reading at [`run`]. `lines.rs` collects lines into expressions, `editor.rs` is the interactive line
//! editor.
//!
//! **Invariant:** no sensitive or ephemeral value is shown, and the input is never written to disk, because it may
//! be a secret.

mod editor;
mod lines;

use std::{
    io::IsTerminal,
    mem::ManuallyDrop,
    sync::{Arc, Mutex, PoisonError},
};

use db::{ByteRange, Diagnostic, Location, Rule, SourceText, Sources, Summary};
use engine::NoTempDirectories;
use hir::{Expr, ExprId, Exprs, Interrupt, Scope, eval, lower};

use self::lines::{Lines, Next};
use operations::{
    prepare,
    session::Failure,
    store::{self, ReadLock, StateOptions},
    variables::{self, flag::VarFlag},
    view::Run,
};

use crate::{args::ConsoleArgs, exit::Exit, session::CommandSession, signals};

/// The file name of the typed expression in diagnostics.
const PLACE: &str = "<console-input>";

const HELP: &str = "\
Type an expression to see its value. It may refer to variables, locals,
resources and outputs of modules; resources have the values from the state.
An expression continues on the next line while a bracket or a heredoc is open,
or after a backslash at the end of a line. type(x) shows the type of x.

The Tab key completes names. Lines that were typed before are kept until the
console ends, and nowhere else. To leave, type \"exit\" or press Ctrl-D.";

/// The lock of the state, shared by the two ways in which the console ends. The first one takes and releases it.
type SharedLock = Arc<Mutex<Option<ReadLock>>>;

/// Runs `console`: loads the configuration and the state, and evaluates expressions until the user leaves.
pub(crate) fn run(
    session: &CommandSession,
    args: &ConsoleArgs,
    flags: &[VarFlag],
) -> Result<Exit, Failure> {
    let state_options = StateOptions {
        lock: args.lock,
        lock_timeout: args.lock_timeout.clone(),
        state: args.state.clone(),
        state_out: None,
        backup: None,
    };
    let (mut open, lock) = store::open_to_read(session, &state_options, store::Purpose::Console)?;
    let held: SharedLock = Arc::new(Mutex::new(lock));
    let kept = Arc::clone(&held);
    signals::end_at_once_after(session, async move {
        let lock = take(&kept);
        if let Some(lock) = lock {
            // Ignore a failure: the process ends, which frees the lock, and the next command takes over the file
            // of a lock without a holder.
            let _ = lock.release().await;
        }
    });
    let exit = with_state(session, &mut open.file.state, flags);
    store::release(session, take(&held))?;
    exit
}

fn take(held: &SharedLock) -> Option<ReadLock> {
    held.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn with_state(
    session: &CommandSession,
    state: &mut state::State,
    flags: &[VarFlag],
) -> Result<Exit, Failure> {
    // The input is a file of the database, for completion, so its text changes.
    let loaded = session.load_editable(session.editable_project()?, state, flags)?;
    let program = Arc::new(loaded.project.program());
    let problems: Vec<Diagnostic> =
        loaded.project.diagnostics().into_iter().filter(Diagnostic::is_error).collect();
    if !problems.is_empty() {
        return Err(Failure::Diagnostics(problems, program.sources.clone()));
    }
    let (values, warnings) = variables::collect(session, program.root(), flags)?;
    session.ui.diagnostics(&warnings, &variables::sources(session, flags));
    let events = session.view.run(Run::Quiet, &program.sources, &session.redactor);
    let environment =
        prepare::acting(session, &loaded.executables, events, Arc::new(NoTempDirectories));
    let console = engine::Console::new(&program, state, values, &environment, session.workspace());
    let exit = converse(session, &console, loaded.project, &program, flags);
    session.runtime.block_on(console.end());
    exit
}

fn converse(
    session: &CommandSession,
    console: &engine::Console,
    project: ManuallyDrop<project::EditableProject>,
    program: &hir::Program,
    flags: &[VarFlag],
) -> Result<Exit, Failure> {
    report_problems(session, console, program, flags)?;
    if std::io::stdin().is_terminal() {
        return editor::talk(session, project, |text| answer(session, console, text));
    }
    loop {
        match next(session) {
            Next::End => return Ok(Exit::Success),
            Next::Expression(text) => {
                if !answer(session, console, &text) {
                    return Ok(Exit::Failure);
                }
            }
        }
    }
}

/// The next expression of the input, or its end.
fn next(session: &CommandSession) -> Next {
    let mut lines = Lines::default();
    loop {
        let next = match session.ui.next_line() {
            Some(line) => lines.add(&line),
            None => Some(lines.end()),
        };
        if let Some(next) = next {
            return next;
        }
    }
}

/// Reports problems with the values of variables. Fails if a value has a wrong type, because nothing can be
/// evaluated then. A failed validation is only shown: the console may help to find its cause.
fn report_problems(
    session: &CommandSession,
    console: &engine::Console,
    program: &hir::Program,
    flags: &[VarFlag],
) -> Result<(), Failure> {
    let mut problems = console.problems();
    let mut files = program.sources.files.to_vec();
    files.extend(variables::file_sources(&*session.system, flags));
    let sources = Sources { files: files.into() };
    match problems.first().map(|it| it.id()) {
        None => return Ok(()),
        Some(Rule::InvalidVariableValue) => return Err(Failure::Diagnostics(problems, sources)),
        Some(_) => {}
    }
    let detail = "Due to the problems above, some expressions may produce unexpected results.";
    session.ui.diagnostics(&problems, &sources);
    problems = vec![Diagnostic::new(Summary::INVALID_CONSOLE_VALUES, detail)];
    session.ui.diagnostics(&problems, &Sources::default());
    Ok(())
}

/// Prints the value of an expression, or its errors. Returns true if there is a value.
fn answer(session: &CommandSession, console: &engine::Console, text: &str) -> bool {
    if text.trim() == "help" {
        session.ui.message(HELP, HELP);
        return true;
    }
    match session.runtime.block_on(evaluate(console, text)) {
        Ok(value) => {
            session.ui.message(&value, &value);
            true
        }
        Err(diagnostics) => {
            let blocks = [Arc::from(text)].into();
            let source = SourceText { path: PLACE.into(), blocks, may_hold_secrets: false };
            session.ui.diagnostics(&diagnostics, &Sources { files: [source].into() });
            false
        }
    }
}

async fn evaluate(console: &engine::Console, text: &str) -> Result<String, Vec<Diagnostic>> {
    // Add a line end, because a heredoc ends with the line of its closing marker.
    let lone = lower::lower_expression(&format!("{text}\n"));
    let end = text.len() as u32;
    let within =
        |range: ByteRange| ByteRange { start: range.start.min(end), end: range.end.min(end) };
    let location = |range: ByteRange| Some(Location { path: PLACE.into(), range: within(range) });
    if !lone.problems.is_empty() {
        let problems = lone.problems.into_iter();
        return Err(problems
            .map(|it| Diagnostic::new(it.summary, it.detail).at(location(it.range.into())))
            .collect());
    }
    let (exprs, root) = (&lone.exprs, lone.root);
    let place = |at: hir::At| {
        let range = lone.source_map.range(at);
        location(range.map_or(ByteRange { start: 0, end }, ByteRange::from))
    };
    let typed = argument_of_type(exprs, root);
    let evaluate = |scope: &dyn Scope| eval::evaluate(exprs, typed.unwrap_or(root), scope);
    let evaluated = console.evaluate(evaluate).await.map_err(|it| vec![*it])?;
    let evaluated = evaluated.map_err(|it| vec![interrupted(&it).at(place(root.into()))])?;
    if evaluated.has_errors() {
        let diagnostics = evaluated.diagnostics.into_iter();
        return Err(diagnostics
            .map(|it| {
                Diagnostic { values: it.values, ..Diagnostic::new(it.summary, it.detail) }
                    .at(place(it.at))
            })
            .collect());
    }
    Ok(match typed {
        Some(_) => render::type_text(&evaluated.value.ty()),
        None => render::value(&evaluated.value),
    })
}

/// The argument of `type(...)` at the root of an expression. The result of `type` is not a value, so it cannot be
/// a part of another expression.
fn argument_of_type(exprs: &Exprs, root: ExprId) -> Option<ExprId> {
    match &exprs[root] {
        Expr::Call(call) if &*call.name == "type" && !call.expand => {
            let [argument] = call.args[..] else { return None };
            Some(argument)
        }
        _ => None,
    }
}

fn interrupted(interrupt: &Interrupt) -> Diagnostic {
    match interrupt {
        Interrupt::ArgumentError(error) => {
            Diagnostic::new(error.summary.clone(), error.detail.clone())
        }
        Interrupt::Refused { summary, detail } => Diagnostic::new(summary.clone(), detail.clone()),
        Interrupt::Poisoned | Interrupt::Stopped | Interrupt::Exceeded { .. } => {
            let detail = "Something that this expression refers to has no value here.";
            Diagnostic::new(Summary::CONSOLE_EVALUATION, detail)
        }
    }
}
