//! Configurations that providers found good, remembered on disk (DESIGN 3, Providers).
//!
//! A verdict is an empty file whose name is a keyed hash of executable, call, type and configuration. The key lies beside
//! them and belongs to the user, so that a name tells nobody else whether a guess at a configuration is right.
//!
//! **Invariant:** nothing of a configuration can be read from what is kept.

use std::{fs, path::PathBuf, sync::Arc};

use addr::{ProviderSource, ResourceMode};
use engine::{Question, Verdicts};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::{located::ProviderExecutables, schema_cache, session::Session};

/// The verdicts of one machine's user.
pub(crate) struct VerdictCache {
    directory: Option<PathBuf>,
    key: Vec<u8>,
    executables: Arc<ProviderExecutables>,
}

const KEY_SIZE: usize = 32;

impl VerdictCache {
    pub(crate) fn new(session: &Session, executables: Arc<ProviderExecutables>) -> VerdictCache {
        let directory = schema_cache::directory(session).map(|it| it.join("verdicts"));
        let key = directory.as_ref().and_then(|directory| {
            let path = directory.join("key");
            match fs::read(&path) {
                Ok(key) if key.len() == KEY_SIZE => Some(key),
                _ => {
                    let key: Vec<u8> = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()]
                        .iter()
                        .flat_map(|it| *it.as_bytes())
                        .collect();
                    schema_cache::keep(&path, &key).ok()?;
                    Some(key)
                }
            }
        });
        VerdictCache {
            directory: directory.filter(|_| key.is_some()),
            key: key.unwrap_or_default(),
            executables,
        }
    }

    fn path(&self, provider: &ProviderSource, question: &Question<'_>) -> Option<PathBuf> {
        let directory = self.directory.as_ref()?;
        let executable = self.executables.identity(provider)?;
        let mode = match question.mode {
            ResourceMode::Managed => 0u8,
            ResourceMode::Data => 1,
            ResourceMode::Ephemeral => 2,
        };
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        for part in [&executable[..], &[mode], question.type_name.as_bytes(), question.config] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        let name = schema_cache::hex(&mac.finalize().into_bytes());
        Some(directory.join(&name[..2]).join(name))
    }
}

impl Verdicts for VerdictCache {
    fn has_passed(&self, provider: &ProviderSource, question: &Question<'_>) -> bool {
        self.path(provider, question).is_some_and(|path| path.is_file())
    }

    fn passed(&self, provider: &ProviderSource, question: &Question<'_>) {
        if let Some(path) = self.path(provider, question) {
            let _ = schema_cache::keep(&path, &[]);
        }
    }
}
