//! Searches temporary files for ephemeral values before they are saved in a plan file.

use std::io::{Cursor, Read};

use db::{Diagnostic, Summary};
use engine::{PlanOutcome, Redactor};
use state::{Attributes, TempEntry, TempKind};

use super::TempFiles;
use crate::session::Failure;

/// The maximum number of bytes that are searched in the unpacked content of an archive.
const MAX_UNPACKED: u64 = 256 << 20;

/// Refuses to save a plan if one of its temporary files contains an ephemeral value.
///
/// # Errors
/// A diagnostic that names the first such file and the resource that refers to it.
pub fn refuse_secrets(
    files: &TempFiles,
    entries: &[TempEntry],
    outcome: &PlanOutcome,
    redactor: &Redactor,
) -> Result<(), Failure> {
    let is_secret = |bytes: &[u8]| redactor.finds_ephemeral(bytes);
    let has_secret = |entry: &&TempEntry| {
        is_secret(entry.path.as_bytes())
            || match &entry.kind {
                TempKind::File { content, .. } => is_secret(content) || is_any(content, is_secret),
                TempKind::Symlink { target } => is_secret(target.as_bytes()),
            }
    };
    let Some(entry) = entries.iter().find(has_secret) else { return Ok(()) };
    let path = format!("{}/{}", files.root.path(), entry.path);
    let named = match resource_of(&path, outcome) {
        Some(resource) => format!(", which {resource} names,"),
        None => String::new(),
    };
    let path = redactor.redact(&path);
    let detail = format!(
        "The temporary file {path}{named} holds an ephemeral value, which a plan file must not \
         keep. Nothing was saved. Do not write ephemeral values to files: give them to write-only \
         attributes. \"mayfly apply\" without a saved plan keeps no such file."
    );
    Err(Diagnostic::new(Summary::EPHEMERAL_IN_TEMP, detail).into())
}

/// Returns true if `holds` is true for one of the files packed in an archive.
fn is_any(bytes: &[u8], holds: impl Fn(&[u8]) -> bool) -> bool {
    if bytes.starts_with(b"\x1f\x8b") {
        let mut unpacked = Vec::new();
        let reader = flate2::read::MultiGzDecoder::new(bytes);
        // A truncated archive may still contain a secret in its readable part.
        let _ = reader.take(MAX_UNPACKED).read_to_end(&mut unpacked);
        return holds(&unpacked);
    }
    let Ok(mut zip) = zip::ZipArchive::new(Cursor::new(bytes)) else { return false };
    let mut left = MAX_UNPACKED;
    (0..zip.len()).any(|index| {
        let mut unpacked = Vec::new();
        if let Ok(entry) = zip.by_index(index) {
            let _ = entry.take(left).read_to_end(&mut unpacked);
        }
        left -= unpacked.len() as u64;
        holds(&unpacked)
    })
}

/// The address of the first resource whose plan or state contains the path of a file.
fn resource_of(path: &str, outcome: &PlanOutcome) -> Option<String> {
    let mut stored = outcome.refreshed.instances().filter(|it| {
        let object = it.instance.current.as_ref();
        object.is_some_and(|it| match &it.attributes {
            Attributes::Json(text) => text.contains(path),
            Attributes::Flat(_) => false,
        })
    });
    let planned = outcome.plan.changes().find(|it| it.change.after.has_text(path));
    planned.map(|it| it.addr.to_string()).or_else(|| stored.next().map(|it| it.address.to_string()))
}
