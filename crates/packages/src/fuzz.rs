//! Properties that hold for all bytes that are read as a CLI configuration, a dependency lock file, a module
//! manifest or a module archive. The fuzz targets (`fuzz/`) and `tests/hostile` run these functions.

use std::io::Cursor;

use crate::literal::{self, Body, Literal};
use crate::modules::Archive;
use crate::{CliConfig, Contents, Locks, ModuleManifest};

/// The secret in tokens. No text that is shown may contain it.
const SECRET: &str = "hunter2";

/// Checks that reading a CLI configuration is deterministic, that every problem has a summary, and that no shown
/// text contains a token.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_cli_config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let variable = |name: &str| (name != "UNSET").then(|| format!("<{name}>"));
    let (config, problems) = CliConfig::parse(text, "cli.tfrc", &variable);
    assert_eq!(CliConfig::parse(text, "cli.tfrc", &variable), (config.clone(), problems.clone()));
    assert!(problems.iter().all(|it| !it.summary.is_empty()), "a problem says nothing");
    let shown = format!("{:?}", config.credentials.values().collect::<Vec<_>>());
    let tokens = config.credentials.values().map(|it| it.expose());
    let is_long = |token: &&str| token.len() > SECRET.len() && token.contains(SECRET);
    assert!(tokens.filter(is_long).all(|token| !shown.contains(token)), "{shown}");
    if let Ok(body) = literal::parse_with_json(text) {
        let lines = text.split('\n').count();
        check_places(&body, lines);
    }
}

fn check_places(body: &Body, lines: usize) {
    for item in body {
        assert!(
            (1..=lines).contains(&item.place.line) && item.place.column > 0,
            "{:?}",
            item.place
        );
        check_places_in(&item.value, lines);
    }
}

fn check_places_in(value: &Literal, lines: usize) {
    match value {
        Literal::Object(body) => check_places(body, lines),
        Literal::List(items) => items.iter().for_each(|it| check_places_in(it, lines)),
        Literal::String(_) | Literal::Number(_) | Literal::Bool(_) | Literal::Null => {}
    }
}

/// Checks that a dependency lock file is written again without loss and deterministically, and that errors have a
/// text.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_locks(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Locks::parse(text) {
        Ok(locks) => {
            let written = locks.to_text();
            let again = Locks::parse(&written);
            assert_eq!(again.as_ref().ok(), Some(&locks), "{written}\n{again:?}");
            assert_eq!(again.expect("as above").to_text(), written, "there is one way to write");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Checks that a module manifest is written again without loss.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_manifest(bytes: &[u8]) {
    let Ok(manifest) = ModuleManifest::parse(bytes) else { return };
    let written = manifest.to_json();
    assert_eq!(ModuleManifest::parse(written.as_bytes()).ok(), Some(manifest), "{written}");
}

/// Checks that unpacking a module archive writes only to its own directory, and that the result can be hashed. The
/// first byte selects the kind of the archive.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_module_archive(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let kinds = [Archive::Zip, Archive::Tar, Archive::TarGz];
    let kind = kinds[usize::from(*kind) % kinds.len()];
    let Ok(outside) = tempfile::tempdir() else { return };
    let inside = outside.path().join("inside");
    if std::fs::create_dir(&inside).is_err() {
        return;
    }
    let unpacked = kind.unpack(Cursor::new(bytes), &inside);
    let beside = std::fs::read_dir(outside.path()).map_or(0, Iterator::count);
    assert_eq!(beside, 1, "something was written outside");
    if let Err(error) = unpacked {
        assert!(!error.to_string().is_empty());
        return;
    }
    match Contents::of(&inside) {
        Ok(contents) => assert_eq!(Contents::of(&inside).ok(), Some(contents)),
        // An archive may unpack to names that the list of hashes cannot represent; such a package is refused.
        Err(error) => {
            let expected = ["line break", "nested too deeply", "not UTF-8"];
            let cause = &error.cause;
            assert!(expected.iter().any(|it| cause.contains(it)), "{error}");
        }
    }
}
