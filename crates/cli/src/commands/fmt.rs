//! The `fmt` command.
//!
//! Start reading at [`run`]. [`syntax::format()`] formats a text; this module finds the files and writes or prints
//! the results. The user documentation is `docs/fmt.md`.
//!
//! **Invariant:** a file that does not change is not written, and a file with a syntax error is not written
//! either.
//! **Invariant:** files are formatted in any order; the output is in the order of the targets.

mod diff;
mod replace;
mod targets;

use std::{io::Read as _, path::Path};

use db::{Diagnostic, Location, SourceText, Sources, Summary, system::open_regular};
use syntax::{
    AstNode as _, SyntaxError, TextRange, TextSize,
    ast::{self, HasItems as _},
};

use self::targets::Target;
use operations::session::Failure;

use crate::{args::FmtArgs, exit::Exit, session::CommandSession};

/// The name of standard input in messages.
const STDIN: &str = "<stdin>";

/// Runs `fmt`: formats the targets, and writes or prints what the flags ask for.
pub(crate) fn run(session: &CommandSession, args: &FmtArgs) -> Result<Exit, Failure> {
    let outcomes = match args.targets.first().is_some_and(|it| it.as_os_str() == "-") {
        true => vec![of_stdin(args)],
        false => parallel::map(&targets::all(&args.targets, args.recursive), |target| {
            of_target(target, args)
        }),
    };
    let mut diagnostics = Vec::new();
    let mut sources = Vec::new();
    let mut is_unformatted = false;
    for outcome in outcomes {
        session.ui.print(&outcome.printed);
        is_unformatted |= outcome.is_changed;
        diagnostics.extend(outcome.diagnostics);
        sources.extend(outcome.source);
    }
    session.ui.diagnostics(&diagnostics, &Sources { files: sources.into() });
    Ok(match diagnostics.is_empty() {
        false => Exit::NotFormatted,
        true if args.check && is_unformatted => Exit::Unformatted,
        true => Exit::Success,
    })
}

/// The result of one target.
#[derive(Default)]
struct Outcome {
    /// The text for stdout.
    printed: String,
    is_changed: bool,
    diagnostics: Vec<Diagnostic>,
    /// The text that the diagnostics refer to.
    source: Option<SourceText>,
}

impl From<Diagnostic> for Outcome {
    fn from(diagnostic: Diagnostic) -> Outcome {
        Outcome { diagnostics: vec![diagnostic], ..Outcome::default() }
    }
}

fn of_stdin(args: &FmtArgs) -> Outcome {
    let mut bytes = Vec::new();
    if std::io::stdin().lock().read_to_end(&mut bytes).is_err() {
        return problem(Summary::UNREADABLE_STDIN).into();
    }
    let (text, formatted) = match formatted(&bytes, STDIN) {
        Ok(both) => both,
        Err(outcome) => return *outcome,
    };
    let is_changed = text != formatted;
    let printed = match (args.diff, args.check) {
        (true, _) => diff::unified(STDIN, &text, &formatted),
        (false, true) => String::new(),
        (false, false) => formatted,
    };
    Outcome { printed, is_changed, ..Outcome::default() }
}

fn of_target(target: &Target, args: &FmtArgs) -> Outcome {
    let (path, shown) = match target {
        Target::File { path, shown } => (path, shown),
        Target::Problem(summary) => return problem(summary.clone()).into(),
    };
    let mut bytes = Vec::new();
    let read = open_regular(path).and_then(|mut file| file.read_to_end(&mut bytes));
    if read.is_err() {
        return problem(Summary::unreadable_fmt_target(shown)).into();
    }
    match formatted(&bytes, shown) {
        Ok((text, formatted)) => done(path, shown, &text, formatted, args),
        Err(outcome) => *outcome,
    }
}

/// Writes the formatted text and shows the changes, as the flags ask for.
fn done(path: &Path, shown: &str, text: &str, formatted: String, args: &FmtArgs) -> Outcome {
    let is_changed = text != formatted;
    let mut outcome = Outcome { is_changed, ..Outcome::default() };
    let writes = args.write && !args.check;
    if is_changed {
        if args.list {
            outcome.printed = format!("{shown}\n");
        }
        if writes && let Err(error) = replace::replace(path, formatted.as_bytes()) {
            return problem(Summary::unwritable_fmt_target(shown, error)).into();
        }
        if args.diff {
            outcome.printed.push_str(&difference(shown, text, &formatted));
        }
    }
    if !args.list && !writes && !args.check && !args.diff {
        outcome.printed = formatted;
    }
    outcome
}

/// The diff of a file. The lines of a variables file are left out: logs of `fmt -check` would contain its secrets.
fn difference(shown: &str, text: &str, formatted: &str) -> String {
    match shown.ends_with(".tfvars") {
        true => format!("{shown}: its lines are not shown, for variables files may hold secrets\n"),
        false => diff::unified(shown, text, formatted),
    }
}

/// The text of a file and its formatted text, or the errors in it.
fn formatted(bytes: &[u8], shown: &str) -> Result<(String, String), Box<Outcome>> {
    let (text, error) = syntax::decode(bytes);
    let errors = match error {
        Some(error) => vec![error],
        None => match syntax::format(&text) {
            Ok(formatted) => return Ok((text, formatted)),
            Err(errors) => errors,
        },
    };
    let blocks: Vec<_> = syntax::parse_file(&text).tree().blocks().collect();
    let diagnostics = errors
        .iter()
        .map(|error| Diagnostic {
            context: blocks.iter().find(|it| is_around(it, error.range)).map(header),
            ..syntax_error(error, &text, shown)
        })
        .collect();
    let source = SourceText {
        path: shown.into(),
        blocks: [text.into()].into(),
        may_hold_secrets: shown.ends_with(".tfvars"),
    };
    Err(Box::new(Outcome { diagnostics, source: Some(source), ..Outcome::default() }))
}

fn is_around(block: &ast::Block, place: TextRange) -> bool {
    block.syntax().text_range().contains_range(place)
}

/// The header of a block as diagnostics show it: `resource "a" "b"`.
fn header(block: &ast::Block) -> String {
    let labels = block.labels().map(|label| format!(" \"{}\"", label.text()));
    block.type_token().map(|it| it.text().to_owned()).into_iter().chain(labels).collect()
}

fn syntax_error(error: &SyntaxError, text: &str, shown: &str) -> Diagnostic {
    let detail = error.detail(|place| locate(text, shown, place)).into_owned();
    let location = Location { path: shown.into(), range: error.range.into() };
    Diagnostic::new(Summary::syntax_error(&error.summary), detail).at(Some(location))
}

/// A source range as details show it: `main.tf:2,2-3`.
fn locate(text: &str, shown: &str, place: TextRange) -> String {
    let (line, start) = line_and_column(text, place.start());
    let (last, end) = line_and_column(text, place.end());
    match line == last {
        true => format!("{shown}:{line},{start}-{end}"),
        false => format!("{shown}:{line},{start}-{last},{end}"),
    }
}

fn line_and_column(text: &str, at: TextSize) -> (usize, usize) {
    let before = &text[..usize::from(at)];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].chars().count() + 1)
}

/// An error about a target that is not about its text.
fn problem(summary: Summary) -> Diagnostic {
    Diagnostic::new(summary, "")
}
