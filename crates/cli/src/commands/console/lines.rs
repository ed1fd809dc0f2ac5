//! From lines to expressions.

use syntax::{Typed, continued, typed};

/// Lines that are no whole expression yet.
#[derive(Default)]
pub(super) struct Lines {
    text: String,
}

/// What comes of lines.
pub(super) enum Next {
    /// Something to evaluate.
    Expression(String),
    /// `exit`, or there are no more lines.
    End,
}

impl Lines {
    /// Takes a line; gives what is whole with it.
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

    /// There are no more lines: what is there is all of the expression.
    pub(super) fn end(&mut self) -> Next {
        match typed(&self.text) {
            Typed::Nothing => Next::End,
            Typed::Open | Typed::Whole => Next::Expression(std::mem::take(&mut self.text)),
        }
    }
}
