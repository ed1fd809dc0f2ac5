//! `console`: expressions, each shown with its value.
//!
//! Start reading at [`run`]; `lines.rs` makes expressions of lines, `editor.rs` is where people type them.
//!
//! **Invariant:** no value of anything sensitive or ephemeral is shown, and what is typed is written nowhere: it may be a
//! secret.

mod editor;
mod lines;

use std::{
    io::IsTerminal,
    mem::ManuallyDrop,
    sync::{Arc, Mutex, PoisonError},
};

use db::{ByteRange, Diagnostic, Location, SourceText, Sources};
use engine::NoTempDirectories;
use hir::{Expr, ExprId, Exprs, Interrupt, Scope, eval, lower};

use self::lines::{Lines, Next};
use crate::{
    args::{ConsoleArgs, StateArgs},
    events::{Format, Show},
    exit::Exit,
    operation,
    session::{Failure, Session},
    signals,
    store::{self, ReadLock},
    variables::{self, VarFlag},
};

/// What the text of an expression is called in diagnostics.
const PLACE: &str = "<console-input>";

const HELP: &str = "\
Type an expression to see its value. It may refer to variables, locals,
resources and outputs of modules; resources are what the state says of them.
An expression goes on in the next line while a bracket or a heredoc is open,
and behind a backslash at the end of a line. type(x) shows the type of x.

The Tab key completes names. Lines that were typed before are kept until the
console ends, and nowhere else. To leave, type \"exit\" or press Ctrl-D.";

/// The lock of the state, for whoever ends the console first.
type Held = Arc<Mutex<Option<ReadLock>>>;

pub(crate) fn run(
    session: &Session,
    args: &ConsoleArgs,
    flags: &[VarFlag],
) -> Result<Exit, Failure> {
    let state_args = StateArgs {
        lock: args.lock,
        lock_timeout: args.lock_timeout.clone(),
        state: args.state.clone(),
        state_out: None,
        backup: None,
    };
    // What is being typed is a file of its own, for completion.
    session.expect_edits();
    let (mut open, lock) = store::open_to_read(session, &state_args, store::Purpose::Console)?;
    let held: Held = Arc::new(Mutex::new(lock));
    let kept = Arc::clone(&held);
    signals::end_at_once_after(session, async move {
        let lock = take(&kept);
        if let Some(lock) = lock {
            // The process ends, and whoever comes next takes over the file of a lock that nobody holds.
            let _ = lock.release().await;
        }
    });
    let exit = with_state(session, &mut open.file.state, flags);
    store::release(session, take(&held))?;
    exit
}

fn take(held: &Held) -> Option<ReadLock> {
    held.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn with_state(
    session: &Session,
    state: &mut state::State,
    flags: &[VarFlag],
) -> Result<Exit, Failure> {
    let loaded = session.load_with_values(Some(state), flags)?;
    let program = Arc::new(loaded.project.program());
    let problems: Vec<Diagnostic> =
        loaded.project.diagnostics().into_iter().filter(Diagnostic::is_error).collect();
    if !problems.is_empty() {
        return Err(Failure::Diagnostics(problems, program.sources.clone()));
    }
    let (values, warnings) = variables::collect(session, program.root(), flags)?;
    session.ui.diagnostics(&warnings, &variables::sources(session, flags));
    let events = Arc::new(Show::new(session, Format::Quiet, program.sources.clone()));
    let environment =
        operation::acting(session, &loaded.executables, events, Arc::new(NoTempDirectories));
    let console = engine::Console::new(&program, state, values, &environment, session.workspace());
    let exit = converse(session, &console, loaded.project, &program, flags);
    session.runtime.block_on(console.end());
    exit
}

fn converse(
    session: &Session,
    console: &engine::Console,
    project: ManuallyDrop<project::Project>,
    program: &hir::Program,
    flags: &[VarFlag],
) -> Result<Exit, Failure> {
    tell_problems(session, console, program, flags)?;
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

/// The next expression of a stream, or its end.
fn next(session: &Session) -> Next {
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

/// Says what is wrong with the values of variables. With values of a wrong type nothing can be done; where a validation
/// fails, the console may be what helps to find out why.
fn tell_problems(
    session: &Session,
    console: &engine::Console,
    program: &hir::Program,
    flags: &[VarFlag],
) -> Result<(), Failure> {
    let mut problems = console.problems();
    let mut files = program.sources.files.to_vec();
    files.extend(variables::file_sources(session, flags));
    let sources = Sources { files: files.into() };
    match problems.first().map(|it| it.id) {
        None => return Ok(()),
        Some("invalid-variable-value") => return Err(Failure::Diagnostics(problems, sources)),
        Some(_) => {}
    }
    let detail = "Due to the problems above, some expressions may produce unexpected results.";
    session.ui.diagnostics(&problems, &sources);
    problems =
        vec![Diagnostic::warning("invalid-console-values", "Some values are not valid", detail)];
    session.ui.diagnostics(&problems, &Sources::default());
    Ok(())
}

/// Shows the value of an expression, or what is wrong with it; gives whether there is a value.
fn answer(session: &Session, console: &engine::Console, text: &str) -> bool {
    if text.trim() == "help" {
        session.ui.line(HELP);
        return true;
    }
    match session.runtime.block_on(evaluate(console, text)) {
        Ok(value) => {
            session.ui.line(&value);
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
    // A heredoc ends with the line of its mark.
    let lone = lower::lower_lone(&format!("{text}\n"));
    let end = text.len() as u32;
    let within =
        |range: ByteRange| ByteRange { start: range.start.min(end), end: range.end.min(end) };
    let location = |range: ByteRange| Some(Location { path: PLACE.into(), range: within(range) });
    if !lone.problems.is_empty() {
        let problems = lone.problems.into_iter();
        return Err(problems
            .map(|it| Diagnostic::error(it.id, it.summary, it.detail).at(location(it.range.into())))
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
                Diagnostic { values: it.values, ..Diagnostic::error(it.id, it.summary, it.detail) }
                    .at(place(it.at))
            })
            .collect());
    }
    Ok(match typed {
        Some(_) => render::type_text(&evaluated.value.ty()),
        None => render::value(&evaluated.value),
    })
}

/// The argument of `type(...)`, whose result is no value: it cannot be part of another expression.
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
        Interrupt::Misfit(misfit) => {
            Diagnostic::error(misfit.id(), misfit.summary, misfit.detail.clone())
        }
        Interrupt::Refused { summary, detail } => {
            Diagnostic::error("invalid-reference", *summary, detail.clone())
        }
        Interrupt::Poisoned | Interrupt::Stopped | Interrupt::Exceeded { .. } => {
            let detail = "Something that this expression refers to has no value here.";
            Diagnostic::error("console-evaluation", "Cannot evaluate here", detail)
        }
    }
}
