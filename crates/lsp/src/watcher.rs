//! Being told what others do to files, where the client cannot tell.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::mpsc::Sender,
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::server::Message;

/// Watches directories. Where the system has no more watches to give, what others do to a file is noticed when it is opened or
/// closed here.
pub(crate) struct OwnWatcher {
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// What is to be watched and is not there: the directory that it would be in is watched for it.
    absent: BTreeSet<PathBuf>,
}

impl OwnWatcher {
    pub(crate) fn new(messages: Sender<Message>) -> OwnWatcher {
        let tell = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            // Looking at a file is no change of it.
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            let paths = event.paths.iter().filter_map(|path| path.to_str()).map(str::to_owned);
            let _ = messages.send(Message::Watched(paths.collect()));
        };
        OwnWatcher {
            watcher: notify::recommended_watcher(tell).ok(),
            watched: BTreeSet::new(),
            absent: BTreeSet::new(),
        }
    }

    /// Takes over that something happened to a directory itself: the system forgets those that go.
    pub(crate) fn forget(&mut self, directory: &Path) {
        let Some(watcher) = &mut self.watcher else { return };
        if self.watched.remove(directory) {
            // It may not be there any more.
            let _ = watcher.unwatch(directory);
            self.absent.insert(directory.to_owned());
        }
    }

    /// Watches these directories, and no others. Gives those that were not there the last time: what happened in them until
    /// now nobody has told.
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
            // It may not be there any more.
            let _ = watcher.unwatch(gone);
        }
        self.watched = watched;
        let before = std::mem::replace(&mut self.absent, absent);
        before.into_iter().filter(|it| self.watched.contains(it)).collect()
    }
}

/// A directory, or the nearest above it that can be watched. What comes while this looks is found by looking once more.
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

/// The directories whose files count for the modules in `modules`: their own, and where `init` leaves something.
pub(crate) fn directories<'m>(modules: impl Iterator<Item = &'m str>) -> BTreeSet<PathBuf> {
    let mut directories = BTreeSet::new();
    for module in modules {
        let module = Path::new(module);
        let installed = module.join(".terraform/modules");
        directories.extend([module.to_owned(), installed]);
    }
    directories
}
