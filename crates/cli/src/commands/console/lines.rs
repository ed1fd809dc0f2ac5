//! Collects input lines into whole expressions.

use syntax::{InputState, append_line, input_state};

/// Lines that do not form a whole expression yet.
#[derive(Default)]
pub(super) struct Lines {
    text: String,
}

/// The result of a line.
pub(super) enum Next {
    /// An expression to evaluate.
    Expression(String),
    /// The end of the console: `exit`, or the end of the input.
    End,
}

impl Lines {
    /// Adds a line. Returns the expression that it completes, or `None` if more lines are needed.
    pub(super) fn add(&mut self, line: &str) -> Option<Next> {
        if self.text.is_empty() && line.trim() == "exit" {
            return Some(Next::End);
        }
        append_line(&mut self.text, line);
        match input_state(&self.text) {
            InputState::Incomplete => None,
            InputState::Empty => {
                self.text.clear();
                None
            }
            InputState::Complete => Some(self.end()),
        }
    }

    /// Handles the end of the input: the collected lines are the whole expression. Returns `End` if there are
    /// none.
    pub(super) fn end(&mut self) -> Next {
        match input_state(&self.text) {
            InputState::Empty => Next::End,
            InputState::Incomplete | InputState::Complete => {
                Next::Expression(std::mem::take(&mut self.text))
            }
        }
    }
}
