//! The files of the working directory, as far as they are in the repository as they are at a revision.
//!
//! | the file is | and it reads |
//! |---|---|
//! | in the tree of the revision | the content at the revision |
//! | not there, and tracked now or neither tracked nor ignored | nothing: the difference has added it |
//! | ignored by git, in the data directory, in a submodule, or outside of the repository | the file of today |

use std::{
    io,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::SystemTime,
};

use db::{DirectoryEntry, System};
use sorted::TreeSet;

use super::git::{Entry, EntryKind, RevisionFiles};
use crate::session::Session;

/// The number of symbolic links that are followed for one path.
const MAX_LINKS: usize = 16;

/// A file system with the files of a revision.
pub(super) struct RevisionSystem {
    files: RevisionFiles,
    here: Arc<dyn System>,
    /// The root module's directory in the form in which functions see it.
    base: PathBuf,
    /// The data directory, relative to the top directory. `None` if it is elsewhere.
    data_dir: Option<String>,
    sources: OnceLock<Sources>,
    /// The first failure of git. A comparison with files that could not be read would be wrong.
    problem: Mutex<Option<String>>,
}

/// The paths of the working tree's files, and of the directories that contain them.
#[derive(Default)]
struct Sources {
    files: TreeSet<String>,
    directories: TreeSet<String>,
}

/// The meaning of a path at the revision.
enum Place {
    /// An entry of the revision.
    Entry(Entry),
    /// A path of the repository that the revision does not have.
    Missing(String),
    /// A path of which the working directory's file counts.
    Here,
}

impl RevisionSystem {
    pub(super) fn new(session: &Session, files: RevisionFiles) -> RevisionSystem {
        let here = Arc::clone(&session.system);
        let base = here.base_directory();
        let mut system = RevisionSystem {
            files,
            base,
            here,
            data_dir: None,
            sources: OnceLock::new(),
            problem: Mutex::default(),
        };
        system.data_dir = system.in_repository(&session.data_dir());
        system
    }

