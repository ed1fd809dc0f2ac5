//! Conversion of formatting edits.

use db::ByteRange;
use ide::LayoutChange;
use tower_lsp_server::ls_types::{Range, TextEdit};

use crate::{
    position::Lines,
    snapshot::{Snapshot, Target},
    tfvars,
};

/// The formatting edits of a file or of a range of it. `None` if the file has syntax errors or uses the JSON
/// syntax.
pub(crate) fn formatting(
    snapshot: &Snapshot,
    target: Target,
    range: Option<Range>,
) -> Option<Vec<TextEdit>> {
    let file = target.file;
    let is_native = !db::is_json(file.path(&*snapshot.db));
    is_native.then(|| edits(&snapshot.document(target).text(), &snapshot.lines(file), range))?
}

/// The formatting edits of a variables file.
pub(crate) fn formatting_of_variables_file(
    snapshot: &Snapshot,
    path: &str,
    range: Option<Range>,
) -> Option<Vec<TextEdit>> {
    let (file, lines) = tfvars::variables_file(snapshot, path)?;
    (!file.is_json()).then(|| edits(file.text, &lines, range))?
}

fn edits(text: &str, lines: &Lines, range: Option<Range>) -> Option<Vec<TextEdit>> {
    let changes = match range {
        Some(range) => {
            let ByteRange { start, end } = lines.bytes(range);
            ide::formatting_in(text, ByteRange { start, end: end.max(start) })?
        }
        None => ide::formatting(text)?,
    };
    let edit = |it: LayoutChange| TextEdit { range: lines.range(it.range), new_text: it.text };
    Some(changes.into_iter().map(edit).collect())
}
