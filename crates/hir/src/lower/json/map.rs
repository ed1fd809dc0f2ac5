//! Maps ranges of the native text to ranges of the JSON text.

use syntax::{TextRange, TextSize};

/// The mapped pieces of the native text, in order. Text between the pieces has no counterpart.
#[derive(Debug, Default)]
pub(in crate::lower) struct Map {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    native: TextRange,
    source: TextRange,
    /// Set if both ranges have the same text, so that offsets inside of them correspond.
    is_exact: bool,
    /// Set for a block type or a label in the JSON text that several native blocks share.
    is_shared: bool,
}

impl Map {
    pub(super) fn exact(&mut self, native: TextRange, source: TextSize) {
        let source = TextRange::at(source, native.len());
        self.pieces.push(Piece { native, source, is_exact: true, is_shared: false });
    }

    pub(super) fn whole(&mut self, native: TextRange, source: TextRange) {
        self.pieces.push(Piece { native, source, is_exact: false, is_shared: false });
    }

    pub(super) fn shared(&mut self, native: TextRange, source: TextRange) {
        self.pieces.push(Piece { native, source, is_exact: false, is_shared: true });
    }

    /// The range of the JSON text that corresponds to a range of the native text.
    pub(in crate::lower) fn source(&self, native: TextRange) -> TextRange {
        let first = self.pieces.partition_point(|it| it.native.end() <= native.start());
        let behind = self.pieces.partition_point(|it| it.native.start() < native.end());
        let touched = self.pieces.get(first..behind).unwrap_or_default();
        let own = touched.iter().position(|it| !it.is_shared).unwrap_or(0);
        match touched.get(own..) {
            Some([first, .., last]) => {
                let (start, end) = (first.start_of(native), last.end_of(native));
                TextRange::new(start, end.max(start))
            }
            Some([only]) => {
                let (start, end) = (only.start_of(native), only.end_of(native));
                TextRange::new(start, end.max(start))
            }
            _ => {
                // No piece overlaps the range: use the end of the piece before it.
                let before = first.checked_sub(1).and_then(|it| self.pieces.get(it));
                TextRange::empty(before.map_or(TextSize::from(0), |it| it.source.end()))
            }
        }
    }
}

impl Piece {
    fn start_of(&self, range: TextRange) -> TextSize {
        match self.is_exact && range.start() > self.native.start() {
            true => self.source.start() + (range.start() - self.native.start()),
            false => self.source.start(),
        }
    }

    fn end_of(&self, range: TextRange) -> TextSize {
        match self.is_exact && range.end() < self.native.end() {
            true => self.source.start() + (range.end() - self.native.start()),
            false => self.source.end(),
        }
    }
}
