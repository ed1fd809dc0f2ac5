//! Fast edits, cancellation, and invalid messages.

use serde_json::{Value, json};

use crate::bench::Session;

/// A fixture with so many locals that a request about all of them takes a while.
fn many(count: usize) -> String {
    let locals: String = (0..count)
        .map(|index| {
            format!("locals {{\n  a{index} = [for x in [1, 2, 3] : \"${{x}}-{index}\"]\n}}\n")
        })
        .collect();
    format!("//- /main.tf\n{locals}locals {{\n  last = \"\"\n}}\n")
}

#[test]
fn quick_edits_publish_only_the_newest_diagnostics() {
    let mut session = Session::new(&many(300));
    session.open_file("main.tf");
    session.diagnostics("main.tf");
    session.left_over();
    for step in 0..50 {
        let at = session.find("main.tf", "\"\"\n}\n");
        session.edit("main.tf", at..at, &format!("local.x{step} + "));
    }
    let found = session.diagnostics_when("main.tf", |found| found.len() >= 50);
    assert_eq!(found.iter().filter(|it| it["code"] == "undeclared-reference").count(), 50);
    // No diagnostics of an older version follow.
    session.pull("main.tf");
    let versions = |it: &Value| it["params"]["version"].as_i64();
    let late = session.left_over();
    assert!(late.iter().filter_map(versions).all(|version| version <= 51), "{late:?}");
    session.leave();
}

#[test]
fn cancelled_request_is_answered_as_cancelled() {
    let mut session = Session::new(&many(2000));
    session.open_file("main.tf");
    let params = json!({ "textDocument": { "uri": session.uri("main.tf") } });
    let id = session.begin("textDocument/semanticTokens/full", params.clone());
    session.cancel(id);
    // The cancellation may have come too late.
    if let Err(error) = session.answer(id) {
        assert_eq!(error["code"], -32800, "{error}");
    }
    assert!(session.request("textDocument/semanticTokens/full", params).is_ok());
    session.leave();
}

