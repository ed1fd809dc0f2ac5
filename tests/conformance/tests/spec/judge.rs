//! Comparison of a block with its expectations.

use conformance::World;
use db::{Diagnostic, Severity};
use hir::Ref;

use super::{
    block::{Block, File, Run},
    expectation::{Expectation, Said},
};

/// The deviations from the expectations of a block, each with its line in the Markdown file.
pub(crate) fn judge(block: &Block) -> Vec<String> {
    let mut world = World::bare(&block.fixture());
    let mut found = found(&mut world, block.run);
    let mut wrong = Vec::new();
    for file in &block.files {
        for (line, expectation) in file.expectations() {
            let shown = file.first_line + line;
            match expectation {
                Expectation::Said(said) => match position(&found, file, line, &said) {
                    Some(at) => drop(found.remove(at)),
                    None => wrong.push(format!("{shown}: missing {}", describe(&said))),
                },
                Expectation::Is { local, value } => {
                    let found = world.reference(&Ref::Local(local.as_str().into()));
                    let is = found.map_or("an error".to_owned(), |it| format!("{it:?}"));
                    if is != value {
                        wrong.push(format!("{shown}: local.{local} is {is}, not {value}"));
                    }
                }
            }
        }
    }
    wrong.extend(found.iter().map(|it| unexpected(block, it)));
    wrong.sort_by_key(|it| it.split_once(':').and_then(|(line, _)| line.parse::<usize>().ok()));
    wrong
}

fn found(world: &mut World, run: Run) -> Vec<Diagnostic> {
    let found = world.analysis();
    let runs = run > Run::Analysis && !found.iter().any(Diagnostic::is_error);
    match run {
        Run::Plan if runs => [found, world.plan().diagnostics].concat(),
        Run::Apply if runs => [found, world.apply()].concat(),
        _ => found,
    }
}

fn position(found: &[Diagnostic], file: &File, line: usize, said: &Said) -> Option<usize> {
    found.iter().position(|it| {
        it.severity() == said.severity
            && it.id().code() == said.id
            && it.summary == said.summary
            && it.detail.contains(&said.detail)
            && line_in(file, it) == Some(line)
            && said.at.as_ref().is_none_or(|at| text_of(file, it).as_ref() == Some(at))
    })
}

/// The text at the place of a diagnostic, in the form of an expectation.
fn text_of(file: &File, diagnostic: &Diagnostic) -> Option<String> {
    let range = diagnostic.location.as_ref().filter(|it| *it.path == *file.path)?.range;
    let text = file.text.get(range.start as usize..range.end as usize)?;
    Some(text.replace('\r', "").replace('\n', "␤"))
}

/// The line, from zero, at which a diagnostic begins in a file.
fn line_in(file: &File, diagnostic: &Diagnostic) -> Option<usize> {
    let location = diagnostic.location.as_ref().filter(|it| *it.path == *file.path)?;
    Some(file.text.get(..location.range.start as usize)?.matches('\n').count())
}

fn unexpected(block: &Block, diagnostic: &Diagnostic) -> String {
    let line = block
        .files
        .iter()
        .find_map(|file| Some(file.first_line + line_in(file, diagnostic)?))
        .unwrap_or(0);
    let severity = word(diagnostic.severity());
    let at = block.files.iter().find_map(|file| text_of(file, diagnostic)).unwrap_or_default();
    format!(
        "{line}: unexpected {severity}: [{}] {:?}: {} `{at}`",
        diagnostic.id(),
        &*diagnostic.summary,
        diagnostic.detail
    )
}

fn describe(said: &Said) -> String {
    let detail = if said.detail.is_empty() { String::new() } else { format!(" {:?}", said.detail) };
    let at = said.at.as_ref().map(|at| format!(" `{at}`")).unwrap_or_default();
    format!("{}: [{}] {:?}{detail}{at}", word(said.severity), said.id, said.summary)
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "hint",
    }
}