    /// The first failure of git, as a reason for the user.
    pub(super) fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, reason: &dyn std::fmt::Display) {
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.get_or_insert_with(|| format!("{reason}."));
    }

    /// The result of git; its failure is kept.
    fn checked<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.fail(error);
        }
        result
    }

    /// The path below the top directory. `None` for a path outside of it.
    fn in_repository(&self, path: &Path) -> Option<String> {
        let prefix = Path::new(&self.files.repository.prefix);
        let below = match path.is_absolute() {
            false => prefix.join(path),
            true => match path.strip_prefix(&self.base) {
                Ok(relative) => prefix.join(relative),
                Err(_) => path.strip_prefix(&self.files.repository.top).ok()?.to_owned(),
            },
        };
        let mut names: Vec<&str> = Vec::new();
        for component in below.components() {
            match component {
                Component::Normal(name) => names.push(name.to_str()?),
                Component::ParentDir => drop(names.pop()?),
                Component::CurDir => {}
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(names.join("/"))
    }

    fn place(&self, path: &Path) -> io::Result<Place> {
        let Some(mut path) = self.in_repository(path) else { return Ok(Place::Here) };
        for _ in 0..MAX_LINKS {
            let is_data = self.data_dir.as_ref().is_some_and(|it| is_below(&path, it));
            if is_data {
                return Ok(Place::Here);
            }
            let Some((link, entry)) = self.link_on(&path)? else {
                return Ok(match self.checked(self.files.entry(&path))? {
                    Some(entry) if entry.kind == EntryKind::Submodule => Place::Here,
                    Some(entry) => Place::Entry(entry),
                    None => Place::Missing(path),
                });
            };
            let target = self.checked(self.files.content(&entry))?;
            let Some(target) = followed(&path, &link, &target) else { return Ok(Place::Here) };
            path = target;
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "too many symbolic links"))
    }

    /// The first symbolic link on a path, with its entry.
    fn link_on(&self, path: &str) -> io::Result<Option<(String, Entry)>> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for end in ends.filter(|it| *it > 0) {
            let part = &path[..end];
            match self.checked(self.files.entry(part))? {
                Some(entry) if entry.kind == EntryKind::Link => {
                    return Ok(Some((part.to_owned(), entry)));
                }
                Some(entry) if entry.kind == EntryKind::Directory => {}
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Returns true if a path that the revision does not have belongs to the working tree, so that the difference
    /// has added it.
    fn is_added(&self, path: &str) -> bool {
        let sources = self.sources.get_or_init(|| match self.files.sources() {
            Ok(files) => Sources::of(files),
            Err(reason) => {
                self.fail(&reason.trim_end_matches('.'));
                Sources::default()
            }
        });
        sources.files.contains(path) || sources.directories.contains(path)
    }

    /// Returns true if the file of the working directory counts, because git does not manage it.
    fn is_here(&self, path: &Path) -> io::Result<bool> {
        Ok(match self.place(path)? {
            Place::Entry(_) => false,
            Place::Missing(path) => !self.is_added(&path),
            Place::Here => true,
        })
    }

    /// Returns true if the difference has added a file.
    pub(super) fn lacks(&self, path: &Path) -> bool {
        matches!(self.place(path), Ok(Place::Missing(missing)) if self.is_added(&missing))
    }

    /// Adds the entries of the working directory that git does not manage.
    fn add_unmanaged(&self, path: &Path, entries: &mut Vec<DirectoryEntry>) -> io::Result<bool> {
        let Ok(present) = self.here.list_directory(path) else { return Ok(false) };
        let known: TreeSet<String> = entries.iter().map(|it| it.name.clone()).collect();
        for entry in present.into_iter().filter(|it| !known.contains(&it.name)) {
            if self.is_here(&path.join(&entry.name))? {
                entries.push(entry);
            }
        }
        Ok(true)
    }

    /// Returns true if an entry is a directory, or a link to one.
    fn leads_to_directory(&self, path: &Path, entry: &Entry) -> bool {
        match entry.kind {
            EntryKind::Directory | EntryKind::Submodule => true,
            EntryKind::File => false,
            EntryKind::Link => self.is_directory(path),
        }
    }
}

impl Sources {
    fn of(files: TreeSet<String>) -> Sources {
        let mut directories = TreeSet::new();
        for path in &files {
            for (at, _) in path.match_indices('/') {
                directories.insert(path[..at].to_owned());
            }
        }
        Sources { files, directories }
    }
}

/// Returns true if a path is `directory` or below it.
fn is_below(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|it| it.is_empty() || it.starts_with('/') || directory.is_empty())
}

/// The path to which `path` leads through the link at its beginning. `None` if the link leads out of the repository.
fn followed(path: &str, link: &str, target: &[u8]) -> Option<String> {
    let target = std::str::from_utf8(target).ok().filter(|it| !it.starts_with('/'))?;
    let mut names: Vec<&str> = link.split('/').collect();
    names.pop();
    for name in target.split('/').chain(path[link.len()..].split('/')) {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

impl System for RevisionSystem {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.place(path)? {
            Place::Entry(entry) if entry.kind == EntryKind::File => {
                self.checked(self.files.content(&entry))
            }
            Place::Entry(_) => Err(io::ErrorKind::IsADirectory.into()),
            Place::Missing(missing) if self.is_added(&missing) => {
                Err(io::ErrorKind::NotFound.into())
            }
            Place::Missing(_) | Place::Here => self.here.read_file(path),
        }
    }

    fn read_file_or_pipe(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.is_here(path)? {
            true => self.here.read_file_or_pipe(path),
            false => self.read_file(path),
        }
    }

    fn list_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let entry = match self.place(path)? {
            Place::Entry(entry) => Some(entry),
            Place::Missing(_) => None,
            Place::Here => return self.here.list_directory(path),
        };
        let mut entries = Vec::new();
        if let Some(entry) = &entry {
            for (name, it) in &*self.checked(self.files.entries(entry))? {
                let is_directory = self.leads_to_directory(&path.join(name), it);
                entries.push(DirectoryEntry { name: name.clone(), is_directory });
            }
        }
        let is_here = self.add_unmanaged(path, &mut entries)?;
        if entry.is_none() && !is_here {
            return Err(io::ErrorKind::NotFound.into());
        }
        sorted::sort(&mut entries);
        Ok(entries)
    }

    fn is_directory(&self, path: &Path) -> bool {
        match self.place(path) {
            Ok(Place::Entry(entry)) => entry.kind == EntryKind::Directory,
            Ok(Place::Missing(missing)) => !self.is_added(&missing) && self.here.is_directory(path),
            Ok(Place::Here) => self.here.is_directory(path),
            Err(_) => false,
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        match self.place(path) {
            Ok(Place::Entry(entry)) => entry.kind == EntryKind::File,
            Ok(Place::Missing(missing)) => !self.is_added(&missing) && self.here.is_file(path),
            Ok(Place::Here) => self.here.is_file(path),
            Err(_) => false,
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.here.variable(name)
    }

    fn variables(&self, prefix: &str) -> Vec<(String, String)> {
        self.here.variables(prefix)
    }

    fn current_directory(&self) -> PathBuf {
        self.here.current_directory()
    }

    fn base_directory(&self) -> PathBuf {
        self.here.base_directory()
    }

    fn now(&self) -> SystemTime {
        self.here.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_paths_of_the_repository_or_out_of_it() {
        let check = |path, link, target: &str, expected: Option<&str>| {
            assert_eq!(followed(path, link, target.as_bytes()).as_deref(), expected);
        };
        check("a/link/x.tf", "a/link", "../b", Some("b/x.tf"));
        check("link", "link", "./c/../d.tf", Some("d.tf"));
        check("a/link", "a/link", "../../x", None);
        check("a/link", "a/link", "/etc/passwd", None);
    }

    #[test]
    fn directory_contains_only_paths_at_its_names() {
        assert!(is_below(".terraform/modules", ".terraform") && is_below("a", "a"));
        assert!(!is_below(".terraformx", ".terraform"));
    }
}
