//! Edits of texts.

use db::{ByteRange, Db};

use crate::FileRange;

/// A text edit: the replacement of a range of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The range to replace; empty for an insertion.
    pub place: FileRange,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// Replaces a range.
    pub(crate) fn replace(place: FileRange, text: impl Into<String>) -> Edit {
        Edit { place, text: text.into() }
    }

    /// Inserts text at the end of a range.
    pub(crate) fn after(place: FileRange, text: impl Into<String>) -> Edit {
        let end = place.range.end;
        Edit::replace(FileRange { range: ByteRange { start: end, end }, ..place }, text)
    }

    /// Inserts text at the start of a range.
    pub(crate) fn before(place: FileRange, text: impl Into<String>) -> Edit {
        let start = place.range.start;
        Edit::replace(FileRange { range: ByteRange { start, end: start }, ..place }, text)
    }
}

/// Converts the line ends of the edits to those of their files.
pub(crate) fn fit_newlines(db: &dyn Db, edits: &mut [Edit]) {
    for edit in edits {
        let blocks = edit.place.file.blocks(db);
        if edit.text.contains('\n') && blocks.iter().any(|it| it.text(db).contains("\r\n")) {
            edit.text = edit.text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
    }
}