#[test]
fn invalid_positions_and_uris_do_not_end_the_server() {
    let mut session = Session::new("//- /main.tf\nlocals {\n  a = 1\n}\n");
    session.open_file("main.tf");
    session.diagnostics("main.tf");
    let uri = session.uri("main.tf");
    let document = json!({ "uri": uri });
    // Positions outside of the text, ranges with the end before the start, and URIs that are not files.
    for position in [
        json!({"line": 4000000000u32, "character": 4000000000u32}),
        json!({"line": 0, "character": 77}),
    ] {
        for method in [
            "hover",
            "completion",
            "signatureHelp",
            "definition",
            "references",
            "documentHighlight",
            "prepareRename",
        ] {
            let mut params = json!({ "textDocument": document, "position": position });
            params["context"] = json!({ "includeDeclaration": true });
            let _ = session.request(&format!("textDocument/{method}"), params);
        }
    }
    let backwards =
        json!({ "start": { "line": 2, "character": 9 }, "end": { "line": 0, "character": 0 } });
    let _ = session
        .request("textDocument/inlayHint", json!({ "textDocument": document, "range": backwards }));
    let change = |range: Value, text: &str| {
        json!({
            "textDocument": { "uri": uri, "version": 2 },
            "contentChanges": [{ "range": range, "text": text }],
        })
    };
    session.notify("textDocument/didChange", change(backwards, "# x\n"));
    for uri in ["untitled:Untitled-1", "file:///nowhere/at/all.tf", "http://x/y.tf", "file:///"] {
        let document = json!({ "uri": uri, "languageId": "x", "version": 1, "text": "{{{" });
        session.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let position = json!({ "line": 0, "character": 0 });
        let _ = session.request(
            "textDocument/hover",
            json!({ "textDocument": { "uri": uri }, "position": position }),
        );
        session.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    assert!(session.request("no/such/method", json!({})).is_err());
    assert!(session.request("textDocument/hover", json!({ "what": 1 })).is_err());
    session.notify("textDocument/didChange", json!(7));
    // The server still works correctly.
    session.set("main.tf", "locals {\n  a = local.gone\n}\n");
    let found = session.diagnostics("main.tf");
    assert_eq!(found[0]["code"], "undeclared-reference");
    session.leave();
}

#[test]
fn exit_without_shutdown_ends_the_server_with_an_error() {
    let mut session = Session::new("//- /main.tf\n");
    session.notify("exit", Value::Null);
    let status = session.child().wait().expect("ends");
    assert_eq!(status.code(), Some(1), "it was not told to shut down");
}

/// Only messages of the protocol may be written to stdout, otherwise the editor disconnects.
#[test]
fn cli_configuration_warning_is_not_written_to_stdout() {
    let fixture = "//- /main.tf\nlocals {\n  a = local.gone\n}\n";
    let mut session = Session::with_variable(fixture, "TF_CLI_CONFIG_FILE", "is-not-there");
    session.open_file("main.tf");
    assert_eq!(session.diagnostics("main.tf").len(), 1);
    session.leave();
}

/// The URI of a file has several spellings. The server uses the one with which the file was opened.
#[test]
fn diagnostics_use_the_uri_of_the_open_request() {
    let mut session = Session::new("//- /a (b).tf\n");
    let uri = session.uri("./a%20(b).tf");
    let document = json!({ "uri": uri, "languageId": "x", "version": 1, "text": "locals {\n  a = local.b\n}\n" });
    session.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let published = session.notification("textDocument/publishDiagnostics");
    assert_eq!(published["uri"], uri.as_str());
    session.leave();
}

/// In the protocol, a lone carriage return ends a line. In HCL it does not.
#[test]
fn lone_carriage_return_counts_as_a_line_end_in_positions() {
    let mut session = Session::new("//- /main.tf\n");
    session.open("main.tf", "# x\r# y\nlocals {\n  a = 1\n}\n");
    let position = |character: u32| json!({ "line": 3, "character": character });
    let range = json!({ "start": position(6), "end": position(7) });
    let document = json!({ "uri": session.uri("main.tf"), "version": 2 });
    let change = json!([{ "range": range, "text": "local.b" }]);
    session.notify(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": change }),
    );
    let found = session.pull("main.tf");
    assert_eq!(found[0]["code"], "undeclared-reference", "{found:?}");
    assert_eq!(found[0]["range"]["start"], position(6));
    session.leave();
}

#[test]
fn changes_of_one_message_apply_in_sequence() {
    let mut session = Session::new("//- /main.tf\n");
    session.open("main.tf", "locals {\n  a = 1\n}\n");
    let at = |line: u32, character: u32| {
        let position = json!({ "line": line, "character": character });
        json!({ "start": position, "end": position })
    };
    let document = json!({ "uri": session.uri("main.tf"), "version": 7 });
    let changes = json!([
        { "text": "# new\nlocals {\n  a = 1\n}\n" },
        { "range": at(0, 0), "text": "# 𝒳\n" },
        { "range": at(3, 6), "text": "local.b + " },
        { "range": at(0, 4), "text": "!" },
    ]);
    session.notify(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": changes }),
    );
    let found = session.pull("main.tf");
    assert_eq!(found[0]["code"], "undeclared-reference", "{found:?}");
    assert_eq!(found[0]["range"]["start"], json!({ "line": 3, "character": 6 }));
    session.leave();
}

/// Byte sequences that are not valid messages. Each is answered, and the following messages are read. The process
/// ends as the client requests.
#[test]
fn invalid_frames_are_answered_and_the_server_continues() {
    use std::{
        io::Write as _,
        process::{Command, Stdio},
    };
    let frame = |content: &str| format!("Content-Length: {}\r\n\r\n{content}", content.len());
    let root = tempfile::tempdir().expect("a directory can be made");
    let serve = |pieces: &[String]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mayfly"))
            .args(["lsp", "--stdio"])
            .current_dir(root.path())
            .env_clear()
            .env("HOME", root.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the executable starts");
        let mut stdin = child.stdin.take().expect("is piped");
        for piece in pieces {
            let _ = stdin.write_all(piece.as_bytes());
            let _ = stdin.flush();
        }
        drop(stdin);
        let output = child.wait_with_output().expect("ends");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        (String::from_utf8(output.stdout).expect("is text"), err, output.status.code())
    };
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } });
    let shutdown = json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" });
    let exit = json!({ "jsonrpc": "2.0", "method": "exit" });
    let unknown = json!({ "jsonrpc": "2.0", "id": 3, "method": "$/unknown" });
    let odd = format!(
        "content-type: application/vscode-jsonrpc;charset=utf8\r\nX: y\r\n{}",
        frame(&unknown.to_string())
    );
    let session = [
        frame("nonsense"),
        frame(&unknown.to_string()),
        frame(&initialize.to_string()),
        odd,
        frame("[]"),
        frame(&shutdown.to_string()),
        frame(&exit.to_string()),
    ];
    let (out, err, code) = serve(&session);
    for expected in [
        r#""error":{"code":-32700,"message":"Parse error"},"id":null"#,
        r#""error":{"code":-32002,"message":"Server not initialized"},"id":3"#,
        r#""error":{"code":-32601,"message":"Method not found"},"id":3"#,
        r#""error":{"code":-32600,"message":"Invalid request"},"id":null"#,
        r#""result":null,"id":2"#,
    ] {
        assert!(out.contains(expected), "{expected} is not in {out}");
    }
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let bytes: Vec<String> = session.concat().chars().map(String::from).collect();
    let (split, err, code) = serve(&bytes);
    assert_eq!((split.len(), err.as_str(), code), (out.len(), "", Some(0)));
    let (out, err, code) =
        serve(&[frame(&initialize.to_string()), "Content-Length: -1\r\n\r\n{}".to_owned()]);
    assert!(out.ends_with("nothing after it can be read\"},\"id\":null}"), "{out}");
    assert_eq!((err.as_str(), code), ("", Some(1)));
}
