//! Watches directories of the file system for changes, for `watch` and the language server.
//!
//! Start reading at [`FileWatcher`].
//!
//! ```text
//!   owner ──set(directories)──► FileWatcher ──► watches of the operating system
//!     ▲                                                    │ event
//!     └──────────── Change { paths } ◄── report ◄──────────┘
//! ```
//!
//! A [`Change`] is a hint to compare files again, never a proof that one differs: each owner compares contents
//! (`project::Files`, `SourceTree::reload`), and joins the changes of one save in its own loop.
//!
//! **Invariant:** a wanted directory that does not exist is watched through its nearest existing parent, and the call
//! of [`FileWatcher::set`] after its creation reports it as appeared.
//! **Absent on purpose:** the content of files, patterns of names, waiting.
//!
//! Its tests are below, over watches in memory: no file, no clock.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge crate: the watches of the system are about the file system itself"
)]

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, event::AccessKind};
use sorted::{TreeMap, TreeSet};

/// A change in the watched directories.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    /// The files and directories that changed. Empty if the system lost track of them; any may have changed then.
    pub paths: Vec<PathBuf>,
}

/// The effect of [`FileWatcher::set`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct WatchEffect {
    /// The directories whose watch began with this call. Earlier changes in them were not reported.
    pub watched: Vec<PathBuf>,
    /// The wanted directories that are watched now, and did not exist at the last call.
    pub appeared: Vec<PathBuf>,
}

/// A watcher of a set of directories.
pub struct FileWatcher {
    /// `None` if the system has no watches at all.
    watches: Option<Box<dyn Watches>>,
    /// The watched directories. The identity detects that another directory took the place of a watched one.
    watched: TreeMap<PathBuf, Identity>,
    /// The wanted directories that do not exist. Their nearest existing parent is watched instead.
    absent: TreeSet<PathBuf>,
    is_complete: bool,
}

/// The device and the inode of a directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Identity {
    device: u64,
    inode: u64,
}

/// The watches of the operating system.
trait Watches {
    /// Adds a watch. Returns false if the system refuses it.
    fn add(&mut self, directory: &Path) -> bool;

    /// Removes a watch. Does nothing if the directory is gone, because its watch is gone with it.
    fn remove(&mut self, directory: &Path);

    /// The identity of a directory. `None` if there is no directory at the path.
    fn identity(&self, directory: &Path) -> Option<Identity>;
}

impl FileWatcher {
    /// Creates a watcher without directories. A thread of the watcher passes each change to `report`.
    pub fn new(report: impl Fn(Change) + Send + 'static) -> FileWatcher {
        let on_event = move |event| {
            if let Some(change) = change_of(event) {
                report(change);
            }
        };
        let watcher = notify::recommended_watcher(on_event).ok();
        FileWatcher::over(watcher.map(|it| Box::new(it) as Box<dyn Watches>))
    }

    fn over(watches: Option<Box<dyn Watches>>) -> FileWatcher {
        let is_complete = watches.is_some();
        FileWatcher { watches, watched: TreeMap::new(), absent: TreeSet::new(), is_complete }
    }

    /// Watches exactly these directories. For a missing directory it watches the nearest existing parent.
    pub fn set(&mut self, wanted: &TreeSet<PathBuf>) -> WatchEffect {
        let FileWatcher { watches: Some(watches), watched, .. } = self else {
            return WatchEffect::default();
        };
        let mut update = Update {
            watches: &mut **watches,
            before: watched,
            now: TreeMap::new(),
            begun: Vec::new(),
            is_complete: true,
        };
        let mut absent = TreeSet::new();
        for directory in wanted {
            if update.watch_nearest(directory).as_deref() != Some(directory) {
                absent.insert(directory.clone());
            }
        }
        let Update { now, begun, is_complete, .. } = update;
        for gone in watched.keys().filter(|it| !now.contains_key(*it)) {
            watches.remove(gone);
        }
        *watched = now;
        self.is_complete = is_complete;
        let before = std::mem::replace(&mut self.absent, absent);
        let appeared = before.into_iter().filter(|it| self.watched.contains_key(it)).collect();
        WatchEffect { watched: begun, appeared }
    }

    /// Removes the watch of a directory that was itself changed: the system drops the watches of removed directories,
    /// and a new directory may have the identity of the removed one. The next [`FileWatcher::set`] watches it again,
    /// and reports it as appeared.
    pub fn forget(&mut self, directory: &Path) {
        let Some(watches) = &mut self.watches else { return };
        if self.watched.remove(directory).is_some() {
            watches.remove(directory);
            self.absent.insert(directory.to_owned());
        }
    }

    /// Returns false if the system refused a watch, so that some changes are not reported. The owner can compare the
    /// files at intervals instead.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

/// One call of [`FileWatcher::set`].
struct Update<'w> {
    watches: &'w mut dyn Watches,
    before: &'w TreeMap<PathBuf, Identity>,
    now: TreeMap<PathBuf, Identity>,
    begun: Vec<PathBuf>,
    is_complete: bool,
}

impl Update<'_> {
    /// Watches a directory, or its nearest parent that can be watched, and returns it. Looks again after each new
    /// watch, because a directory may be created in the meantime.
    fn watch_nearest(&mut self, directory: &Path) -> Option<PathBuf> {
        let mut nearest = self.watch_first(directory)?;
        while nearest != directory {
            let again = self.watch_first(directory)?;
            if again == nearest {
                break;
            }
            nearest = again;
        }
        Some(nearest)
    }

    fn watch_first(&mut self, directory: &Path) -> Option<PathBuf> {
        // The last parent of a relative path is empty, and means the working directory.
        let here = Path::new(".");
        let parents =
            directory.ancestors().map(|it| if it.as_os_str().is_empty() { here } else { it });
        parents.into_iter().find(|it| self.watch(it)).map(Path::to_owned)
    }

    /// Watches one directory. Returns false if that is not possible.
    fn watch(&mut self, directory: &Path) -> bool {
        let Some(identity) = self.watches.identity(directory) else { return false };
        if self.now.get(directory) == Some(&identity) {
            return true;
        }
        match self.before.get(directory) {
            Some(known) if *known == identity => {}
            known => {
                if known.is_some() {
                    self.watches.remove(directory);
                }
                if !self.watches.add(directory) {
                    // A directory that was removed in the meantime is only missing.
                    self.is_complete &= self.watches.identity(directory).is_none();
                    return false;
                }
                self.begun.push(directory.to_owned());
            }
        }
        self.now.insert(directory.to_owned(), identity);
        true
    }
}

impl Watches for RecommendedWatcher {
    fn add(&mut self, directory: &Path) -> bool {
        self.watch(directory, RecursiveMode::NonRecursive).is_ok()
    }

    fn remove(&mut self, directory: &Path) {
        // The only failure is that there is no such watch.
        let _ = self.unwatch(directory);
    }

    fn identity(&self, directory: &Path) -> Option<Identity> {
        let meta = std::fs::metadata(directory).ok().filter(std::fs::Metadata::is_dir)?;
        Some(Identity { device: meta.dev(), inode: meta.ino() })
    }
}

/// The change that an event of the system means. `None` for reads, and for files that are only opened.
fn change_of(event: notify::Result<notify::Event>) -> Option<Change> {
    // After an error, events may be missing.
    let Ok(event) = event else { return Some(Change { paths: Vec::new() }) };
    let is_read = match event.kind {
        EventKind::Access(AccessKind::Close(_)) => false,
        EventKind::Access(_) => true,
        _ => false,
    };
    (!is_read).then_some(Change { paths: event.paths })
}

#[cfg(test)]
mod tests;
