//! Reads the files of a revision from a git repository, without a checkout.
//!
//! **Invariant:** the repository decides nothing but the content: no hook, filter, pager or other program of its
//! settings runs, and nothing is fetched.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

use packages::Git;
use sorted::{TreeMap, TreeSet};

/// The largest object that is read, in bytes, as for files of the working directory.
const LARGEST_OBJECT: u64 = 256 << 20;

/// The repository around a root module.
pub(super) struct Repository {
    git: Git,
    directory: PathBuf,
    /// The top directory of the working tree.
    pub(super) top: PathBuf,
    /// The path of the root module below `top`. Empty, or with `/` at its end.
    pub(super) prefix: String,
}

impl Repository {
    /// Finds the repository of a directory. The error is a reason for the user.
    pub(super) fn open(git: Git, directory: &Path) -> Result<Repository, String> {
        let mut repository = Repository {
            git,
            directory: directory.to_owned(),
            top: PathBuf::new(),
            prefix: String::new(),
        };
        let found = repository.run(&["rev-parse", "--show-toplevel", "--show-prefix"])?;
        let mut lines = found.lines();
        let top = lines.next().filter(|it| !it.is_empty());
        let Some(top) = top else {
            return Err("the directory is in no working tree of a git repository.".to_owned());
        };
        repository.top = PathBuf::from(top);
        repository.prefix = lines.next().unwrap_or_default().to_owned();
        Ok(repository)
    }

    /// The files of a revision. The error is a reason for the user.
    pub(super) fn at(self, revision: &str) -> Result<RevisionFiles, String> {
        if revision.is_empty() || revision.starts_with('-') || revision.contains(char::is_control) {
            return Err("this cannot be the name of a revision.".to_owned());
        }
        let parse = |name: &str| self.run(&["rev-parse", "--verify", "--quiet", name]);
        let commit = parse(&format!("{revision}^{{commit}}")).map_err(|_| {
            "the repository has no such revision. A clone of a CI job often has only the last \
             commit; fetch the revision first, for example with \"git fetch --depth=1 origin BRANCH\", \
             and give FETCH_HEAD."
                .to_owned()
        })?;
        let commit = commit.trim().to_owned();
        let root = parse(&format!("{commit}^{{tree}}"))?.trim().to_owned();
        let objects = Objects::start(self.command()).map_err(|error| failed(&error))?;
        Ok(RevisionFiles {
            repository: self,
            commit,
            root,
            objects: Mutex::new(objects),
            trees: Mutex::default(),
        })
    }

    fn command(&self) -> Command {
        let mut command = self.git.command(&self.directory);
        // A repository in the tree of another one is not the user's.
        command.args(["-c", "safe.bareRepository=explicit"]);
        // A partial clone must not load objects through a program of its settings.
        command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
        command.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_OPTIONAL_LOCKS", "0");
        command.stderr(Stdio::piped());
        command
    }

    /// The output of a git command. The error is a reason for the user.
    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.command().args(arguments).output().map_err(|error| failed(&error))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(match words.trim() {
                "" => "git failed without a word.".to_owned(),
                words => format!("git says: {words}"),
            });
        }
        String::from_utf8(output.stdout).map_err(|_| "a path in it is not UTF-8.".to_owned())
    }
}

fn failed(error: &io::Error) -> String {
    format!("git cannot be run: {error}.")
}

/// The kind of an entry in a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryKind {
    Directory,
    File,
    /// A symbolic link, whose target is the content.
    Link,
    /// A submodule, of which the repository has no files.
    Submodule,
}

/// An entry of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) kind: EntryKind,
    /// The identifier of the object, in hexadecimal.
    object: String,
}

/// The entries of a directory by name.
pub(super) type Entries = TreeMap<String, Entry>;

/// The files of a revision.
pub(super) struct RevisionFiles {
    pub(super) repository: Repository,
    /// The identifier of the commit.
    pub(super) commit: String,
    root: String,
    objects: Mutex<Objects>,
    trees: Mutex<TreeMap<String, Arc<Entries>>>,
}

impl RevisionFiles {
    /// The entry at a path below the top directory, with `/` between names. `None` if there is none. A path into a
    /// submodule or through a link ends there.
    pub(super) fn entry(&self, path: &str) -> io::Result<Option<Entry>> {
        let mut entry = Entry { kind: EntryKind::Directory, object: self.root.clone() };
        for name in path.split('/').filter(|it| !it.is_empty()) {
            if matches!(entry.kind, EntryKind::Link | EntryKind::Submodule) {
                return Ok(Some(entry));
            }
            let Some(next) = self.entries(&entry)?.get(name).cloned() else { return Ok(None) };
            entry = next;
        }
        Ok(Some(entry))
    }

