//! Files that a configuration names: a provider may read them when it validates.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

use db::System as _;
use sha2::{Digest, Sha256};
use values::{Kind, Str, Value};

use crate::session::Session;

/// A longer file is not read for a verdict; what names it is asked again.
const LONGEST: u64 = 8 << 20;

/// No system has longer paths.
const LONGEST_PATH: usize = 4096;

/// What the strings of configurations name, each looked at once in a run.
pub(super) struct NamedFiles {
    home: Option<PathBuf>,
    /// The names in the root directory. Most strings are no paths, and this tells most of them without a call of the system.
    here: OnceLock<BTreeSet<Str>>,
    known: Mutex<BTreeMap<Str, Named>>,
}

/// What a string names.
#[derive(Clone, Copy)]
enum Named {
    Nothing,
    File([u8; 32]),
    /// A directory, or a file that cannot be read: a provider may see anything there.
    Anything,
}

impl NamedFiles {
    pub(super) fn new(session: &Session) -> NamedFiles {
        let home = session.system.variable("HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
        NamedFiles { home, here: OnceLock::new(), known: Mutex::default() }
    }

    /// The digest of the contents of all files that a configuration names, as they were when this was asked first. `None` if one of its
    /// strings names something else.
    pub(super) fn digest(&self, config: &Value) -> Option<[u8; 32]> {
        digest_of(config, |text| self.named(text))
    }

    /// Returns true if the files that a configuration names still are what they were when [`NamedFiles::digest`] looked.
    pub(super) fn are_as_before(&self, config: &Value) -> bool {
        let now = digest_of(config, |text| self.path(text).map_or(Named::Nothing, |it| look(&it)));
        now == self.digest(config)
    }

    fn named(&self, text: &Str) -> Named {
        if let Some(known) = self.known().get(text) {
            return *known;
        }
        let path = self.path(text).filter(|_| self.may_exist(text));
        let named = path.map_or(Named::Nothing, |path| look(&path));
        self.known().insert(text.clone(), named);
        named
    }

    fn known(&self) -> std::sync::MutexGuard<'_, BTreeMap<Str, Named>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path that a string may be. `None` if nothing can have that path.
    fn path(&self, text: &str) -> Option<PathBuf> {
        if text.is_empty() || text.len() > LONGEST_PATH || text.contains(['\0', '\n']) {
            return None;
        }
        if let Some(rest) = text.strip_prefix("~/") {
            return self.home.as_ref().map(|home| home.join(rest));
        }
        Some(PathBuf::from(text))
    }

    /// Returns false if the root directory has nothing with the first name of a path.
    fn may_exist(&self, text: &str) -> bool {
        let first = text.split('/').next().unwrap_or_default();
        // Case may not count there.
        cfg!(target_os = "macos")
            || ["", ".", "..", "~"].contains(&first)
            || self.here().contains(first)
    }

    fn here(&self) -> &BTreeSet<Str> {
        self.here.get_or_init(|| {
            let entries = fs::read_dir(".").into_iter().flatten().flatten();
            entries.filter_map(|it| it.file_name().to_str().map(Str::from)).collect()
        })
    }
}

fn digest_of(config: &Value, named: impl Fn(&Str) -> Named) -> Option<[u8; 32]> {
    let mut strings = BTreeSet::new();
    collect(config, &mut strings);
    let mut hasher = Sha256::new();
    for text in strings {
        match named(text) {
            Named::Nothing => {}
            Named::File(content) => {
                hasher.update((text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
                hasher.update(content);
            }
            Named::Anything => return None,
        }
    }
    Some(hasher.finalize().into())
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

/// The strings of a value, keys of maps among them.
fn collect<'v>(value: &'v Value, strings: &mut BTreeSet<&'v Str>) {
    match value.kind() {
        Kind::Null | Kind::Unknown(_) | Kind::Bool(_) | Kind::Number(_) => {}
        Kind::String(text) => drop(strings.insert(text)),
        Kind::List(all) | Kind::Set(all) | Kind::Tuple(all) => {
            all.iter().for_each(|it| collect(it, strings));
        }
        Kind::Map(all) => {
            strings.extend(all.keys());
            all.values().for_each(|it| collect(it, strings));
        }
        Kind::Object(all) => all.values().for_each(|it| collect(it, strings)),
    }
}
