//! Compiles files with mistakes in the attributes of the derive macros, and compares the errors with the comments in
//! the files: `//~ text` for an error in its line, with a part of its message or of its notes.
//!
//! The compiler gets the library of this build, so that nothing is built again.

#![expect(clippy::disallowed_methods, reason = "the test starts a compiler on files")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value as Json;

/// An error of the compiler.
struct Found {
    line: usize,
    /// The message and its notes.
    text: String,
}

/// The libraries of this crate in the directory of a build, the newest first.
fn libraries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the directory of this test").flatten();
    let is_library = |it: &PathBuf| {
        let name = it.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libmayfly_sdk-") && name.ends_with(".rlib")
    };
    let mut found: Vec<PathBuf> = entries.map(|it| it.path()).filter(is_library).collect();
    found.sort_by_key(|it| fs::metadata(it).and_then(|it| it.modified()).ok());
    found.reverse();
    found
}

/// Compiles a file and returns its errors.
fn compile(file: &Path) -> Vec<Found> {
    let test = std::env::current_exe().expect("a test has a path");
    let directory = test.parent().expect("it is in a directory");
    // Another build may have left a library of another compiler there.
    for library in libraries(directory) {
        let output = Command::new("rustc")
            .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--error-format=json"])
            .arg("--out-dir")
            .arg(tempfile::tempdir().expect("can be made").path())
            .arg("-L")
            .arg(directory)
            .arg("--extern")
            .arg(format!("mayfly_sdk={}", library.display()))
            .arg(file)
            .output()
            .expect("the compiler starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let messages: Vec<Json> = text.lines().flat_map(serde_json::from_str).collect();
        if !messages.iter().any(|it| it["message"].to_string().contains("crate `mayfly_sdk`")) {
            return messages.iter().filter_map(found).collect();
        }
    }
    panic!("no library fits the compiler");
}

fn found(message: &Json) -> Option<Found> {
    let spans = message["spans"].as_array()?;
    let primary = spans.iter().find(|it| it["is_primary"] == true)?;
    let notes = message["children"].as_array()?.iter().filter_map(|it| it["message"].as_str());
    let all: Vec<&str> = message["message"].as_str().into_iter().chain(notes).collect();
    let line = usize::try_from(primary["line_start"].as_u64()?).ok()?;
    (message["level"] == "error").then(|| Found { line, text: all.join("\n") })
}

#[track_caller]
fn check(name: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes").join(name);
    let source = fs::read_to_string(&file).expect("the file is there");
    let found = compile(&file);
    let mut problems = Vec::new();
    let mut expected = BTreeSet::new();
    for (index, line) in source.lines().enumerate() {
        for part in line.split("//~").skip(1).map(str::trim) {
            expected.insert(index + 1);
            if !found.iter().any(|it| it.line == index + 1 && it.text.contains(part)) {
                problems.push(format!("line {}: no error with the text {part:?}", index + 1));
            }
        }
    }
    let more = found.iter().filter(|it| !expected.contains(&it.line));
    problems.extend(more.map(|it| format!("line {}: {}", it.line, it.text)));
    let unmet = found.iter().filter(|it| expected.contains(&it.line));
    let unmet: Vec<_> = unmet.map(|it| format!("found in line {}: {}", it.line, it.text)).collect();
    assert!(problems.is_empty(), "{}\n{}", problems.join("\n"), unmet.join("\n"));
    assert!(!expected.is_empty());
}

#[test]
fn mistakes_in_attributes_are_errors_at_their_places() {
    check("attributes.rs");
}

#[test]
fn unsuitable_types_are_errors_with_advice() {
    check("types.rs");
}
