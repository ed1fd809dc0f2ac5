//! Repository rules that no compiler checks, applied to the files that git tracks.

use std::{fmt, fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use crate::{contexts, prose, prose_markdown, tuples};

/// Module names that do not describe the module's content.
const EMPTY_NAMES: &[&str] = &["common", "helper", "helpers", "manager", "misc", "util", "utils"];

/// The text that a crate's head must contain at least once.
const INVARIANT: &str = "**Invariant:**";

/// Macros that mark missing code. They are split, because this file is searched too.
const PROMISES: &[&str] = &[concat!("todo", "!("), concat!("unimplemented", "!(")];

/// Prefixes of paths that exist only on one machine.
const MACHINES: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ho", "me/runner"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
];

/// The command that runs all tests; README.md and .ci/run contain the same one.
const TEST_COMMAND: &str = "cargo test --workspace --features values/mutation";

/// The largest number of lines of a Rust file that is not generated.
const MAX_LINES: usize = 700;

/// A violation of a rule.
#[derive(PartialEq, Eq, Debug)]
struct Breach {
    path: String,
    /// The line number from 1; 0 for the whole file.
    line: usize,
    rule: &'static str,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.rule),
            line => write!(f, "{}:{line}: {}", self.path, self.rule),
        }
    }
}

/// Checks every tracked file.
///
/// # Errors
/// Returns the violations, one per line, or the error if git fails.
pub(crate) fn check(root: &Path) -> Result<()> {
    let mut breaches = Vec::new();
    for path in tracked(root)? {
        // A tracked file that was deleted but not committed yet has nothing to check, and neither has a binary
        // file.
        let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
        breaches.extend(breaches_of(&path, &text));
    }
    if !breaches.is_empty() {
        let lines: Vec<_> = breaches.iter().map(|it| format!("  {it}")).collect();
        bail!("the tree is not tidy:\n{}", lines.join("\n"));
    }
    Ok(())
}

