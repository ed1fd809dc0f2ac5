//! Which files make up a module, and reading them.

use std::{collections::BTreeSet, io, path::Path, sync::Arc};

use db::{Diagnostic, DirectoryEntry, File, System, input::BlockTexts, system::normalize};

use crate::Database;

/// The configuration files of a directory.
#[derive(Default)]
pub(crate) struct Listing {
    /// Their paths as shown, sorted.
    pub(crate) files: Vec<Arc<str>>,
    /// Files that cannot be taken.
    pub(crate) unfit: Vec<UnfitFile>,
}

/// A file of a module's directory that cannot be taken, so that the module lacks what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfitFile {
    /// Its path as shown.
    pub path: Arc<str>,
    /// Why; without a place, for nobody knows its text.
    pub problem: Diagnostic,
}

/// Returns true if a directory is not there, so that it has no files. One that is there and cannot be listed may have some.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Lists the configuration files of the directory shown as `shown`: those on the disk, and those that are open in an
/// editor and perhaps not there yet.
pub(crate) fn list(
    system: &dyn System,
    base: &Path,
    shown: &str,
    open: &BTreeSet<String>,
) -> io::Result<Listing> {
    let listed = system.list_directory(&normalize(&base.join(shown)));
    // A directory may be about to be made.
    let mut entries = if open.is_empty() { listed? } else { listed.unwrap_or_default() };
    for name in open {
        if !entries.iter().any(|entry| entry.name == *name) {
            entries.push(DirectoryEntry { name: name.clone(), is_directory: false });
        }
    }
    entries.sort();
    let shown_as = |name: &str| -> Arc<str> {
        match shown {
            "." => Arc::from(name),
            _ => Arc::from(format!("{shown}/{name}")),
        }
    };
    let files = configuration_files_among(&entries).iter().map(|name| shown_as(name)).collect();
    Ok(Listing { files, unfit: Vec::new() })
}

/// A file's text.
pub(crate) struct Text {
    pub(crate) text: String,
    /// The offset of the first byte that was no UTF-8.
    pub(crate) decode_error: Option<u32>,
}

impl Text {
    /// Makes it a file of the database.
    pub(crate) fn file(&self, db: &mut Database, shown: &Arc<str>) -> File {
        db::input::file_from_text(db, shown.clone(), &self.text, self.decode_error)
    }

    /// What becomes a file of the database.
    pub(crate) fn cut(&self, shown: &Arc<str>) -> CutText {
        CutText { blocks: BlockTexts::of(shown, &self.text), decode_error: self.decode_error }
    }
}

/// A file's text, cut into blocks.
pub(crate) struct CutText {
    blocks: BlockTexts,
    decode_error: Option<u32>,
}

impl CutText {
    /// Makes it a file of the database. `has_overrides` says whether there are override files beside it.
    pub(crate) fn file(self, db: &mut Database, shown: &Arc<str>, has_overrides: bool) -> File {
        let path = shown.clone();
        db::input::file_from_blocks(db, path, self.blocks, self.decode_error, has_overrides)
    }
}

/// Reads the file shown as `shown`.
///
/// # Errors
/// That it cannot be read.
pub(crate) fn read(
    system: &dyn System,
    base: &Path,
    shown: &Arc<str>,
) -> Result<Text, Box<UnfitFile>> {
    let bytes = system
        .read_file(&normalize(&base.join(&**shown)))
        .map_err(|error| Box::new(unreadable(shown, &error)))?;
    let (text, error) = syntax::decode(&bytes);
    let decode_error = error.map(|error| u32::from(error.range.start()));
    Ok(Text { text, decode_error })
}

fn unreadable(shown: &Arc<str>, error: &io::Error) -> UnfitFile {
    let detail = format!("The configuration file {shown} cannot be read: {error}.");
    let problem = Diagnostic::error("unreadable-file", "Failed to read file", detail);
    UnfitFile { path: Arc::clone(shown), problem }
}

/// The names of the configuration files in a directory, in order; none if it cannot be listed.
pub fn configuration_files(system: &dyn System, directory: &Path) -> Vec<String> {
    configuration_files_among(&system.list_directory(directory).unwrap_or_default())
}

/// The configuration files among a directory's entries, in order. `x.tofu` hides `x.tf`, and so in the JSON syntax
/// (`reference`: surface 2.1).
fn configuration_files_among(entries: &[DirectoryEntry]) -> Vec<String> {
    let names = entries.iter().filter(|entry| !entry.is_directory).map(|it| it.name.as_str());
    let candidates: BTreeSet<&str> = names.filter(|name| !is_ignored(name)).collect();
    let is_hidden = |name: &str| {
        let pairs = [(".tf", ".tofu"), (".tf.json", ".tofu.json")];
        let mut pairs = pairs.into_iter();
        pairs.any(|(hidden, hides)| {
            let stem = name.strip_suffix(hidden);
            stem.is_some_and(|stem| candidates.contains(format!("{stem}{hides}").as_str()))
        })
    };
    let suffixes = [".tf", ".tofu", ".tf.json", ".tofu.json"];
    let is_one = |name: &&&str| suffixes.iter().any(|it| name.ends_with(it)) && !is_hidden(name);
    candidates.iter().filter(is_one).map(|name| (*name).to_owned()).collect()
}

/// Editors' backup and lock files.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}
