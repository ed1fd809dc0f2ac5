//! Whether the packages that a configuration uses are those that are locked.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use addr::ModuleSource;
use db::{Diagnostic, System};
use hir::workspace::is_local_source;
use packages::{Alteration, Locks, ModuleManifest, Verdict, verify_module_package};

use super::{locked_address, package_directory};
use crate::session::{Failure, Session};

/// Whose locks packages are held against.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    /// Those of the working directory.
    Directory,
    /// Those that a saved plan was made with.
    Plan,
}

/// Compares the packages in place with their locks, before anything of them is read. Gives warnings.
///
/// # Errors
/// For packages that are not what is locked.
pub(crate) fn verify(session: &Session, locks: &Locks, of: Of) -> Result<Vec<Diagnostic>, Failure> {
    let modules = session.data_dir().join("modules");
    let packages = packages(&session.read_manifest()?, &modules);
    let (mut grown_ones, mut errors, mut unlocked) = (Vec::new(), Vec::new(), Vec::new());
    for (directory, address) in &packages {
        // Of what is not there at all, the calls have something to say.
        if !session.system.is_directory(directory) {
            continue;
        }
        let Some(lock) = locks.modules.get(address) else {
            unlocked.push(address.as_str());
            continue;
        };
        match verify_module_package(directory, lock) {
            Ok(Verdict::Same) => {}
            Ok(Verdict::Grown(files)) => grown_ones.push((directory.as_path(), files)),
            Ok(Verdict::Altered(how)) => errors.push(altered(directory, address, &how, of)),
            Err(error) => errors.push(unreadable(address, &error.to_string())),
        }
    }
    match errors.is_empty() {
        true => Ok(grown(&grown_ones).into_iter().chain(not_locked(&unlocked)).collect()),
        false => Err(errors.into()),
    }
}

/// The directories of the packages in place, each with every package that it is said to be.
fn packages(manifest: &ModuleManifest, modules: &Path) -> BTreeSet<(PathBuf, String)> {
    let records = manifest.modules.values().filter(|it| !is_local_source(&it.source));
    let package = |record: &packages::ModuleRecord| {
        let source = ModuleSource::parse(&record.source).ok()?;
        let directory = package_directory(modules, Path::new(&record.dir), &source.subdir);
        Some((directory, locked_address(&source.package, record.version.as_deref())))
    };
    records.filter_map(package).collect()
}

fn altered(directory: &Path, address: &str, how: &Alteration, of: Of) -> Diagnostic {
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
    let (whose, way_out) = match of {
        Of::Directory => ("that the lock file has", "\"mayfly init\" puts it in place again."),
        Of::Plan => (
            "that the plan was made with",
            "Make a new plan, or put in place what was there then: with the lock file of that time, \"mayfly init\" does.",
        ),
    };
    let detail = format!(
        "{} is not the package {address} {whose} ({found}). {way_out} If a module of it writes into its own directory, let it write to \"${{path.temp}}\" \
         instead, which is there for that.",
        directory.display()
    );
    Diagnostic::error("module-package-changed", "Module package differs from its lock", detail)
}

fn grown(packages: &[(&Path, Vec<String>)]) -> Option<Diagnostic> {
    let listed: Vec<String> = packages
        .iter()
        .map(|(directory, files)| format!("  - {}: {}", directory.display(), listed(files)))
        .collect();
    let detail = format!(
        "There are files in directories of packages that are not of the package:\n{}\n\nEvery call of a package shares its directory. If a module writes \
         there, let it write to \"${{path.temp}}\" instead. \"mayfly init\" puts the packages in place again, without these files.",
        listed.join("\n")
    );
    let summary = "Module package has other files in it";
    (!packages.is_empty()).then(|| Diagnostic::warning("module-package-grown", summary, detail))
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
