//! The environment behind a trait: files, variables, the clock. The command line, the editor and tests each have
//! their own implementation.

use std::{
    collections::BTreeMap,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Mutex,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The operations that analysis and engine need from their environment.
pub trait System: Send + Sync {
    /// Reads a regular file. Any other file (a pipe, a socket, a device) is an error, because reading it may block
    /// or never end.
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Reads a file that the user names on the command line. It may be a pipe or a device, such as `<(command)` or
    /// `/dev/stdin`; reading blocks until the other end closes.
    fn read_file_or_pipe(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read_file(path)
    }
    /// Lists the entries of a directory, sorted by name.
    fn list_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>>;
    /// Returns true if the path is a directory.
    fn is_directory(&self, path: &Path) -> bool;
    /// Returns true if the path is a file.
    fn is_file(&self, path: &Path) -> bool;
    /// Returns an environment variable; `None` if it is not set or not UTF-8.
    fn variable(&self, name: &str) -> Option<String>;
    /// Returns the environment variables with this prefix, sorted. Variables that are not UTF-8 are left out.
    fn variables(&self, prefix: &str) -> Vec<(String, String)>;
    /// The directory in which the command was called: `path.cwd`.
    fn current_directory(&self) -> PathBuf;
    /// The directory against which relative paths and `abspath` resolve. Differs from
    /// [`System::current_directory`] if `-chdir` is set.
    fn base_directory(&self) -> PathBuf {
        self.current_directory()
    }
    /// The current time.
    fn now(&self) -> SystemTime;
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryEntry {
    /// The name, without the directory.
    pub name: String,
    /// True for a directory and for a link to one.
    pub is_directory: bool,
}

/// The operating system, with a configurable working directory (`-chdir`).
pub struct OsSystem {
    current_directory: PathBuf,
    waits_for_pipes: bool,
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place below the edge crates that asks the system"
)]
impl OsSystem {
    /// Creates a system with the working directory of the process.
    pub fn new() -> io::Result<OsSystem> {
        Ok(OsSystem::at(std::env::current_dir()?))
    }

    /// Creates a system with another working directory, against which relative paths resolve.
    pub fn at(current_directory: PathBuf) -> OsSystem {
        OsSystem { current_directory, waits_for_pipes: false }
    }

    /// Makes `read_file` accept named pipes and wait for their other end. Tests use this to block a reader.
    pub fn waiting_for_pipes(self, waits_for_pipes: bool) -> OsSystem {
        OsSystem { waits_for_pipes, ..self }
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.current_directory.join(path)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place below the edge crates that asks the system"
)]
impl System for OsSystem {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.waits_for_pipes {
            return self.read_file_or_pipe(path);
        }
        let file = open_regular(&self.absolute(path))?;
        let expected = file.metadata().map_or(0, |it| it.len());
        read_bounded(file, expected, LONGEST_FILE)
    }

    fn read_file_or_pipe(&self, path: &Path) -> io::Result<Vec<u8>> {
        read_bounded(std::fs::File::open(self.absolute(path))?, 0, LONGEST_FILE)
    }

    fn list_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(self.absolute(path))? {
            let entry = entry?;
            // A name that is not UTF-8 cannot be that of a configuration file.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let is_directory = match entry.file_type()? {
                kind if kind.is_symlink() => entry.path().is_dir(),
                kind => kind.is_dir(),
            };
            entries.push(DirectoryEntry { name, is_directory });
        }
        entries.sort();
        Ok(entries)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.absolute(path).is_dir()
    }

    fn is_file(&self, path: &Path) -> bool {
        self.absolute(path).is_file()
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn variables(&self, prefix: &str) -> Vec<(String, String)> {
        let mut variables: Vec<_> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with(prefix))
            .collect();
        variables.sort();
        variables
    }

    fn current_directory(&self) -> PathBuf {
        self.current_directory.clone()
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Opens a regular file or a directory for reading, without blocking on pipes and devices. The check applies to
/// the opened file, not to the path, which could have been replaced in between.
///
/// # Errors
/// Returns the errors of `open`, and [`io::ErrorKind::InvalidInput`] for any other kind of file.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place below the edge crates that asks the system"
)]
pub fn open_regular(path: &Path) -> io::Result<std::fs::File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let opened = std::fs::File::options()
        .read(true)
        .custom_flags(i32::try_from(flags).unwrap_or(0))
        .open(path);
    let kind = match &opened {
        Ok(file) => file.metadata()?.file_type(),
        // `open` fails on a socket; the metadata gives the reason.
        Err(error) => match std::fs::metadata(path) {
            Ok(metadata)
                if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) =>
            {
                metadata.file_type()
            }
            _ => return opened,
        },
    };
    match irregular(kind) {
        Some(name) => {
            let message = format!("it is {name}, not a regular file");
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
        None => opened,
    }
}

/// Returns the name of a file kind that is neither a regular file nor a directory; `None` for these two.
fn irregular(kind: std::fs::FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        _ if kind.is_fifo() => Some("a named pipe"),
        _ if kind.is_socket() => Some("a socket"),
        _ if kind.is_char_device() || kind.is_block_device() => Some("a device"),
        _ => None,
    }
}

/// The maximum size of a file in bytes: `file("/dev/zero")` must be an error and must not exhaust the memory.
const LONGEST_FILE: u64 = 256 << 20;

