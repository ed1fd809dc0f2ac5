//! A test directory with its own working directory and home, and runs of the real executable in it.

use std::{
    cell::RefCell,
    ffi::OsStr,
    fs,
    io::{self, Read, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use providers::playground::store::{Entry, Ledger};
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

/// The time limit of a command. A command that hangs is killed and its output is shown.
const DEADLINE: Duration = Duration::from_secs(120);

/// The value of `COLUMNS` with which no text of a test is wrapped.
const NO_WRAPPING: &str = "100000";

/// The ID of a user and group with almost no permissions.
pub(crate) const NOBODY: u32 = 65534;

/// The directories of one test: `work` with configurations, `home`, and `tmp`.
pub(crate) struct Bench {
    root: TempDir,
    /// The files that the test itself wrote, with their contents.
    given: RefCell<Vec<(PathBuf, Vec<u8>)>>,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let root = tempfile::tempdir().expect("a directory can be made");
        for name in ["work", "home", "tmp"] {
            fs::create_dir(root.path().join(name)).expect("can be made");
        }
        Bench { root, given: RefCell::default() }
    }

    /// Creates a bench with a copy of an example.
    pub(crate) fn with_example(name: &str) -> Bench {
        let bench = Bench::new();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        bench.copy(&examples.join(name), name);
        bench
    }

    /// Creates a bench with a single configuration file in the folder `.`.
    pub(crate) fn with_main(text: &str) -> Bench {
        let bench = Bench::new();
        bench.write("main.tf", text);
        bench
    }

    fn copy(&self, from: &Path, to: &str) {
        for entry in fs::read_dir(from).expect("can be listed") {
            let path = entry.expect("can be listed").path();
            let name = path.file_name().and_then(OsStr::to_str).expect("has a name").to_owned();
            if path.is_dir() && !name.starts_with('.') {
                self.copy(&path, &format!("{to}/{name}"));
            } else if path.extension().is_some_and(|it| it == "tf") {
                self.write(
                    &format!("{to}/{name}"),
                    &fs::read_to_string(&path).expect("can be read"),
                );
            }
        }
    }

    /// Writes a file below `work`, in one step: a command that watches the directory would plan
    /// with the empty file that `fs::write` makes first.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("has a parent")).expect("can be made");
        let complete = self.root().join("complete");
        fs::write(&complete, text).expect("can be written");
        fs::rename(&complete, &path).expect("can be renamed");
        self.given.borrow_mut().push((path, text.into()));
    }

    /// Returns true if a file still has the content that the test wrote.
    pub(crate) fn is_given(&self, path: &Path, bytes: &[u8]) -> bool {
        self.given.borrow().iter().any(|(given, text)| given == path && text == bytes)
    }

    /// A path below `work`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join("work").join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn state(&self, folder: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(&format!("{folder}/terraform.tfstate")))
            .expect("the state is JSON")
    }

    /// A command in `folder` that is not started yet. Its environment has only the variables that every process
    /// needs, and those for text without colours and line breaks.
    pub(crate) fn mayfly<S: AsRef<OsStr>>(
        &self,
        folder: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Run {
        self.program(env!("CARGO_BIN_EXE_mayfly"), folder, arguments)
    }

    pub(crate) fn program<S: AsRef<OsStr>>(
        &self,
        program: &str,
        folder: &str,
        arguments: impl IntoIterator<Item = S>,
    ) -> Run {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.path(folder))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root().join("home"))
            .env("TMPDIR", self.root().join("tmp"))
            .env("NO_COLOR", "1")
            .env("COLUMNS", NO_WRAPPING)
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Run { command, input: Vec::new() }
    }

    /// The ledger in which the playground provider records its calls.
    pub(crate) fn ledger(&self, folder: &str) -> Deeds {
        let path = self.path(folder).join(".playground/ledger.jsonl");
        Deeds(Ledger::read(&path).expect("the ledger reads"))
    }

    /// Fails if a provider process of this bench still runs.
    #[track_caller]
    pub(crate) fn assert_no_orphans(&self, folder: &str) {
        let end = Instant::now() + Duration::from_secs(5);
        let pids: std::collections::BTreeSet<u32> =
            self.ledger(folder).0.iter().map(|it| it.pid).collect();
        let runs = |pid: &u32| {
            let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.contains("serve-bundled-provider")
        };
        while pids.iter().any(runs) {
            assert!(Instant::now() < end, "a provider process outlived its command");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The entries of the playground's ledger.
pub(crate) struct Deeds(pub(crate) Vec<Entry>);

impl Deeds {
    /// The number of events of this kind for a resource type.
    pub(crate) fn count(&self, event: &str, type_name: &str) -> usize {
        self.0.iter().filter(|it| it.event == event && it.type_name == type_name).count()
    }

    /// The number of calls of an RPC for a resource type.
    pub(crate) fn calls(&self, rpc: &str, type_name: &str) -> usize {
        self.0
            .iter()
            .filter(|it| it.event == "rpc" && it.rpc == rpc && it.type_name == type_name)
            .count()
    }
}

/// A command that is not started yet.
pub(crate) struct Run {
    command: Command,
    input: Vec<u8>,
}

impl Run {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Run {
        self.command.env(name, value);
        self
    }

    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Run {
        self.command.arg(argument);
        self
    }

    /// Runs the command as an unprivileged user if the tests run as root.
    pub(crate) fn by_nobody(mut self) -> Run {
        if rustix::process::geteuid().is_root() {
            self.command.uid(NOBODY).gid(NOBODY);
        }
        self
    }

    /// Sets the input.
    pub(crate) fn input(mut self, text: &str) -> Run {
        self.input = text.into();
        self
    }

    /// Starts the process, for a test that handles its streams itself.
    pub(crate) fn spawn(mut self) -> Child {
        self.command.stdin(Stdio::piped()).spawn().expect("starts")
    }

    /// Runs the command to its end.
    pub(crate) fn end(self) -> Ended {
        self.start().end()
    }

    /// Runs the command to its end, which must be a success.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Ended {
        self.end().exits(0)
    }

    /// Runs the command to its end, which must be an error.
    #[track_caller]
    pub(crate) fn fails(self) -> Ended {
        self.end().exits(1)
    }

    pub(crate) fn start(self) -> Started {
        self.start_paused_at(None)
    }

    /// Starts the command. After it has printed `pause`, its output is not read until [`Started::resume`].
    pub(crate) fn start_paused_at(mut self, pause: Option<&str>) -> Started {
        self.command.stdin(Stdio::piped());
        let mut child = loop {
            match self.command.spawn() {
                // Another test may just have forked, and its child briefly has the copied executable open for
                // writing.
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                started => break started.expect("starts"),
            }
        };
        let mut stdin = child.stdin.take().expect("is piped");
        let keep_open = self.input.is_empty();
        // Ignore a failure: a command may end without reading its input.
        let _ = stdin.write_all(&self.input);
        let printed = Arc::new(Printed::default());
        let pause = pause.map(str::to_owned);
        let out =
            collect(child.stdout.take().expect("is piped"), printed.clone(), Stream::Out, pause);
        let err =
            collect(child.stderr.take().expect("is piped"), printed.clone(), Stream::Err, None);
        Started {
            child,
            stdin: keep_open.then_some(stdin),
            printed,
            readers: vec![out, err],
            begun: Instant::now(),
        }
    }
}

#[derive(Default)]
struct Printed {
    text: Mutex<Texts>,
    changed: Condvar,
}

#[derive(Default)]
struct Texts {
    out: Vec<u8>,
    err: Vec<u8>,
    resumed: bool,
}

#[derive(Clone, Copy)]
enum Stream {
    Out,
    Err,
}

fn collect(
    mut from: impl Read + Send + 'static,
    printed: Arc<Printed>,
    stream: Stream,
    pause: Option<String>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut chunk) {
            let mut texts = printed.text.lock().unwrap_or_else(PoisonError::into_inner);
            let text = match stream {
                Stream::Out => &mut texts.out,
                Stream::Err => &mut texts.err,
            };
            text.extend_from_slice(&chunk[..read]);
            let paused = pause.as_ref().is_some_and(|it| holds(text, it));
            printed.changed.notify_all();
            while paused && !texts.resumed {
                texts = printed.changed.wait(texts).unwrap_or_else(PoisonError::into_inner);
            }
        }
    })
}

