//! Collects input lines into whole expressions.

use syntax::{Typed, continued, typed};

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
        continued(&mut self.text, line);
        match typed(&self.text) {
            Typed::Open => None,
            Typed::Nothing => {
                self.text.clear();
                None
            }
            Typed::Whole => Some(self.end()),
        }
    }

    /// Handles the end of the input: the collected lines are the whole expression. Returns `End` if there are
    /// none.
    pub(super) fn end(&mut self) -> Next {
        match typed(&self.text) {
            Typed::Nothing => Next::End,
            Typed::Open | Typed::Whole => Next::Expression(std::mem::take(&mut self.text)),
        }
    }
}
