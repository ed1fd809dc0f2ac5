//! Uploads.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use engine::{Permissions, Source};

use crate::{Place, with_both_servers};

with_both_servers!(
    text_is_written_with_its_permissions,
    file_is_copied_in_full,
    directory_is_copied_with_or_without_its_name,
    error_of_the_machine_is_reported,
    error_of_this_computer_is_reported,
);

const READABLE: Permissions = Permissions::Readable;

async fn text_is_written_with_its_permissions(place: Place) {
    let machine = place.connect().await;
    for (name, permissions, mode) in
        [("plain", READABLE, 0o644), ("a script's.sh", Permissions::OwnExecutable, 0o700)]
    {
        let path = place.path(name);
        for text in ["text\n", "", "another"] {
            let source = Source::Text { text: text.as_bytes(), permissions };
            machine.upload(source, &path).await.expect("is written");
            assert_eq!(fs::read_to_string(&path).expect("is there"), text);
        }
        let found = fs::metadata(&path).expect("is there").permissions().mode();
        assert_eq!(found & 0o777, mode, "{name}");
    }
}

async fn file_is_copied_in_full(place: Place) {
    let machine = place.connect().await;
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|it| (it % 251) as u8).collect();
    let source = place.directory.join("source");
    fs::write(&source, &bytes).expect("can be written");
    machine.upload(Source::File(&source), &place.path("copy")).await.expect("is copied");
    assert!(fs::read(place.directory.join("copy")).expect("is there") == bytes);
}

fn tree(root: &Path) {
    fs::create_dir_all(root.join("conf/sub dir/empty")).expect("can be made");
    fs::write(root.join("conf/a"), "a").expect("can be written");
    fs::write(root.join("conf/sub dir/b"), "b").expect("can be written");
    std::os::unix::fs::symlink("../a", root.join("conf/sub dir/link")).expect("can be made");
}

async fn directory_is_copied_with_or_without_its_name(place: Place) {
    let machine = place.connect().await;
    tree(&place.directory);
    let path = &place.directory.join("conf");
    for (target, contents_only, below) in [("one", false, "one/conf"), ("two", true, "two")] {
        fs::create_dir(place.directory.join(target)).expect("can be made");
        let source = Source::Directory { path, contents_only };
        machine.upload(source, &place.path(target)).await.expect("is copied");
        let read = |name: &str| fs::read_to_string(place.directory.join(below).join(name));
        assert_eq!(read("a").expect("is there"), "a");
        assert_eq!(read("sub dir/b").expect("is there"), "b");
        assert_eq!(read("sub dir/link").expect("is there"), "a");
        assert!(place.directory.join(below).join("sub dir/empty").is_dir());
    }
}

async fn error_of_the_machine_is_reported(place: Place) {
    let machine = place.connect().await;
    let source = Source::Text { text: b"secret-content", permissions: READABLE };
    let error = machine.upload(source, &place.path("none/file")).await.expect_err("no directory");
    assert!(error.ends_with("No such file or directory"), "{error}");
    assert!(!error.contains("secret-content"), "{error}");
    fs::create_dir(place.directory.join("directory")).expect("can be made");
    let error = machine.upload(source, &place.path("directory")).await.expect_err("is one");
    assert!(error.contains("directory"), "{error}");
    // The connection is still good.
    machine.upload(source, &place.path("file")).await.expect("is written");
}

async fn error_of_this_computer_is_reported(place: Place) {
    let machine = place.connect().await;
    let none = place.directory.join("none");
    let error = machine.upload(Source::File(&none), &place.path("copy")).await;
    assert!(error.expect_err("no file").contains("none: No such file"));
    fs::create_dir(place.directory.join("loop")).expect("can be made");
    std::os::unix::fs::symlink("../loop", place.directory.join("loop/again")).expect("can be made");
    let path = &place.directory.join("loop");
    let source = Source::Directory { path, contents_only: true };
    fs::create_dir(place.directory.join("target")).expect("can be made");
    let error = machine.upload(source, &place.path("target")).await.expect_err("is endless");
    assert!(error.ends_with("again is a link to a directory that contains it"), "{error}");
}
