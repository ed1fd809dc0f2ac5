//! Tests of the language server's answers to invalid or unusual messages.

use fastrand::Rng;
use hostile::messages_after;
use serde_json::{Value as Json, json};

fn frame(content: &str) -> Vec<u8> {
    framed(&format!("Content-Length: {}\r\n", content.len()), content.as_bytes())
}

fn framed(header: &str, content: &[u8]) -> Vec<u8> {
    [header.as_bytes(), b"\r\n", content].concat()
}

fn shutdown(id: u32) -> Vec<u8> {
    frame(&json!({ "jsonrpc": "2.0", "id": id, "method": "shutdown" }).to_string())
}

fn exit() -> Vec<u8> {
    frame(&json!({ "jsonrpc": "2.0", "method": "exit" }).to_string())
}

fn request(id: u32, method: &str) -> Vec<u8> {
    frame(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} }).to_string())
}

fn notification(method: &str) -> Vec<u8> {
    frame(&json!({ "jsonrpc": "2.0", "method": method, "params": {} }).to_string())
}

fn initialize() -> Vec<u8> {
    let params =
        json!({ "capabilities": {}, "workspaceFolders": [{ "uri": "file:///", "name": "r" }] });
    frame(
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string(),
    )
}

/// The answers to `messages` between `initialize` and `shutdown`: the id and the error code, `null` if there is no
/// error.
#[track_caller]
fn answers_to(messages: &[Vec<u8>]) -> Vec<(Json, Json)> {
    let session = [&[initialize()], messages, &[shutdown(2), exit()]].concat();
    let mut answers = codes(&session);
    assert_eq!(answers.first(), Some(&(json!(1), Json::Null)));
    // An answer may arrive after that to `shutdown`.
    let shutdown = answers.iter().position(|(id, _)| *id == 2).expect("the server lives on");
    assert_eq!(answers.remove(shutdown).1, Json::Null);
    answers.remove(0);
    answers
}

fn codes(session: &[Vec<u8>]) -> Vec<(Json, Json)> {
    let session = session.concat();
    let answers = messages_after(&[&session]).into_iter().filter(|it| it.get("method").is_none());
    answers.map(|it| (it["id"].clone(), it["error"]["code"].clone())).collect()
}

fn error(id: impl Into<Json>, code: i32) -> (Json, Json) {
    (id.into(), code.into())
}

#[test]
fn invalid_json_is_answered_with_a_parse_error() {
    for content in [&b"{\"jsonrpc\""[..], b"", b"\xff\xfe", b"nonsense", b"{} {}", &[b'['; 4096]] {
        let broken = framed(&format!("Content-Length: {}\r\n", content.len()), content);
        assert_eq!(answers_to(&[broken]), [error(Json::Null, -32700)], "{content:?}");
    }
    let latin = framed("Content-Type: a/b; charset=latin1\r\nContent-Length: 2\r\n", b"{}");
    assert_eq!(answers_to(&[latin]), [error(Json::Null, -32700)]);
}

#[test]
fn json_without_a_message_is_an_invalid_request() {
    for content in ["7", "null", "\"text\"", "{}", "[]", r#"{"jsonrpc":"2.0"}"#] {
        assert_eq!(answers_to(&[frame(content)]), [error(Json::Null, -32600)], "{content}");
    }
    let version = r#"{"jsonrpc":"1.0","id":7,"method":"textDocument/hover"}"#;
    assert_eq!(answers_to(&[frame(version)]), [error(7, -32600)]);
    let method = r#"{"jsonrpc":"2.0","id":"a","method":7}"#;
    assert_eq!(answers_to(&[frame(method)]), [error("a", -32600)]);
}

/// The protocol has no batches: the server answers with one error and runs nothing in the batch.
#[test]
fn a_batch_is_refused_as_a_whole() {
    let batch =
        r#"[{"jsonrpc":"2.0","id":7,"method":"shutdown"},{"jsonrpc":"2.0","method":"exit"}]"#;
    assert_eq!(answers_to(&[frame(batch)]), [error(Json::Null, -32600)]);
}

#[test]
fn every_legal_header_spelling_is_accepted() {
    let content = r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#;
    let length = content.len();
    for header in [
        format!("content-length:{length}\r\n"),
        format!("Content-Length:    {length}  \r\n"),
        format!(
            "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {length}\r\n"
        ),
        format!(
            "Content-Length: {length}\r\nContent-Type: application/vscode-jsonrpc;charset=utf8\r\n"
        ),
        format!("Content-Length: {length}\r\nContent-Type: application/json\r\n"),
        format!("A: b\r\nC: d\r\nE: f\r\nG: h\r\nContent-Length: {length}\r\n"),
    ] {
        let message = framed(&header, content.as_bytes());
        assert_eq!(answers_to(&[message]), [error(7, -32601)], "{header:?}");
    }
}

