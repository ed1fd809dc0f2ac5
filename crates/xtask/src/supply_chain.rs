//! Checks of dependencies: their source, their licences, and that no code of the workspace is `unsafe`.
//!
//! These are the checks of `cargo deny` that need no additional tool; docs/supply-chain.md describes the others.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The only permitted source of dependencies.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The permitted licences. Each requires at most that its text accompanies an executable, and is compatible with
/// the licence of this repository. `deny.toml` has the same list.
const LICENCES: &[&str] = &[
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// The dependencies that compile C or assembly. A new one must be a deliberate decision. `psm` has the instructions
/// that switch the stack, `stacker` compiles C on Windows only, and `iana-time-zone-haiku`, below russh, on Haiku only.
const COMPILES_C: &[&str] = &["iana-time-zone-haiku", "libmimalloc-sys", "psm", "ring", "stacker"];

/// The name in an attribute that would permit `unsafe` code, which the workspace denies. It is split, because this
/// file is searched too.
const UNSAFE_CODE: &str = concat!("unsafe", "_code");

/// Checks everything below `root`, the workspace's folder.
///
/// # Errors
/// Returns the violations, one per line, or the error if cargo or git fails.
pub(crate) fn check(root: &Path) -> Result<()> {
    let metadata = metadata(root)?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let (ours, others): (Vec<&Value>, Vec<&Value>) =
        packages.iter().partition(|it| it["source"].is_null());
    let mut wrong = Vec::new();
    others.iter().for_each(|it| wrong.extend(wrong_with(it)));
    wrong.extend(wrong_with_c(&metadata, &others));
    for package in ours {
        let path = package["manifest_path"].as_str().context("a package has no manifest")?;
        wrong.extend(wrong_with_manifest(path, &fs::read_to_string(path)?));
    }
    for path in crate::tidy::tracked(root)? {
        // A tracked file that was deleted but not committed yet has nothing to check.
        if path.ends_with(".rs")
            && let Ok(text) = fs::read_to_string(root.join(&path))
        {
            wrong.extend(wrong_with_source(&path, &text));
        }
    }
    if !fs::read_to_string(root.join("Cargo.toml"))?.contains(concat!("unsafe", "_code = \"deny\""))
    {
        wrong.push("Cargo.toml does not deny what is unsafe".to_owned());
    }
    wrong.extend(wrong_with_list(&fs::read_to_string(root.join("deny.toml"))?));
    if !wrong.is_empty() {
        bail!("the supply chain is not what it should be:\n  {}", wrong.join("\n  "));
    }
    Ok(())
}

/// Returns all packages, with exactly the versions of `Cargo.lock`; an outdated `Cargo.lock` is an error. If the
/// packages of other platforms were never fetched, as after a plain `cargo test`, returns only those of this
/// platform.
fn metadata(root: &Path) -> Result<Value> {
    let all = ["metadata", "--locked", "--offline", "--format-version", "1"];
    let found = crate::cargo(root, &all).or_else(|_| {
        let version = crate::cargo(root, &["-vV"])?;
        let host = version.lines().find_map(|it| it.strip_prefix("host: "));
        let host = host.context("cargo does not say on which platform it runs")?;
        crate::cargo(root, &[&all[..], &["--filter-platform", host]].concat())
    })?;
    Ok(serde_json::from_str(&found)?)
}

/// Returns the violations of a dependency.
fn wrong_with(package: &Value) -> Vec<String> {
    let name = format!("{} {}", text(package, "name"), text(package, "version"));
    let mut wrong = Vec::new();
    if text(package, "source") != REGISTRY {
        wrong.push(format!("{name} comes from {}", text(package, "source")));
    }
    let licence = text(package, "license");
    if !Licence::of(licence).is_allowed() {
        wrong.push(format!("{name} has the licence {licence:?}, which is not in the list"));
    }
    wrong
}

/// Returns the dependencies that compile C but are not listed, and those that are listed but do not.
fn wrong_with_c(metadata: &Value, packages: &[&Value]) -> Vec<String> {
    // The resolved graph: a package may have an optional dependency on a compiler that nothing enables.
    let nodes = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    let is_compiler = |it: &Value| {
        let mut kinds = it["dep_kinds"].as_array().into_iter().flatten();
        it["name"] == "cc" && kinds.any(|it| it["kind"] == "build")
    };
    let compiling = nodes.filter(|it| it["deps"].as_array().into_iter().flatten().any(is_compiler));
    let compiling: BTreeSet<&str> = compiling.map(|it| text(it, "id")).collect();
    let compiles = |package: &&&Value| compiling.contains(text(package, "id"));
    let found: BTreeSet<&str> =
        packages.iter().filter(compiles).map(|it| text(it, "name")).collect();
    let listed: BTreeSet<&str> = COMPILES_C.iter().copied().collect();
    let differ = found.symmetric_difference(&listed);
    differ
        .map(|name| format!("{name} compiles C or is in the list of those that do, not both"))
        .collect()
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

/// Checks that a crate inherits the workspace's lints, which deny `unsafe`.
fn wrong_with_manifest(path: &str, manifest: &str) -> Option<String> {
    let lints = manifest.split_once("[lints]\n").map(|(_, after)| after);
    let is_denied = lints.is_some_and(|it| it.starts_with("workspace = true"));
    (!is_denied).then(|| format!("{path} does not take the lints of the workspace"))
}

/// The only file with an exception to the lint: an allocator needs `unsafe`, and only an allocator notices that
/// memory has run out.
const EXCEPTION: &str = "crates/cli/src/allocator.rs";

/// Checks that a file contains no exception to the lint.
fn wrong_with_source(path: &str, source: &str) -> Option<String> {
    (path != EXCEPTION && source.contains(UNSAFE_CODE))
        .then(|| format!("{path} mentions `{UNSAFE_CODE}`"))
}

fn wrong_with_list(deny: &str) -> Vec<String> {
    let missing = LICENCES.iter().filter(|it| !deny.contains(&format!("\"{it}\",")));
    missing.map(|it| format!("deny.toml does not have the licence {it}")).collect()
}

/// A licence expression, parsed from left to right.
struct Licence<'a> {
    rest: &'a str,
}

impl<'a> Licence<'a> {
    fn of(text: &'a str) -> Licence<'a> {
        Licence { rest: text }
    }

    /// Returns true if the permitted licences satisfy the expression. An expression that does not parse is not
    /// satisfied.
    fn is_allowed(&mut self) -> bool {
        let allowed = self.any();
        allowed && self.rest.trim().is_empty()
    }

    fn any(&mut self) -> bool {
        let mut allowed = self.all();
        // A slash is the old form of `OR`.
        while self.take("OR ") || self.take("/") {
            allowed |= self.all();
        }
        allowed
    }

    fn all(&mut self) -> bool {
        let mut allowed = self.one();
        while self.take("AND ") {
            allowed &= self.one();
        }
        allowed
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let allowed = self.any();
            return self.take(")") && allowed;
        }
        let name = self.word();
        if self.take("WITH ") {
            let both = format!("{name} WITH {}", self.word());
            return LICENCES.contains(&&*both);
        }
        LICENCES.contains(&name)
    }

    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find([' ', '/', '(', ')']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn take(&mut self, what: &str) -> bool {
        let after = self.rest.trim_start().strip_prefix(what);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supply_chain_rules_hold() {
        check(&crate::root()).expect("nothing is wrong");
    }

    #[test]
    fn licence_expressions_are_evaluated() {
        for text in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
            "MIT AND (GPL-3.0 OR ISC)",
        ] {
            assert!(Licence::of(text).is_allowed(), "{text}");
        }
        for text in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT)", "MIT WITH x", "MIT ISC"] {
            assert!(!Licence::of(text).is_allowed(), "{text}");
        }
    }

    #[test]
    fn supply_chain_rules_report_violations() {
        let package = serde_json::json!({
            "id": "a 1.0.0", "name": "a", "version": "1.0.0", "source": "git+https://example.com/a",
            "license": "GPL-3.0",
        });
        let compiler = |kind: &str| {
            let dependency = serde_json::json!({ "name": "cc", "dep_kinds": [{ "kind": kind }] });
            serde_json::json!({ "resolve": { "nodes": [{ "id": "a 1.0.0", "deps": [dependency] }] } })
        };
        let expected = [
            "a 1.0.0 comes from git+https://example.com/a",
            "a 1.0.0 has the licence \"GPL-3.0\", which is not in the list",
        ];
        assert_eq!(wrong_with(&package), expected);
        assert_eq!(wrong_with_c(&compiler("build"), &[&package]).len(), 1 + COMPILES_C.len());
        assert_eq!(wrong_with_c(&compiler("dev"), &[&package]).len(), COMPILES_C.len());
        assert!(wrong_with_manifest("Cargo.toml", "[package]\nname = \"a\"\n").is_some());
        assert!(wrong_with_manifest("Cargo.toml", "[lints]\nworkspace = true\n").is_none());
        assert!(wrong_with_source("a.rs", concat!("#[allow(unsafe", "_code)]")).is_some());
        assert_eq!(wrong_with_list("allow = []").len(), LICENCES.len());
    }
}
