//! Computes indentation and the alignment of `=` and of comments.
//!
//! ```text
//!   lead │ assign       │ comment
//! name   │ = local.name │ # one
//! other  │ = 1          │ # two
//! ```
//!
//! A line ends with a newline, or with a comment that includes its newline. So an attribute and its heredoc are
//! one line, and the lines between `${` and `}` in a heredoc are several.

use std::ops::Range;

use super::pieces::{Piece, Pieces};
use super::spacing::{LeftToken, bracket_change, has_blank};
use crate::syntax_kind::SyntaxKind::{self, *};

/// The maximum number of blanks that alignment adds to a text. A line that is thousands of times longer than its
/// neighbours would otherwise make the output as large as their product. Lines beyond the maximum are not aligned.
const MAX_PADDING: usize = 1 << 26;

/// A line with the pieces at which its cells begin.
struct Line {
    start: usize,
    /// The index of `=` if the line assigns a value; else the end of the lead.
    assign: usize,
    /// The index of the comment at the end, or the end of the line.
    comment: usize,
    end: usize,
}

impl Line {
    fn has_assign(&self) -> bool {
        self.assign < self.comment
    }

    fn has_comment(&self) -> bool {
        self.comment < self.end
    }
}

/// Sets the number of blanks before each piece.
pub(super) fn lay_out(pieces: &mut Pieces<'_>) {
    let lines = lines(pieces);
    indent(&mut pieces.all, &lines);
    for line in &lines {
        space(pieces, line.start..line.assign);
        space(pieces, line.assign..line.comment);
    }
    let mut allowance = MAX_PADDING;
    align(pieces, &lines, &mut allowance, Line::has_assign, |line| line.assign);
    align(pieces, &lines, &mut allowance, Line::has_comment, |line| line.comment);
}

fn lines(pieces: &Pieces<'_>) -> Vec<Line> {
    let mut lines = Vec::with_capacity(pieces.newlines + 1);
    let mut start = 0;
    for (at, piece) in pieces.all.iter().enumerate() {
        if piece.ends_line {
            lines.push(line(&pieces.all, start..at + 1));
            start = at + 1;
        }
    }
    if start < pieces.all.len() {
        lines.push(line(&pieces.all, start..pieces.all.len()));
    }
    lines
}

fn line(all: &[Piece], range: Range<usize>) -> Line {
    let Range { start, end } = range;
    let comment = if end - start > 1 && all[end - 1].kind == COMMENT { end - 1 } else { end };
    let equals = all[start..comment].iter().skip(1).position(|it| it.kind == EQ);
    // Only the first `=` counts, and only if all brackets opened to its right are also closed there.
    let assign = equals.map(|at| start + 1 + at).filter(|at| brackets(&all[*at..comment]) == 0);
    Line { start, assign: assign.unwrap_or(comment), comment, end }
}

fn brackets(pieces: &[Piece]) -> i64 {
    pieces.iter().map(|it| bracket_change(it.kind)).sum()
}

/// Returns the net number of brackets that the pieces open before the first heredoc, or in total if there is none.
fn brackets_before_heredoc(pieces: &[Piece]) -> i64 {
    let heredoc = pieces.iter().position(|it| it.kind == HEREDOC_OPEN).unwrap_or(pieces.len());
    brackets(&pieces[..heredoc])
}

/// Indents by two blanks for each open line that opened more brackets than it closed, however many more.
fn indent(all: &mut [Piece], lines: &[Line]) {
    let mut open = Vec::new();
    for line in lines {
        if all[line.start].kind == NEWLINE {
            all[line.start].blanks = 0;
            continue;
        }
        // Only the lead counts: the assigned value closes all brackets that it opens.
        let net = brackets_before_heredoc(&all[line.start..line.assign]);
        if net < 0 {
            close(&mut open, -net);
        }
        all[line.start].blanks = blanks(2 * open.len());
        if net > 0 {
            open.push(net);
        }
    }
}

/// Closes `count` brackets. A line that opened several brackets stays open until all of them are closed.
fn close(open: &mut Vec<i64>, mut count: i64) {
    while let Some(last) = open.last_mut() {
        if count < *last {
            *last -= count;
            return;
        }
        count -= *last;
        open.pop();
        if count == 0 {
            return;
        }
    }
}

/// Sets the blanks inside a cell.
fn space(pieces: &mut Pieces<'_>, cell: Range<usize>) {
    let mut before = None;
    for at in cell.start + 1..cell.end {
        let (left, right) = (&pieces.all[at - 1], pieces.all[at].kind);
        let is_in = left.kind == IDENT && pieces.text(left) == "in";
        let left = LeftToken { kind: left.kind, is_in, before };
        before = Some(left.kind);
        let next = pieces.all[at + 1..cell.end].first();
        let next = next.map(|it| NextToken { kind: it.kind, text: pieces.text(it) });
        let has_blank = has_blank(left, right) || would_join(left.kind, right, next);
        pieces.all[at].blanks = u32::from(has_blank);
    }
}

/// The token after the two between which a blank may stand.
struct NextToken<'a> {
    kind: SyntaxKind,
    text: &'a str,
}

/// Returns true if an index and the next token would join into one number: `a.4 .3`, `a.4 .e2`.
fn would_join(left: SyntaxKind, right: SyntaxKind, next: Option<NextToken<'_>>) -> bool {
    let is_exponent = |text: &str| {
        let digits = text.strip_prefix(['e', 'E']);
        digits.is_some_and(|it| it.starts_with(|it: char| it == '-' || it.is_ascii_digit()))
    };
    let joins = match next {
        Some(NextToken { kind: NUMBER, .. }) => true,
        Some(NextToken { kind: IDENT, text }) => is_exponent(text),
        _ => false,
    };
    (left, right) == (NUMBER, DOT) && joins
}

/// Aligns the cells of consecutive lines that have one. `cell` returns the first piece of a line's cell.
fn align(
    pieces: &mut Pieces<'_>,
    lines: &[Line],
    allowance: &mut usize,
    has_cell: fn(&Line) -> bool,
    cell: fn(&Line) -> usize,
) {
    let mut chain = Vec::new();
    for line in lines {
        if !has_cell(line) {
            close_chain(pieces, &mut chain, allowance);
            continue;
        }
        let cell = cell(line);
        chain.push(Cell { piece: cell, columns: pieces.columns(line.start..cell) });
    }
    close_chain(pieces, &mut chain, allowance);
}

/// A cell that is aligned with those of other lines.
struct Cell {
    /// The index of its first piece.
    piece: usize,
    /// The number of columns before it.
    columns: usize,
}

/// Aligns the cells of a chain.
fn close_chain(pieces: &mut Pieces<'_>, chain: &mut Vec<Cell>, allowance: &mut usize) {
    let widest = chain.iter().map(|it| it.columns).max().unwrap_or(0);
    let padding = chain.iter().map(|it| widest - it.columns).sum();
    let rest = allowance.checked_sub(padding);
    *allowance = rest.unwrap_or(*allowance);
    for Cell { piece, columns } in chain.drain(..) {
        pieces.all[piece].blanks = if rest.is_some() { blanks(widest - columns + 1) } else { 1 };
    }
}

/// Converts to `u32`. The conversion cannot fail: the nesting depth and the padding are bounded far below its
/// maximum.
fn blanks(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(1)
}
