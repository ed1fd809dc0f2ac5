//! The documents that the client has open, and where they are.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use db::system::normalize;
use tower_lsp_server::ls_types::Uri;

/// The open documents by their paths.
pub(crate) type Documents = BTreeMap<String, Document>;

/// A document as the client knows it. Without `Debug`: the text may be that of a variables file, with secrets in it.
#[derive(Clone)]
pub(crate) struct Document {
    pub(crate) version: i32,
    /// There are many ways to write one address, and a client may know its own only.
    pub(crate) uri: Uri,
    /// The text, where it is not in the database because the file is no part of a module.
    pub(crate) text: Option<Arc<str>>,
}

/// The path of a document, absolute and without `.` and `..`; `None` for what is no file.
pub(crate) fn path_of(uri: &Uri) -> Option<String> {
    if uri.scheme().as_str() != "file" {
        return None;
    }
    let path: PathBuf = uri.to_file_path()?.into_owned();
    let path = normalize(&path);
    path.is_absolute().then(|| path.to_str().map(str::to_owned)).flatten()
}

/// The address of a file.
pub(crate) fn uri_of(path: &str) -> Option<Uri> {
    Uri::from_file_path(path)
}

/// Whether a file is part of a module.
pub(crate) fn is_configuration(path: &str) -> bool {
    [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().any(|it| path.ends_with(it))
}

/// Whether a file gives values to variables.
pub(crate) fn is_variables_file(path: &str) -> bool {
    path.ends_with(".tfvars") || path.ends_with(".tfvars.json")
}
