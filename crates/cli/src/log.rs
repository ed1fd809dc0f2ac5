//! Log lines of this program and of providers, on stderr or in the file that `TF_LOG_PATH` names.
//!
//! **Invariant:** a line of this program contains only names and numbers: no value of a variable, no part of the
//! environment, and no part of a provider request or response.
//! **Invariant:** a line of a provider passes the redactor when it is written.

use std::{
    fs::File,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use db::System;
use engine::{Event, LogLevel, PluginName, Redactor};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use serde_json::json;

use crate::ui::Ui;

/// The log levels and the destination.
#[derive(Default)]
pub(crate) struct Log {
    /// The minimum level of this program's lines. `None` disables them.
    core: Option<LogLevel>,
    /// The minimum level of providers' lines. `None` disables them.
    provider: Option<LogLevel>,
    is_json: bool,
    file: Option<Mutex<File>>,
    /// True if lines are dropped instead of written to stderr, because they would garble a full-screen view.
    is_muted: AtomicBool,
}

/// A log line before it is written.
struct Line {
    time: Timestamp,
    level: LogLevel,
    /// The module of this program, or the provider.
    name: String,
    text: String,
}

impl Log {
    /// Reads the levels and the destination from the environment. Problems are returned as lines for stderr.
    pub(crate) fn from_environment(system: &dyn System) -> (Log, Vec<String>) {
        let mut problems = Vec::new();
        let variable = |name: &str| system.variable(name).filter(|it| !it.is_empty());
        let core = variable("TF_LOG").or_else(|| variable("TF_LOG_CORE"));
        let provider = variable("TF_LOG_PROVIDER").or_else(|| variable("TF_LOG"));
        let is_json = core.as_ref().is_some_and(|it| it.eq_ignore_ascii_case("json"));
        let mut least = |text: Option<String>| text.and_then(|it| level(&it, &mut problems));
        let (core, provider) = (least(core), least(provider));
        // Log files are opened relative to the directory in which the command is called: logging begins before
        // `-chdir` is applied.
        let path = variable("TF_LOG_PATH").map(|it| (system.current_directory().join(&it), it));
        let file = path.and_then(|(path, named)| match open(&path) {
            Ok(file) => Some(Mutex::new(file)),
            Err(error) => {
                problems.push(format!("Error opening log file: open {named}: {error}\n"));
                None
            }
        });
        (Log { core, provider, is_json, file, is_muted: AtomicBool::new(false) }, problems)
    }

    /// Returns true if lines of this program are written at a level.
    pub(crate) fn has(&self, level: LogLevel) -> bool {
        self.core.is_some_and(|least| level >= least) && !self.is_dropped()
    }

    /// Drops the lines for stderr from now on.
    pub(crate) fn mute(&self) {
        self.is_muted.store(true, Ordering::Relaxed);
    }

    fn is_dropped(&self) -> bool {
        self.file.is_none() && self.is_muted.load(Ordering::Relaxed)
    }

    fn formatted(&self, line: &Line) -> String {
        if self.is_json {
            return line.to_json();
        }
        let time = line.zoned();
        let zone =
            if time.offset().is_zero() { "Z".to_owned() } else { time.strftime("%z").to_string() };
        let level = match line.level {
            LogLevel::Trace => "[TRACE]",
            LogLevel::Debug => "[DEBUG]",
            // Padded to the width of the other levels.
            LogLevel::Info => "[INFO] ",
            LogLevel::Warn => "[WARN] ",
            LogLevel::Error => "[ERROR]",
        };
        let time = time.strftime("%Y-%m-%dT%H:%M:%S%.3f");
        format!("{time}{zone} {level} {}: {}\n", line.name, line.text)
    }

    /// Writes a line to the log file. Without a file, returns the line for stderr, or `None` if lines are dropped.
    fn write(&self, line: String) -> Option<String> {
        match &self.file {
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                // A full disk must not abort the operation.
                let _ = file.write_all(line.as_bytes());
                None
            }
            None => Some(line).filter(|_| !self.is_dropped()),
        }
    }
}

impl Line {
    fn new(level: LogLevel, name: impl Into<String>, text: &str) -> Line {
        // Escape control characters, because a log is also read on terminals.
        Line {
            time: Timestamp::now(),
            level,
            name: name.into(),
            text: render::visible(text).into(),
        }
    }

    fn zoned(&self) -> Zoned {
        self.time.to_zoned(TimeZone::system())
    }

    fn to_json(&self) -> String {
        let time = self.zoned();
        let zone =
            if time.offset().is_zero() { "Z".to_owned() } else { time.strftime("%:z").to_string() };
        let line = json!({
            "@level": format!("{:?}", self.level).to_lowercase(),
            "@message": self.text,
            "@module": self.name,
            "@timestamp": format!("{}{zone}", time.strftime("%Y-%m-%dT%H:%M:%S%.6f")),
        });
        format!("{line}\n")
    }
}

