//! The list of processes as a file, for the next run if both this process and its supervisor were killed.
//!
//! Each run has its own file and holds a lock on it. If a file can be locked, its run has ended.

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

use super::entry;

/// The size limit for reading a record. A run empties its file whenever none of its processes are left.
const LARGEST: u64 = 16 << 20;

/// The record of this run.
pub(super) struct Record {
    file: File,
    path: PathBuf,
    /// The data directory, if it was created for the record.
    made: Option<PathBuf>,
}

impl Record {
    pub(super) fn new(directory: &Path, name: &str) -> io::Result<Record> {
        let parent = directory.parent().filter(|it| !it.as_os_str().is_empty() && !it.exists());
        let made = parent.map(Path::to_owned);
        let path = directory.join(name);
        let record = || {
            // Another run that is ending may remove the directory while it is empty.
            DirBuilder::new().recursive(true).mode(0o755).create(directory)?;
            let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path)?;
            file.try_lock().map_err(io::Error::other)?;
            // Another run may have removed the file as a stale one before it was locked.
            match file.metadata()?.nlink() {
                0 => Err(io::Error::other("the record was removed")),
                _ => Ok(file),
            }
        };
        match record().or_else(|_| record()) {
            Ok(file) => Ok(Record { file, path, made }),
            Err(error) => {
                remove(&path, made.as_deref());
                Err(error)
            }
        }
    }

    /// Adds a line. If no process is left, the file is emptied instead.
    pub(super) fn add(&mut self, line: &str, is_all_over: bool) {
        // If the record cannot be written, the supervisor and the parent-death signal still protect.
        let _written = match is_all_over {
            true => self.file.set_len(0).and_then(|()| self.file.rewind()),
            false => self.file.write_all(line.as_bytes()),
        };
    }

    pub(super) fn remove(self) {
        remove(&self.path, self.made.as_deref());
    }
}

/// Removes a record, and the directories that were created for it if they are empty.
fn remove(path: &Path, made: Option<&Path>) {
    let _gone = fs::remove_file(path);
    if let Some(directory) = path.parent() {
        let _others = fs::remove_dir(directory);
    }
    if let Some(made) = made {
        let _in_use = fs::remove_dir(made);
    }
}

/// Kills the processes that ended runs have left, according to the records in `directory`. Returns the names of
/// those that were running.
///
/// A locked record belongs to a live run and is skipped. A record that another user could have written is ignored.
/// The directory is removed with its last record, and then the data directory if it is empty.
#[must_use]
pub fn end_left_processes(directory: &Path) -> Vec<String> {
    let Ok(records) = fs::read_dir(directory) else { return Vec::new() };
    let mut ended = Vec::new();
    for record in records.flatten() {
        if let Ok(names) = end_left_by(&record.path()) {
            ended.extend(names);
            remove(&record.path(), directory.parent());
        }
    }
    ended
}

/// Kills the processes of one record and returns their names.
///
/// # Errors
/// If the run is live or the file is not a valid record.
fn end_left_by(path: &Path) -> io::Result<Vec<String>> {
    // Follow no link, and do not block on a pipe that has no writer.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let meta = file.metadata()?;
    let is_ours = meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0;
    if !meta.is_file() || !is_ours {
        return Err(io::Error::from(io::ErrorKind::PermissionDenied));
    }
    file.try_lock().map_err(io::Error::other)?;
    let mut running = BTreeMap::new();
    let mut lines = BufReader::new(file.take(LARGEST));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        entry::read_line(&mut running, &String::from_utf8_lossy(&line));
        line.clear();
    }
    let left = running.into_values().filter(entry::kill_recorded);
    Ok(left.map(|it| it.name).collect())
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt, process::Command};

    use super::*;
    use crate::leftovers;

    fn left_in(directory: &Path, mark: &str) -> (std::process::Child, Record) {
        let mut command = Command::new("sleep");
        let child = command.arg("60").env(leftovers::KEY, mark).spawn().expect("starts");
        let mut entry = entry::Entry::new(mark, "example.com/tests/left", false);
        entry.started(Some(child.id()));
        let mut record = Record::new(directory, mark).expect("can be written");
        record.add(&entry.line(), false);
        (child, record)
    }

    #[test]
    fn processes_of_dead_runs_are_killed_and_of_live_ones_spared() {
        let folder = tempfile::tempdir().expect("a directory");
        let directory = folder.path().join("data/processes");
        let (mut child, record) = left_in(&directory, "7.7.7.");
        let mode = fs::metadata(&record.path).expect("is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        assert_eq!(end_left_processes(&directory), Vec::<String>::new(), "its run lives");
        assert_eq!(child.try_wait().expect("is ours"), None, "it runs");
        drop(record);
        // A test in another thread may be between fork and exec; its child has the file open until then.
        let ended = (0..500).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            end_left_processes(&directory)
        });
        assert_eq!(
            ended.into_iter().find(|it| !it.is_empty()).unwrap_or_default(),
            ["example.com/tests/left"]
        );
        assert!(!child.wait().expect("is reaped").success());
        assert!(!directory.exists(), "the record is gone");
    }

    #[test]
    fn record_writable_by_others_is_ignored() {
        let folder = tempfile::tempdir().expect("a directory");
        let directory = folder.path().join("processes");
        let (mut child, record) = left_in(&directory, "8.8.8.");
        let path = record.path.clone();
        drop(record);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("is ours");
        assert!(end_left_processes(&directory).is_empty());
        fs::rename(&path, folder.path().join("elsewhere")).expect("is ours");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).expect("links");
        assert!(end_left_processes(&directory).is_empty());
        assert_eq!(child.try_wait().expect("is ours"), None, "it runs");
        child.kill().expect("can be killed");
        child.wait().expect("is reaped");
    }

    #[test]
    fn record_is_emptied_without_processes_and_removed_with_its_directory() {
        let folder = tempfile::tempdir().expect("a directory");
        let data = folder.path().join("data");
        let mut record = Record::new(&data.join("processes"), "9.9.9.").expect("can be written");
        record.add("{}\n", false);
        assert_eq!(fs::read(&record.path).expect("is there"), b"{}\n");
        record.add("{}\n", true);
        assert_eq!(fs::read(&record.path).expect("is there"), b"");
        record.remove();
        assert!(!data.exists());
    }
}
