//! The files that a configuration names. A provider may read them during validation.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};
use sorted::TreeMap;
use values::{Kind, Str, Value};

use crate::session::Session;

/// The maximum size of a file that is hashed. A configuration that names a larger file is not cached.
const LONGEST: u64 = 8 << 20;

/// The maximum length of a path on all systems.
const LONGEST_PATH: usize = 4096;

/// The files that strings of configurations name. Each string is looked up once per run.
pub(super) struct NamedFiles {
    home: Option<PathBuf>,
    /// The root directory.
    root: PathBuf,
    /// The names in the root directory. Most strings are not paths, and this set excludes most of them without a
    /// system call.
    here: OnceLock<FxHashSet<Str>>,
    known: Mutex<TreeMap<Str, Named>>,
}

/// The meaning of a string as a path.
#[derive(Clone, Copy)]
enum Named {
    Nothing,
    File([u8; 32]),
    /// A directory, or a file that cannot be read. The provider may see arbitrary content there.
    Anything,
}

impl NamedFiles {
    /// Creates an empty lookup table.
    pub(super) fn new(session: &Session) -> NamedFiles {
        let home = session.system.variable("HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
        let root = session.at(".");
        NamedFiles { home, root, here: OnceLock::new(), known: Mutex::default() }
    }

    /// The digest of the contents of all files that a configuration names, at the time of the first lookup. `None`
    /// if one of its strings names a [`Named::Anything`].
    pub(super) fn digest(&self, config: &Value) -> Option<[u8; 32]> {
        digest_of(config, |text| self.named(text))
    }

    /// Returns true if the files that a configuration names are unchanged since [`NamedFiles::digest`].
    pub(super) fn are_as_before(&self, config: &Value) -> bool {
        let now = digest_of(config, |text| self.path(text).map_or(Named::Nothing, |it| look(&it)));
        now == self.digest(config)
    }

    fn named(&self, text: &str) -> Named {
        // This needs neither a lock nor memory, and most strings end here.
        if !self.may_exist(text) {
            return Named::Nothing;
        }
        if let Some(known) = self.known().get(text) {
            return *known;
        }
        let named = self.path(text).map_or(Named::Nothing, |path| look(&path));
        self.known().insert(Str::on_heap(text), named);
        named
    }

    fn known(&self) -> std::sync::MutexGuard<'_, TreeMap<Str, Named>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path that a string may denote. `None` if it cannot be a path.
    fn path(&self, text: &str) -> Option<PathBuf> {
        if text.is_empty() || text.len() > LONGEST_PATH || text.contains(['\0', '\n']) {
            return None;
        }
        if let Some(rest) = text.strip_prefix("~/") {
            return self.home.as_ref().map(|home| home.join(rest));
        }
        Some(self.root.join(text))
    }

    /// Returns false if the root directory has no entry with the first component of a path.
    fn may_exist(&self, text: &str) -> bool {
        let first = text.split_once('/').map_or(text, |(first, _)| first);
        // The file system may ignore case.
        cfg!(target_os = "macos")
            || matches!(first, "" | "." | ".." | "~")
            || self.here().contains(first)
    }

    fn here(&self) -> &FxHashSet<Str> {
        self.here.get_or_init(|| {
            let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
            entries.filter_map(|it| it.file_name().to_str().map(Str::from)).collect()
        })
    }
}

fn digest_of(config: &Value, named: impl Fn(&str) -> Named) -> Option<[u8; 32]> {
    let mut files = TreeMap::new();
    let mut is_complete = true;
    visit_strings(config, &mut |text| {
        if !is_complete || files.contains_key(text) {
            return;
        }
        match named(text) {
            Named::Nothing => {}
            Named::File(content) => drop(files.insert(Str::on_heap(text), content)),
            Named::Anything => is_complete = false,
        }
    });
    let mut hasher = Sha256::new();
    for (text, content) in &files {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
        hasher.update(content);
    }
    is_complete.then(|| hasher.finalize().into())
}

fn look(path: &Path) -> Named {
    let Ok(meta) = fs::metadata(path) else { return Named::Nothing };
    if !meta.is_file() || meta.len() > LONGEST {
        return Named::Anything;
    }
    let mut content = Vec::new();
    let read = fs::File::open(path).and_then(|it| it.take(LONGEST + 1).read_to_end(&mut content));
    match read {
        Ok(_) if content.len() as u64 <= LONGEST => Named::File(Sha256::digest(&content).into()),
        _ => Named::Anything,
    }
}

/// Visits the strings of a value, including the keys of maps.
fn visit_strings(value: &Value, visit: &mut impl FnMut(&str)) {
    match value.kind() {
        Kind::Null | Kind::Unknown(_) | Kind::Bool(_) | Kind::Number(_) => {}
        Kind::String(text) => visit(text),
        Kind::List(all) | Kind::Set(all) | Kind::Tuple(all) => {
            all.iter().for_each(|it| visit_strings(it, visit));
        }
        Kind::Map(all) => {
            for (key, it) in all {
                visit(key);
                visit_strings(it, visit);
            }
        }
        Kind::Object(all) => all.values().for_each(|it| visit_strings(it, visit)),
    }
}
