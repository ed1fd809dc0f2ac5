//! Changes of texts, as answers propose them.

use db::{ByteRange, Db};

use crate::FileRange;

/// A stretch of a file to replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty where something is put in.
    pub place: FileRange,
    /// What stands there then.
    pub text: String,
}

impl Edit {
    /// Replaces a range.
    pub(crate) fn replace(place: FileRange, text: impl Into<String>) -> Edit {
        Edit { place, text: text.into() }
    }

    /// Puts something in at the end of a range.
    pub(crate) fn after(place: FileRange, text: impl Into<String>) -> Edit {
        let end = place.range.end;
        Edit::replace(FileRange { range: ByteRange { start: end, end }, ..place }, text)
    }

    /// Puts something in at the start of a range.
    pub(crate) fn before(place: FileRange, text: impl Into<String>) -> Edit {
        let start = place.range.start;
        Edit::replace(FileRange { range: ByteRange { start, end: start }, ..place }, text)
    }
}

/// Ends the lines that edits put in as the lines of their files end.
pub(crate) fn fit_newlines(db: &dyn Db, edits: &mut [Edit]) {
    for edit in edits {
        let blocks = edit.place.file.blocks(db);
        if edit.text.contains('\n') && blocks.iter().any(|it| it.text(db).contains("\r\n")) {
            edit.text = edit.text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
    }
}
