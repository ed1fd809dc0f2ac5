//! What providers log, as far as the user asked for it: on stderr, or in the file that `TF_LOG_PATH` names.

use std::{
    fs::File,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use addr::ProviderSource;
use db::System;
use engine::{LogLevel, Redactor};

use crate::{session::Session, ui::Ui};

/// Writes log lines.
///
/// **Invariant:** a line that came while an ephemeral resource was being opened is written when that has ended: it may quote
/// the secret, which the redactor knows only then. Where opening failed, it may never know, and the line is not written.
pub(crate) struct Log {
    /// The least level that is written; nothing is where there is none.
    least: Option<LogLevel>,
    ui: Arc<Ui>,
    file: Option<Mutex<File>>,
    redactor: Redactor,
    held: Mutex<Held>,
    has_ended: AtomicBool,
}

/// Lines that wait.
#[derive(Default)]
struct Held {
    opening: usize,
    lines: Vec<String>,
    bytes: usize,
    too_many: usize,
    unsafe_to_show: usize,
    failed: bool,
}

/// More than this is not held back; what comes then is left out, and said to be.
const MAX_HELD: usize = 8 << 20;

impl Held {
    /// Gives the line back where nothing is being opened.
    fn line(&mut self, line: String) -> Option<String> {
        if self.opening == 0 {
            return Some(line);
        }
        if self.bytes + line.len() <= MAX_HELD {
            self.bytes += line.len();
            self.lines.push(line);
        } else {
            self.too_many += 1;
        }
        None
    }

    fn begins(&mut self) {
        self.opening += 1;
    }

    /// The lines that are let go, once nothing is being opened any more.
    fn ends(&mut self) -> Vec<String> {
        self.opening = self.opening.saturating_sub(1);
        if self.opening > 0 {
            return Vec::new();
        }
        let Held { mut lines, too_many, unsafe_to_show, failed, .. } = std::mem::take(self);
        if too_many > 0 {
            lines.push(format!(
                "({too_many} log lines were left out while an ephemeral resource was opened)\n"
            ));
        }
        if failed {
            lines.push(format!(
                "({unsafe_to_show} log lines were left out, and what the provider logs from here on may be, too: opening an \
                 ephemeral resource failed, and they may quote a secret that is not known)\n"
            ));
        }
        lines
    }

    fn fails(&mut self) -> Vec<String> {
        self.failed = true;
        self.unsafe_to_show += self.lines.len();
        self.lines.clear();
        self.bytes = 0;
        self.ends()
    }
}

impl Log {
    pub(crate) fn new(session: &Session) -> Log {
        let variable = |name: &str| session.system.variable(name).filter(|it| !it.is_empty());
        let level_named = variable("TF_LOG_PROVIDER").or_else(|| variable("TF_LOG"));
        let least = level_named.and_then(|text| level(&text));
        let file = least.and_then(|_| variable("TF_LOG_PATH")).and_then(|path| {
            let opened = File::options().append(true).create(true).mode(0o600).open(&path);
            let told = |error| {
                session.ui.print_error(&format!("Error opening log file: {path}: {error}\n"));
            };
            opened.map_err(told).ok().map(Mutex::new)
        });
        Log {
            least,
            ui: session.ui.clone(),
            file,
            redactor: session.redactor.clone(),
            held: Mutex::default(),
            has_ended: AtomicBool::new(false),
        }
    }

    /// Writes nothing from here on. To be called before the redactor forgets: a line that comes too late could not be told
    /// from one without secrets.
    pub(crate) fn end(&self) {
        // Who writes meanwhile comes to an end first.
        let _nobody_writes = self.held();
        self.has_ended.store(true, Ordering::SeqCst);
    }

    /// Writes what a provider said, now or when what is being opened is open.
    pub(crate) fn line(&self, now: &str, provider: &ProviderSource, level: LogLevel, text: &str) {
        if self.least.is_none_or(|least| level < least) {
            return;
        }
        let name = format!("{level:?}").to_uppercase();
        // A log is read on terminals, too.
        let text = render::visible(text);
        let line = format!("{now} [{name}] provider.{}: {text}\n", provider.for_display());
        // A thread that is late must not overtake those that were let go.
        let mut held = self.held();
        if self.has_ended.load(Ordering::SeqCst) {
            return;
        }
        if let Some(line) = held.line(line) {
            self.write(&line);
        }
    }

    /// An ephemeral resource is going to be opened.
    pub(crate) fn open_begins(&self) {
        self.held().begins();
    }

    /// It is open. The last one's end lets go of what was held back.
    pub(crate) fn open_ends(&self) {
        let mut held = self.held();
        held.ends().iter().for_each(|line| self.write(line));
    }

    /// It is not going to be. What was held back is left out, and that is said.
    pub(crate) fn open_fails(&self) {
        let mut held = self.held();
        match self.least {
            Some(_) => held.fails().iter().for_each(|line| self.write(line)),
            // Nobody asked for logs, so nobody misses them.
            None => drop(held.ends()),
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a line without what is secret by now: it may have been redacted before a secret in it was learned.
    fn write(&self, line: &str) {
        let line = &self.redactor.redact(line);
        match &self.file {
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                // A full disk must not end the operation that is logged.
                let _ = file.write_all(line.as_bytes());
            }
            None => self.ui.print_error(line),
        }
    }
}

fn level(text: &str) -> Option<LogLevel> {
    match text.to_ascii_uppercase().as_str() {
        "TRACE" | "JSON" => Some(LogLevel::Trace),
        "DEBUG" => Some(LogLevel::Debug),
        "INFO" => Some(LogLevel::Info),
        "WARN" => Some(LogLevel::Warn),
        "ERROR" => Some(LogLevel::Error),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use engine::CancelToken;

    use super::*;
    use crate::{args::ViewArgs, ui::Stdout};

    #[test]
    fn lines_wait_for_the_last_open_and_those_of_a_failed_one_are_counted() {
        let mut held = Held::default();
        assert_eq!(held.line("a".to_owned()), Some("a".to_owned()));
        held.begins();
        held.begins();
        assert_eq!(held.line("b".to_owned()), None);
        assert!(held.ends().is_empty());
        assert_eq!(held.ends(), ["b"]);
        held.begins();
        held.begins();
        held.line("c".to_owned());
        assert!(held.fails().is_empty());
        held.line("d".to_owned());
        let left = held.ends();
        assert_eq!(left[0], "d");
        assert!(left[1].starts_with("(1 log lines were left out, "), "{}", left[1]);
        assert_eq!(held.line("e".to_owned()), Some("e".to_owned()));
    }

    #[test]
    fn what_comes_after_the_end_is_not_written() {
        let path = tempfile::NamedTempFile::new().expect("can be made");
        let ui = Ui::new(&ViewArgs::default(), true, Stdout::Text, CancelToken::new());
        let log = Log {
            least: Some(LogLevel::Trace),
            ui: Arc::new(ui),
            file: Some(Mutex::new(path.reopen().expect("can be opened"))),
            redactor: Redactor::new(),
            held: Mutex::default(),
            has_ended: AtomicBool::new(false),
        };
        log.redactor.learn_text("hunter2-hunter2");
        let source = ProviderSource::default_for("test");
        let say = || log.line("now", &source, LogLevel::Info, "it is hunter2-hunter2");
        say();
        log.end();
        log.redactor.forget();
        say();
        let written = std::fs::read_to_string(path.path()).expect("can be read");
        assert_eq!(written, "now [INFO] provider.hashicorp/test: it is (redacted)\n");
    }
}
