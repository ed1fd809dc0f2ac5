//! The temporary directory of a plan (`path.temp`): created on disk, captured in a plan file, restored from one,
//! and removed, as the path-temp RFC describes.
//!
//! ```text
//!   plan ─► DATA_DIR/tmp/ID/… ─► captured ─► tmp/ of the plan file ─► restored ─► apply ─► removed
//! ```
//!
//! **Invariant:** nothing is written outside of the plan's own directory, and no link is followed out of it.
//! **Invariant:** after a success the directory is removed. After a failure the user is told its path.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    sync::Arc,
};

use db::{Diagnostic, Summary};
use engine::{TempDirectories, TempRoot};
use state::{Plan, TempEntry, TempKind};

use crate::{
    session::{Failure, Session},
    view::Notice,
};

mod search;

pub use search::refuse_secrets;

/// The maximum total size of a plan's temporary files. A plan file is read into memory as a whole.
const MAX_BYTES: u64 = 200 << 20;
/// The maximum number of temporary files.
const MAX_FILES: usize = 100_000;
/// The total size from which the capture is announced, because it takes noticeable time.
const LARGE: u64 = 16 << 20;

/// The temporary directory of one plan.
pub struct TempFiles {
    root: TempRoot,
    /// True if the directory is kept at the end of an operation. A watcher uses it for the next plan too.
    is_kept: bool,
}

impl TempFiles {
    /// Creates the directory handle for a new plan.
    pub fn new(session: &Session) -> Arc<TempFiles> {
        Arc::new(TempFiles { root: new_root(session), is_kept: false })
    }

    /// Creates the directory handle for all plans of a watcher.
    pub fn of_watcher(session: &Session) -> Arc<TempFiles> {
        Arc::new(TempFiles { root: new_root(session), is_kept: true })
    }

    /// Creates the directory handle for a saved plan. The recorded path is used only if the configuration uses
    /// `path.temp` (`is_used`).
    ///
    /// # Errors
    /// The recorded path is not valid for temporary files, or is absolute and differs from the current data
    /// directory.
    pub fn of_plan(
        session: &Session,
        plan: &Plan,
        is_used: bool,
    ) -> Result<Arc<TempFiles>, Failure> {
        if !is_used {
            return Ok(TempFiles::new(session));
        }
        let now = data_dir(session);
        let is_plain = |it: &str| !it.split('/').any(|step| step == "..");
        let is_taken = match Path::new(&plan.data_dir).is_absolute() {
            true => plan.data_dir == now,
            false => {
                plan.data_dir == now || (!plan.data_dir.is_empty() && is_plain(&plan.data_dir))
            }
        };
        if !is_taken || uuid::Uuid::try_parse(&plan.id).is_err() {
            let detail = format!(
                "The plan's temporary files belong into {}, but the directory for working files is \
                 {now} here. Apply the plan with the environment variable TF_DATA_DIR set to {}, or make a new plan.",
                plan.data_dir, plan.data_dir
            );
            return Err(Diagnostic::new(Summary::PLAN_OF_DATA_DIR, detail).into());
        }
        let root = TempRoot::new(plan.data_dir.as_str(), plan.id.as_str());
        Ok(Arc::new(TempFiles { root, is_kept: false }))
    }

    /// The directory for the engine.
    pub fn root(&self) -> TempRoot {
        self.root.clone()
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(self.root.path())
    }

    /// The content of the directory for a plan file. Prints a message if it is large.
    ///
    /// # Errors
    /// The content is too large, or has an entry that is not a file, a directory or a link.
    pub fn capture(&self, session: &Session) -> Result<Vec<TempEntry>, Failure> {
        let mut found = Found::default();
        let path = self.path();
        if fs::symlink_metadata(&path).is_ok() {
            found.directory(&path, "").map_err(|it| it.refused(session))?;
        }
        if found.bytes >= LARGE {
            let (count, mebibytes) = (found.files.len(), found.bytes >> 20);
            session.view.notice(&Notice::SavingTempFiles { count, mebibytes });
        }
        sorted::sort_by(&mut found.files, |a, b| a.name.cmp(&b.name));
        let read = |FoundFile { name, path, kind }| {
            read(name, &path, kind).map_err(|it| it.refused(session))
        };
        found.files.into_iter().map(read).collect()
    }

    /// Replaces the content of the directory with that of the plan file.
    ///
    /// # Errors
    /// Any I/O error of the system. Nothing is applied then.
    pub fn restore(&self, entries: &[TempEntry]) -> Result<(), Failure> {
        let restored = remove(&self.path())
            .and_then(|()| entries.iter().try_for_each(|entry| self.restore_one(entry)));
        restored.map_err(|error| {
            let detail = format!(
                "The temporary files of the plan cannot be put into {}: {error}. Nothing was \
                 applied. Check the directory's permissions and the disk.",
                self.root.path()
            );
            Diagnostic::new(Summary::TEMP_RESTORE, detail).into()
        })
    }

