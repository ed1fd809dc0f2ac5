//! Whether the packages that a configuration uses are those that are locked.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use addr::ModuleSource;
use db::Diagnostic;
use hir::{Program, workspace::is_local_source};
use packages::{Alteration, Locks, ModuleManifest, Verdict, verify_module_package};

use super::{locked_address, package_directory};
use crate::session::{Failure, Session};

/// Compares the packages that the modules of a program lie in with their locks. Gives warnings.
///
/// # Errors
/// For packages that are not what is locked.
pub(crate) fn verify(
    session: &Session,
    program: &Program,
    locks: &Locks,
) -> Result<Vec<Diagnostic>, Failure> {
    let modules = session.data_dir().join("modules");
    let called = called_elsewhere(program);
    if called.is_empty() {
        return Ok(Vec::new());
    }
    let packages = packages(&session.read_manifest()?, &modules, &called);
    let (mut warnings, mut errors, mut unlocked) = (Vec::new(), Vec::new(), Vec::new());
    for (directory, address) in &packages {
        let Some(lock) = locks.modules.get(address) else {
            unlocked.push(address.as_str());
            continue;
        };
        match verify_module_package(directory, lock) {
            Ok(Verdict::Same) => {}
            Ok(Verdict::Grown(files)) => warnings.push(grown(directory, address, &files)),
            Ok(Verdict::Altered(how)) => errors.push(altered(directory, address, &how)),
            Err(error) => errors.push(unreadable(address, &error.to_string())),
        }
    }
    warnings.extend(not_locked(&unlocked));
    match errors.is_empty() {
        true => Ok(warnings),
        false => Err(errors.into()),
    }
}

/// The directories of modules that are not beside their callers.
fn called_elsewhere(program: &Program) -> BTreeSet<&str> {
    let calls = program.modules.iter().flat_map(|module| module.calls.values());
    let elsewhere = calls.filter(|(call, _)| {
        call.module_call().source.as_deref().is_none_or(|source| !is_local_source(source))
    });
    elsewhere.map(|(_, module)| &*program.module(*module).dir).collect()
}

/// The directories of the packages that `called` lie in, each with every package that it is said to be.
fn packages(
    manifest: &ModuleManifest,
    modules: &Path,
    called: &BTreeSet<&str>,
) -> BTreeSet<(PathBuf, String)> {
    let records = manifest.modules.values();
    let used = records.filter(|it| !is_local_source(&it.source) && called.contains(&*it.dir));
    let package = |record: &packages::ModuleRecord| {
        let source = ModuleSource::parse(&record.source).ok()?;
        let directory = package_directory(modules, Path::new(&record.dir), &source.subdir);
        Some((directory, locked_address(&source.package, record.version.as_deref())))
    };
    used.filter_map(package).collect()
}

fn altered(directory: &Path, address: &str, how: &Alteration) -> Diagnostic {
    let Alteration { changed, missing, added } = how;
    let kinds = [("changed", changed), ("missing", missing), ("added", added)];
    let found: Vec<String> = kinds
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(what, names)| format!("{what}: {}", listed(names)))
        .collect();
    let found = match found.is_empty() {
        true => "which of its files differ is not known".to_owned(),
        false => found.join("; "),
    };
    let detail = format!(
        "{} is not the package {address} that the lock file has ({found}). \"mayfly init\" puts it in place again. If a module of it writes into its own \
         directory, let it write to \"${{path.temp}}\" instead, which is there for that.",
        directory.display()
    );
    Diagnostic::error("module-package-changed", "Module package differs from its lock", detail)
}

fn grown(directory: &Path, address: &str, files: &[String]) -> Diagnostic {
    let detail = format!(
        "{} has files that are not of the package {address}: {}. Every call of the package shares this directory. If a module of it writes there, let it \
         write to \"${{path.temp}}\" instead. \"mayfly init -upgrade\" gets the package anew.",
        directory.display(),
        listed(files)
    );
    Diagnostic::warning("module-package-grown", "Module package has other files in it", detail)
}

fn unreadable(address: &str, error: &str) -> Diagnostic {
    let detail = format!(
        "The package {address} cannot be compared with its lock: {error}. \"mayfly init\" puts it in place again."
    );
    Diagnostic::error("module-package-changed", "Module package differs from its lock", detail)
}

fn not_locked(unlocked: &[&str]) -> Option<Diagnostic> {
    let names: BTreeSet<&str> = unlocked.iter().copied().collect();
    let names: Vec<&str> = names.into_iter().collect();
    let detail = format!(
        "The lock file has no checksums of {}, so nobody notices if what is in place changes. \"mayfly init\" writes them down.",
        names.join(", ")
    );
    let summary = "Module packages without checksums";
    (!names.is_empty()).then(|| Diagnostic::warning("module-package-unlocked", summary, detail))
}

/// A few names, and how many more there are.
pub(super) fn listed(names: &[String]) -> String {
    const MOST: usize = 5;
    let shown: Vec<String> = names.iter().take(MOST).map(|it| format!("\"{it}\"")).collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
