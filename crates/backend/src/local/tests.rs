use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use futures::executor::block_on;
use tempfile::TempDir;

use super::*;
use crate::lock::LockInfo;

struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn store(&self) -> LocalStore {
        LocalStore::new(LocalPaths::at(self.path("terraform.tfstate")))
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).expect("it exists").flatten();
        let mut names: Vec<_> =
            entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("it exists")
    }
}

fn info(id: &str) -> LockInfo {
    LockInfo { id: id.to_owned(), ..LockInfo::default() }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("it exists").permissions().mode() & 0o777
}

fn read(store: &LocalStore) -> Option<Snapshot> {
    block_on(store.read()).expect("readable")
}

#[test]
fn first_state_write_creates_a_private_file_without_backup() {
    let place = Place::new();
    let store = place.store();
    assert_eq!(read(&store), None);
    block_on(store.write(b"one", Expected::Missing)).expect("nothing is there");
    assert_eq!(place.names(), ["terraform.tfstate"]);
    assert_eq!(mode(&place.path("terraform.tfstate")), 0o600);
    assert_eq!(read(&store).expect("written").bytes, b"one");
}

#[test]
fn backup_is_the_state_before_the_run() {
    let place = Place::new();
    std::fs::write(place.path("terraform.tfstate"), "old").expect("writable");
    let store = place.store();
    let mut generation = read(&store).expect("old").generation;
    for text in ["new", "newer"] {
        let expected = Expected::At(generation);
        generation = block_on(store.write(text.as_bytes(), expected)).expect("unchanged");
    }
    assert_eq!(place.text("terraform.tfstate"), "newer");
    assert_eq!(place.text("terraform.tfstate.backup"), "old");
    assert_eq!(mode(&place.path("terraform.tfstate.backup")), 0o600);
}

#[test]
fn unwritable_state_path_is_detected_before_the_first_write() {
    let place = Place::new();
    let check = |paths: LocalPaths| block_on(LocalStore::new(paths).check_writable());
    check(LocalPaths::at(place.path("terraform.tfstate"))).expect("is writable");
    check(LocalPaths::at(place.path("not/there/yet"))).expect("directories are made");
    assert_eq!(place.names(), [""; 0], "nothing was written");
    std::fs::write(place.path("file"), "no directory").expect("writable");
    let refused = |paths: LocalPaths| match check(paths).expect_err("is no directory") {
        StoreError::Io { path, .. } => path,
        other => panic!("{other}"),
    };
    assert_eq!(refused(LocalPaths::at(place.path("file/state"))), place.path("file/state"));
    let backup = Some(place.path("file/backup"));
    let paths = LocalPaths { backup, ..LocalPaths::at(place.path("terraform.tfstate")) };
    check(paths.clone()).expect("there is nothing to keep");
    std::fs::write(&paths.read, "old").expect("writable");
    assert_eq!(refused(paths), place.path("file"));
}

#[test]
fn concurrently_changed_state_is_not_overwritten() {
    let place = Place::new();
    let (ours, theirs) = (place.store(), place.store());
    block_on(ours.write(b"one", Expected::Missing)).expect("nothing is there");
    let seen = Expected::from(&read(&ours));
    block_on(theirs.write(b"two", Expected::from(&read(&theirs)))).expect("unchanged");
    assert!(matches!(block_on(ours.write(b"three", seen)), Err(StoreError::Conflict)));
    assert!(matches!(block_on(ours.write(b"x", Expected::Missing)), Err(StoreError::Conflict)));
    assert_eq!(place.text("terraform.tfstate"), "two");
}

