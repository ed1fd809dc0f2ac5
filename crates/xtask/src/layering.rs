//! The permitted dependencies between the crates of the workspace, as a table that is compared with the manifests.
//!
//! A change of the table is a change of the architecture: it needs a commit of its own, with its reason.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
};

use anyhow::{Context, Result, bail};

/// A crate with the workspace crates that it depends on.
struct Row {
    name: &'static str,
    uses: &'static [&'static str],
    /// The additional crates that its tests use.
    tests_use: &'static [&'static str],
}

const fn row(
    name: &'static str,
    uses: &'static [&'static str],
    tests_use: &'static [&'static str],
) -> Row {
    Row { name, uses, tests_use }
}

/// The table, bottom-up: a crate uses only crates in lines above its own.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    row("syntax", &[], &[]),
    // Threads and stacks without the meaning of any work.
    row("parallel", &[], &[]),
    // Sorting without the meaning of any entry.
    row("sorted", &[], &[]),
    // The domains of registries: a list.
    row("public_suffix", &[], &[]),
    row("values", &["sorted"], &[]),
    row("addr", &["sorted"], &[]),
    // Backends store opaque bytes; only `state` knows their format.
    row("backend", &[], &[]),
    // HTTP without the meaning of any answer: registries, mirrors and backends share its connections.
    row("http_client", &[], &[]),
    // Buckets without the meaning of their objects: for packages, and for states.
    row("object_storage", &["http_client"], &[]),
    // The watches of the operating system, for both front ends that follow files.
    row("file_watcher", &["sorted"], &[]),
    // The permissions of a process, and how it restricts itself, without the meaning of any provider.
    row("sandbox", &[], &[]),
    // `sandbox`: the CLI configuration grants what a provider may do. `parallel`: threads for file work, as many as
    // processors.
    row("packages", &["addr", "http_client", "object_storage", "parallel", "sandbox", "sorted"], &[]),
    row("db", &["syntax"], &[]),
    row("provider", &["addr", "sorted", "values"], &[]),
    row("state", &["addr", "sorted", "values"], &[]),
    row("hir", &["addr", "db", "provider", "sorted", "syntax", "values"], &["parallel"]),
    // `addr`: a plugin is launched by its version and source address. `sandbox`: its launcher restricts itself.
    row("plugin", &["addr", "parallel", "provider", "sandbox", "sorted", "values"], &[]),
    // `provider`: schemas are inputs of the database. `syntax`, `values`: tfvars files are parsed and evaluated
    // outside it.
    row("project", &["addr", "db", "hir", "parallel", "provider", "sorted", "syntax", "values"], &[]),
    // The tests of the engine start from the text of a configuration.
    row("engine", &["addr", "db", "hir", "parallel", "provider", "sorted", "state", "values"], &["project"]),
    // `engine`: it evaluates expressions for the objects before and after a plan. The whole is tested in
    // tests/conformance.
    row("causes", &["addr", "db", "engine", "hir", "provider", "sorted", "state", "values"], &[]),
    // `engine`: the journal of a run is a trait of the engine. The tests start from the text of a configuration.
    row("durability", &["addr", "backend", "db", "engine", "parallel", "provider", "state"],
        &["project", "sorted", "values"]),
    // `engine`: it implements the trait by which provisioners connect. `plugin`: output is divided into lines as that
    // of other processes. `db`: files are opened without waiting for pipes.
    row("remote", &["db", "engine", "plugin", "provider"], &[]),
    // The derive macros only write code.
    row("mayfly-sdk-derive", &[], &[]),
    // Providers are written without anything of the engine.
    row("mayfly-sdk", &["mayfly-sdk-derive", "plugin", "provider", "sorted", "values"], &[]),
    // `engine`, `project`, `state`: it runs configurations in the process of a test. Only tests of providers use it.
    row("mayfly-sdk-testing", &["addr", "db", "engine", "hir", "mayfly-sdk", "project", "provider", "state"], &[]),
    // examples/terraform-provider-notes: the provider of the tutorial, which is a stranger to the rest.
    row("terraform-provider-notes", &["mayfly-sdk"], &["mayfly-sdk-testing"]),
    // `addr`: the bundled providers are listed by source address. `http_client`: `restful` calls the APIs of others.
    // `sandbox`: each bundled provider says what it needs to do.
    row("providers", &["addr", "http_client", "mayfly-sdk", "provider", "public_suffix", "sandbox", "sorted", "values"],
        &["plugin"]),
    // `hir`, `provider`: plans are printed in the order and with the flags of the configuration and the schema.
    // The tests show the plan of a configuration, which they have as text.
    row("render", &["addr", "causes", "db", "engine", "hir", "parallel", "provider", "sorted", "state", "values"],
        &["project"]),
    // The tests of editor features start from the text of a configuration.
    row("ide", &["addr", "db", "hir", "provider", "sorted", "syntax", "values"], &["project"]),
    // `provider`: schemas are passed on to the database.
    row("lsp", &["addr", "db", "file_watcher", "hir", "ide", "parallel", "project", "provider", "sorted", "values"],
        &[]),
    // `syntax`: a planned configuration is compared with the decoded text of files. `providers`: the bundled ones are
    // among the sources. `sandbox`: an operation chooses the policy of each provider. No `render` and no `clap`: an
    // operation has no terminal.
    row("operations", &["addr", "backend", "causes", "db", "durability", "engine", "hir", "http_client", "packages", "parallel",
                        "plugin", "project", "provider", "providers", "remote", "sandbox", "sorted", "state", "syntax",
                        "values"], &[]),
    // tests/editor: a client of the language server, independent of the server's code.
    row("editor", &[], &[]),
    // tests/differential: runs the executable and another one, and compares their output.
    row("differential", &["parallel"], &[]),
    // tests/torture: starts and kills the executable, and reads the files that it wrote.
    row("torture", &[], &[]),
    // tests/registry: a registry that tools install from.
    row("registry", &[], &[]),
    // `syntax`: the formatter works on the text of one file, outside the database. `ide`: the console completes
    // names.
    row("cli", &["addr", "backend", "causes", "db", "durability", "engine", "file_watcher", "hir", "ide", "lsp",
                 "operations", "packages", "parallel", "plugin", "project", "providers", "render", "sorted", "state",
                 "syntax", "values"],
        &["differential", "editor", "mayfly-sdk", "provider", "registry", "sandbox", "torture"]),
    // tests/hostile: feeds hostile bytes to every parser and decoder.
    row("hostile", &["addr", "backend", "db", "hir", "ide", "lsp", "object_storage", "packages", "plugin", "project",
                     "provider", "providers", "sorted", "state", "syntax", "values"], &[]),
    // `editor`: the bench of the language server types like an editor. `torture`, `differential`: are commands of
    // xtask. `addr`: versions of modules. `db`: the registry of rules, of which the index of the pages is made.
    // `registry`: the bench installs from it.
    row("xtask", &["addr", "db", "differential", "editor", "parallel", "registry", "torture"], &[]),
    // tests/conformance: from the text of a configuration to the state, with the bundled providers in one process.
    row("conformance", &["addr", "db", "editor", "engine", "hir", "lsp", "project", "provider", "providers", "sorted",
                         "state", "values"], &["causes", "ide", "parallel", "render", "syntax"]),
];

