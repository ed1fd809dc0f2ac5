//! The contents of a module package, and changes in directories.

use sorted::TreeMap;

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::hash::{Hash, HashError, fault, hash_of_list, sha256_hex, sha256_of_bytes};

/// Directories that belong to the user of a directory, not to the package.
pub(super) const LEFT_OUT: [&str; 3] = [".git", ".hg", ".terraform"];

/// The limit on the number of files. No package has so many.
pub(super) const MAX_FILES: usize = 200_000;

const MAX_LEVELS: usize = 64;

/// The prefix of a link's digest in the list. It distinguishes a link from a file whose content is the link's
/// target.
const LINK: &str = "link:";

/// The files of a package by name, each with the hash of its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    files: TreeMap<String, String>,
}

/// The difference between a package and an earlier version of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) changed: Vec<String>,
    pub(super) missing: Vec<String>,
    pub(super) added: Vec<String>,
}

impl Contents {
    /// Reads all files of a package.
    ///
    /// # Errors
    /// Returns a [`HashError`] for unreadable files, for links that lead out of the package, and for entries that
    /// are neither a file, a directory nor a link.
    pub fn of(root: &Path) -> Result<Contents, HashError> {
        Self::but(&[], root)
    }

    /// Reads a package that another tool installed together with its repository. The repository is left out.
    ///
    /// # Errors
    /// Returns the same errors as [`Contents::of`].
    pub fn of_others(root: &Path) -> Result<Contents, HashError> {
        Self::but(&[".git"], root)
    }

    fn but(left_out: &[&str], root: &Path) -> Result<Contents, HashError> {
        let mut files = TreeMap::new();
        walk(root, left_out, &mut |name, path, metadata| {
            let hash = match metadata.is_symlink() {
                true => link_hash(name, path)?,
                false if metadata.is_file() => std::fs::File::open(path).and_then(sha256_hex)?,
                false => {
                    return Err(io::Error::other("it is neither a file, a directory nor a link"));
                }
            };
            files.insert(name.to_owned(), hash);
            Ok(())
        })?;
        Ok(Contents { files })
    }

    /// The `h1:` hash. A provider package with the same files has the same hash.
    pub fn hash(&self) -> Hash {
        hash_of_list(&self.to_text())
    }

    /// The list that is hashed.
    pub(super) fn to_text(&self) -> String {
        self.files.iter().map(|(name, hash)| format!("{hash}  {name}\n")).collect()
    }

    /// Parses such a list. `None` if its hash is not accepted.
    pub(super) fn parse(text: &str, hash: impl Fn(&Hash) -> bool) -> Option<Contents> {
        if !hash(&hash_of_list(text)) {
            return None;
        }
        let line = |line: &str| {
            let (hash, name) = line.split_once("  ")?;
            Some((name.to_owned(), hash.to_owned()))
        };
        Some(Contents { files: text.lines().map(line).collect::<Option<_>>()? })
    }

    /// The files that differ in `now`, that it lacks, and that it adds.
    pub(super) fn difference(&self, now: &Contents) -> Difference {
        let mut difference = Difference::default();
        for (name, hash) in &self.files {
            match now.files.get(name) {
                None => difference.missing.push(name.clone()),
                Some(other) if other != hash => difference.changed.push(name.clone()),
                Some(_) => {}
            }
        }
        let added = now.files.keys().filter(|it| !self.files.contains_key(*it));
        difference.added.extend(added.cloned());
        difference
    }
}

fn link_hash(name: &str, path: &Path) -> io::Result<String> {
    let target = std::fs::read_link(path)?;
    let target = target.to_str().ok_or_else(|| io::Error::other("its target is not UTF-8"))?;
    match stays_inside(name, target) {
        true => Ok(format!("{LINK}{}", sha256_of_bytes(target.as_bytes()))),
        false => Err(io::Error::other("it is a link that points outside of the package")),
    }
}

