//! Reads a plugin's stderr: hclog's JSON lines, lines with a level tag, and panic reports.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use serde_json::{Map, Value as Json};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::sink::{LogLevel, LogRecord, PluginEvent, PluginSink, Redact};

/// The number of bytes of a line that are read. The rest is counted and dropped.
pub const LONGEST_READ: usize = 1 << 20;
/// The number of bytes of a line that are passed on. The cut happens after redaction, so that it cannot split a
/// secret and hide it from the redactor.
pub(crate) const LONGEST_SHOWN: usize = 64 << 10;
const PANIC_LINES: usize = 100;
const TAIL_LINES: usize = 20;

/// The destination of everything that one plugin writes: its name, the sink, and the redactor in front of the
/// sink.
#[derive(Clone)]
pub(crate) struct Listener {
    pub(crate) name: Arc<str>,
    sink: Arc<dyn PluginSink>,
    pub(crate) redact: Arc<dyn Redact>,
    silenced: Arc<RwLock<bool>>,
}

impl Listener {
    pub(crate) fn new(
        name: impl Into<Arc<str>>,
        sink: Arc<dyn PluginSink>,
        redact: Arc<dyn Redact>,
    ) -> Self {
        Self { name: name.into(), sink, redact, silenced: Arc::default() }
    }

    /// Passes an event on. For a silenced plugin, only the events without its own text are passed on.
    pub(crate) fn event(&self, event: PluginEvent) {
        let silenced = self.silenced.read().unwrap_or_else(PoisonError::into_inner);
        let is_wordless = matches!(event, PluginEvent::Exited { .. } | PluginEvent::OtherSchemas);
        if !*silenced || is_wordless {
            self.sink.event(&self.name, event);
        }
    }

    pub(crate) fn is_silenced(&self) -> bool {
        *self.silenced.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops passing on text of the plugin, which may quote a secret that the redactor does not have. When this
    /// returns, no event with such text is in progress.
    pub(crate) fn silence(&self) {
        *self.silenced.write().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// Returns the text of `line` redacted and cut, with the number of omitted bytes.
    pub(crate) fn clean(&self, line: &Line) -> String {
        let mut text = self.redact.redact(&line.text);
        let mut dropped = line.dropped;
        let shown = if dropped == 0 { text.len() } else { untorn(&line.text, &text) };
        if shown < text.len() || text.len() > LONGEST_SHOWN {
            let end = shown.min(LONGEST_SHOWN);
            let cut = (0..=end).rev().find(|it| text.is_char_boundary(*it)).unwrap_or_default();
            dropped += text.len() - cut;
            text.truncate(cut);
        }
        if dropped > 0 {
            text.push_str(&format!("... ({dropped} bytes left out)"));
        }
        text
    }
}

/// Returns how much of a cut line's redacted text can be shown. The end of the cut line may be the first part of a
/// secret, which the redactor does not recognize. If something was redacted, the text after the last redacted
/// place is left out. If nothing was redacted, the text exceeds [`LONGEST_SHOWN`], and the caller cuts its end
/// anyway.
fn untorn(text: &str, redacted: &str) -> usize {
    if text == redacted {
        return redacted.len();
    }
    let same = text.bytes().rev().zip(redacted.bytes().rev()).take_while(|(a, b)| a == b).count();
    redacted.len() - same
}

/// The number of bytes of a plugin's text that are quoted in an error.
const LONGEST_QUOTED: usize = 1000;

/// Shortens a text for an error. The text must already be redacted, so that the cut cannot split a secret and hide
/// it from the redactor.
pub(crate) fn shortened(text: String) -> String {
    cut(text, LONGEST_QUOTED)
}

/// Cuts a redacted text to at most `longest` bytes and appends the number of omitted bytes.
pub(crate) fn cut(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        let end = (0..=longest).rev().find(|it| text.is_char_boundary(*it)).unwrap_or_default();
        let dropped = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("... ({dropped} bytes left out)"));
    }
    text
}

/// A line of text, and the number of its bytes that were dropped.
pub struct Line {
    /// The part of the line that was read, without its end. Invalid UTF-8 is replaced.
    pub text: String,
    /// The number of bytes beyond [`LONGEST_READ`].
    pub dropped: usize,
}

impl Line {
    pub(crate) fn new(bytes: &[u8], dropped: usize) -> Self {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Self { text: String::from_utf8_lossy(bytes).into_owned(), dropped }
    }

    /// Returns the text of a line. If it was truncated, its end is dropped too, because a secret may be cut there.
    pub fn into_text(self) -> String {
        let Line { mut text, mut dropped } = self;
        if dropped > 0 {
            let most = text.len().saturating_sub(TORN);
            let end = (0..=most).rev().find(|it| text.is_char_boundary(*it)).unwrap_or_default();
            dropped += text.len() - end;
            text.truncate(end);
            text.push_str(&format!("... ({dropped} bytes left out)"));
        }
        text
    }
}