    /// The entries of a directory. Empty for a file.
    pub(super) fn entries(&self, directory: &Entry) -> io::Result<Arc<Entries>> {
        if directory.kind != EntryKind::Directory {
            return Ok(Arc::default());
        }
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = trees.get(&directory.object) {
            return Ok(Arc::clone(known));
        }
        let entries = Arc::new(parsed(&self.content(directory)?, directory.object.len() / 2)?);
        trees.insert(directory.object.clone(), Arc::clone(&entries));
        Ok(entries)
    }

    /// The content of an object.
    pub(super) fn content(&self, entry: &Entry) -> io::Result<Vec<u8>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).read(&entry.object)
    }

    /// The paths of the files that belong to the working tree: the tracked ones, and the others that are not ignored.
    pub(super) fn sources(&self) -> Result<TreeSet<String>, String> {
        let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name"];
        let all = self.repository.run(&[&list[..], &["--", ":/"]].concat())?;
        Ok(all.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
    }
}

/// The entries in the bytes of a tree object, whose identifiers have `length` bytes. Leaves out names that are not
/// UTF-8, because no configuration can refer to them.
fn parsed(mut tree: &[u8], length: usize) -> io::Result<Entries> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "git sent a damaged tree");
    let mut entries = Entries::new();
    while !tree.is_empty() {
        let space = tree.iter().position(|it| *it == b' ').ok_or_else(damaged)?;
        let end =
            tree.iter().position(|it| *it == 0).filter(|it| *it > space).ok_or_else(damaged)?;
        let object = tree.get(end + 1..end + 1 + length).ok_or_else(damaged)?;
        let kind = match &tree[..space] {
            b"40000" => EntryKind::Directory,
            b"120000" => EntryKind::Link,
            b"160000" => EntryKind::Submodule,
            _ => EntryKind::File,
        };
        if let Ok(name) = std::str::from_utf8(&tree[space + 1..end]) {
            let object = object.iter().map(|it| format!("{it:02x}")).collect();
            entries.insert(name.to_owned(), Entry { kind, object });
        }
        tree = &tree[end + 1 + length..];
    }
    Ok(entries)
}

/// A running `git cat-file --batch`, which ends when its input does.
struct Objects {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Objects {
    fn start(mut command: Command) -> io::Result<Objects> {
        command.args(["cat-file", "--batch"]).stderr(Stdio::null());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = child.stdin.take();
        let answers = child.stdout.take().map(BufReader::new).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Objects { child, questions, answers })
    }

    /// The content of an object.
    fn read(&mut self, object: &str) -> io::Result<Vec<u8>> {
        let questions = self.questions.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(questions, "{object}")?;
        questions.flush()?;
        let mut header = String::new();
        self.answers.read_line(&mut header)?;
        let size = header.trim_end().rsplit_once(' ').and_then(|(_, size)| size.parse().ok());
        let Some(size): Option<u64> = size else {
            let message = "the repository lacks an object of the revision, as a partial clone does";
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        };
        if size > LARGEST_OBJECT {
            // The content stays unread in the pipe, so the process is of no more use.
            self.questions = None;
            let message = format!("a file of the revision is longer than {LARGEST_OBJECT} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        let mut content = Vec::new();
        (&mut self.answers).take(size).read_to_end(&mut content)?;
        let mut end = [0];
        self.answers.read_exact(&mut end)?;
        match content.len() as u64 == size {
            true => Ok(content),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        self.questions = None;
        // A failure means that the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_objects_are_parsed_and_damaged_ones_refused() {
        let mut tree = b"100644 main.tf\0".to_vec();
        tree.extend([0xab; 20]);
        tree.extend(b"40000 modules\0");
        tree.extend([1; 20]);
        tree.extend(b"120000 \xff\0");
        tree.extend([2; 20]);
        let entries = parsed(&tree, 20).expect("is a tree");
        assert_eq!(entries.len(), 2);
        let file = Entry { kind: EntryKind::File, object: "ab".repeat(20) };
        assert_eq!(entries["main.tf"], file);
        assert_eq!(entries["modules"].kind, EntryKind::Directory);
        for damaged in [&tree[..tree.len() - 1], b"100644", b"\0 ", b"100644 a"] {
            assert!(parsed(damaged, 20).is_err());
        }
    }
}
