//! Comparing a block with what it expects.

use conformance::World;
use db::{Diagnostic, Severity};

use super::{
    block::{Block, File, Run},
    expectation::{Expectation, Said, expectations},
};

/// Everything that is not as the block says, each with the line of the Markdown file.
pub(crate) fn judge(block: &Block) -> Vec<String> {
    let mut world = World::bare(&block.fixture());
    let mut found = found(&mut world, block.run);
    let mut wrong = Vec::new();
    for file in &block.files {
        for (line, expectation) in expectations(&file.text) {
            let shown = file.first_line + line;
            match expectation {
                Expectation::Said(said) => match position(&found, file, line, &said) {
                    Some(at) => drop(found.remove(at)),
                    None => wrong.push(format!("{shown}: missing {}", describe(&said))),
                },
                Expectation::Is { local, value } => {
                    let is = format!("{:?}", world.local(&local));
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
        it.severity == said.severity
            && it.id == said.id
            && it.summary == said.summary
            && it.detail.contains(&said.detail)
            && line_in(file, it) == Some(line)
    })
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
    let severity = word(diagnostic.severity);
    format!(
        "{line}: unexpected {severity}: [{}] {:?}: {}",
        diagnostic.id, diagnostic.summary, diagnostic.detail
    )
}

fn describe(said: &Said) -> String {
    let detail = if said.detail.is_empty() { String::new() } else { format!(" {:?}", said.detail) };
    format!("{}: [{}] {:?}{detail}", word(said.severity), said.id, said.summary)
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "hint",
    }
}
