//! Places in buckets.

use percent_encoding::percent_decode_str;

/// The place of a package in its bucket.
pub(super) struct Place {
    /// The name of an object, or the prefix of the names of several.
    pub(super) name: String,
    /// The version of the object. `None` for the current one.
    pub(super) version: Option<String>,
}

/// Decodes a part of the path of a URL. The error is a sentence fragment.
pub(super) fn decoded(path: &str) -> Result<String, String> {
    let decoded = percent_decode_str(path).decode_utf8();
    decoded.map(|it| it.into_owned()).map_err(|_| "its path is not UTF-8".to_owned())
}