/// Returns true if a link leads to a place inside of its package, provided that all links of the package do.
///
/// Upward steps must come first, where they lead to the enclosing directories. After a name, which may itself be a
/// link, they could lead anywhere.
pub(super) fn stays_inside(name: &str, target: &str) -> bool {
    if target.is_empty() || target.starts_with('/') {
        return false;
    }
    let mut above = name.matches('/').count();
    let mut is_down = false;
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if above == 0 || is_down => return false,
            ".." => above -= 1,
            part if LEFT_OUT.contains(&part) => return false,
            _ => is_down = true,
        }
    }
    true
}

/// The state of each file below a directory without its content, for a comparison before and after a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    files: TreeMap<String, Stamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Snapshot {
    /// Reads the directory of a package.
    ///
    /// # Errors
    /// Returns a [`HashError`] for unreadable directories, or if there are too many files.
    pub fn of_package(root: &Path) -> Result<Snapshot, HashError> {
        Self::but(&[], root)
    }

    /// Reads a working directory. Repositories and data directories in it are left out.
    ///
    /// # Errors
    /// Returns the same errors as [`Snapshot::of_package`].
    pub fn of_directory(root: &Path) -> Result<Snapshot, HashError> {
        Self::but(&LEFT_OUT, root)
    }

    fn but(left_out: &[&str], root: &Path) -> Result<Snapshot, HashError> {
        let mut files = TreeMap::new();
        walk(root, left_out, &mut |name, _, it| {
            let stamp = Stamp {
                inode: it.ino(),
                length: it.size(),
                modified: (it.mtime(), it.mtime_nsec()),
                changed: (it.ctime(), it.ctime_nsec()),
            };
            files.insert(name.to_owned(), stamp);
            Ok(())
        })?;
        Ok(Snapshot { files })
    }

    /// The names of the files that were removed, added or written until `now`.
    pub fn changes(&self, now: &Snapshot) -> Vec<String> {
        let gone = self.files.keys().filter(|it| !now.files.contains_key(*it));
        let is_new = |(name, stamp): &(&String, &Stamp)| self.files.get(*name) != Some(*stamp);
        let new = now.files.iter().filter(is_new).map(|(name, _)| name);
        let mut names: Vec<String> = gone.chain(new).cloned().collect();
        sorted::sort(&mut names);
        names
    }
}

type Visit<'v> = dyn FnMut(&str, &Path, &Metadata) -> io::Result<()> + 'v;

/// Visits all entries that are not directories, except those with the given names. Links are not followed.
fn walk(root: &Path, left_out: &[&str], visit: &mut Visit<'_>) -> Result<(), HashError> {
    let mut count = 0;
    let mut pending = vec![(String::new(), root.to_owned())];
    while let Some((prefix, directory)) = pending.pop() {
        if prefix.matches('/').count() > MAX_LEVELS {
            return Err(fault(&directory, "its directories are nested too deeply"));
        }
        for entry in std::fs::read_dir(&directory).map_err(|it| fault(&directory, it))? {
            let entry = entry.map_err(|it| fault(&directory, it))?;
            let path = entry.path();
            let name = entry.file_name().into_string();
            let name = name.map_err(|_| fault(&path, "its name is not UTF-8"))?;
            if left_out.contains(&&*name) {
                continue;
            }
            if name.contains(['\n', '\r']) {
                return Err(fault(&path, "its name has a line break"));
            }
            count += 1;
            if count > MAX_FILES {
                return Err(fault(root, format!("there are more than {MAX_FILES} files in it")));
            }
            let name = format!("{prefix}{name}");
            let metadata = std::fs::symlink_metadata(&path).map_err(|it| fault(&path, it))?;
            match metadata.is_dir() {
                true => pending.push((format!("{name}/"), path)),
                false => visit(&name, &path, &metadata).map_err(|it| fault(&path, it))?,
            }
        }
    }
    Ok(())
}
