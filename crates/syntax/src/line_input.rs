//! Detects whether an expression that is typed line by line is complete.

use crate::{
    brackets::BracketStack,
    lexer::{self, Mode},
    syntax_kind::SyntaxKind,
};

/// The state of the lines typed so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputState {
    /// Only blanks and comments.
    Empty,
    /// A later line must close something: a bracket, a template sequence, a heredoc, a comment, or the line
    /// itself, which ends with a backslash.
    Incomplete,
    /// A complete expression, valid or not.
    Complete,
}

/// Returns the state of `text`.
pub fn input_state(text: &str) -> InputState {
    // The newline after its marker begins a heredoc.
    let text = format!("{text}\n");
    let lexed = lexer::lex(&text, Mode::Expression);
    let tokens = lexed.as_tokens(&text);
    let mut brackets = BracketStack::default();
    let mut is_nothing = true;
    for (at, kind) in lexed.kinds.iter().enumerate() {
        brackets.take(*kind, at);
        is_nothing &= kind.is_trivia();
        // Only the last comment can be unclosed.
        if *kind == SyntaxKind::COMMENT && lexer::is_open_comment(tokens.text_of(at)) {
            return InputState::Incomplete;
        }
    }
    match () {
        () if !brackets.is_empty() || text.trim_end().ends_with('\\') => InputState::Incomplete,
        () if is_nothing => InputState::Empty,
        () => InputState::Complete,
    }
}

/// Adds a line to the text typed before. A backslash at the end of the text joins the two lines.
pub fn append_line(text: &mut String, line: &str) {
    let joined = text.trim_end().strip_suffix('\\').map(str::len);
    match joined.filter(|_| !is_in_heredoc(text)) {
        Some(joined) => text.truncate(joined),
        None if text.is_empty() => {}
        None => text.push('\n'),
    }
    text.push_str(line);
}

fn is_in_heredoc(text: &str) -> bool {
    let lexed = lexer::lex(&format!("{text}\n"), Mode::Expression);
    let count = |kind| lexed.kinds.iter().filter(|it| **it == kind).count();
    count(SyntaxKind::HEREDOC_OPEN) > count(SyntaxKind::HEREDOC_CLOSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_expressions_are_recognized() {
        for open in [
            "[",
            "{a = 1,",
            "f(1",
            "<<E",
            "<<-E\nx",
            "\"${[\"",
            "1 + \\",
            "[<<E\nx\nE",
            "/* a",
            "[\n\n",
            "\"${f(\n1",
        ] {
            assert_eq!(input_state(open), InputState::Incomplete, "{open}");
        }
        for whole in
            ["1", "]", "1 +", "\"a", "<<E\nx\nE", "[1]\n", "\"[\"", "1 # [", "\"a\\\\\"", "[1}"]
        {
            assert_eq!(input_state(whole), InputState::Complete, "{whole}");
        }
        for nothing in ["", " ", "# a", "// b", "/* c */"] {
            assert_eq!(input_state(nothing), InputState::Empty, "{nothing}");
        }
    }

    #[test]
    fn backslash_joins_lines_outside_heredocs() {
        let lines = |lines: &[&str]| {
            let mut text = String::new();
            lines.iter().for_each(|line| append_line(&mut text, line));
            text
        };
        assert_eq!(lines(&["1 + \\", "2"]), "1 + 2");
        assert_eq!(lines(&["[", "1", "]"]), "[\n1\n]");
        assert_eq!(lines(&["<<E", "a\\", "E"]), "<<E\na\\\nE");
        assert_eq!(lines(&["<<E", "", "b", "E"]), "<<E\n\nb\nE");
    }
}
