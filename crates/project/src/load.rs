//! Finds and reads the files of a module.

use std::{io, path::Path, sync::Arc};

use db::{
    Diagnostic, DirectoryEntry, File, SpareInputs, Summary, System, input::BlockTexts,
    system::normalize,
};
use sorted::TreeSet;

use crate::Handle;

/// The configuration files of a directory.
#[derive(Default)]
pub(crate) struct Listing {
    /// The display paths of the files, sorted.
    pub(crate) files: Vec<Arc<str>>,
    /// Files that cannot be loaded.
    pub(crate) unloadable: Vec<UnloadableFile>,
}

/// A configuration file that cannot be loaded, so that its module lacks its declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnloadableFile {
    /// The display path.
    pub path: Arc<str>,
    /// The diagnostic. It has no location, because the text is unknown.
    pub problem: Diagnostic,
}

/// Returns true if the directory does not exist and thus has no files. A directory that exists but cannot be
/// listed may have some.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Lists the configuration files of the directory with the display path `shown`: the files on the disk, and the
/// files that are open in an editor, which may not exist on the disk yet.
pub(crate) fn list(
    system: &dyn System,
    base: &Path,
    shown: &str,
    open: &TreeSet<String>,
) -> io::Result<Listing> {
    let listed = system.list_directory(&normalize(&base.join(shown)));
    // An editor can open a file in a directory that does not exist yet.
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
    Ok(Listing { files, unloadable: Vec::new() })
}

/// The decoded text of a file.
pub(crate) struct Text {
    pub(crate) text: String,
    /// The offset of the first byte that is not valid UTF-8.
    pub(crate) decode_error: Option<u32>,
}

impl Text {
    /// Splits the text into the blocks that the database stores.
    pub(crate) fn cut(&self, shown: &Arc<str>) -> CutText {
        CutText { blocks: BlockTexts::of(shown, &self.text), decode_error: self.decode_error }
    }
}

/// The text of a file, split into blocks.
pub(crate) struct CutText {
    blocks: BlockTexts,
    decode_error: Option<u32>,
}

impl CutText {
    /// Adds the file to the database, as one of the spare inputs of its module if it has any. `has_overrides` is
    /// true if the directory has override files.
    pub(crate) fn file(
        self,
        db: &mut dyn Handle,
        shown: &Arc<str>,
        has_overrides: bool,
        spare: &mut SpareInputs,
    ) -> File {
        match spare.is_empty() {
            true => db::input::file_from_blocks(
                db,
                shown.clone(),
                self.blocks,
                self.decode_error,
                has_overrides,
            ),
            false => spare.file(db, shown, self.blocks, self.decode_error),
        }
    }
}

/// Reads the file with the display path `shown`.
///
/// # Errors
/// Fails if the file cannot be read.
pub(crate) fn read(
    system: &dyn System,
    base: &Path,
    shown: &Arc<str>,
) -> Result<Text, Box<UnloadableFile>> {
    let bytes = system
        .read_file(&normalize(&base.join(&**shown)))
        .map_err(|error| Box::new(unreadable(shown, &error)))?;
    let (text, error) = syntax::decode(&bytes);
    let decode_error = error.map(|error| u32::from(error.range.start()));
    Ok(Text { text, decode_error })
}

fn unreadable(shown: &Arc<str>, error: &io::Error) -> UnloadableFile {
    let detail = format!("The configuration file {shown} cannot be read: {error}.");
    let problem = Diagnostic::new(Summary::UNREADABLE_FILE, detail);
    UnloadableFile { path: Arc::clone(shown), problem }
}

/// Returns the sorted names of the configuration files in a directory; empty if it cannot be listed.
pub fn configuration_files(system: &dyn System, directory: &Path) -> Vec<String> {
    configuration_files_among(&system.list_directory(directory).unwrap_or_default())
}

/// Returns the sorted names of the configuration files among the entries of a directory. As in OpenTofu, `x.tofu`
/// hides `x.tf`, and `x.tofu.json` hides `x.tf.json`.
fn configuration_files_among(entries: &[DirectoryEntry]) -> Vec<String> {
    let names = entries.iter().filter(|entry| !entry.is_directory).map(|it| it.name.as_str());
    let candidates: TreeSet<&str> = names.filter(|name| !is_ignored(name)).collect();
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

/// Returns true for hidden files and for backup and lock files of editors.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}
