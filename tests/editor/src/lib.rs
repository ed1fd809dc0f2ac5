//! A headless editor: a client of the language server protocol, for tests and benchmarks.
//!
//! Start reading at [`Editor::connect`]. The editor keeps the texts of its open files, so a test describes edits
//! rather than messages.
//!
//! **Invariant:** no call waits forever: if a message does not arrive within [`PATIENCE`], the test fails and
//! shows all received messages.
//! **Absent on purpose:** expectations. This crate does not depend on the crates of the server.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The maximal time for an answer.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// The method of the notification with diagnostics.
const PUBLISH: &str = "textDocument/publishDiagnostics";

/// An open text.
struct Buffer {
    version: i64,
    text: String,
}

/// The published diagnostics of a file.
#[derive(Debug)]
pub struct Published {
    /// The URI of the file.
    pub uri: String,
    /// The document version of the diagnostics. `None` if the server does not send it.
    pub version: Option<i64>,
    /// The diagnostics.
    pub diagnostics: Vec<Value>,
    /// The time at which the whole message was read, before it was parsed.
    pub read: Instant,
    /// The time at which the message was parsed.
    pub understood: Instant,
}

/// A message of the server.
struct Received {
    message: Value,
    read: Instant,
    understood: Instant,
}

/// A connected editor.
pub struct Editor {
    to_server: Box<dyn Write + Send>,
    inbox: Receiver<Received>,
    /// Received messages that were not consumed yet.
    kept: Vec<Received>,
    /// The time before the last message was written.
    pub sent: Instant,
    next_id: i64,
    root: PathBuf,
    buffers: BTreeMap<String, Buffer>,
    /// The server's answer to `initialize`, with its capabilities.
    pub server: Value,
    /// The answers to requests of the server, by method.
    pub answers: BTreeMap<String, Value>,
}

/// The capabilities of a typical editor.
pub fn usual_capabilities() -> Value {
    json!({
        "textDocument": {
            "publishDiagnostics": { "relatedInformation": true },
            "completion": { "completionItem": { "snippetSupport": true } },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
        },
        "workspace": { "workspaceEdit": { "documentChanges": true } },
    })
}

impl Editor {
    /// Connects to a server, with `root` as the only workspace folder.
    ///
    /// # Panics
    /// If the server does not answer. All other methods panic then too.
    pub fn connect(
        from_server: impl Read + Send + 'static,
        to_server: impl Write + Send + 'static,
        root: &Path,
        capabilities: Value,
    ) -> Editor {
        let (sender, inbox) = channel();
        thread::spawn(move || read_all(from_server, &sender));
        let mut editor = Editor {
            to_server: Box::new(to_server),
            inbox,
            kept: Vec::new(),
            sent: now(),
            next_id: 0,
            root: root.to_owned(),
            buffers: BTreeMap::new(),
            server: Value::Null,
            answers: BTreeMap::new(),
        };
        let folder = json!({ "uri": uri_of(root), "name": "workspace" });
        let params = json!({ "processId": null, "rootUri": uri_of(root), "workspaceFolders": [folder],
                             "capabilities": capabilities });
        editor.server = editor.request("initialize", params).expect("the server introduces itself");
        editor.notify("initialized", json!({}));
        editor
    }

    /// The URI of a file below the root.
    pub fn uri(&self, path: &str) -> String {
        uri_of(&self.root.join(path))
    }

