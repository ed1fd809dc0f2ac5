//! Tests over watches in memory.

use std::{cell::RefCell, rc::Rc};

use notify::{
    Event,
    event::{AccessMode, ModifyKind},
};

use super::*;

/// A file system with directories only, and the watches of it.
#[derive(Default)]
struct Memory {
    directories: TreeMap<PathBuf, u64>,
    watched: Vec<PathBuf>,
    /// The directories that the system does not watch.
    refused: TreeSet<PathBuf>,
}

impl Watches for Rc<RefCell<Memory>> {
    fn add(&mut self, directory: &Path) -> bool {
        let mut memory = self.borrow_mut();
        let is_added = !memory.refused.contains(directory);
        if is_added {
            memory.watched.push(directory.to_owned());
        }
        is_added
    }

    fn remove(&mut self, directory: &Path) {
        self.borrow_mut().watched.retain(|it| it != directory);
    }

    fn identity(&self, directory: &Path) -> Option<Identity> {
        let inode = *self.borrow().directories.get(directory)?;
        Some(Identity { device: 0, inode })
    }
}

struct Fixture {
    memory: Rc<RefCell<Memory>>,
    watcher: FileWatcher,
}

impl Fixture {
    fn new(directories: &[&str]) -> Fixture {
        let memory = Rc::new(RefCell::new(Memory::default()));
        let watcher = FileWatcher::over(Some(Box::new(Rc::clone(&memory))));
        let mut fixture = Fixture { memory, watcher };
        directories.iter().for_each(|it| fixture.create(it));
        fixture
    }

    /// Creates a directory with a new identity.
    fn create(&mut self, directory: &str) {
        let mut memory = self.memory.borrow_mut();
        let inode = memory.directories.values().max().map_or(1, |last| last + 1);
        memory.directories.insert(directory.into(), inode);
    }

    /// Watches directories. Returns those whose watch began, and those that appeared.
    fn set(&mut self, wanted: &[&str]) -> (Vec<String>, Vec<String>) {
        let begun = self.watcher.set(&wanted.iter().map(PathBuf::from).collect());
        (texts(&begun.watched), texts(&begun.appeared))
    }

    #[track_caller]
    fn check_watched(&self, expected: &[&str]) {
        let mut watched = texts(&self.memory.borrow().watched);
        watched.sort();
        assert_eq!(watched, expected);
    }
}

fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|it| it.display().to_string()).collect()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn exactly_the_wanted_directories_are_watched() {
    let mut fixture = Fixture::new(&["/", "/a", "/b", "/c"]);
    assert_eq!(fixture.set(&["/a", "/b"]), (owned(&["/a", "/b"]), vec![]));
    assert_eq!(fixture.set(&["/b", "/c"]), (owned(&["/c"]), vec![]));
    fixture.check_watched(&["/b", "/c"]);
    assert!(fixture.watcher.is_complete());
}

#[test]
fn a_missing_directory_is_watched_through_its_parent_until_it_appears() {
    let mut fixture = Fixture::new(&["/", "/a"]);
    assert_eq!(fixture.set(&["/a/b/c"]), (owned(&["/a"]), vec![]));
    fixture.create("/a/b");
    assert_eq!(fixture.set(&["/a/b/c"]), (owned(&["/a/b"]), vec![]));
    fixture.create("/a/b/c");
    assert_eq!(fixture.set(&["/a/b/c"]), (owned(&["/a/b/c"]), owned(&["/a/b/c"])));
    fixture.check_watched(&["/a/b/c"]);
}

#[test]
fn the_last_parent_of_a_relative_path_is_the_working_directory() {
    let mut fixture = Fixture::new(&["."]);
    assert_eq!(fixture.set(&["modules/x"]), (owned(&["."]), vec![]));
}

#[test]
fn a_directory_that_another_one_replaced_is_watched_again() {
    let mut fixture = Fixture::new(&["/", "/a"]);
    fixture.set(&["/a"]);
    fixture.create("/a");
    assert_eq!(fixture.set(&["/a"]), (owned(&["/a"]), vec![]));
    fixture.check_watched(&["/a"]);
}

#[test]
fn a_forgotten_directory_is_watched_again_even_with_the_same_identity() {
    let mut fixture = Fixture::new(&["/", "/a"]);
    fixture.set(&["/a"]);
    fixture.watcher.forget(Path::new("/a"));
    fixture.check_watched(&[]);
    assert_eq!(fixture.set(&["/a"]), (owned(&["/a"]), owned(&["/a"])));
    // Only watched directories are forgotten.
    fixture.watcher.forget(Path::new("/"));
    assert_eq!(fixture.set(&["/a"]), (vec![], vec![]));
}

#[test]
fn a_refused_watch_makes_the_watcher_incomplete() {
    let mut fixture = Fixture::new(&["/", "/a"]);
    fixture.memory.borrow_mut().refused.insert("/a".into());
    assert_eq!(fixture.set(&["/a"]), (owned(&["/"]), vec![]));
    assert!(!fixture.watcher.is_complete());
    fixture.memory.borrow_mut().refused.clear();
    fixture.set(&["/a"]);
    assert!(fixture.watcher.is_complete());
}

#[test]
fn a_system_without_watches_is_incomplete() {
    let mut watcher = FileWatcher::over(None);
    assert!(!watcher.is_complete());
    assert_eq!(watcher.set(&[PathBuf::from("/")].into()), WatchEffect::default());
}

#[test]
fn reading_a_file_is_no_change() {
    let change = |kind| change_of(Ok(Event::new(kind).add_path("/a/main.tf".into())));
    let changed = Some(Change { paths: vec!["/a/main.tf".into()] });
    assert_eq!(change(EventKind::Access(AccessKind::Read)), None);
    assert_eq!(change(EventKind::Access(AccessKind::Open(AccessMode::Any))), None);
    assert_eq!(change(EventKind::Access(AccessKind::Close(AccessMode::Write))), changed);
    assert_eq!(change(EventKind::Modify(ModifyKind::Any)), changed);
    assert_eq!(change(EventKind::Any), changed);
    let lost = change_of(Err(notify::Error::generic("lost")));
    assert_eq!(lost, Some(Change { paths: Vec::new() }));
}