    fn restore_one(&self, entry: &TempEntry) -> io::Result<()> {
        let path = self.path().join(&entry.path);
        if let Some(parent) = path.parent() {
            self.make_all(parent)?;
        }
        match &entry.kind {
            TempKind::Symlink { target } => symlink(target, path),
            TempKind::File { is_executable, content } => {
                let mode = if *is_executable { 0o700 } else { 0o600 };
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).mode(mode).open(path)?.write_all(content)
            }
        }
    }

    /// Creates a directory and its parents, accessible to the owner only from the plan's directory downwards.
    fn make_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(self.root.all_plans())?;
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    /// Ends the use of the directory: removes it after a success. After a failure, keeps it and returns a warning
    /// with its path.
    pub fn end(&self, has_failed: bool) -> Option<Diagnostic> {
        // A provider in a sandbox may have needed it, although no file was written.
        let _ = fs::remove_dir(self.root.all_plans());
        match self.is_kept || !self.path().exists() {
            true => None,
            false if has_failed => Some(self.left("so that you can look at them")),
            false => self.clear(),
        }
    }

    /// Removes the directory. Returns a warning if that fails.
    pub fn clear(&self) -> Option<Diagnostic> {
        let removed = remove(&self.path());
        // Ignore a failure: the parent may have the directories of other plans.
        let _ = fs::remove_dir(self.root.all_plans());
        let error = removed.err()?;
        Some(self.left(&format!("because they cannot be removed: {error}")))
    }

    fn left(&self, why: &str) -> Diagnostic {
        let detail = format!(
            "Temporary files of this run are left in {}, {why}. Remove that directory when you no longer need it.",
            self.root.path()
        );
        Diagnostic::new(Summary::TEMP_LEFT, detail)
    }
}

impl TempDirectories for TempFiles {
    fn make(&self, path: &str) -> io::Result<()> {
        self.make_all(Path::new(path))
    }
}

fn new_root(session: &Session) -> TempRoot {
    TempRoot::new(data_dir(session), uuid::Uuid::new_v4().to_string())
}

fn data_dir(session: &Session) -> String {
    session.data_dir().display().to_string()
}

/// Removes a directory recursively, or a file. Links are removed, their targets stay. A missing path is no error.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The reason why a file cannot be saved in a plan file.
struct Fault {
    path: String,
    cause: String,
}

impl Fault {
    fn of(path: &Path) -> impl FnOnce(io::Error) -> Fault {
        move |error| Fault { path: path.display().to_string(), cause: format!("{error}") }
    }

    /// Converts to an error. Paths are redacted, because an expression with a secret may have determined them.
    fn refused(self, session: &Session) -> Failure {
        let [path, cause] = [self.path, self.cause].map(|it| session.redactor.redact(&it));
        let detail = format!(
            "The temporary file {path} cannot be saved with the plan: {cause}. Nothing was saved. \
             Write such files outside of path.temp, or apply without saving the plan."
        );
        Diagnostic::new(Summary::PLAN_WRITE, detail).into()
    }
}

/// The kind of a file.
#[derive(Clone, Copy)]
enum FoundKind {
    File { is_executable: bool },
    Link,
}

/// A file in a plan's directory.
struct FoundFile {
    /// The path below the directory.
    name: String,
    path: PathBuf,
    kind: FoundKind,
}

/// The files in a plan's directory.
#[derive(Default)]
struct Found {
    files: Vec<FoundFile>,
    bytes: u64,
}

impl Found {
    fn directory(&mut self, directory: &Path, prefix: &str) -> Result<(), Fault> {
        for entry in fs::read_dir(directory).map_err(Fault::of(directory))? {
            let path = entry.map_err(Fault::of(directory))?.path();
            let refused =
                |cause: &str| Fault { path: path.display().to_string(), cause: cause.to_owned() };
            let name = path.file_name().and_then(|it| it.to_str());
            let name = name.ok_or_else(|| refused("its name is not UTF-8"))?;
            let name = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
            let meta = fs::symlink_metadata(&path).map_err(Fault::of(&path))?;
            let kind = match meta.file_type() {
                it if it.is_dir() => {
                    self.directory(&path, &name)?;
                    continue;
                }
                _ if prefix.is_empty() => {
                    return Err(refused("it lies beside the directories of module instances"));
                }
                it if it.is_file() => {
                    FoundKind::File { is_executable: meta.permissions().mode() & 0o111 != 0 }
                }
                it if it.is_symlink() => FoundKind::Link,
                _ => {
                    return Err(refused(
                        "it is neither a file nor a link, but a pipe, a socket or a device",
                    ));
                }
            };
            self.bytes += meta.len();
            if self.bytes > MAX_BYTES {
                let most = MAX_BYTES >> 20;
                return Err(refused(&format!(
                    "with it there are more than {most} MiB of temporary files"
                )));
            }
            if self.files.len() >= MAX_FILES {
                return Err(refused(&format!("there are more than {MAX_FILES} temporary files")));
            }
            self.files.push(FoundFile { name, path: path.clone(), kind });
        }
        Ok(())
    }
}

fn read(name: String, path: &Path, kind: FoundKind) -> Result<TempEntry, Fault> {
    let kind = match kind {
        FoundKind::Link => {
            let target = fs::read_link(path).map_err(Fault::of(path))?;
            let target = target.to_str().map(str::to_owned);
            let cause = "it is a link to a name that is not UTF-8".to_owned();
            let target = target.ok_or_else(|| Fault { path: path.display().to_string(), cause })?;
            TempKind::Symlink { target }
        }
        FoundKind::File { is_executable } => {
            let file = File::open(path).map_err(Fault::of(path))?;
            let mut content = Vec::new();
            // Bound the read, because the file may grow meanwhile.
            io::Read::read_to_end(&mut io::Read::take(file, MAX_BYTES + 1), &mut content)
                .map_err(Fault::of(path))?;
            TempKind::File { is_executable, content }
        }
    };
    let entry = TempEntry { path: name, kind };
    match entry.fault() {
        None => Ok(entry),
        Some(cause) => Err(Fault { path: path.display().to_string(), cause }),
    }
}

#[cfg(test)]
mod tests;
