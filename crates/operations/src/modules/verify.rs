//! Compares the installed module packages with their locks.

use std::path::{Path, PathBuf};

use addr::{ModulePackage, ModuleSource};
use db::{Diagnostic, Summary, system::normalize};
use hir::workspace::is_local_source;
use packages::{
    Alteration, LockedPackage, Locks, ModuleLock, Verdict, module_package_below,
    verify_module_packages,
};
use sorted::TreeSet;

use super::locked_address;
use crate::session::{Failure, LockSource, LockedVersions, Session};

/// Compares the installed packages with their locks, before any module in them is read. Returns warnings.
///
/// # Errors
/// Diagnostics for packages that differ from their locks.
pub fn verify(session: &Session, locked: LockedVersions<'_>) -> Result<Vec<Diagnostic>, Failure> {
    let LockedVersions { locks, source: origin } = locked;
    let modules = session.modules_dir();
    let manifest = session.read_manifest()?;
    let (mut errors, mut unlocked) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    let mut seen = TreeSet::new();
    let records = manifest.modules.values().filter(|it| !is_local_source(&it.source));
    for (position, record) in records.enumerate() {
        let (Ok(source), dir) = (ModuleSource::parse(&record.source), Path::new(&record.dir))
        else {
            continue;
        };
        let address = locked_address(&source.package, record.version.as_deref());
        // Skip a missing directory: the analysis reports the calls to it.
        if !session.system.is_directory(dir) {
            continue;
        }
        let Some(lock) = locks.modules.get(&address) else {
            match other_version(&source.package, locks) {
                Some(other) => errors.push((position, misplaced(&address, dir, &other))),
                None => unlocked.push(address),
            }
            continue;
        };
        let Some(directory) = place(&modules, &source, lock, dir) else {
            errors.push((position, misplaced(&address, dir, "where it is not expected")));
            continue;
        };
        if seen.insert((directory.clone(), address.clone())) {
            found.push((position, address, directory, lock.clone()));
        }
    }
    let packages = found.iter().map(|(_, _, directory, lock)| LockedPackage {
        directory: directory.clone(),
        lock: lock.clone(),
    });
    let verdicts = session.runtime.block_on(verify_module_packages(packages.collect()));
    let mut grown_ones = Vec::new();
    for ((position, address, directory, _), verdict) in found.into_iter().zip(verdicts) {
        let error = match verdict {
            Ok(Verdict::Same) => continue,
            Ok(Verdict::Grown(files)) => {
                grown_ones.push((directory, files));
                continue;
            }
            Ok(Verdict::Altered(how)) => altered(&directory, &address, &how, origin),
            Err(error) => unreadable(&address, &error.to_string()),
        };
        errors.push((position, error));
    }
    if errors.is_empty() {
        return Ok(grown(&grown_ones).into_iter().chain(not_locked(&unlocked)).collect());
    }
    sorted::sort_by_key(&mut errors, |(position, _)| *position);
    Err(errors.into_iter().map(|(_, error)| error).collect::<Vec<_>>().into())
}

/// The directory of a module's package. `None` if the package is not in a directory of its own below the modules
/// directory. The manifest is not locked, so its paths are not trusted.
fn place(modules: &Path, source: &ModuleSource, lock: &ModuleLock, dir: &Path) -> Option<PathBuf> {
    let package = module_package_below(modules, dir)?;
    let is_normal = normalize(dir).as_os_str() == dir.as_os_str();
    // In a registry package, which other tools unpack, the module may be in a deeper directory.
    let module = package.join(&lock.subdirectory).join(&source.subdir);
    let is_module = lock.directory.is_none() || normalize(&module) == dir;
    (is_normal && is_module).then_some(package)
}

/// The end of a message that names the locked version of a registry package. `None` if no version of it is locked.
fn other_version(package: &ModulePackage, locks: &Locks) -> Option<String> {
    let prefix = format!("{package}?version=");
    let mut versions = locks.modules.keys().filter_map(|it| it.strip_prefix(&prefix));
    versions.next().map(|version| format!("while version {version} is locked"))
}

fn misplaced(address: &str, dir: &Path, how: &str) -> Diagnostic {
    let detail = format!(
        "According to the module manifest, {address} is in {}, {how}. Run \"mayfly init\" to \
         restore the packages and the manifest.",
        dir.display()
    );
    Diagnostic::new(Summary::MODULE_PACKAGE_CHANGED, detail)
}

fn altered(directory: &Path, address: &str, how: &Alteration, locks: LockSource) -> Diagnostic {
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
    let (whose, way_out) = match locks {
        LockSource::Directory => ("in the lock file", "Run \"mayfly init\" to restore it."),
        LockSource::Plan => (
            "that the plan was made with",
            "The plan is applied with its own copy of the configuration, but with the scripts and \
             other files that are installed now. To restore the package, run \"mayfly init\" with \
             the lock file from the time of the plan.",
        ),
    };
    let detail = format!(
        "{} does not match the package {address} {whose} ({found}). {way_out} If a module of the \
         package writes into its own directory, change it to write to \"${{path.temp}}\", the \
         directory for temporary files.",
        directory.display()
    );
    Diagnostic::new(Summary::MODULE_PACKAGE_CHANGED, detail)
}

fn grown(packages: &[(PathBuf, Vec<String>)]) -> Option<Diagnostic> {
    let listed: Vec<String> = packages
        .iter()
        .map(|(directory, files)| format!("  - {}: {}", directory.display(), listed(files)))
        .collect();
    let detail = format!(
        "Directories of module packages contain files that are not part of the \
         package:\n{}\n\nEvery call of a package shares its directory. If a module writes there, \
         change it to write to \"${{path.temp}}\". To restore the packages without these files, \
         run \"mayfly init\".",
        listed.join("\n")
    );
    (!packages.is_empty()).then(|| Diagnostic::new(Summary::MODULE_PACKAGE_GROWN, detail))
}

fn unreadable(address: &str, error: &str) -> Diagnostic {
    let detail = format!(
        "The package {address} cannot be compared with its lock: {error}. Run \"mayfly init\" to \
         restore it."
    );
    Diagnostic::new(Summary::MODULE_PACKAGE_CHANGED, detail)
}

fn not_locked(unlocked: &[String]) -> Option<Diagnostic> {
    let names: TreeSet<&str> = unlocked.iter().map(String::as_str).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let detail = format!(
        "The lock file has no checksums of {}, so changes to the installed packages cannot be \
         detected. Run \"mayfly init\" to record the checksums.",
        names.join(", ")
    );
    (!names.is_empty()).then(|| Diagnostic::new(Summary::MODULE_PACKAGE_UNLOCKED, detail))
}

/// Lists a few names and the number of further ones.
pub(super) fn listed(names: &[String]) -> String {
    const MOST: usize = 5;
    let shown: Vec<String> = names.iter().take(MOST).map(|it| format!("\"{it}\"")).collect();
    match names.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
