//! The last line of a terminal, which shows how far a run is, below the lines that it prints.
//!
//! **Invariant:** other text is printed while the line is away, so no text mixes with it, and it is never the last
//! thing on the screen when the run has ended.

use std::io::{self, Write};

/// The line, and what is drawn of it.
#[derive(Default)]
pub(crate) struct StatusLine {
    /// The columns of the terminal. `None` if nothing is ever drawn.
    columns: Option<usize>,
    /// The text. Empty if there is no line.
    text: String,
}

impl StatusLine {
    /// Creates the line of a terminal with this width.
    pub(crate) fn new(columns: Option<usize>) -> StatusLine {
        StatusLine { columns, text: String::new() }
    }

    /// Returns true if a text is drawn at all.
    pub(crate) fn is_possible(&self) -> bool {
        self.columns.is_some()
    }

    /// Replaces the text. An empty one removes the line.
    pub(crate) fn set(&mut self, text: String, out: &mut impl Write) -> io::Result<()> {
        if self.text == text {
            return Ok(());
        }
        self.erase(out)?;
        self.text = text;
        self.draw(out)
    }

    /// Removes what is drawn, so that other text can be printed. [`StatusLine::draw`] brings it back.
    pub(crate) fn erase(&self, out: &mut impl Write) -> io::Result<()> {
        match self.columns {
            Some(_) if !self.text.is_empty() => {
                out.write_all(b"\r\x1b[K").and_then(|()| out.flush())
            }
            _ => Ok(()),
        }
    }

    /// Draws the line below the text that was printed.
    pub(crate) fn draw(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(columns) = self.columns else { return Ok(()) };
        if self.text.is_empty() {
            return Ok(());
        }
        // A text of the full width would move the cursor to the next line, and so would the `^C` of an interrupt.
        let cut: String = self.text.chars().take(columns.saturating_sub(3)).collect();
        out.write_all(cut.as_bytes()).and_then(|()| out.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(columns: Option<usize>, act: impl Fn(&mut StatusLine, &mut Vec<u8>)) -> String {
        let (mut line, mut out) = (StatusLine::new(columns), Vec::new());
        act(&mut line, &mut out);
        String::from_utf8(out).expect("is text")
    }

    #[test]
    fn text_is_drawn_cut_and_removed() {
        let shown = drawn(Some(8), |line, out| {
            line.set("1 of 2 done".to_owned(), out).expect("is written");
            line.set("1 of 2 done".to_owned(), out).expect("is written");
            line.set("half".to_owned(), out).expect("is written");
            line.set(String::new(), out).expect("is written");
            line.erase(out).expect("is written");
        });
        assert_eq!(shown, "1 of \r\x1b[Khalf\r\x1b[K");
    }

    #[test]
    fn nothing_is_drawn_without_a_terminal() {
        let shown = drawn(None, |line, out| {
            line.set("half".to_owned(), out).expect("is written");
            line.erase(out).expect("is written");
            line.draw(out).expect("is written");
        });
        assert_eq!(shown, "");
    }
}
