//! Detects changes in the files that a plan is made from, other than the configuration files.
//!
//! **Invariant:** of a variables file or a state, this module keeps only a keyed hash.

use std::{
    hash::{BuildHasher, RandomState},
    path::{Path, PathBuf},
};

use operations::{
    session::{Failure, LOCK_FILE},
    store::{self, StateOptions},
    variables::{automatic_files, flag::VarFlag},
};

use crate::session::CommandSession;

/// The files, and their hashes at the last check.
pub(super) struct OtherFiles {
    hasher: RandomState,
    paths: Paths,
    hashes: FileHashes,
}

/// The paths of the files.
struct Paths {
    state: PathBuf,
    manifest: PathBuf,
    named: Vec<PathBuf>,
}

/// The hashes of the files, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct FileHashes {
    /// The files that `init` writes.
    setup: u64,
    variables: u64,
    state: u64,
}

/// The kinds of files that changed.
#[derive(Clone, Copy, Default)]
pub(super) struct Changed {
    pub(super) setup: bool,
    pub(super) variables: bool,
    pub(super) state: bool,
}

impl OtherFiles {
    /// Creates the detector with the current hashes.
    pub(super) fn new(
        session: &CommandSession,
        options: &StateOptions,
        flags: &[VarFlag],
    ) -> Result<OtherFiles, Failure> {
        let named = flags.iter().filter_map(|flag| match flag {
            VarFlag::File(path) => Some(path.clone()),
            VarFlag::Value(_) => None,
        });
        let paths = Paths {
            state: store::state_path(session, options)?,
            manifest: session.module_manifest_path(),
            named: named.collect(),
        };
        let mut files =
            OtherFiles { hasher: RandomState::new(), paths, hashes: FileHashes::default() };
        files.hashes = files.hashes(session);
        Ok(files)
    }

    /// Returns the kinds of files that changed since the last call.
    pub(super) fn follow(&mut self, session: &CommandSession) -> Changed {
        let hashes = self.hashes(session);
        let before = std::mem::replace(&mut self.hashes, hashes);
        Changed {
            setup: before.setup != hashes.setup,
            variables: before.variables != hashes.variables,
            state: before.state != hashes.state,
        }
    }

    fn hashes(&self, session: &CommandSession) -> FileHashes {
        let mut variables = automatic_files(&*session.system, Path::new(".")).unwrap_or_default();
        variables.extend(self.paths.named.iter().cloned());
        FileHashes {
            setup: self.hash(session, &[PathBuf::from(LOCK_FILE), self.paths.manifest.clone()]),
            variables: self.hash(session, &variables),
            state: self.hash(session, std::slice::from_ref(&self.paths.state)),
        }
    }

    fn hash(&self, session: &CommandSession, paths: &[PathBuf]) -> u64 {
        let read = |path: &PathBuf| (path.clone(), session.system.read_file(path).ok());
        self.hasher.hash_one(paths.iter().map(read).collect::<Vec<_>>())
    }

    /// The directories of the files.
    pub(super) fn directories(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let Paths { state, manifest, named } = &self.paths;
        [state, manifest].into_iter().chain(named).map(|path| directory_of(path))
    }
}

/// The directory of a file.
pub(super) fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
