//! A disk cache of configurations that providers have validated successfully.
//!
//! A verdict is an empty file whose name is a keyed hash of its inputs: the executable, the root directory, the
//! call, the type, the configuration, and the content of each file that a string of the configuration names. The
//! key is stored beside the verdicts and is private to the user. Without the key, other users cannot test guesses
//! at a configuration.
//!
//! ```text
//!   verdicts/key      verdicts/3f/3f9c…      modified when it was last used; the oldest of a directory go first
//! ```
//!
//! **Invariant:** no part of a configuration or of a file can be derived from the cache.
//! **Invariant:** a verdict is stored under the executable that gave it, even if the file was replaced in the
//! meantime.

mod files;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use addr::ResourceMode;
use engine::{Call, PluginName, Question, Verdicts};
use hmac::{Hmac, KeyInit, Mac};
use provider::schema_codec::ExecutableHash;
use sha2::Sha256;
use sorted::TreeMap;

use self::files::NamedFiles;
use crate::{located::ProviderExecutables, schema_cache, session::Session};

/// The verdict cache of the user.
pub(crate) struct VerdictCache {
    /// `None` without a home directory, or if the user disabled the cache.
    directory: Option<PathBuf>,
    /// The hash that was given the key, and nothing else yet. `None` if there is no directory or no key.
    keyed: Option<Hmac<Sha256>>,
    /// The canonical path of the root directory.
    root: PathBuf,
    files: NamedFiles,
    executables: Arc<ProviderExecutables>,
    /// The executable of each plugin, which is looked up once in a run.
    identities: Mutex<TreeMap<PluginName, Option<ExecutableHash>>>,
    /// The number of verdicts that this run added to each directory.
    added: Mutex<TreeMap<PathBuf, usize>>,
}

const KEY_SIZE: usize = 32;

/// The environment variable that disables the cache with `off`, `0` or `false`.
const SWITCH: &str = "MAYFLY_VERDICT_CACHE";

/// The maximum number of verdicts in each of the 256 directories.
const MOST: usize = 512;

/// The number of new verdicts after which a directory is swept.
const SWEEP_EVERY: usize = 64;

/// The time after which an unused verdict is removed.
const LONGEST_UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The precision of the recorded time of the last use.
const USE_STEP: Duration = Duration::from_secs(24 * 60 * 60);

impl VerdictCache {
    /// Opens the cache of the user.
    pub(crate) fn new(session: &Session, executables: Arc<ProviderExecutables>) -> VerdictCache {
        let is_off = session.system.variable(SWITCH);
        let is_off = is_off.is_some_and(|it| ["off", "0", "false"].contains(&it.as_str()));
        let directory = schema_cache::directory(session).filter(|_| !is_off);
        let directory = directory.map(|it| it.join("verdicts"));
        let key = directory.as_ref().and_then(|directory| key_in(directory));
        VerdictCache {
            directory,
            keyed: key.and_then(|key| Hmac::new_from_slice(&key).ok()),
            root: fs::canonicalize(session.at(".")).unwrap_or_default(),
            files: NamedFiles::new(session),
            executables,
            identities: Mutex::default(),
            added: Mutex::default(),
        }
    }

    /// The file of a verdict. `None` if the verdict cannot be cached: there is no cache, or the configuration
    /// names a directory or a file that cannot be read.
    fn path(&self, executable: ExecutableHash, question: &Question<'_>) -> Option<PathBuf> {
        let directory = self.directory.as_ref()?;
        let files = self.files.digest(question.value)?;
        let call = match question.call {
            Call::Resource(ResourceMode::Managed) => 0u8,
            Call::Resource(ResourceMode::Data) => 1,
            Call::Resource(ResourceMode::Ephemeral) => 2,
            Call::Provisioner => 3,
        };
        let mut mac = self.keyed.clone()?;
        let root = self.root.as_os_str().as_encoded_bytes();
        let about = [&[call][..], question.type_name.as_bytes(), question.config];
        for part in [&executable[..], root, &files].into_iter().chain(about) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        let name = base16ct::lower::encode_string(&mac.finalize().into_bytes());
        Some(directory.join(&name[..2]).join(name))
    }

    fn identity(&self, plugin: &PluginName) -> Option<ExecutableHash> {
        let mut identities = self.identities.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = identities.get(plugin) {
            return *known;
        }
        let identity = self.executables.identity(plugin);
        identities.insert(plugin.clone(), identity);
        identity
    }

