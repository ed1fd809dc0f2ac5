//! A disk cache of configurations that providers have validated successfully.
//!
//! A verdict is a keyed hash of its inputs: the executable, the root directory, the call, the type, the
//! configuration, and the content of each file that a string of the configuration names. The key is stored beside the
//! verdicts and is private to the user. Without the key, other users cannot test guesses at a configuration.
//!
//! ```text
//!   verdicts/key      verdicts/3f.verdicts      the hashes that begin with 3f, each with the day of its last use
//! ```
//!
//! **Invariant:** no part of a configuration or of a file can be derived from the cache.
//! **Invariant:** a verdict is stored under the executable that gave it, even if the file was replaced in the
//! meantime.

mod files;
mod shards;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use addr::ResourceMode;
use engine::{Call, PluginName, Question, Verdicts};
use hmac::{Hmac, KeyInit, Mac};
use provider::schema_codec::ExecutableHash;
use sha2::Sha256;
use sorted::TreeMap;

use self::{
    files::NamedFiles,
    shards::{Name, Shards},
};
use crate::{located::ProviderExecutables, schema_cache, session::Session};

/// The verdict cache of the user.
pub(crate) struct VerdictCache {
    /// `None` without a home directory, or if the user disabled the cache.
    shards: Option<Shards>,
    /// The hash that was given the key, and nothing else yet. `None` if there is no directory or no key.
    keyed: Option<Hmac<Sha256>>,
    /// The canonical path of the root directory.
    root: PathBuf,
    files: NamedFiles,
    executables: Arc<ProviderExecutables>,
    /// The executable of each plugin, which is looked up once in a run.
    identities: Mutex<TreeMap<PluginName, Option<ExecutableHash>>>,
}

const KEY_SIZE: usize = 32;

/// The environment variable that disables the cache with `off`, `0` or `false`.
const SWITCH: &str = "MAYFLY_VERDICT_CACHE";

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

impl VerdictCache {
    /// Opens the cache of the user.
    pub(crate) fn new(session: &Session, executables: Arc<ProviderExecutables>) -> VerdictCache {
        let is_off = session.system.variable(SWITCH);
        let is_off = is_off.is_some_and(|it| ["off", "0", "false"].contains(&it.as_str()));
        let directory = schema_cache::directory(session).filter(|_| !is_off);
        let directory = directory.map(|it| it.join("verdicts"));
        let key = directory.as_ref().and_then(|directory| key_in(directory));
        VerdictCache {
            shards: directory.map(|it| Shards::new(it, today())),
            keyed: key.and_then(|key| Hmac::new_from_slice(&key).ok()),
            root: fs::canonicalize(session.at(".")).unwrap_or_default(),
            files: NamedFiles::new(session),
            executables,
            identities: Mutex::default(),
        }
    }

    /// The name of a verdict. `None` if the verdict cannot be cached: there is no key, or the configuration names a
    /// directory or a file that cannot be read.
    fn name(&self, executable: ExecutableHash, question: &Question<'_>) -> Option<Name> {
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
        mac.finalize().into_bytes().first_chunk().copied()
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
}

/// The present day.
fn today() -> shards::Day {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (now.as_secs() / SECONDS_OF_A_DAY) as shards::Day
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

impl Verdicts for VerdictCache {
    fn has_passed(&self, plugin: &PluginName, question: &Question<'_>) -> bool {
        let Some(shards) = &self.shards else { return false };
        let name = self.identity(plugin).and_then(|it| self.name(it, question));
        name.is_some_and(|it| shards.has(&it))
    }

    fn passed(&self, plugin: &PluginName, question: &Question<'_>) {
        let Some(shards) = &self.shards else { return };
        // Skip the verdict if a named file changed: the provider may have read the new content.
        let is_sound = self.files.are_as_before(question.value);
        let executable = self.executables.started_identity(plugin).filter(|_| is_sound);
        if let Some(name) = executable.and_then(|it| self.name(it, question)) {
            shards.add(name);
        }
    }
}