fn holds(text: &[u8], part: &str) -> bool {
    count(text, part) > 0
}

fn count(text: &[u8], part: &str) -> usize {
    text.windows(part.len()).filter(|it| *it == part.as_bytes()).count()
}

/// A running command.
pub(crate) struct Started {
    child: Child,
    stdin: Option<ChildStdin>,
    printed: Arc<Printed>,
    readers: Vec<JoinHandle<()>>,
    begun: Instant,
}

impl Started {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the command has printed `text` to stdout or stderr.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_for_times(text, 1);
    }

    /// Waits until the command has printed `text` this many times.
    #[track_caller]
    pub(crate) fn wait_for_times(&self, text: &str, times: usize) {
        let mut texts = self.printed.text.lock().unwrap_or_else(PoisonError::into_inner);
        while count(&texts.out, text).max(count(&texts.err, text)) < times {
            let left = DEADLINE.saturating_sub(self.begun.elapsed());
            if left.is_zero() || self.has_ended() {
                let shown = (
                    String::from_utf8_lossy(&texts.out).into_owned(),
                    String::from_utf8_lossy(&texts.err).into_owned(),
                );
                drop(texts);
                panic!("{text:?} was not printed:\n{}\n{}", shown.0, shown.1);
            }
            let waited =
                self.printed.changed.wait_timeout(texts, left.min(Duration::from_millis(200)));
            texts = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Returns true if the output is complete.
    fn has_ended(&self) -> bool {
        self.readers.iter().all(JoinHandle::is_finished)
    }

    /// Waits until a condition outside of the process holds.
    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        while !holds() {
            if self.begun.elapsed() > DEADLINE || self.has_ended() {
                let texts = self.printed.text.lock().unwrap_or_else(PoisonError::into_inner);
                let shown = String::from_utf8_lossy(&texts.out).into_owned()
                    + &String::from_utf8_lossy(&texts.err);
                drop(texts);
                panic!("{what}: never:\n{shown}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Takes stdin, so that it stays open until after the end of the command.
    pub(crate) fn hold_stdin(&mut self) -> ChildStdin {
        self.stdin.take().expect("stdin is open")
    }

    /// Writes a line to the input.
    pub(crate) fn types(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("is read");
    }

    /// Writes key presses to the terminal.
    pub(crate) fn presses(&mut self, keys: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(keys.as_bytes()).expect("is read");
    }

    /// Presses Ctrl-C: the whole process group receives the signal, as from a terminal.
    pub(crate) fn interrupt(&self) {
        let _ = rustix::process::kill_process_group(self.group(), Signal::INT);
    }

    /// Sends a signal to the process group, as a terminal does.
    pub(crate) fn signal_group(&self, signal: Signal) {
        let _ = rustix::process::kill_process_group(self.group(), signal);
    }

    /// Sends a signal to the process only.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process(self.group(), signal);
    }

    fn group(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("is a pid")).expect("is a pid")
    }

    /// Continues to read the output.
    pub(crate) fn resume(&self) {
        self.printed.text.lock().unwrap_or_else(PoisonError::into_inner).resumed = true;
        self.printed.changed.notify_all();
    }

    /// Waits for the end of the command. Kills it after the time limit.
    pub(crate) fn end(mut self) -> Ended {
        self.stdin = None;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("can be waited for") {
                break status;
            }
            if self.begun.elapsed() > DEADLINE {
                let _ = rustix::process::kill_process_group(self.group(), Signal::KILL);
                let status = self.child.wait().expect("can be waited for");
                let ended = self.ended(status);
                panic!("the command did not end in {DEADLINE:?}:\n{}\n{}", ended.out, ended.err);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let elapsed = self.begun.elapsed();
        Ended { elapsed, ..self.ended(status) }
    }

    fn ended(mut self, status: ExitStatus) -> Ended {
        self.resume();
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
        let texts = self.printed.text.lock().unwrap_or_else(PoisonError::into_inner);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended {
            code: status.code().unwrap_or_else(|| -status.signal().unwrap_or(0)),
            out: text(&texts.out),
            err: text(&texts.err),
            elapsed: self.begun.elapsed(),
        }
    }
}

/// A command that has ended.
pub(crate) struct Ended {
    /// The exit code, or the negated number of the signal that ended the process.
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) elapsed: Duration,
}

impl Ended {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ended {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// The output of both streams.
    pub(crate) fn printed(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    /// Fails unless all of `parts` were printed in this order.
    #[track_caller]
    pub(crate) fn shows(&self, parts: &[&str]) {
        let printed = self.printed();
        let mut rest = printed.as_str();
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => panic!("{part:?} is missing, or not in its place, in:\n{printed}"),
            }
        }
    }

    #[track_caller]
    pub(crate) fn lacks(&self, parts: &[&str]) {
        let printed = self.printed();
        for part in parts {
            assert!(!printed.contains(part), "{part:?} is in:\n{printed}");
        }
    }

    /// Parses every line of stdout as JSON.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<serde_json::Value> {
        let parse = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
        };
        self.out.lines().map(parse).collect()
    }

    /// Parses stdout as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in:\n{}", self.out))
    }
}
