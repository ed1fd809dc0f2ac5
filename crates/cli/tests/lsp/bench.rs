//! A workspace on disk, and the executable as its language server.

use std::{
    ops::{Deref, DerefMut},
    path::Path,
    process::{Child, Command, Stdio},
};

use editor::Editor;
use serde_json::Value;
use tempfile::TempDir;

/// A server with a connected editor.
pub(crate) struct Session {
    pub(crate) root: TempDir,
    child: Child,
    editor: Option<Editor>,
}

/// Writes the files of a fixture to a new directory.
pub(crate) fn workspace(fixture: &str) -> TempDir {
    let root = tempfile::tempdir().expect("a directory can be made");
    for (path, text) in split(fixture) {
        write(root.path(), &path, &text);
    }
    root
}

/// Splits a fixture into files. A line `//- /path` begins a file.
fn split(fixture: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in fixture.trim_start().split_inclusive('\n') {
        match line.strip_prefix("//- /") {
            Some(path) => files.push((path.trim().to_owned(), String::new())),
            None => files.last_mut().expect("a fixture begins with a path").1.push_str(line),
        }
    }
    files
}

pub(crate) fn write(root: &Path, path: &str, text: &str) {
    let path = root.join("work").join(path);
    std::fs::create_dir_all(path.parent().expect("has a parent")).expect("can be made");
    std::fs::write(path, text).expect("can be written");
}

impl Session {
    /// Serves a fixture to an editor with the usual capabilities.
    pub(crate) fn new(fixture: &str) -> Session {
        Session::with(workspace(fixture), editor::usual_capabilities())
    }

    /// Serves the directory `work` below `root`.
    pub(crate) fn with(root: TempDir, capabilities: Value) -> Session {
        let child = start(&mut command(root.path()));
        Session::of(root, child, capabilities)
    }

    /// Serves a fixture with an additional environment variable.
    pub(crate) fn with_variable(fixture: &str, name: &str, value: &str) -> Session {
        let root = workspace(fixture);
        let child = start(command(root.path()).env(name, value));
        Session::of(root, child, editor::usual_capabilities())
    }

    fn of(root: TempDir, mut child: Child, capabilities: Value) -> Session {
        let from_server = child.stdout.take().expect("is piped");
        let to_server = child.stdin.take().expect("is piped");
        let work = root.path().join("work");
        let editor = Editor::connect(from_server, to_server, &work, capabilities);
        Session { root, child, editor: Some(editor) }
    }

    /// Writes a file, as another program would.
    pub(crate) fn write(&self, path: &str, text: &str) {
        write(self.root.path(), path, text);
    }

    /// Shuts the server down. It must exit successfully and send no further messages.
    pub(crate) fn leave(mut self) {
        if let Some(editor) = self.editor.take() {
            editor.leave();
        }
        assert!(self.child.wait().expect("ends").success(), "the server ends in good order");
    }

    /// The server process.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}

/// The server in an empty environment with its own home directory.
fn command(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mayfly"));
    command
        .args(["lsp", "--stdio"])
        .current_dir(root.join("work"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", root.join("home"))
        // Reading a named pipe blocks the server until the test writes to it.
        .env("MAYFLY_FAILPOINT_PIPES", "1");
    command
}

fn start(command: &mut Command) -> Child {
    let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    streams.spawn().expect("the executable starts")
}

impl Deref for Session {
    type Target = Editor;

    fn deref(&self) -> &Editor {
        self.editor.as_ref().expect("has not left")
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Editor {
        self.editor.as_mut().expect("has not left")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // End the server even if the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
