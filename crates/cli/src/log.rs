//! What providers log, as far as the user asked for it: on stderr, or in the file that `TF_LOG_PATH` names.

use std::{
    fs::File,
    io::Write,
    os::unix::fs::OpenOptionsExt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use addr::ProviderSource;
use db::System;
use engine::{LogLevel, Redactor};

use crate::{session::Session, ui::Ui};

/// Writes log lines.
///
/// **Invariant:** a line that came while an ephemeral resource was being opened is written when that has ended: it may quote
/// the secret, which the redactor knows only then.
pub(crate) struct Log {
    /// The least level that is written; nothing is where there is none.
    least: Option<LogLevel>,
    ui: Arc<Ui>,
    file: Option<Mutex<File>>,
    redactor: Redactor,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    opening: usize,
    lines: Vec<String>,
    bytes: usize,
    dropped: usize,
}

/// More than this is not held back; what comes then is left out, and said to be.
const MAX_HELD: usize = 8 << 20;

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
        }
    }

    /// Writes what a provider said, now or when what is being opened is open.
    pub(crate) fn line(&self, now: &str, provider: &ProviderSource, level: LogLevel, text: &str) {
        if self.least.is_none_or(|least| level < least) {
            return;
        }
        let name = format!("{level:?}").to_uppercase();
        let line = format!("{now} [{name}] provider.{}: {text}\n", provider.for_display());
        let mut held = self.held();
        if held.opening == 0 {
            self.write(&line);
        } else if held.bytes + line.len() <= MAX_HELD {
            held.bytes += line.len();
            held.lines.push(line);
        } else {
            held.dropped += 1;
        }
    }

    /// An ephemeral resource is going to be opened.
    pub(crate) fn open_begins(&self) {
        self.held().opening += 1;
    }

    /// It is open, or not going to be. The last one's end lets go of what was held back.
    pub(crate) fn open_ends(&self) {
        let mut held = self.held();
        held.opening = held.opening.saturating_sub(1);
        if held.opening > 0 {
            return;
        }
        let Held { lines, dropped, .. } = std::mem::take(&mut *held);
        for line in lines {
            self.write(&self.redactor.redact(&line));
        }
        if dropped > 0 {
            self.write(&format!(
                "({dropped} log lines were left out while an ephemeral resource was opened)\n"
            ));
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, line: &str) {
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