#[test]
fn lock_names_its_holder_and_leaves_no_file() {
    let place = Place::new();
    let held = block_on(place.store().lock(info("a"))).expect("free");
    assert_eq!(place.names(), [".terraform.tfstate.lock.info", "terraform.tfstate"]);
    let error = block_on(place.store().lock(info("b"))).expect_err("held");
    let StoreError::Locked { holder: Some(holder), .. } = &error else { panic!("{error:?}") };
    assert_eq!(holder.id, "a");
    assert_eq!(holder.path, place.path("terraform.tfstate").display().to_string());
    block_on(held.release()).expect("ours");
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn lock_survives_reads_and_writes_of_the_state() {
    let place = Place::new();
    let store = place.store();
    let held = block_on(store.lock(info("a"))).expect("free");
    assert_eq!(read(&store), None);
    let generation = block_on(store.write(b"one", Expected::Missing)).expect("absent");
    block_on(store.write(b"two", Expected::At(generation))).expect("unchanged");
    assert_eq!(read(&place.store()).expect("written").bytes, b"two");
    assert!(is_locked_for_others(&place.path("terraform.tfstate")));
    block_on(held.release()).expect("ours");
    assert!(!is_locked_for_others(&place.path("terraform.tfstate")));
    assert_eq!(place.names(), ["terraform.tfstate"]);
}

/// Tries the lock from another process, because POSIX locks do not exclude their own process.
fn is_locked_for_others(path: &Path) -> bool {
    let program = std::env::current_exe().expect("this test runs");
    let output = std::process::Command::new(program)
        .args(["--exact", "local::tests::child_process_tries_the_lock", "--ignored"])
        .env(PROBED, path)
        .output()
        .expect("this test can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("running 1 test"), "{text}");
    !output.status.success()
}

const PROBED: &str = "MAYFLY_TEST_PROBED_FILE";

#[test]
#[ignore = "it is the other process of `is_locked_for_others`"]
fn child_process_tries_the_lock() {
    let path = std::env::var_os(PROBED).expect("given by the parent");
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("it exists");
    held::try_lock(&file).expect("the lock is free");
}

#[test]
fn waiter_on_a_replaced_state_file_finds_it_invalid() {
    let place = Place::new();
    std::fs::write(place.path("terraform.tfstate"), "{}").expect("writable");
    let store = place.store();
    let seen = Expected::from(&read(&store));
    let linked = place.path("a-hard-link-that-someone-keeps");
    let waiting = File::open(place.path("terraform.tfstate")).expect("it exists");
    let _held = block_on(store.lock(info("a"))).expect("free");
    std::fs::hard_link(place.path("terraform.tfstate"), &linked).expect("same file system");
    let generation = block_on(store.write(b"one", seen)).expect("unchanged");
    assert_eq!(read_opened(&waiting).expect("open").0, b"{}", "it still has a name");
    std::fs::remove_file(linked).expect("it exists");
    block_on(store.write(b"two", Expected::At(generation))).expect("unchanged");
    let (bytes, _) = read_opened(&waiting).expect("open");
    assert!(bytes.starts_with(b"This state was replaced"));
}

#[test]
fn stale_lock_of_a_killed_process_can_be_taken_and_removed() {
    let place = Place::new();
    std::fs::write(place.path("terraform.tfstate"), "{}").expect("writable");
    let stale = place.path(".terraform.tfstate.lock.info");
    std::fs::write(&stale, info("dead").to_json()).expect("writable");
    std::fs::write(place.path(".terraform.tfstate.new-x1.tmp"), "torn").expect("writable");
    let store = place.store();
    let unlock = |id: &str| block_on(store.force_unlock(id));
    assert!(matches!(unlock("other"), Err(StoreError::LockId { .. })));
    unlock("dead").expect("its process is gone");
    assert_eq!(place.names(), ["terraform.tfstate"]);
    assert!(matches!(unlock("dead"), Err(StoreError::NotLocked)));
    let torn = place.path(".terraform.tfstate.backup.new-x2.tmp");
    std::fs::write(&torn, "torn").expect("writable");
    let _held = block_on(store.lock(info("alive"))).expect("free");
    assert!(!torn.exists(), "a killed run left it");
    assert!(matches!(unlock("alive"), Err(StoreError::Alive)));
}

#[test]
fn write_keeps_a_symlinked_state() {
    let place = Place::new();
    std::fs::write(place.path("real"), "one").expect("writable");
    std::fs::set_permissions(place.path("real"), PermissionsExt::from_mode(0o640)).expect("ours");
    std::os::unix::fs::symlink("real", place.path("terraform.tfstate")).expect("possible");
    let store = place.store();
    block_on(store.write(b"two", Expected::from(&read(&store)))).expect("unchanged");
    assert_eq!(place.text("real"), "two");
    assert_eq!(mode(&place.path("real")), 0o640, "a mode that someone chose is kept");
    assert!(std::fs::read_link(place.path("terraform.tfstate")).is_ok());
}

#[test]
fn state_out_reads_one_file_and_writes_another() {
    let place = Place::new();
    std::fs::write(place.path("in"), "one").expect("writable");
    let paths = LocalPaths { read: place.path("in"), ..LocalPaths::at(place.path("out")) };
    let store = LocalStore::new(paths);
    let read_first = read(&store).expect("it exists");
    assert_eq!(read_first.bytes, b"one");
    block_on(store.write(b"two", Expected::At(read_first.generation))).expect("absent");
    assert_eq!((place.text("in"), place.text("out")), ("one".into(), "two".into()));
    assert_eq!(place.text("out.backup"), "one");
    assert_eq!(read(&store).expect("written").bytes, b"two");
}