type Names = BTreeSet<String>;

/// The dependencies in a crate's manifest: normal (and build) ones, and those of its tests only.
#[derive(Default, PartialEq, Eq, Debug)]
struct CrateDependencies {
    normal: Names,
    tests: Names,
}

/// Compares the manifests with the table.
///
/// # Errors
/// Returns the differences, one per line, or the error if cargo fails.
pub(crate) fn check(root: &Path) -> Result<()> {
    let differences = differences(&table(), &manifests(root)?);
    if !differences.is_empty() {
        bail!("crates/xtask/src/layering.rs and the manifests disagree:\n{differences}");
    }
    Ok(())
}

fn table() -> BTreeMap<String, CrateDependencies> {
    let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
    TABLE
        .iter()
        .map(|row| {
            (
                row.name.to_owned(),
                CrateDependencies { normal: names(row.uses), tests: names(row.tests_use) },
            )
        })
        .collect()
}

fn manifests(root: &Path) -> Result<BTreeMap<String, CrateDependencies>> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let metadata: serde_json::Value = serde_json::from_str(&crate::cargo(root, &arguments)?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    packages.iter().map(manifest).collect()
}

fn manifest(package: &serde_json::Value) -> Result<(String, CrateDependencies)> {
    let name = package["name"].as_str().context("a package has no name")?;
    let mut uses = CrateDependencies::default();
    for dependency in package["dependencies"].as_array().context("a package has no dependencies")? {
        // Only crates of the workspace have a path.
        if !dependency["path"].is_string() {
            continue;
        }
        let used = dependency["name"].as_str().context("a dependency has no name")?.to_owned();
        match dependency["kind"].as_str() {
            Some("dev") => uses.tests.insert(used),
            _ => uses.normal.insert(used),
        };
    }
    uses.tests.retain(|it| !uses.normal.contains(it));
    Ok((name.to_owned(), uses))
}

