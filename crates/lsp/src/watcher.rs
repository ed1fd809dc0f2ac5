//! Being told what others do to files, where the client cannot tell.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::mpsc::Sender,
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::server::Message;

/// Watches directories. Where the system has no more to give, changes are noticed when a file is opened or saved.
pub(crate) struct OwnWatcher {
    watcher: Option<RecommendedWatcher>,
    directories: BTreeSet<PathBuf>,
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
        OwnWatcher { watcher: notify::recommended_watcher(tell).ok(), directories: BTreeSet::new() }
    }

    /// Watches these directories, and no others.
    pub(crate) fn set(&mut self, wanted: BTreeSet<PathBuf>) {
        let Some(watcher) = &mut self.watcher else { return };
        for gone in self.directories.difference(&wanted) {
            // It may not be there any more.
            let _ = watcher.unwatch(gone);
        }
        for new in wanted.difference(&self.directories) {
            let _ = watcher.watch(new, RecursiveMode::NonRecursive);
        }
        self.directories = wanted;
    }
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
