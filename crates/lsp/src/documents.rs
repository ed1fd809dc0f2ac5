//! The open documents of the client.

use std::{path::PathBuf, sync::Arc};

use db::system::normalize;
use sorted::TreeMap;
use tower_lsp_server::ls_types::{TextDocumentContentChangeEvent, Uri};

use crate::position::Encoding;

/// The open documents by path.
pub(crate) type Documents = TreeMap<String, Document>;

/// An open document. Does not implement `Debug`, because the text of a variables file may contain secrets.
#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) version: i32,
    /// The URI in the client's own spelling; one file has many spellings, and the client may recognize only its
    /// own.
    pub(crate) uri: Uri,
    /// The text of a file that is not part of a module. `None` if the text is in the database.
    pub(crate) text: Option<Arc<str>>,
}

/// The absolute and normalized path of a document. `None` if the URI is not a file.
pub(crate) fn path_of(uri: &Uri) -> Option<String> {
    if uri.scheme().as_str() != "file" {
        return None;
    }
    let path: PathBuf = uri.to_file_path()?.into_owned();
    let path = normalize(&path);
    path.is_absolute().then(|| path.to_str().map(str::to_owned)).flatten()
}

/// The URI of a file.
pub(crate) fn uri_of(path: &str) -> Option<Uri> {
    Uri::from_file_path(path)
}

/// Returns true if a file is a configuration file.
pub(crate) fn is_configuration(path: &str) -> bool {
    [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().any(|it| path.ends_with(it))
}

/// Returns true if a file is a variables file.
pub(crate) fn is_variables_file(path: &str) -> bool {
    path.ends_with(".tfvars") || path.ends_with(".tfvars.json")
}

/// Returns true if a file is part of no module, but has problems of its own: a variables file or a test file.
pub(crate) fn is_standalone(path: &str) -> bool {
    is_variables_file(path) || db::is_test_file(path)
}

/// The text after a change from the client.
pub(crate) fn edited(
    text: &str,
    change: &TextDocumentContentChangeEvent,
    encoding: Encoding,
) -> String {
    let Some(range) = change.range else { return change.text.clone() };
    let start = encoding.offset(text, range.start);
    let end = encoding.offset(text, range.end).max(start);
    let (before, after) = (text.get(..start), text.get(end..));
    [before.unwrap_or_default(), &change.text, after.unwrap_or_default()].concat()
}