    /// Opens a file with a text.
    pub fn open(&mut self, path: &str, text: &str) {
        let document =
            json!({ "uri": self.uri(path), "languageId": "opentofu", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        self.buffers.insert(path.to_owned(), Buffer { version: 1, text: text.to_owned() });
    }

    /// Opens a file from the disk.
    #[expect(clippy::disallowed_methods, reason = "an editor reads files")]
    pub fn open_file(&mut self, path: &str) {
        let text = std::fs::read_to_string(self.root.join(path)).expect("the file can be read");
        self.open(path, &text);
    }

    /// Closes a file.
    pub fn close(&mut self, path: &str) {
        self.buffers.remove(path).expect("is open");
        let document = json!({ "uri": self.uri(path) });
        self.notify("textDocument/didClose", json!({ "textDocument": document }));
    }

    /// The text of an open file.
    pub fn text(&self, path: &str) -> &str {
        &self.buffers[path].text
    }

    /// Replaces bytes of an open file, as typing does.
    pub fn edit(&mut self, path: &str, range: Range<usize>, with: &str) {
        let change = json!({ "range": self.range(path, range.clone()), "text": with });
        let buffer = self.buffers.get_mut(path).expect("is open");
        buffer.text.replace_range(range, with);
        buffer.version += 1;
        let version = buffer.version;
        let document = json!({ "uri": self.uri(path), "version": version });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [change] }),
        );
    }

    /// Replaces a word that occurs exactly once.
    #[track_caller]
    pub fn replace(&mut self, path: &str, from: &str, to: &str) {
        let at = self.find(path, from);
        self.edit(path, at..at + from.len(), to);
    }

    /// Replaces the whole text of a file, without a range in the message.
    pub fn set(&mut self, path: &str, text: &str) {
        let buffer = self.buffers.get_mut(path).expect("is open");
        buffer.text = text.to_owned();
        buffer.version += 1;
        let version = buffer.version;
        let document = json!({ "uri": self.uri(path), "version": version });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
        );
    }

    /// The offset of a word that occurs exactly once.
    #[track_caller]
    pub fn find(&self, path: &str, word: &str) -> usize {
        let mut places = self.text(path).match_indices(word);
        let (at, _) = places.next().unwrap_or_else(|| panic!("{word:?} is in {path}"));
        assert!(places.next().is_none(), "{word:?} is in {path} once");
        at
    }

    /// The position of a byte offset in an open file, in UTF-16.
    pub fn position(&self, path: &str, at: usize) -> Value {
        let before = &self.text(path)[..at];
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |it| it + 1);
        json!({ "line": line, "character": before[start..].encode_utf16().count() })
    }

    /// The range of a byte range in an open file.
    pub fn range(&self, path: &str, range: Range<usize>) -> Value {
        json!({ "start": self.position(path, range.start), "end": self.position(path, range.end) })
    }

    /// The text of an open file in a range from the server.
    pub fn text_in(&self, path: &str, range: &Value) -> &str {
        &self.text(path)[self.offset(path, &range["start"])..self.offset(path, &range["end"])]
    }

    /// The byte offset of a position from the server in an open file.
    pub fn offset(&self, path: &str, position: &Value) -> usize {
        let (line, column) = (number(&position["line"]), number(&position["character"]));
        let text = self.text(path);
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut units = 0;
        for (at, letter) in text[start..].char_indices() {
            if units >= column {
                return start + at;
            }
            units += letter.len_utf16();
        }
        text.len()
    }

    /// Makes a request about a place in an open file, and waits for the answer.
    pub fn ask_at(&mut self, method: &str, path: &str, at: usize) -> Value {
        let params = self.at(path, at);
        self.request(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The parameters for a place in an open file.
    pub fn at(&self, path: &str, at: usize) -> Value {
        json!({ "textDocument": { "uri": self.uri(path) }, "position": self.position(path, at) })
    }

    /// Makes a request and waits for the answer.
    ///
    /// # Errors
    /// If the server answers with an error.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Makes a request without waiting. Returns its id.
    pub fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        self.send(
            &json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }),
        );
        self.next_id
    }

    /// Cancels a request.
    pub fn cancel(&mut self, id: i64) {
        self.notify("$/cancelRequest", json!({ "id": id }));
    }

    /// Waits for the answer to a request.
    ///
    /// # Errors
    /// If the server answers with an error.
    pub fn answer(&mut self, id: i64) -> Result<Value, Value> {
        let mut message = self.wait("an answer", |message| {
            message["id"] == json!(id) && message.get("method").is_none()
        });
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].take()),
        }
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let text = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        self.sent = now();
        let written = self.to_server.write_all(text.as_bytes());
        written.and_then(|()| self.to_server.flush()).expect("the server reads");
    }

    /// Waits for the next published diagnostics of a file at its current version.
    #[track_caller]
    pub fn diagnostics(&mut self, path: &str) -> Vec<Value> {
        self.diagnostics_when(path, |_| true)
    }

    /// Waits for published diagnostics of a file at its current version that are as expected.
    #[track_caller]
    pub fn diagnostics_when(
        &mut self,
        path: &str,
        is_expected: impl Fn(&[Value]) -> bool,
    ) -> Vec<Value> {
        let uri = self.uri(path);
        let version = self.buffers.get(path).map(|it| it.version);
        let message = self.wait(&format!("diagnostics of {path}"), |message| {
            let params = &message["params"];
            message["method"] == PUBLISH
                && params["uri"] == uri.as_str()
                && version.is_none_or(|it| params["version"] == it)
                && is_expected(
                    params["diagnostics"].as_array().map(Vec::as_slice).unwrap_or_default(),
                )
        });
        message["params"]["diagnostics"].as_array().cloned().unwrap_or_default()
    }

    /// Waits for the next published diagnostics of any file.
    pub fn published(&mut self) -> Published {
        let Received { mut message, read, understood } =
            self.wait_for("diagnostics", |message| message["method"] == PUBLISH);
        let params = &mut message["params"];
        let diagnostics = match params["diagnostics"].take() {
            Value::Array(diagnostics) => diagnostics,
            other => panic!("diagnostics are a list, not {other}"),
        };
        let uri = params["uri"].as_str().expect("is of a file").to_owned();
        Published { uri, version: params["version"].as_i64(), diagnostics, read, understood }
    }

    /// The version of an open file.
    pub fn version(&self, path: &str) -> i64 {
        self.buffers[path].version
    }

    /// Pulls the diagnostics of a file.
    pub fn pull(&mut self, path: &str) -> Vec<Value> {
        let params = json!({ "textDocument": { "uri": self.uri(path) } });
        let report = self.request("textDocument/diagnostic", params).expect("an answer");
        report["items"].as_array().cloned().unwrap_or_default()
    }

    /// Waits for a notification and returns its parameters.
    #[track_caller]
    pub fn notification(&mut self, method: &str) -> Value {
        self.wait(method, |message| message["method"] == method)["params"].take()
    }

    /// The received messages that were not consumed, without waiting.
    pub fn left_over(&mut self) -> Vec<Value> {
        while let Ok(message) = self.inbox.try_recv() {
            self.receive(message);
        }
        self.kept.drain(..).map(|it| it.message).collect()
    }

    /// Shuts the server down.
    pub fn leave(mut self) {
        self.request("shutdown", Value::Null).expect("the server takes its leave");
        self.notify("exit", Value::Null);
    }

    #[track_caller]
    fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        self.wait_for(what, is_it).message
    }

    #[track_caller]
    fn wait_for(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Received {
        let mut next = 0;
        loop {
            let mut new = next..self.kept.len();
            if let Some(index) = new.find(|index| is_it(&self.kept[*index].message)) {
                return self.kept.remove(index);
            }
            next = self.kept.len();
            match self.inbox.recv_timeout(PATIENCE) {
                Ok(received) => self.receive(received),
                Err(RecvTimeoutError::Timeout) => panic!("no {what}; there is {}", self.came()),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the server is gone before {what}; there is {}", self.came())
                }
            }
        }
    }

    /// The received messages that were not consumed, as text.
    fn came(&self) -> String {
        let messages: Vec<&Value> = self.kept.iter().map(|it| &it.message).collect();
        format!("{messages:#?}")
    }

    /// Keeps a message, and answers it if it is a request.
    fn receive(&mut self, received: Received) {
        let message = &received.message;
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            let result = self.answers.get(method).cloned().unwrap_or(Value::Null);
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
            self.send(&answer);
        }
        self.kept.push(received);
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench asks how long something takes")]
fn now() -> Instant {
    Instant::now()
}

fn number(value: &Value) -> usize {
    value.as_u64().and_then(|it| usize::try_from(it).ok()).expect("a count")
}

fn uri_of(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn read_all(from_server: impl Read, sender: &Sender<Received>) {
    let mut reader = BufReader::new(from_server);
    while let Some(received) = read_message(&mut reader) {
        if sender.send(received).is_err() {
            return;
        }
    }
}

fn read_message(reader: &mut impl BufRead) -> Option<Received> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            line => {
                if let Some(count) = line.strip_prefix("Content-Length:") {
                    length = count.trim().parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let read = now();
    let message = serde_json::from_slice(&body).ok()?;
    Some(Received { message, read, understood: now() })
}
