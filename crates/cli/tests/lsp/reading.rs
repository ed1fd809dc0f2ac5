//! Reads from disk during an editor session. A named pipe delays its reader for as long as a test wants.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::bench::{Session, workspace};

/// A named pipe in place of a file. A read completes only after the test releases it.
struct Pipe(PathBuf);

impl Pipe {
    fn new(root: &Path, path: &str) -> Pipe {
        let path = root.join("work").join(path);
        std::fs::create_dir_all(path.parent().expect("has one")).expect("can be made");
        let made = Command::new("mkfifo").arg(&path).status().expect("runs");
        assert!(made.success());
        Pipe(path)
    }

    /// Waits for a reader, and lets it read an empty file.
    fn release(self) {
        let mut pipe = std::fs::OpenOptions::new().write(true).open(self.0).expect("opens");
        pipe.write_all(b"").expect("is read");
    }
}

/// The text of the hover over a word.
fn hover(session: &mut Session, path: &str, word: &str) -> String {
    let at = session.find(path, word) + word.len();
    let hover = session.ask_at("textDocument/hover", path, at);
    hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn edits_are_answered_while_schemas_are_read() {
    let fixture = "//- /main.tf\nresource \"nowhere_thing\" \"x\" {\n  a = local.b\n}\nlocals {\n  b = 1\n}\n";
    let root = workspace(fixture);
    let lock = Pipe::new(root.path(), ".terraform.lock.hcl");
    let mut capabilities = editor::usual_capabilities();
    capabilities["experimental"] = json!({ "statusNotification": true });
    let mut session = Session::with(root, capabilities);
    session.open_file("main.tf");
    session.replace("main.tf", "b = 1", "b = true");
    assert!(hover(&mut session, "main.tf", "= local.b").contains("local.b: bool"));
    // The state of the provider is not known yet, so the server must not report that it is missing.
    let left = session.left_over();
    assert!(left.iter().all(|it| it["method"] != "mayfly/status"), "{left:?}");
    lock.release();
    let status = session.notification("mayfly/status");
    assert_eq!(status["severity"], "warning");
    session.leave();
}

#[test]
fn diagnostics_are_published_without_schemas() {
    let fixture = "//- /main.tf\nresource \"nowhere_thing\" \"x\" {\n  a = local.c\n}\n";
    let root = workspace(fixture);
    let lock = Pipe::new(root.path(), ".terraform.lock.hcl");
    let mut session = Session::with(root, editor::usual_capabilities());
    session.open_file("main.tf");
    let found = session.diagnostics("main.tf");
    let message = found[0]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("Reference to undeclared local value"), "{message}");
    lock.release();
    session.leave();
}

#[test]
fn edits_are_answered_while_callers_are_searched() {
    let fixture = "//- /main.tf\nmodule \"m\" {\n  source = \"./m\"\n  in     = 1\n}\n//- \
                   /m/main.tf\nvariable \"in\" {}\n\noutput \"out\" {\n  value = var.in\n}\n";
    let root = workspace(fixture);
    let other = Pipe::new(root.path(), "other/slow.tf");
    let mut session = Session::with(root, editor::usual_capabilities());
    session.open_file("m/main.tf");
    session.replace("m/main.tf", "{}", "{ type = number }");
    assert!(hover(&mut session, "m/main.tf", "= var.in").contains("var.in: number"));
    // The rename waits for the callers, because without them it would break them.
    let at = session.find("m/main.tf", "= var.in") + "= var.in".len();
    let mut params = session.at("m/main.tf", at);
    params["newName"] = json!("input");
    let rename = session.begin("textDocument/rename", params);
    assert!(hover(&mut session, "m/main.tf", "= var.in").contains("var.in: number"));
    other.release();
    let edit = session.answer(rename).expect("can be renamed").to_string();
    assert!(edit.contains(&session.uri("main.tf")), "{edit}");
    // The module is checked as part of the configuration that calls it.
    session.replace("m/main.tf", "var.in", "upper(\"x\"");
    session.diagnostics_when("m/main.tf", |found| !found.is_empty());
    session.leave();
}

#[test]
fn edit_cancels_a_waiting_rename() {
    let fixture = "//- /main.tf\nlocals {\n  a = 1\n  b = local.a\n}\n";
    let root = workspace(fixture);
    let other = Pipe::new(root.path(), "other/slow.tf");
    let mut session = Session::with(root, editor::usual_capabilities());
    session.open_file("main.tf");
    let at = session.find("main.tf", "local.a") + "local.a".len();
    let mut params = session.at("main.tf", at);
    params["newName"] = json!("other");
    let rename = session.begin("textDocument/rename", params);
    session.replace("main.tf", "a = 1", "ab = 1");
    let error = session.answer(rename).expect_err("the place is another one");
    assert_eq!(error["code"], -32801);
    other.release();
    session.leave();
}
