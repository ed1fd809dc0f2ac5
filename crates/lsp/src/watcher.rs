//! File watching for clients that do not watch files themselves.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// A watcher of directories. If the system has no watches left, changes by other programs are noticed only when a
/// file is opened or closed.
pub(crate) struct OwnWatcher {
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// Wanted directories that do not exist. Their nearest existing parent is watched instead.
    absent: BTreeSet<PathBuf>,
}

impl OwnWatcher {
    /// Creates a watcher without directories. `report` receives the paths of each change.
    pub(crate) fn new(report: impl Fn(Vec<String>) + Send + 'static) -> OwnWatcher {
        let tell = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            // Read accesses are not changes.
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            let paths = event.paths.iter().filter_map(|path| path.to_str()).map(str::to_owned);
            report(paths.collect());
        };
        OwnWatcher {
            watcher: notify::recommended_watcher(tell).ok(),
            watched: BTreeSet::new(),
            absent: BTreeSet::new(),
        }
    }

    /// Stops the watch of a directory that changed itself, because the system drops the watches of removed
    /// directories.
    pub(crate) fn forget(&mut self, directory: &Path) {
        let Some(watcher) = &mut self.watcher else { return };
        if self.watched.remove(directory) {
            // The directory may not exist any more.
            let _ = watcher.unwatch(directory);
            self.absent.insert(directory.to_owned());
        }
    }

    /// Watches exactly the wanted directories. Returns those that did not exist at the last call; changes in them
    /// until now were not reported.
    pub(crate) fn set(&mut self, wanted: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let Some(watcher) = &mut self.watcher else { return Vec::new() };
        let mut watched = BTreeSet::new();
        let mut absent = BTreeSet::new();
        for directory in wanted {
            let can_watch = |path: &&Path| {
                watched.contains(*path)
                    || self.watched.contains(*path)
                    || watcher.watch(path, RecursiveMode::NonRecursive).is_ok()
            };
            let Some(nearest) = nearest(directory, can_watch) else { continue };
            if nearest != directory {
                absent.insert(directory.clone());
            }
            watched.insert(nearest.to_owned());
        }
        for gone in self.watched.difference(&watched) {
            // The directory may not exist any more.
            let _ = watcher.unwatch(gone);
        }
        self.watched = watched;
        let before = std::mem::replace(&mut self.absent, absent);
        before.into_iter().filter(|it| self.watched.contains(it)).collect()
    }
}

/// The directory, or its nearest parent that can be watched. Looks again after each watch, because a directory may
/// be created in the meantime.
fn nearest(directory: &Path, mut can_watch: impl FnMut(&&Path) -> bool) -> Option<&Path> {
    let mut nearest = directory.ancestors().find(&mut can_watch)?;
    while nearest != directory {
        let again = directory.ancestors().find(&mut can_watch)?;
        if again == nearest {
            break;
        }
        nearest = again;
    }
    Some(nearest)
}

/// The directories whose files are relevant for the given modules: their own, and the one in which `init` installs
/// modules.
pub(crate) fn directories<'m>(modules: impl Iterator<Item = &'m str>) -> BTreeSet<PathBuf> {
    let mut directories = BTreeSet::new();
    for module in modules {
        let module = Path::new(module);
        let installed = module.join(".terraform/modules");
        directories.extend([module.to_owned(), installed]);
    }
    directories
}
