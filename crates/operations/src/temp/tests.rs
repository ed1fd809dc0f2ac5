use std::fs;

use super::*;

fn files(folder: &Path) -> TempFiles {
    let data_dir = folder.join("data").display().to_string();
    TempFiles { root: TempRoot::new(data_dir, "1111"), is_kept: false }
}

/// The files below the plan's directory, each with its path, a star if it is executable, and its content or link
/// target.
fn tree(files: &TempFiles) -> Vec<String> {
    let mut found = Found::default();
    found.directory(&files.path(), "").map_err(|it| it.cause).expect("is fine");
    found.files.sort_by(|a, b| a.name.cmp(&b.name));
    let read = found.files.into_iter().map(|FoundFile { name, path, kind }| {
        let entry = read(name, &path, kind).map_err(|it| it.cause).expect("is fine");
        match entry.kind {
            TempKind::Symlink { target } => format!("{} -> {target}", entry.path),
            TempKind::File { is_executable, content } => {
                let mark = if is_executable { "*" } else { "" };
                format!("{}{mark} {}", entry.path, String::from_utf8_lossy(&content))
            }
        }
    });
    read.collect()
}

fn file(path: &str, content: &str, is_executable: bool) -> TempEntry {
    let kind = TempKind::File { is_executable, content: content.into() };
    TempEntry { path: path.to_owned(), kind }
}

fn link(path: &str, target: &str) -> TempEntry {
    let kind = TempKind::Symlink { target: target.to_owned() };
    TempEntry { path: path.to_owned(), kind }
}

#[test]
fn restored_temporary_files_equal_the_captured_ones() {
    let folder = tempfile::tempdir().expect("can be made");
    let files = files(folder.path());
    let entries = [
        file("m/deep/er/a.txt", "a", false),
        file("m/run.sh", "#!/bin/sh", true),
        link("m/deep/link", "er/a.txt"),
        file("n/b.txt", "b", false),
    ];
    // Leftovers of an earlier run.
    fs::create_dir_all(files.path().join("m/old/empty")).expect("can be made");
    fs::write(files.path().join("m/deep"), "a file where a directory comes").expect("is written");
    fs::write(files.path().join("m/old/left"), "left").expect("is written");
    files.restore(&entries).map_err(|_| ()).expect("is restored");
    let expected =
        ["m/deep/er/a.txt a", "m/deep/link -> er/a.txt", "m/run.sh* #!/bin/sh", "n/b.txt b"];
    assert_eq!(tree(&files), expected);
    let mode = |path: &Path| fs::metadata(path).expect("is there").permissions().mode() & 0o777;
    assert_eq!(mode(&files.path()), 0o700);
    assert_eq!(mode(&files.path().join("n/b.txt")), 0o600);
    assert!(files.end(false).is_none());
    assert!(!folder.path().join("data/tmp").exists(), "nothing is left");
}

#[test]
fn symlinked_temporary_directory_is_not_followed() {
    let folder = tempfile::tempdir().expect("can be made");
    let files = files(folder.path());
    let victim = folder.path().join("victim");
    fs::create_dir_all(&victim).expect("can be made");
    fs::write(victim.join("precious"), "kept").expect("is written");
    fs::create_dir_all(folder.path().join("data/tmp")).expect("can be made");
    symlink(&victim, files.path()).expect("can be made");
    files.restore(&[file("m/a", "a", false)]).map_err(|_| ()).expect("is restored");
    assert_eq!(fs::read_to_string(victim.join("precious")).expect("is there"), "kept");
    assert_eq!(fs::read_dir(&victim).expect("is there").count(), 1);
    files.clear();
    assert_eq!(fs::read_to_string(victim.join("precious")).expect("is there"), "kept");
}

#[test]
fn files_that_a_plan_cannot_store_are_errors_with_their_name() {
    let check = |make: &dyn Fn(&Path), words: &[&str]| {
        let folder = tempfile::tempdir().expect("can be made");
        let files = files(folder.path());
        files.make(&format!("{}/m", files.root.path())).expect("can be made");
        make(&files.path());
        let mut found = Found::default();
        let fault = match found.directory(&files.path(), "") {
            Err(fault) => fault,
            Ok(()) => {
                let read = found.files.into_iter().map(|it| read(it.name, &it.path, it.kind));
                read.filter_map(Result::err).next().expect("one is refused")
            }
        };
        let text = format!("{}: {}", fault.path, fault.cause);
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    };
    let pipe = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path.join("m/pipe")).status();
        assert!(made.expect("runs").success());
    };
    check(&pipe, &["m/pipe", "pipe, a socket or a device"]);
    check(
        &|it| symlink("/etc/passwd", it.join("m/out")).expect("is made"),
        &["m/out", "points outside"],
    );
    check(
        &|it| symlink("../n/a", it.join("m/out")).expect("is made"),
        &["m/out", "points outside"],
    );
    check(
        &|it| fs::write(it.join("beside"), "").expect("is written"),
        &["beside", "module instances"],
    );
    check(&|it| fs::write(it.join("m/a\\b"), "").expect("is written"), &["m/a\\b", "every system"]);
    let large = |it: &Path| {
        let file = File::create(it.join("m/large")).expect("can be made");
        file.set_len(MAX_BYTES + 1).expect("is sparse");
    };
    check(&large, &["m/large", "MiB"]);
}

#[test]
fn empty_temporary_directories_are_not_captured() {
    let folder = tempfile::tempdir().expect("can be made");
    let files = files(folder.path());
    files.make(&format!("{}/m/empty", files.root.path())).expect("can be made");
    assert!(tree(&files).is_empty());
}
