//! `console`: one expression a line.

use std::{
    io::{BufRead, IsTerminal},
    sync::Arc,
};

use db::{ByteRange, Diagnostic, Location, SourceText, Sources};
use hir::{Expr, ExprId, Exprs, Interrupt, eval, lower, unsupported};

use crate::{
    args::ConsoleArgs,
    exit::Exit,
    session::{Failure, Session},
    store,
    variables::{self, VarFlag},
};

/// What the text of a line is called in diagnostics.
const PLACE: &str = "<console-input>";

pub(crate) fn run(
    session: &Session,
    args: &ConsoleArgs,
    flags: &[VarFlag],
) -> Result<Exit, Failure> {
    let mut open = store::open_unlocked(session, args.state.as_deref())?;
    let loaded = session.load_with_values(Some(&mut open.file.state), flags)?;
    let program = Arc::new(loaded.project.program());
    let problems: Vec<Diagnostic> =
        loaded.project.diagnostics().into_iter().filter(Diagnostic::is_error).collect();
    if !problems.is_empty() {
        return Err(Failure::Diagnostics(problems, program.sources.clone()));
    }
    let (values, warnings) = variables::collect(session, program.root(), flags)?;
    session.ui.diagnostics(&warnings, &variables::sources(session, flags));
    let console = engine::Console::new(
        &program,
        &open.file.state,
        values,
        session.system.clone(),
        session.workspace(),
    );
    let interactive = std::io::stdin().is_terminal();
    loop {
        if interactive {
            session.ui.print("> ");
        }
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return Ok(Exit::Success),
            Ok(_) => {}
        }
        match line.trim() {
            "" => {}
            "exit" => return Ok(Exit::Success),
            "help" => session.ui.line(
                "The console evaluates expressions, one a line, against the state and the variables' values. To leave it, type \"exit\" or press Ctrl-D.",
            ),
            text => match evaluate(&console, text) {
                Ok(text) => session.ui.line(&text),
                Err(diagnostics) => {
                    let source = SourceText { path: PLACE.into(), blocks: [Arc::from(text)].into(), may_hold_secrets: false };
                    session.ui.diagnostics(&diagnostics, &Sources { files: [source].into() });
                    if !interactive {
                        return Ok(Exit::Failure);
                    }
                }
            },
        }
    }
}

fn evaluate(console: &engine::Console, text: &str) -> Result<String, Vec<Diagnostic>> {
    let location = |range: ByteRange| Some(Location { path: PLACE.into(), range });
    let (exprs, root, problems) = lower::lower_expression(text);
    if !problems.is_empty() {
        let problems = problems.into_iter();
        return Err(problems
            .map(|it| Diagnostic::error(it.id, it.summary, it.detail).at(location(it.range.into())))
            .collect());
    }
    let whole = ByteRange { start: 0, end: text.len() as u32 };
    let typed = argument_of_type(&exprs, root);
    let evaluated =
        console.with_scope(|scope| eval::evaluate(&exprs, typed.unwrap_or(root), scope));
    let evaluated = evaluated.map_err(|it| vec![interrupted(&it).at(location(whole))])?;
    if evaluated.has_errors() {
        let diagnostics = evaluated.diagnostics.into_iter();
        return Err(diagnostics
            .map(|it| {
                Diagnostic { values: it.values, ..Diagnostic::error(it.id, it.summary, it.detail) }
                    .at(location(whole))
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
        Interrupt::Call(call) => {
            let detail = unsupported::detail(&unsupported::provider_function(&call.name));
            Diagnostic::error(unsupported::ID, unsupported::SUMMARY, detail)
        }
        Interrupt::Poisoned | Interrupt::Refused { .. } => {
            let detail = "Something that this expression refers to has no value here.";
            Diagnostic::error("console-evaluation", "Cannot evaluate here", detail)
        }
    }
}
