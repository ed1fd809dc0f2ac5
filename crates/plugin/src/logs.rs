//! Reads a plugin's stderr: hclog's JSON lines, tagged lines, panics.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use serde_json::{Map, Value as Json};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::sink::{LogLevel, LogRecord, PluginEvent, PluginSink, Redact};

/// A line is read up to here; what follows is counted and dropped.
pub const LONGEST_READ: usize = 1 << 20;
/// A line is passed on up to here. It is cut after redaction, so that no cut hides a secret from the redactor.
pub(crate) const LONGEST_SHOWN: usize = 64 << 10;
const PANIC_LINES: usize = 100;
const TAIL_LINES: usize = 20;

/// Everything that hears one plugin: its name, the sink, and the redactor between the two.
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

    /// Passes an event on. Of a plugin that was silenced, only its end is told.
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

    /// Passes on nothing more that the plugin says: it may quote a secret that no redactor knows. Once this returns, no
    /// event with its words is under way.
    pub(crate) fn silence(&self) {
        *self.silenced.write().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// `line` as others may see it.
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

/// How much of a line's redacted text holds no part of a secret that was torn where the line was cut: what follows the
/// last secret that was found is left out, unless none was, where the text is longer than what is shown.
fn untorn(text: &str, redacted: &str) -> usize {
    if text == redacted {
        return redacted.len();
    }
    let same = text.bytes().rev().zip(redacted.bytes().rev()).take_while(|(a, b)| a == b).count();
    redacted.len() - same
}

/// How much of what a plugin said fits an error.
const LONGEST_QUOTED: usize = 1000;

/// A text that is fit to be quoted in an error. It is redacted already, so that no cut hides a secret from the redactor.
pub(crate) fn shortened(text: String) -> String {
    cut(text, LONGEST_QUOTED)
}

/// A redacted text of at most `longest` bytes, and how much was left out.
pub(crate) fn cut(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        let end = (0..=longest).rev().find(|it| text.is_char_boundary(*it)).unwrap_or_default();
        let dropped = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("... ({dropped} bytes left out)"));
    }
    text
}

/// A line of text without its end, and how many bytes of it were too many to read.
pub struct Line {
    /// What was read of it, without its end; what is not UTF-8 is replaced.
    pub text: String,
    /// How many bytes were too many.
    pub dropped: usize,
}

impl Line {
    pub(crate) fn new(bytes: &[u8], dropped: usize) -> Self {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        Self { text: String::from_utf8_lossy(bytes).into_owned(), dropped }
    }
}

/// Splits a stream into lines within a bounded memory.
pub struct Lines<R> {
    reader: BufReader<R>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// The lines of `reader`.
    pub fn new(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(LONGEST_SHOWN, reader) }
    }

    /// The next line; the last one may lack its newline. `None` at the end.
    ///
    /// # Errors
    /// Those of the stream.
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

/// What a plugin wrote on stderr that its end may be explained by.
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

    /// The last lines, for the error of a start that failed.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).last).into()
    }

    /// The begin of its panic report, once.
    pub(crate) fn take_panic(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).panic)
    }
}

/// Reads `stderr` until its end.
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
    /// Reports a line and gives its text as shown.
    fn line(&mut self, line: &Line) -> String {
        // Decoded strings are redacted, not the JSON around them: a secret's escapes are gone there.
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

    /// The level of a line that is no JSON.
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

/// The record in a line of hclog's JSON; `None` if the line is something else.
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

    /// What a sink hears of `stderr`, where the word `hunter2` is a secret.
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
    fn tags_give_levels_and_a_panic_makes_errors_of_what_follows() {
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
        fn no_line_is_too_odd(line in "(\\{\"@level\":\"(info|loud)\",\"@message\":)?.{0,60}\\}?") {
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
    fn a_secret_that_is_torn_where_a_line_is_cut_is_not_shown() {
        let listener = Listener::new(
            "p",
            Arc::new(|_: &str, _: PluginEvent| {}),
            Arc::new(|text: &str| text.replace("hunter2", "*")),
        );
        // So many secrets that what is left of the line is short enough to be shown to its end.
        let mut line = "hunter2".repeat(LONGEST_READ / 7);
        line.push_str("end: hunt");
        let shown = listener.clean(&Line::new(line.as_bytes(), 3));
        assert!(!shown.contains("hunt"), "{}", &shown[shown.len() - 60..]);
        let line = format!("{}hunter2 end: hunt", "hunter2".repeat(100));
        let shown = listener.clean(&Line::new(line.as_bytes(), 3));
        assert_eq!(shown, format!("{}... (13 bytes left out)", "*".repeat(101)));
    }

    #[test]
    fn of_a_silenced_plugin_nothing_more_is_heard() {
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