/// The number of bytes to drop from the end of a truncated line. A secret may be cut there, and a redactor does
/// not find the remaining prefix. It searches for texts of at most 256 KiB, which are twice as many bytes in
/// hexadecimal.
pub const TORN: usize = 512 << 10;

/// Splits a stream into lines in bounded memory.
pub struct Lines<R> {
    reader: BufReader<R>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Creates a reader of the lines of `reader`.
    pub fn new(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(LONGEST_SHOWN, reader) }
    }

    /// Returns the next line, or `None` at the end of the stream. The last line may lack its newline.
    ///
    /// # Errors
    /// Returns the errors of the stream.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        let mut total = 0;
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                let line = (total > 0).then(|| Line::new(&bytes, total - bytes.len()));
                return Ok(line);
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            total += part.len();
            bytes.extend_from_slice(&part[..part.len().min(LONGEST_READ - bytes.len())]);
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(Line::new(&bytes, total - bytes.len())));
            }
        }
    }
}

/// The stderr lines that may explain the end of a plugin.
#[derive(Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    last: VecDeque<String>,
    panic: Vec<String>,
}

impl Tail {
    fn push(&self, line: String, is_panic: bool) {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_panic && written.panic.len() < TAIL_LINES {
            written.panic.push(line.clone());
        }
        if written.last.len() == TAIL_LINES {
            written.last.pop_front();
        }
        written.last.push_back(line);
    }

    /// Takes the last lines, for the error of a failed start.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).last).into()
    }

    /// Takes the first lines of the panic report. Later calls return nothing.
    pub(crate) fn take_panic(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).panic)
    }
}

/// Reads `stderr` to its end and reports each line.
pub(crate) async fn read_stderr(stderr: impl AsyncRead + Unpin, listener: Listener, tail: Tail) {
    let mut lines = Lines::new(stderr);
    let mut parser = Parser { listener, panicking: false, panic_lines: 0 };
    while let Ok(Some(line)) = lines.next().await {
        let text = parser.line(&line);
        tail.push(text, parser.panicking);
    }
}

struct Parser {
    listener: Listener,
    panicking: bool,
    panic_lines: usize,
}

impl Parser {
    /// Reports a line and returns its redacted text.
    fn line(&mut self, line: &Line) -> String {
        // Redact the decoded strings, not the JSON text: escapes in it could hide a secret from the redactor.
        if let Some(record) = hclog(&line.text, &*self.listener.redact) {
            let message = record.message.clone();
            self.listener.event(PluginEvent::Log(record));
            return message;
        }
        let text = self.listener.clean(line);
        let level = self.level(&text);
        if self.panicking && self.panic_lines < PANIC_LINES {
            self.panic_lines += 1;
            self.listener.event(PluginEvent::Panicked { line: text.clone() });
        }
        self.listener.event(PluginEvent::Log(LogRecord {
            level,
            message: text.clone(),
            module: None,
            caller: None,
            timestamp: None,
            fields: Vec::new(),
        }));
        text
    }

    /// Returns the level of a line that is not JSON.
    fn level(&mut self, text: &str) -> LogLevel {
        const TAGS: [(&str, LogLevel); 5] = [
            ("[TRACE]", LogLevel::Trace),
            ("[DEBUG]", LogLevel::Debug),
            ("[INFO]", LogLevel::Info),
            ("[WARN]", LogLevel::Warn),
            ("[ERROR]", LogLevel::Error),
        ];
        self.panicking |= text.starts_with("panic: ") || text.starts_with("fatal error: ");
        let tagged = TAGS.iter().find(|(tag, _)| text.starts_with(tag)).map(|(_, level)| *level);
        tagged.unwrap_or(if self.panicking { LogLevel::Error } else { LogLevel::Debug })
    }
}

/// Parses a line of hclog's JSON. `None` if the line is something else.
fn hclog(line: &str, redact: &dyn Redact) -> Option<LogRecord> {
    if !line.starts_with('{') {
        return None;
    }
    let mut object: Map<String, Json> = serde_json::from_str(line).ok()?;
    let level = level(object.get("@level")?.as_str()?)?;
    let message = redact.redact(object.get("@message")?.as_str()?);
    object.shift_remove("@level");
    object.shift_remove("@message");
    let mut take = |key| match object.shift_remove(key) {
        Some(Json::String(text)) => Some(redact.redact(&text)),
        _ => None,
    };
    let (module, caller, timestamp) = (take("@module"), take("@caller"), take("@timestamp"));
    let fields = object
        .into_iter()
        .map(|(key, value)| (redact.redact(&key), field(value, redact)))
        .collect();
    Some(LogRecord { level, message, module, caller, timestamp, fields })
}

fn field(value: Json, redact: &dyn Redact) -> String {
    match value {
        Json::String(text) => redact.redact(&text),
        other => redact.redact(&other.to_string()),
    }
}

