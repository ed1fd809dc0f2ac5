//! Drives the server from real editors.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

fn editors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors")
}

fn runs(program: &[&str]) -> bool {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs an editor's own test against the executable. Skips it unless the command `asked` succeeds, which shows
/// that the editor is installed.
#[track_caller]
fn check(editor: &str, asked: &[&str]) {
    if !runs(asked) {
        println!("skipped: {editor} is not installed, so it does not drive the server");
        return;
    }
    let script = editors().join(editor).join("test/run.sh");
    let output =
        Command::new(script).arg(env!("CARGO_BIN_EXE_mayfly")).stdin(Stdio::null()).output();
    let output = output.expect("the script starts");
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
}

/// Opens an example, types misuses, reads the diagnostics, and undoes the changes.
#[test]
fn neovim() {
    check("neovim", &["nvim", "--version"]);
}

/// Does the same as `neovim`, with the LSP client of newer Emacs versions.
#[test]
fn emacs() {
    check("emacs", &["emacs", "--batch", "--eval", "(require 'eglot)"]);
}