fn open(path: &Path) -> Result<File, String> {
    let opened = File::options().append(true).create(true).mode(0o600).open(path);
    opened.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        std::io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        _ => error.to_string(),
    })
}

/// The level that a text names. `None` if logging is off.
fn level(text: &str, problems: &mut Vec<String>) -> Option<LogLevel> {
    match text.to_uppercase().as_str() {
        "TRACE" | "JSON" => Some(LogLevel::Trace),
        "DEBUG" => Some(LogLevel::Debug),
        "INFO" => Some(LogLevel::Info),
        "WARN" => Some(LogLevel::Warn),
        "ERROR" => Some(LogLevel::Error),
        "OFF" => None,
        other => {
            let warning = format!(
                "[WARN] Invalid log level: {other:?}. Defaulting to level: TRACE. Valid levels \
                 are: [TRACE DEBUG INFO WARN ERROR OFF]\n"
            );
            if !problems.contains(&warning) {
                problems.push(warning);
            }
            Some(LogLevel::Trace)
        }
    }
}

impl Ui {
    /// Logs a line of this program. `name` is the module.
    pub(crate) fn log(&self, level: LogLevel, name: &str, text: &str) {
        if self.log.has(level) {
            let line = self.log.formatted(&Line::new(level, name, text));
            self.print_log(line);
        }
    }

    /// Logs an event of an operation with the addresses of its objects.
    pub(crate) fn log_event(&self, event: &Event) {
        if self.log.has(LogLevel::Debug)
            && let Some((level, text)) = of_event(event)
        {
            self.log(level, "engine", &text);
        }
    }

    fn print_log(&self, line: String) {
        if let Some(line) = self.log.write(line) {
            self.print_error(&line);
        }
    }
}

/// The log line of an event. `None` if the event is no step of an operation, or if its text is logged elsewhere.
fn of_event(event: &Event) -> Option<(LogLevel, String)> {
    let line = match event {
        Event::RefreshStart { address, .. } => {
            (LogLevel::Trace, format!("{address}: refresh begins"))
        }
        Event::RefreshComplete { address, .. } => {
            (LogLevel::Trace, format!("{address}: refresh ends"))
        }
        Event::ImportStart { address, .. } => {
            (LogLevel::Debug, format!("{address}: import begins"))
        }
        Event::ImportComplete { address } => (LogLevel::Debug, format!("{address}: import ends")),
        Event::ImportPrepare { address, .. } => {
            (LogLevel::Debug, format!("{address}: import is prepared"))
        }
        Event::ImportApplyStart { address, .. } => {
            (LogLevel::Debug, format!("{address}: import begins"))
        }
        Event::ImportApplyComplete { address, .. } => {
            (LogLevel::Debug, format!("{address}: import ends"))
        }
        Event::Planned { address, action, .. } => {
            (LogLevel::Trace, format!("{address}: planned as {action:?}"))
        }
        Event::ApplyStart { address, action, .. } => {
            (LogLevel::Debug, format!("{address}: {action:?} begins"))
        }
        Event::ApplyComplete { address, action, .. } => {
            (LogLevel::Debug, format!("{address}: {action:?} ends"))
        }
        Event::ApplyErrored { address, action, .. } => {
            (LogLevel::Error, format!("{address}: {action:?} fails"))
        }
        Event::ProvisionStart { address, provisioner } => {
            (LogLevel::Debug, format!("{address}: provisioner {provisioner} begins"))
        }
        Event::ProvisionComplete { address, provisioner } => {
            (LogLevel::Debug, format!("{address}: provisioner {provisioner} ends"))
        }
        Event::ProvisionErrored { address, provisioner } => {
            (LogLevel::Error, format!("{address}: provisioner {provisioner} fails"))
        }
        Event::EphemeralStart { address, action } => {
            (LogLevel::Debug, format!("{address}: {action:?} begins"))
        }
        Event::EphemeralComplete { address, action, .. } => {
            (LogLevel::Debug, format!("{address}: {action:?} ends"))
        }
        Event::EphemeralErrored { address, action, .. } => {
            (LogLevel::Error, format!("{address}: {action:?} fails"))
        }
        Event::Deferred { address, .. } => (LogLevel::Debug, format!("{address}: deferred")),
        Event::ProviderStarted { provider, serial } => (
            LogLevel::Debug,
            format!("provider {} started as number {serial}", provider.for_display()),
        ),
        Event::ProviderEnded { provider, serial } => {
            (LogLevel::Debug, format!("provider {} ended, number {serial}", provider.for_display()))
        }
        Event::Stopping => (LogLevel::Warn, "stopping".to_owned()),
        Event::Summary { operation, counts } => (
            LogLevel::Info,
            format!(
                "{operation:?} ends: {} to add or added, {} to change or changed, {} to destroy or destroyed",
                counts.add, counts.change, counts.destroy
            ),
        ),
        Event::Diagnostic(_)
        | Event::PluginLog { .. }
        | Event::ProvisionOutput { .. }
        | Event::ApplyProgress { .. }
        | Event::EphemeralProgress { .. } => return None,
    };
    Some(line)
}