fn level(text: &str) -> Option<LogLevel> {
    Some(match text {
        "trace" => LogLevel::Trace,
        "debug" => LogLevel::Debug,
        "info" => LogLevel::Info,
        "warn" => LogLevel::Warn,
        "error" => LogLevel::Error,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::proptest;

    use super::*;

    /// Compares the events of `stderr` with the expected ones. The word `hunter2` is a secret.
    #[track_caller]
    fn check(stderr: &str, expected: Expect) {
        let heard = Arc::new(Mutex::new(String::new()));
        let listener = Listener::new(
            "p",
            Arc::new({
                let heard = Arc::clone(&heard);
                move |_: &str, event: PluginEvent| {
                    let text = match event {
                        PluginEvent::Log(it) => {
                            format!(
                                "{:?} {:?} {:?} {:?}\n",
                                it.level, it.message, it.module, it.fields
                            )
                        }
                        other => format!("{other:?}\n"),
                    };
                    heard.lock().expect("not poisoned").push_str(&text);
                }
            }),
            Arc::new(|text: &str| text.replace("hunter2", "***")),
        );
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(read_stderr(stderr.as_bytes(), listener, Tail::default()));
        expected.assert_eq(&heard.lock().expect("not poisoned"));
    }

    #[test]
    fn hclog_lines_are_records_and_their_strings_are_redacted() {
        check(
            concat!(
                r#"{"@level":"warn","@message":"got \u0068unter2","@module":"m","@timestamp":"t","n":{"x":["hunter2"]},"s":"v"}"#,
                "\n",
                r#"{"@level":"loud","@message":"kept as text"}"#,
                "\n",
            ),
            expect![[r#"
                Warn "got ***" Some("m") [("n", "{\"x\":[\"***\"]}"), ("s", "v")]
                Debug "{\"@level\":\"loud\",\"@message\":\"kept as text\"}" None []
            "#]],
        );
    }

    #[test]
    fn log_tags_set_levels_and_a_panic_makes_later_lines_errors() {
        check(
            "[INFO] up\nplain\r\npanic: boom hunter2\n\tmain.go:1\n[WARN] tagged\nlast",
            expect![[r#"
                Info "[INFO] up" None []
                Debug "plain" None []
                Panicked { line: "panic: boom ***" }
                Error "panic: boom ***" None []
                Panicked { line: "\tmain.go:1" }
                Error "\tmain.go:1" None []
                Panicked { line: "[WARN] tagged" }
                Warn "[WARN] tagged" None []
                Panicked { line: "last" }
                Error "last" None []
            "#]],
        );
    }

    proptest! {
        #[test]
        fn hclog_parser_never_panics(line in "(\\{\"@level\":\"(info|loud)\",\"@message\":)?.{0,60}\\}?") {
            let _either = hclog(&line, &|text: &str| text.to_owned());
        }
    }

    #[test]
    fn long_lines_are_cut_after_redaction() {
        let listener = Listener::new(
            "p",
            Arc::new(|_: &str, _: PluginEvent| {}),
            Arc::new(|text: &str| text.replace("hunter2", "***")),
        );
        let line = format!("{}hunter2{}", "x".repeat(LONGEST_SHOWN - 5), "y".repeat(100));
        let shown = listener.clean(&Line::new(line.as_bytes(), 0));
        assert!(
            shown.ends_with("x***yy... (98 bytes left out)"),
            "{}",
            &shown[LONGEST_SHOWN - 10..]
        );
    }

    #[test]
    fn secret_torn_by_a_line_cut_is_not_shown() {
        let listener = Listener::new(
            "p",
            Arc::new(|_: &str, _: PluginEvent| {}),
            Arc::new(|text: &str| text.replace("hunter2", "*")),
        );
        // The line has so many secrets that its redacted text fits within the limit for showing.
        let mut line = "hunter2".repeat(LONGEST_READ / 7);
        line.push_str("end: hunt");
        let shown = listener.clean(&Line::new(line.as_bytes(), 3));
        assert!(!shown.contains("hunt"), "{}", &shown[shown.len() - 60..]);
        let line = format!("{}hunter2 end: hunt", "hunter2".repeat(100));
        let shown = listener.clean(&Line::new(line.as_bytes(), 3));
        assert_eq!(shown, format!("{}... (13 bytes left out)", "*".repeat(101)));
    }

    #[test]
    fn silenced_plugin_emits_no_events() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = {
            let heard = Arc::clone(&heard);
            move |_: &str, event: PluginEvent| heard.lock().expect("not poisoned").push(event)
        };
        let listener = Listener::new("p", Arc::new(sink), Arc::new(str::to_owned));
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let say = |text: &'static str| {
            runtime.block_on(read_stderr(text.as_bytes(), listener.clone(), Tail::default()));
        };
        say("one\n");
        listener.silence();
        say("panic: two\n{\"@level\":\"warn\",\"@message\":\"three\"}\n");
        assert_eq!(heard.lock().expect("not poisoned").len(), 1);
    }
}