pub(crate) fn tracked(root: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .context("failed to start git")?;
    if !output.status.success() {
        bail!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let names = String::from_utf8(output.stdout).context("a tracked path is not UTF-8")?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

/// Returns true if a Rust file must not bundle values in tuples. Tests may: their tables are read in one place.
fn needs_named_tuples(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
    path.starts_with("crates/") && !is_test
}

fn breaches_of(path: &str, text: &str) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut breach = |line, rule| breaches.push(Breach { path: path.to_owned(), line, rule });
    if has_empty_name(path) {
        breach(0, "the module's name says nothing of what is inside");
    }
    if is_crate_root(path) && !crate_head(text).contains(INVARIANT) {
        breach(0, "the crate's head states no **Invariant:**");
    }
    if path == "Cargo.toml" {
        for line in dependencies_without_reason(text) {
            breach(line, "a dependency has no comment above it that gives its reason");
        }
    }
    if matches!(path, "README.md" | ".ci/run")
        && !text.lines().any(|it| it.starts_with(TEST_COMMAND))
    {
        breach(0, "the command that runs all tests is missing");
    }
    if path.ends_with(".rs") && !path.contains("generated") {
        for (line, rule) in prose::breaches(text) {
            breach(line, rule);
        }
        if path.starts_with("crates/engine/src/") {
            for (line, rule) in contexts::breaches(text) {
                breach(line, rule);
            }
        }
        if needs_named_tuples(path) {
            for (line, rule) in tuples::breaches(text) {
                breach(line, rule);
            }
        }
        for line in prose::unclear_names_of_tests(text) {
            breach(line, "the name of the test hides its subject");
        }
        for line in prose::wide_lines(text) {
            breach(line, "a line of more than 120 characters");
        }
        if text.lines().count() > MAX_LINES {
            breach(0, "a file of more than 700 lines");
        }
    }
    if path.ends_with(".md") && !is_verbatim(path) {
        for (line, rule) in prose_markdown::breaches(text) {
            breach(line, rule);
        }
    }
    for (index, line) in text.lines().enumerate() {
        // rustfmt handles Rust files, in which only a string may have trailing blanks.
        if line.ends_with([' ', '\t']) && !is_verbatim(path) && !path.ends_with(".rs") {
            breach(index + 1, "trailing space");
        }
        if PROMISES.iter().any(|it| line.contains(it)) && path.ends_with(".rs") {
            breach(index + 1, "code that is not written");
        }
        if MACHINES.iter().any(|it| line.contains(it)) && !is_verbatim(path) {
            breach(index + 1, "a path of one machine");
        }
    }
    breaches
}

/// Returns true for recorded data, and for generated code whose comments come from its source.
fn is_verbatim(path: &str) -> bool {
    path.contains("/data/") || path.contains("/generated/") || path == "LICENSE"
}

fn has_empty_name(path: &str) -> bool {
    let module = path.strip_suffix(".rs").filter(|it| it.starts_with("crates/"));
    module.is_some_and(|it| it.split('/').skip(2).any(|part| EMPTY_NAMES.contains(&part)))
}

fn is_crate_root(path: &str) -> bool {
    let parts: Vec<_> = path.split('/').collect();
    matches!(
        parts[..],
        ["crates", _, "src", "lib.rs"] | ["crates", "cli" | "xtask", "src", "main.rs"]
    )
}

/// Returns the `//!` comment at the beginning of a file.
fn crate_head(text: &str) -> String {
    text.lines().take_while(|line| line.starts_with("//!")).collect()
}

/// Returns the lines of `[workspace.dependencies]` without a comment right above. Crates of the workspace need
/// none.
fn dependencies_without_reason(manifest: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut inside = false;
    let mut previous = "";
    for (index, line) in manifest.lines().enumerate() {
        if line.starts_with('[') {
            inside = line == "[workspace.dependencies]";
        } else if inside && line.contains('=') && !line.starts_with('#') {
            let is_ours = line.contains("{ path = ");
            if !is_ours && !previous.starts_with('#') {
                found.push(index + 1);
            }
        }
        previous = line;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracked_files_are_tidy() {
        check(&crate::root()).expect("no rule is broken");
    }

    #[track_caller]
    fn check_rules(path: &str, text: &str, expected: &[&str]) {
        let found: Vec<_> = breaches_of(path, text).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn tidy_rules_report_violations() {
        check_rules("docs/a.md", "fine\nnot fine \n", &["docs/a.md:2: trailing space"]);
        check_rules(
            "docs/c.md",
            "What it is.\n",
            &["docs/c.md:1: the text begins with a word that hides its subject"],
        );
        check_rules(
            "crates/a/src/d.rs",
            "#[test]\nfn what_is_kept() {}\n",
            &["crates/a/src/d.rs:2: the name of the test hides its subject"],
        );
        check_rules("tests/data/a.txt", "verbatim \n", &[]);
        check_rules(
            "crates/a/src/utils.rs",
            "",
            &["crates/a/src/utils.rs: the module's name says nothing of what is inside"],
        );
        check_rules(
            "crates/a/src/lib.rs",
            "//! A crate.\n\n//! **Invariant:** too late.\n",
            &["crates/a/src/lib.rs: the crate's head states no **Invariant:**"],
        );
        check_rules(
            "crates/a/src/b.rs",
            concat!("fn f() { todo", "!() }\n"),
            &["crates/a/src/b.rs:1: code that is not written"],
        );
        check_rules("crates/a/src/c.rs", &"\n".repeat(MAX_LINES), &[]);
        check_rules(
            "crates/a/src/c.rs",
            &"\n".repeat(MAX_LINES + 1),
            &["crates/a/src/c.rs: a file of more than 700 lines"],
        );
        check_rules("README.md", "", &["README.md: the command that runs all tests is missing"]);
        check_rules(
            "docs/b.md",
            concat!("see /wo", "rk/x\n"),
            &["docs/b.md:1: a path of one machine"],
        );
    }

    #[test]
    fn dependency_without_a_reason_is_reported() {
        let manifest = "\
[workspace.dependencies]
ours = { path = \"crates/ours\" }

# Reason.
a = \"1\"
b = \"1\"

[profile.dev]
debug = false
";
        assert_eq!(dependencies_without_reason(manifest), [6]);
    }
}
