//! Detects changes in the files that a plan is made from, other than the configuration files.
//!
//! **Invariant:** of a variables file or a state, this module keeps only a keyed hash.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher, event::AccessKind};
use tokio::sync::mpsc::UnboundedSender;

use super::input::Input;
use operations::{
    session::{Failure, LOCK_FILE},
    store::{self, StateOptions},
    variables::flag::VarFlag,
};

use crate::session::CommandSession;

/// The files, and their hashes at the last check.
pub(super) struct Beside {
    hasher: RandomState,
    paths: Paths,
    seen: Seen,
}

/// The paths of the files.
struct Paths {
    state: PathBuf,
    manifest: PathBuf,
    named: Vec<PathBuf>,
}

/// The hashes of the files, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Seen {
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

impl Beside {
    /// Creates the detector with the current hashes.
    pub(super) fn new(
        session: &CommandSession,
        options: &StateOptions,
        flags: &[VarFlag],
    ) -> Result<Beside, Failure> {
        let named = flags.iter().filter_map(|flag| match flag {
            VarFlag::File(path) => Some(path.clone()),
            VarFlag::Value(_) => None,
        });
        let paths = Paths {
            state: store::state_path(session, options)?,
            manifest: session.module_manifest_path(),
            named: named.collect(),
        };
        let mut beside = Beside { hasher: RandomState::new(), paths, seen: Seen::default() };
        beside.seen = beside.look(session);
        Ok(beside)
    }

    /// Returns the kinds of files that changed since the last call.
    pub(super) fn follow(&mut self, session: &CommandSession) -> Changed {
        let seen = self.look(session);
        let before = std::mem::replace(&mut self.seen, seen);
        Changed {
            setup: before.setup != seen.setup,
            variables: before.variables != seen.variables,
            state: before.state != seen.state,
        }
    }

    fn look(&self, session: &CommandSession) -> Seen {
        let mut variables: Vec<PathBuf> =
            ["terraform.tfvars", "terraform.tfvars.json"].map(PathBuf::from).into();
        let entries = session.system.list_directory(Path::new(".")).unwrap_or_default();
        let names = entries.into_iter().map(|entry| entry.name);
        let automatic =
            names.filter(|it| it.ends_with(".auto.tfvars") || it.ends_with(".auto.tfvars.json"));
        variables.extend(automatic.map(PathBuf::from));
        variables.extend(self.paths.named.iter().cloned());
        Seen {
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

/// The device and inode of a directory. `None` if there is no directory.
type Identity = Option<(u64, u64)>;

/// A file system watcher that sends an input for each change in a set of directories.
pub(super) struct Watched {
    watcher: Option<RecommendedWatcher>,
    /// The watched directories. The identity detects that a directory was replaced by another one with the same
    /// name.
    directories: BTreeSet<(PathBuf, Identity)>,
    inputs: UnboundedSender<Input>,
}

impl Watched {
    /// Creates a watcher without directories.
    pub(super) fn new(inputs: UnboundedSender<Input>) -> Watched {
        let told = inputs.clone();
        let tell = move |event: notify::Result<notify::Event>| {
            // Reading a file is not a change.
            let is_look = |kind: &EventKind| match kind {
                EventKind::Access(access) => !matches!(access, AccessKind::Close(_)),
                _ => false,
            };
            if !event.is_ok_and(|it| is_look(&it.kind)) {
                let _ = told.send(Input::Files);
            }
        };
        let watcher = notify::recommended_watcher(tell).ok();
        Watched { watcher, directories: BTreeSet::new(), inputs }
    }

    /// Watches exactly these directories. For a missing directory it watches the nearest existing parent.
    pub(super) fn set(&mut self, session: &CommandSession, wanted: impl Iterator<Item = PathBuf>) {
        let wanted = wanted.map(|path| existing(session, path)).map(|path| {
            let identity = identity(&path);
            (path, identity)
        });
        let wanted: BTreeSet<(PathBuf, Identity)> = wanted.collect();
        let Some(watcher) = &mut self.watcher else { return };
        for (gone, _) in self.directories.difference(&wanted) {
            // Ignore a failure: the directory may no longer exist.
            let _ = watcher.unwatch(gone);
        }
        let mut failed = false;
        for (new, _) in wanted.difference(&self.directories) {
            failed |= watcher.watch(new, RecursiveMode::NonRecursive).is_err();
            // A change between reading the files and this call was not reported, so check the files again.
            let _ = self.inputs.send(Input::Files);
        }
        self.directories = wanted;
        if failed {
            // The system has no watches left. Fall back to polling.
            self.watcher = None;
        }
    }

    /// Returns true if there is no file system watcher, so that the files must be polled.
    pub(super) fn is_blind(&self) -> bool {
        self.watcher.is_none()
    }
}

fn identity(path: &Path) -> Identity {
    std::fs::metadata(path).ok().map(|it| (it.dev(), it.ino()))
}

fn existing(session: &CommandSession, path: PathBuf) -> PathBuf {
    let mut path = path;
    while !session.system.is_directory(&path) {
        path = directory_of(&path);
        if path == Path::new(".") || path == Path::new("/") {
            break;
        }
    }
    path
}
