//! Implements `<<-`, which removes the indentation that all lines of a heredoc share.

use unicode_segmentation::UnicodeSegmentation as _;

use super::Piece;

/// Removes the common indentation. Only a token at the start of a line counts. A blank line neither counts nor
/// changes. A line that begins with a sequence has no indentation, so nothing is removed. A strip marker may have
/// removed a line's newline; the token after it does not start a line and keeps its indentation.
pub(super) fn remove_indentation<N>(pieces: &mut [Piece<N>]) {
    let mut starts_line = true;
    let mut indented = Vec::new();
    let mut least = usize::MAX;
    for (at, piece) in pieces.iter().enumerate() {
        let begins = std::mem::replace(&mut starts_line, false);
        match piece {
            Piece::Literal(text) => {
                starts_line = text.ends_with('\n');
                if begins && !is_blank_line(text) {
                    least = least.min(indentation(text));
                    indented.push(at);
                }
            }
            Piece::Sequence(_) if begins => least = 0,
            Piece::Sequence(_) => {}
        }
    }
    for at in indented {
        if let Piece::Literal(text) = &mut pieces[at] {
            let cut = text.grapheme_indices(true).nth(least).map_or(text.len(), |(at, _)| at);
            text.drain(..cut);
        }
    }
}

fn is_blank_line(text: &str) -> bool {
    text.ends_with('\n') && text.trim().is_empty()
}

/// Returns the number of leading blanks in grapheme clusters: a tab counts as one, and so does a no-break space.
fn indentation(text: &str) -> usize {
    text[..text.len() - text.trim_start().len()].graphemes(true).count()
}