/// Writes the log lines of plugins during one operation.
///
/// **Invariant:** a line that arrives while an ephemeral resource is being opened is held back until the open
/// ends. It may contain the secret, which the redactor learns only at the end. If the open fails, the redactor
/// never learns the secret, and the held lines are dropped.
pub(crate) struct PluginLog {
    ui: Arc<Ui>,
    redactor: Redactor,
    held: Mutex<HeldLines>,
    has_ended: AtomicBool,
}

/// Log lines that are held back.
#[derive(Default)]
struct HeldLines {
    opening: usize,
    lines: Vec<Line>,
    bytes: usize,
    too_many: usize,
    unsafe_to_show: usize,
    failed: bool,
}

/// The maximum size of held lines in bytes. Further lines are dropped and counted.
const MAX_HELD: usize = 8 << 20;

impl HeldLines {
    /// Holds a line back. Returns it if no ephemeral resource is being opened, so that it can be written.
    fn line(&mut self, line: Line) -> Option<Line> {
        if self.opening == 0 {
            return Some(line);
        }
        if self.bytes + line.text.len() <= MAX_HELD {
            self.bytes += line.text.len();
            self.lines.push(line);
        } else {
            self.too_many += 1;
        }
        None
    }

    fn begins(&mut self) {
        self.opening += 1;
    }

    /// Ends one open. Returns the held lines if no other open is in progress.
    fn ends(&mut self) -> Vec<Line> {
        self.opening = self.opening.saturating_sub(1);
        if self.opening > 0 {
            return Vec::new();
        }
        let HeldLines { mut lines, too_many, unsafe_to_show, failed, .. } = std::mem::take(self);
        let mut note = |text: String| lines.push(Line::new(LogLevel::Warn, "provider", &text));
        if too_many > 0 {
            note(format!(
                "{too_many} log lines were left out while an ephemeral resource was opened"
            ));
        }
        if failed {
            note(format!(
                "{unsafe_to_show} log lines were left out, and what the provider logs from here on \
                 may be, too: opening an ephemeral resource failed, and they may quote a secret that is not known"
            ));
        }
        lines
    }

    fn fails(&mut self) -> Vec<Line> {
        self.failed = true;
        self.unsafe_to_show += self.lines.len();
        self.lines.clear();
        self.bytes = 0;
        self.ends()
    }
}

impl PluginLog {
    /// Creates a log for one operation.
    pub(crate) fn new(ui: Arc<Ui>, redactor: Redactor) -> PluginLog {
        PluginLog { ui, redactor, held: Mutex::default(), has_ended: AtomicBool::new(false) }
    }

    /// Stops all writing. Must be called before the redactor forgets the secrets, because a later line could not
    /// be redacted.
    pub(crate) fn end(&self) {
        // Wait for a concurrent writer to finish.
        let _nobody_writes = self.held();
        self.has_ended.store(true, Ordering::SeqCst);
    }

    /// Writes a line of a plugin, or holds it back while an ephemeral resource is being opened.
    pub(crate) fn line(&self, plugin: &PluginName, level: LogLevel, text: &str) {
        if !self.has(level) {
            return;
        }
        let line = Line::new(level, plugin.to_string(), text);
        // Take the lock before the line is checked or written, so that it does not overtake held lines.
        let mut held = self.held();
        if self.has_ended.load(Ordering::SeqCst) {
            return;
        }
        if let Some(line) = held.line(line) {
            self.write(line);
        }
    }

    fn has(&self, level: LogLevel) -> bool {
        self.ui.log.provider.is_some_and(|least| level >= least) && !self.ui.log.is_dropped()
    }

    /// Records that the open of an ephemeral resource begins.
    pub(crate) fn open_begins(&self) {
        self.held().begins();
    }

    /// Records that an open succeeded. After the last one, the held lines are written.
    pub(crate) fn open_ends(&self) {
        let mut held = self.held();
        held.ends().into_iter().for_each(|line| self.write(line));
    }