/// Returns one line for each entry that only one side has.
fn differences(
    table: &BTreeMap<String, CrateDependencies>,
    manifests: &BTreeMap<String, CrateDependencies>,
) -> String {
    let mut out = String::new();
    let nothing = CrateDependencies::default();
    let crates: BTreeSet<_> = table.keys().chain(manifests.keys()).collect();
    for name in crates {
        let only = match (table.contains_key(name), manifests.contains_key(name)) {
            (false, _) => Some("not in the table"),
            (_, false) => Some("in the table, but there is no such crate"),
            _ => None,
        };
        if let Some(only) = only {
            let _ = writeln!(out, "  {name}: {only}");
        }
        let said = table.get(name).unwrap_or(&nothing);
        let found = manifests.get(name).unwrap_or(&nothing);
        compare(&mut out, name, "", &said.normal, &found.normal);
        compare(&mut out, name, " (tests)", &said.tests, &found.tests);
    }
    out
}

fn compare(out: &mut String, name: &str, what: &str, said: &Names, found: &Names) {
    for used in found.difference(said) {
        let _ = writeln!(out, "  {name} → {used}{what}: in its Cargo.toml, not in the table");
    }
    for used in said.difference(found) {
        let _ = writeln!(out, "  {name} → {used}{what}: in the table, not in its Cargo.toml");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crate_dependencies_match_the_table() {
        check(&crate::root()).expect("the table is true");
    }

    #[test]
    fn table_lists_each_crate_after_its_dependencies() {
        let mut above = BTreeSet::new();
        for row in TABLE {
            for used in row.uses.iter().chain(row.tests_use) {
                assert!(above.contains(used), "{} uses {used}, which is not above it", row.name);
            }
            assert!(above.insert(row.name), "{} is there twice", row.name);
        }
    }

    #[test]
    fn layering_differences_name_both_crates() {
        let uses = |normal: &[&str]| CrateDependencies {
            normal: normal.iter().map(|it| (*it).to_owned()).collect(),
            tests: Names::new(),
        };
        let table = [("a".to_owned(), uses(&["b"])), ("gone".to_owned(), uses(&[]))].into();
        let found = [("a".to_owned(), uses(&["c"])), ("new".to_owned(), uses(&[]))].into();
        let expected = "  \
  a → c: in its Cargo.toml, not in the table
  a → b: in the table, not in its Cargo.toml
  gone: in the table, but there is no such crate
  new: not in the table
";
        assert_eq!(differences(&table, &found), expected);
    }
}
