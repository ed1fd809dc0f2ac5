//! Checks that the tests named in `docs/guarantees.md` and `docs/stricter.md` exist.

use std::{collections::BTreeMap, fs, path::Path};

/// The folders of each test suite that the pages name.
const SUITES: &[(&str, &[&str])] = &[
    ("e2e", &["crates/cli/tests/e2e"]),
    ("lsp", &["crates/cli/tests/lsp"]),
    ("cli", &["crates/cli/src"]),
    ("engine", &["crates/engine/tests/engine", "crates/engine/src"]),
    ("ide", &["crates/ide/src"]),
    ("plugin", &["crates/plugin/src", "crates/plugin/tests/processes"]),
    ("provider", &["crates/provider/src"]),
    ("providers", &["crates/providers/src", "crates/providers/tests/bundled"]),
    ("backend", &["crates/backend/src"]),
    ("packages", &["crates/packages/src"]),
    ("remote", &["crates/remote/tests/provisioning"]),
    ("render", &["crates/render/src"]),
    ("state", &["crates/state/src"]),
    ("project", &["crates/project/tests/analysis"]),
    ("conformance", &["tests/conformance/tests"]),
];

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Collects the source texts below a folder, by path without extension.
fn texts(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("can be listed").flatten() {
        let path = entry.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            texts(&path, &format!("{prefix}/{name}"), found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).expect("can be read");
            // Two folders of a suite may have files of the same name.
            found.entry(format!("{prefix}/{name}")).or_default().push_str(&text);
        }
    }
}

/// The words in backticks in the last cell of each table row.
fn named(page: &str) -> Vec<(&str, Vec<&str>)> {
    let rows = page.lines().filter(|it| it.starts_with("| ") && !it.starts_with("|---"));
    rows.filter_map(|row| {
        let last = row.trim_end().trim_end_matches('|').rsplit(" | ").next()?;
        let quoted = last.split('`').skip(1).step_by(2).collect();
        Some((row, quoted))
    })
    .collect()
}

/// Returns true if the test, file or heading that a page names does not exist. `place` is the file that the row
/// named last.
fn missing<'a>(name: &'a str, place: &mut &'a str, texts: &BTreeMap<String, String>) -> bool {
    if let Some((file, heading)) = name.split_once('#') {
        let text = fs::read_to_string(root().join("tests/spec").join(file)).unwrap_or_default();
        let mut headings = text.lines().filter(|it| it.starts_with('#'));
        return !headings.any(|it| it.trim_start_matches('#').trim() == heading);
    }
    if name == MISBEHAVING || name.contains('/') {
        *place = name;
        return !name.ends_with('/') && name != MISBEHAVING && !texts.contains_key(name);
    }
    let is_test = name.bytes().all(|it| it == b'_' || it.is_ascii_alphanumeric());
    match *place {
        MISBEHAVING => !texts[MISBEHAVING].contains(&format!("\n| {name} | ")),
        // Words before the first place are not tests.
        "" => false,
        // A whole suite or a command is named.
        _ if !is_test => false,
        _ => texts.get(*place).is_none_or(|it| !has_test(it, name)),
    }
}

/// Returns true if a text has a test of that name. A plain function does not count.
fn has_test(text: &str, name: &str) -> bool {
    let head = format!("fn {name}(");
    text.match_indices(&head).any(|(at, _)| {
        let before = text[..at].trim_end().trim_end_matches("async").trim_end();
        let attribute = before.lines().next_back().unwrap_or_default().trim();
        attribute.starts_with("#[") && attribute.contains("test")
    })
}

/// The table of misbehaving plugins, whose rows are tests.
const MISBEHAVING: &str = "misbehaving";

#[test]
fn tests_named_in_documentation_exist() {
    let read = |page: &str| fs::read_to_string(root().join(page)).expect("can be read");
    let page = read("docs/guarantees.md") + &read("docs/stricter.md");
    let mut found = BTreeMap::new();
    for (suite, folders) in SUITES {
        folders.iter().for_each(|it| texts(&root().join(it), suite, &mut found));
    }
    let rows = fs::read_to_string(root().join("docs/plugins-that-misbehave.md"));
    found.insert(MISBEHAVING.to_owned(), rows.expect("can be read"));
    let rows = named(&page);
    let mut wrong = Vec::new();
    for (row, quoted) in &rows {
        let mut place = "";
        for name in quoted {
            if missing(name, &mut place, &found) {
                wrong.push(format!("{place}: {name}, in: {row}"));
            }
        }
    }
    let names = rows.iter().map(|(_, quoted)| quoted.len()).sum::<usize>();
    assert!(names > 100, "the page names tests: {names}");
    assert!(wrong.is_empty(), "not there: {wrong:#?}");
}