    /// Records that an open failed. The held lines are dropped, and a note about that is written.
    pub(crate) fn open_fails(&self) {
        let mut held = self.held();
        match self.has(LogLevel::Error) {
            true => held.fails().into_iter().for_each(|line| self.write(line)),
            // The log is off, so no note is written.
            false => drop(held.ends()),
        }
    }

    fn held(&self) -> MutexGuard<'_, HeldLines> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Redacts a line again and writes it. A secret may have been learned after the line was first redacted.
    fn write(&self, line: Line) {
        let line = Line { text: self.redactor.redact(&line.text), ..line };
        let line = self.ui.log.formatted(&line);
        // A secret may have another form in JSON, which the redactor also knows.
        self.ui.print_log(self.redactor.redact(&line));
    }
}

#[cfg(test)]
mod tests {
    use addr::ProviderSource;
    use engine::CancelToken;

    use super::*;
    use crate::{
        args::ViewArgs,
        deprecations::DeprecationFilter,
        ui::{JsonForm, Outputs, Stdout, StyleVariables},
    };

    fn line(text: &str) -> Line {
        Line {
            time: Timestamp::UNIX_EPOCH,
            level: LogLevel::Info,
            name: "n".to_owned(),
            text: text.to_owned(),
        }
    }

    fn texts(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(|it| it.text.as_str()).collect()
    }

    #[test]
    fn log_lines_wait_for_the_last_open_and_are_dropped_after_a_failure() {
        let mut held = HeldLines::default();
        assert!(held.line(line("a")).is_some());
        held.begins();
        held.begins();
        assert!(held.line(line("b")).is_none());
        assert!(held.ends().is_empty());
        assert_eq!(texts(&held.ends()), ["b"]);
        held.begins();
        held.begins();
        held.line(line("c"));
        assert!(held.fails().is_empty());
        held.line(line("d"));
        let left = held.ends();
        assert_eq!(left[0].text, "d");
        assert!(left[1].text.starts_with("1 log lines were left out, "), "{}", left[1].text);
        assert!(held.line(line("e")).is_some());
    }

    #[test]
    fn plugin_log_writes_nothing_after_its_end() {
        let path = tempfile::NamedTempFile::new().expect("can be made");
        let log = Log {
            provider: Some(LogLevel::Trace),
            file: Some(Mutex::new(path.reopen().expect("can be opened"))),
            ..Log::default()
        };
        let outputs = Outputs { stdout: Stdout::Text, into: None, json: JsonForm::Lines };
        let ui = Ui::new(
            &ViewArgs::default(),
            StyleVariables::default(),
            DeprecationFilter::default(),
            outputs,
            CancelToken::new(),
            log,
        );
        let log = PluginLog::new(Arc::new(ui), Redactor::new());
        log.redactor.learn_text("hunter2-hunter2");
        let plugin = PluginName::Provider(ProviderSource::default_for("test"));
        let say = || log.line(&plugin, LogLevel::Info, "it is hunter2-hunter2");
        say();
        log.end();
        log.redactor.forget();
        say();
        let written = std::fs::read_to_string(path.path()).expect("can be read");
        let (_, written) = written.split_once(' ').expect("begins with a time");
        assert_eq!(written, "[INFO]  provider.hashicorp/test: it is (redacted)\n");
    }

    #[test]
    fn log_lines_have_the_format_of_opentofu() {
        let text = Log::default().formatted(&line("text"));
        let (time, rest) = text.split_once(' ').expect("begins with a time");
        assert!(jiff::fmt::strtime::parse("%Y-%m-%dT%H:%M:%S%.3f", &time[..23]).is_ok(), "{time}");
        assert!(time.ends_with('Z') || time[23..].len() == 5, "{time}");
        assert_eq!(rest, "[INFO]  n: text\n");
        let json = Log { is_json: true, ..Log::default() }.formatted(&line("a \"b\""));
        let json: serde_json::Value = serde_json::from_str(&json).expect("is JSON");
        assert_eq!(
            (&json["@level"], &json["@message"], &json["@module"]),
            (&"info".into(), &"a \"b\"".into(), &"n".into())
        );
    }

    #[test]
    fn unknown_log_level_warns_once_and_means_trace() {
        let mut problems = Vec::new();
        assert_eq!(level("Warn", &mut problems), Some(LogLevel::Warn));
        assert_eq!(level("off", &mut problems), None);
        assert!(problems.is_empty());
        assert_eq!(level("loud", &mut problems), Some(LogLevel::Trace));
        assert_eq!(level("loud", &mut problems), Some(LogLevel::Trace));
        assert_eq!(
            problems,
            ["[WARN] Invalid log level: \"LOUD\". Defaulting to level: TRACE. Valid levels are: \
                 [TRACE DEBUG INFO WARN ERROR OFF]\n"]
        );
    }
}