#[test]
fn header_without_a_valid_length_ends_the_server_with_an_error() {
    for header in [
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 1000000000000\r\n",
        "Content-Length: -2\r\n",
        "Content-Length: two\r\n",
        "Content-Length:\r\n",
        "Content-Type: a/b\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n",
    ] {
        let session = [initialize(), framed(header, b"{}"), shutdown(7)].concat();
        let answers: Vec<Json> = messages_after(&[&session]);
        let last = answers.last().expect("there are answers");
        assert_eq!(last["error"]["code"], -32700, "{header:?}: {last}");
        let message = last["error"]["message"].as_str().expect("is text");
        assert!(message.ends_with("nothing after it can be read"), "{message}");
        assert!(answers.iter().all(|it| it["id"] != 7), "{header:?}");
    }
}

#[test]
fn unknown_protocol_requests_are_answered_and_notifications_ignored() {
    let messages = [request(7, "$/unknown"), notification("$/unknown"), request(8, "no/such")];
    assert_eq!(answers_to(&messages), [error(7, -32601), error(8, -32601)]);
}

#[test]
fn requests_before_initialize_and_after_shutdown_are_refused() {
    let early = [
        request(7, "textDocument/hover"),
        shutdown(8),
        request(9, "$/unknown"),
        request(10, "no/such"),
        notification("textDocument/didOpen"),
        initialize(),
    ];
    let refused = [7, 8, 9, 10].map(|id| error(id, -32002));
    assert_eq!(codes(&early), [&refused[..], &[(json!(1), Json::Null)]].concat());
    let late = [
        initialize(),
        shutdown(2),
        request(7, "textDocument/hover"),
        shutdown(8),
        request(9, "$/unknown"),
        initialize(),
    ];
    let mut answers = codes(&late);
    answers.sort_by_key(|(id, code)| (id.as_u64(), code.as_i64()));
    let greeted = [error(1, -32600), (json!(1), Json::Null)];
    assert_eq!(answers[..2].iter().filter(|it| greeted.contains(it)).count(), 2, "{answers:?}");
    assert_eq!(answers[2], (json!(2), Json::Null));
    assert_eq!(answers[3..], [7, 8, 9].map(|id| error(id, -32600)));
}

/// A response to a request that the server never made has no effect.
#[test]
fn responses_without_a_request_are_ignored() {
    let response = r#"{"jsonrpc":"2.0","id":77,"result":null}"#;
    let failed = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}"#;
    assert_eq!(answers_to(&[frame(response), frame(failed)]), []);
}

/// A session of an editor, with characters of every width.
fn session() -> Vec<u8> {
    let text = "variable \"a\" {}\nlocals {\n  b = \"\u{e9}\u{20ac}\u{1f600}\"\n  c = local.b\n}\n";
    let document =
        json!({ "uri": "file:///main.tf", "languageId": "terraform", "version": 1, "text": text });
    let open = json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } });
    let at = json!({ "textDocument": { "uri": "file:///main.tf" }, "position": { "line": 3, "character": 13 } });
    let ask = |id: u32, method: &str| {
        let params = at.clone();
        frame(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        )
    };
    [
        initialize(),
        notification("initialized"),
        framed(
            &format!(
                "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: {}\r\n",
                open.to_string().len()
            ),
            open.to_string().as_bytes(),
        ),
        ask(3, "textDocument/definition"),
        ask(4, "textDocument/documentSymbol"),
        frame("nonsense"),
        ask(5, "textDocument/hover"),
        shutdown(2),
    ]
    .concat()
}

/// The answers, sorted by id. Omits notifications, because diagnostics arrive at varying times.
fn answers(pieces: &[&[u8]]) -> Vec<(String, Json)> {
    let said = messages_after(pieces).into_iter().filter(|it| it.get("method").is_none());
    let mut answers: Vec<_> = said.map(|it| (it["id"].to_string(), it)).collect();
    answers.sort_by_key(|(id, _)| id.clone());
    answers
}

#[test]
fn split_of_bytes_does_not_change_a_session() {
    let session = session();
    let whole = answers(&[&session]);
    let ids: Vec<&str> = whole.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5", "null"]);
    assert!(whole[2].1["result"].is_object() || whole[2].1["result"].is_array(), "{}", whole[2].1);
    let single: Vec<&[u8]> = session.chunks(1).collect();
    assert_eq!(answers(&single), whole, "byte by byte");
    let mut random = Rng::with_seed(29);
    for _ in 0..40 {
        let mut ends: Vec<usize> =
            (0..random.usize(1..12)).map(|_| random.usize(..session.len())).collect();
        ends.extend([0, session.len()]);
        ends.sort_unstable();
        let pieces: Vec<&[u8]> = ends.windows(2).map(|it| &session[it[0]..it[1]]).collect();
        assert_eq!(answers(&pieces), whole, "split at {ends:?}");
    }
}