    fn keep(&self, path: &Path) {
        let Some(directory) = path.parent() else { return };
        if schema_cache::keep(path, &[]).is_err() {
            return;
        }
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        let count = added.entry(directory.to_owned()).or_default();
        *count += 1;
        if *count % SWEEP_EVERY == 1 {
            sweep(directory, SystemTime::now());
        }
    }
}

/// The user's key. Creates it if there is none.
fn key_in(directory: &Path) -> Option<Vec<u8>> {
    let path = directory.join("key");
    match fs::read(&path) {
        Ok(key) if key.len() == KEY_SIZE => Some(key),
        _ => {
            let halves = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()];
            let key: Vec<u8> = halves.iter().flat_map(|it| *it.as_bytes()).collect();
            schema_cache::keep(&path, &key).ok()?;
            Some(key)
        }
    }
}

/// Removes verdicts that were not used for a long time, and the oldest ones above the maximum.
fn sweep(directory: &Path, now: SystemTime) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let used = |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut verdicts: Vec<(SystemTime, PathBuf)> = entries.filter_map(used).collect();
    sorted::sort(&mut verdicts);
    let too_many = verdicts.len().saturating_sub(MOST);
    let is_old = |used: &SystemTime| now.duration_since(*used).is_ok_and(|it| it > LONGEST_UNUSED);
    for (index, (used, path)) in verdicts.iter().enumerate() {
        if index < too_many || is_old(used) {
            // Ignore a failure: another process may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns true if a verdict exists. Updates the time of its last use.
fn is_kept(path: &Path, now: SystemTime) -> bool {
    let Ok(meta) = fs::metadata(path) else { return false };
    let is_recent =
        meta.modified().is_ok_and(|it| now.duration_since(it).is_ok_and(|it| it < USE_STEP));
    if !is_recent {
        let _ = fs::File::options().write(true).open(path).and_then(|it| it.set_modified(now));
    }
    meta.is_file()
}

impl Verdicts for VerdictCache {
    fn has_passed(&self, plugin: &PluginName, question: &Question<'_>) -> bool {
        let path = self.identity(plugin).and_then(|it| self.path(it, question));
        path.is_some_and(|path| is_kept(&path, SystemTime::now()))
    }

    fn passed(&self, plugin: &PluginName, question: &Question<'_>) {
        // Skip the verdict if a named file changed: the provider may have read the new content.
        let is_sound = self.files.are_as_before(question.value);
        let executable = self.executables.started_identity(plugin).filter(|_| is_sound);
        if let Some(path) = executable.and_then(|it| self.path(it, question)) {
            self.keep(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(directory: &Path, name: &str, used: SystemTime) -> PathBuf {
        let path = directory.join(name);
        let file = fs::File::create(&path).expect("can be made");
        file.set_modified(used).expect("can be set");
        path
    }

    #[test]
    fn sweep_removes_old_and_least_recently_used_verdicts() {
        let directory = tempfile::tempdir().expect("can be made");
        let directory = directory.path();
        let now = SystemTime::UNIX_EPOCH + LONGEST_UNUSED * 20;
        let ago = |seconds: u64| now - Duration::from_secs(seconds);
        let unused = verdict(directory, "unused", now - LONGEST_UNUSED - Duration::from_secs(1));
        for number in 0..MOST as u64 + 3 {
            verdict(directory, &format!("v{number}"), ago(1_000_000 - number));
        }
        sweep(directory, now);
        assert!(!unused.exists());
        assert_eq!(fs::read_dir(directory).expect("is there").count(), MOST);
        for (name, stays) in [("v0", false), ("v2", false), ("v3", true), ("v514", true)] {
            assert_eq!(directory.join(name).exists(), stays, "{name}");
        }
    }

    #[test]
    fn used_verdict_is_kept() {
        let directory = tempfile::tempdir().expect("can be made");
        let now = SystemTime::UNIX_EPOCH + LONGEST_UNUSED * 20;
        let path = verdict(directory.path(), "v", now - LONGEST_UNUSED);
        assert!(is_kept(&path, now));
        sweep(directory.path(), now + LONGEST_UNUSED / 2);
        assert!(path.exists());
        assert!(!is_kept(&directory.path().join("other"), now));
    }
}