/// Reads everything from `source`; fails if that exceeds `longest` bytes. Pipes have no length, so the bytes are
/// counted during the read. `expected` is the number of bytes that are probably there: they are read at once, and one
/// more finds the end.
fn read_bounded(source: impl io::Read, expected: u64, longest: u64) -> io::Result<Vec<u8>> {
    let capacity = usize::try_from(expected.min(longest)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(capacity + 1);
    source.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        let message =
            format!("it is longer than {longest} bytes, the most that is read from one file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Files in memory, for tests. Paths resolve against `/`.
#[derive(Default)]
pub struct MemorySystem {
    files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
    variables: BTreeMap<String, String>,
}

impl MemorySystem {
    /// Creates an empty system; [`MemorySystem::write`] adds files.
    pub fn new() -> MemorySystem {
        MemorySystem::default()
    }

    /// Returns the system with these environment variables.
    pub fn with_variables(self, variables: BTreeMap<String, String>) -> MemorySystem {
        MemorySystem { variables, ..self }
    }

    /// Creates or replaces a file.
    pub fn write(&self, path: impl AsRef<Path>, content: impl Into<Vec<u8>>) {
        self.lock().insert(absolute(path.as_ref()), content.into());
    }

    /// Removes a file.
    pub fn remove(&self, path: impl AsRef<Path>) {
        self.lock().remove(&absolute(path.as_ref()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, Vec<u8>>> {
        self.files.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Resolves a path against `/`, and `.` and `..` in it, without access to the file system.
fn absolute(path: &Path) -> PathBuf {
    normalize(&Path::new("/").join(path))
}

/// Removes `.` and resolves `..` without access to the file system, as module sources and the `path` object
/// require.
pub fn normalize(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match result.components().next_back() {
                Some(Component::Normal(_)) => {
                    result.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => result.push(".."),
            },
            other => result.push(other),
        }
    }
    if result.as_os_str().is_empty() { PathBuf::from(".") } else { result }
}

impl System for MemorySystem {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.lock()
            .get(&absolute(path))
            .cloned()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn list_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let directory = absolute(path);
        let mut entries = BTreeMap::new();
        for file in self.lock().keys() {
            let Ok(rest) = file.strip_prefix(&directory) else { continue };
            let mut components = rest.components();
            if let Some(first) = components.next() {
                let name = first.as_os_str().to_string_lossy().into_owned();
                entries.insert(name, components.next().is_some());
            }
        }
        if entries.is_empty() {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        Ok(entries
            .into_iter()
            .map(|(name, is_directory)| DirectoryEntry { name, is_directory })
            .collect())
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.list_directory(path).is_ok()
    }

    fn is_file(&self, path: &Path) -> bool {
        self.lock().contains_key(&absolute(path))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn variables(&self, prefix: &str) -> Vec<(String, String)> {
        let matching = self.variables.iter().filter(|(name, _)| name.starts_with(prefix));
        matching.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn current_directory(&self) -> PathBuf {
        PathBuf::from("/")
    }

    /// A constant, so that tests do not depend on the clock.
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized_textually() {
        for (path, expected) in [
            ("a/./b/../c", "a/c"),
            ("./", "."),
            ("../mod", "../mod"),
            ("a/../../b", "../b"),
            ("/../a", "/a"),
            ("a/..", "."),
        ] {
            assert_eq!(normalize(Path::new(path)), Path::new(expected), "{path}");
        }
    }

    #[test]
    fn a_memory_system_lists_files_and_directories() {
        let system = MemorySystem::new();
        system.write("main.tf", "");
        system.write("mod/main.tf", "");
        let names: Vec<_> =
            system.list_directory(Path::new(".")).expect("exists").into_iter().collect();
        assert_eq!(
            names.iter().map(|it| (it.name.as_str(), it.is_directory)).collect::<Vec<_>>(),
            [("main.tf", false), ("mod", true)]
        );
        assert!(system.list_directory(Path::new("nowhere")).is_err());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the files that are read must be made")]
    fn pipes_devices_and_sockets_are_refused_by_name() {
        let directory = std::env::temp_dir().join(format!("mayfly-db-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("makes");
        let (pipe, socket) = (directory.join("pipe"), directory.join("socket"));
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .expect("makes");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("binds");
        let system = OsSystem::at(directory.clone());
        for (path, name) in [
            (pipe.as_path(), "a named pipe"),
            (&socket, "a socket"),
            (Path::new("/dev/zero"), "a device"),
        ] {
            let error = system.read_file(path).expect_err("is refused");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            assert_eq!(error.to_string(), format!("it is {name}, not a regular file"));
        }
        std::fs::write(directory.join("file"), "text").expect("writes");
        assert_eq!(system.read_file(Path::new("file")).expect("reads"), b"text");
        let writer = std::thread::spawn(move || std::fs::write(pipe, "piped"));
        assert_eq!(system.read_file_or_pipe(Path::new("pipe")).expect("reads"), b"piped");
        writer.join().expect("ends").expect("writes");
        let endless = system.read_file_or_pipe(Path::new("/dev/zero")).expect_err("has no end");
        assert_eq!(endless.kind(), io::ErrorKind::FileTooLarge);
        std::fs::remove_dir_all(directory).expect("removes");
    }

    #[test]
    fn read_beyond_the_limit_is_an_error() {
        let error = read_bounded(io::repeat(0), 0, 1000).expect_err("has no end");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        for expected in [0, 10, 1000, 5000] {
            let read = read_bounded(&[7; 1000][..], expected, 1000).expect("is short enough");
            assert_eq!(read, [7; 1000], "{expected}");
        }
    }
}
