use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::blocking::run;

const PLUGIN: &str = "terraform-provider-b";

/// A cache with one package, and a directory beside it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a temporary directory"));
        std::fs::create_dir_all(place.package().join("docs")).expect("writable");
        std::fs::write(place.package().join(PLUGIN), "binary").expect("writable");
        std::fs::create_dir(place.path("outside")).expect("writable");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn package(&self) -> PathBuf {
        self.path("cache/example.com/a/b/1.0.0/linux_amd64")
    }

    fn inspect(&self) -> Result<bool, String> {
        let inspected = inspect(&self.path("cache"), &self.package(), &[self.path("mirror")]);
        inspected.map_err(|it| it.replace(&self.0.path().display().to_string(), "ROOT"))
    }

    fn lock(&self) -> Result<CacheEntry, String> {
        let locked = run(CacheEntry::lock(&self.path("cache"), self.package(), || ()));
        locked.map_err(|it| it.replace(&self.0.path().display().to_string(), "ROOT"))
    }
}

/// Checks the reason for which a package is refused after a change.
#[track_caller]
fn check(change: impl FnOnce(&Place, &Path), expected: &str) {
    let place = Place::new();
    change(&place, &place.package());
    assert_eq!(place.inspect().expect_err("is junk"), expected);
}

fn remove(package: &Path) {
    std::fs::remove_dir_all(package).expect("it exists");
}

#[test]
fn package_is_sound_or_missing() {
    let place = Place::new();
    assert_eq!(place.inspect(), Ok(true));
    remove(&place.package());
    assert_eq!(place.inspect(), Ok(false));
}

#[test]
fn links_and_junk_are_refused() {
    check(
        |_, package| {
            remove(package);
            std::fs::write(package, "a file").expect("writable");
        },
        "it is not a directory",
    );
    check(
        |_, package| {
            remove(package);
            symlink("/nowhere", package).expect("writable");
        },
        "it is a link that leads nowhere",
    );
    check(
        |place, package| {
            remove(package);
            symlink(place.path("outside"), package).expect("writable");
        },
        "it is a link to ROOT/outside, which is in no mirror",
    );
    check(
        |_, package| {
            let file = package.join("docs/README");
            symlink("/etc/passwd", file).expect("writable");
        },
        "its file \"docs/README\" is a link",
    );
    check(
        |_, package| {
            let socket = package.join("socket");
            drop(std::os::unix::net::UnixListener::bind(socket).expect("writable"));
        },
        "its file \"socket\" is neither a file nor a directory",
    );
}

#[test]
fn package_that_others_can_change_is_refused() {
    let permit = |path: PathBuf, mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, permissions).expect("is owned");
    };
    check(|_, package| permit(package.to_owned(), 0o777), "it can be changed by every user");
    check(
        |_, package| permit(package.join(PLUGIN), 0o757),
        "its file \"terraform-provider-b\" can be changed by every user",
    );
    let place = Place::new();
    let metadata = place.package().metadata().expect("is there");
    let refused = check_file(&metadata, "it", &[metadata.uid() + 1]).expect_err("is of another");
    assert!(refused.starts_with("it belongs to another user, "), "{refused}");
}

#[test]
fn link_to_a_package_of_a_mirror_is_accepted() {
    let place = Place::new();
    remove(&place.package());
    std::fs::create_dir_all(place.path("mirror/b")).expect("writable");
    symlink(place.path("mirror/b"), place.package()).expect("writable");
    assert_eq!(place.inspect(), Ok(true));
}

#[test]
fn links_above_the_package_and_in_place_of_its_lock_are_refused() {
    let place = Place::new();
    let lock = lock_path(&place.package());
    symlink(place.path("outside/file"), &lock).expect("writable");
    let refused = place.lock().map(drop).expect_err("the lock is a link");
    let expected =
        "ROOT/cache/example.com/a/b/1.0.0/linux_amd64.lock is not a lock file; remove it";
    assert_eq!(refused, expected);
    assert!(!place.path("outside/file").exists());
    std::fs::remove_file(lock).expect("it exists");

    std::fs::remove_dir_all(place.path("cache/example.com/a")).expect("it exists");
    symlink(place.path("outside"), place.path("cache/example.com/a")).expect("writable");
    let refused = place.lock().map(drop).expect_err("it leads out of the cache");
    let expected = "the directory ROOT/cache/example.com/a/b/1.0.0 of the plugin cache leads out of \
                    the cache; remove the link";
    assert_eq!(refused, expected);
    assert!(!place.path("outside/b").exists(), "nothing is created behind the link");
}

#[test]
fn scratch_directories_of_killed_runs_are_removed() {
    let place = Place::new();
    let version = place.package().parent().expect("is below").to_owned();
    for name in [".new-linux_amd64-x1", ".new-darwin_arm64-x2"] {
        std::fs::create_dir(version.join(name)).expect("writable");
    }
    drop(place.lock().expect("is free"));
    assert!(!version.join(".new-linux_amd64-x1").exists());
    assert!(version.join(".new-darwin_arm64-x2").exists());
}
