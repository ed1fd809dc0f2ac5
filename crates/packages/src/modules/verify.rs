//! Whether a package in place is what was locked.

use std::path::Path;

use super::contents::Contents;
use super::install::list_of;
use crate::hash::HashError;
use crate::locks::ModuleLock;

/// What is found where a package is in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// What was locked.
    Same,
    /// What was locked, and files that are no configuration beside it: as a rule, something that the module wrote.
    Grown(Vec<String>),
    /// Something else.
    Altered(Alteration),
}

/// In which files a package is not what was locked. All are empty where nobody knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alteration {
    pub changed: Vec<String>,
    pub missing: Vec<String>,
    /// Configuration that was added.
    pub added: Vec<String>,
}

/// Compares a package in place with its lock.
///
/// # Errors
/// [`HashError`] if it cannot be read.
pub fn verify_module_package(directory: &Path, lock: &ModuleLock) -> Result<Verdict, HashError> {
    // What another tool has put in place brings its repository along.
    let now = match &lock.directory {
        Some(name) if directory.ends_with(name) => Contents::of(directory)?,
        _ => Contents::of_others(directory)?,
    };
    if lock.hashes.contains(&now.hash()) {
        return Ok(Verdict::Same);
    }
    let list = std::fs::read_to_string(list_of(directory)).ok();
    let before = list.and_then(|it| Contents::parse(&it, |hash| lock.hashes.contains(hash)));
    let Some(before) = before else { return Ok(Verdict::Altered(Alteration::default())) };
    let difference = before.difference(&now);
    let (added, others): (Vec<String>, Vec<String>) =
        difference.added.into_iter().partition(|name| is_configuration(name));
    let alteration = Alteration { changed: difference.changed, missing: difference.missing, added };
    Ok(match alteration == Alteration::default() {
        true => Verdict::Grown(others),
        false => Verdict::Altered(alteration),
    })
}

/// Whether a file would be read as part of a module, by its name.
pub fn is_configuration(name: &str) -> bool {
    [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().any(|it| name.ends_with(it))
}
