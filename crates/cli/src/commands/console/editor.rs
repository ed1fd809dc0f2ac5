//! The interactive line editor of the console, with history and completion of names by the Tab key.
//!
//! **Invariant:** the history is kept in memory only, and no longer than the console runs.

use std::{cell::RefCell, mem::ManuallyDrop};

use db::{Diagnostic, Summary};
use ide::{Completion, Document};
use project::EditableProject;
use rustyline::{
    Behavior, Config, Context, Editor, Helper,
    completion::{Completer, Pair},
    error::ReadlineError,
    highlight::Highlighter,
    hint::Hinter,
    history::MemHistory,
    validate::{ValidationContext, ValidationResult, Validator},
};
use syntax::{InputState, append_line, input_state};

use operations::session::Failure;

use crate::{exit::Exit, session::CommandSession, terminal};

/// The name of a file that exists in the database only. It gives the typed expression a context for completion.
const SCRATCH: &str = "mayfly-console-input.tf";
const BEFORE: &str = "locals {\n  mayfly_console_input = ";
const AFTER: &str = "\n}\n";

/// The number of expressions in the history.
const REMEMBERED: usize = 1000;

/// Reads expressions until the user leaves the console, and calls `answer` for each.
pub(super) fn talk(
    session: &CommandSession,
    project: ManuallyDrop<EditableProject>,
    mut answer: impl FnMut(&str) -> bool,
) -> Result<Exit, Failure> {
    terminal::remember();
    let mut editor = editor(project).map_err(|error| broken(&error))?;
    loop {
        match editor.readline("> ") {
            Ok(text) => {
                // A failure only means that the history lacks this entry.
                let _ = editor.add_history_entry(text.as_str());
                let text = joined(&text);
                match text.trim() {
                    "exit" => return Ok(Exit::Success),
                    trimmed if input_state(trimmed) == InputState::Empty => {}
                    _ => {
                        answer(&text);
                    }
                }
            }
            // Ctrl-C discards the current input.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => {
                session.ui.print("\n");
                return Ok(Exit::Success);
            }
            Err(error) => return Err(broken(&error).into()),
        }
    }
}

fn broken(error: &ReadlineError) -> Diagnostic {
    Diagnostic::new(Summary::UNREADABLE_INPUT, format!("{error}."))
}

fn editor(project: ManuallyDrop<EditableProject>) -> rustyline::Result<Editor<Names, MemHistory>> {
    let config = Config::builder()
        .max_history_size(REMEMBERED)?
        .history_ignore_dups(true)?
        .behavior(Behavior::Stdio)
        .auto_add_history(false)
        .completion_type(rustyline::CompletionType::List)
        .build();
    let history = MemHistory::with_config(&config);
    let mut editor = Editor::with_history(config, history)?;
    editor.set_helper(Some(Names { project: RefCell::new(project) }));
    Ok(editor)
}

/// Joins lines that end with a backslash.
fn joined(text: &str) -> String {
    let mut whole = String::new();
    text.split('\n').for_each(|line| append_line(&mut whole, line));
    whole
}

/// The completion of names of the configuration.
struct Names {
    project: RefCell<ManuallyDrop<EditableProject>>,
}

impl Names {
    fn proposals(&self, text: &str, at: usize) -> Vec<Completion> {
        let mut project = self.project.borrow_mut();
        project.tree_mut().open(SCRATCH, &format!("{BEFORE}{text}{AFTER}"));
        let found = project.tree().file(SCRATCH);
        let mut proposals = found.map_or_else(Vec::new, |(file, directory)| {
            let (db, workspace) = (project.db(), project.workspace());
            proposals(Document { db, workspace, directory, file }, at)
        });
        project.tree_mut().close(SCRATCH);
        proposals.retain(|it| it.label != "for" && !it.is_deprecated);
        proposals
    }
}

/// The completions at an offset in the scratch file.
fn proposals(document: Document<'_>, at: usize) -> Vec<Completion> {
    let offset = u32::try_from(BEFORE.len() + at).unwrap_or(u32::MAX);
    ide::completions(document, offset).items
}

impl Completer for Names {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let mut proposals = self.proposals(line, pos);
        proposals.sort_by(|a, b| a.sort_key.cmp(&b.sort_key));
        let start = proposals.first().map_or(pos, |it| it.range.start as usize);
        let start = start.saturating_sub(BEFORE.len()).min(pos);
        let Some(before) = line.get(start..pos) else { return Ok((pos, Vec::new())) };
        let fitting = proposals.into_iter().filter(|it| it.label.starts_with(before));
        let pairs = fitting.map(|it| Pair { display: it.label.clone(), replacement: plain(&it) });
        Ok((start, pairs.collect()))
    }
}

/// The text that a completion inserts, cut before the first placeholder of a snippet.
fn plain(proposal: &Completion) -> String {
    match proposal.insert.split_once('$') {
        Some((before, _)) if proposal.is_snippet => before.to_owned(),
        _ => proposal.insert.clone(),
    }
}

impl Validator for Names {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match input_state(&joined(context.input())) {
            InputState::Incomplete => ValidationResult::Incomplete,
            InputState::Empty | InputState::Complete => ValidationResult::Valid(None),
        })
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}

impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backslash_at_line_end_joins_lines() {
        assert_eq!(joined("1 + \\\n2"), "1 + 2");
        assert_eq!(joined("[\n1]"), "[\n1]");
    }
}
