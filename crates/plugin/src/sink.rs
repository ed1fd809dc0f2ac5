//! Where the things go that a plugin says outside its RPC answers.

use std::process::ExitStatus;

use values::Value;

/// Replaces secrets in a text that came from a plugin.
///
/// The hook is asked again for every text, so an implementation may learn new secrets while plugins run.
pub trait Redact: Send + Sync {
    /// `text` without the secrets that it holds.
    fn redact(&self, text: &str) -> String;

    /// Learns what an ephemeral resource was opened with, before any text of the same answer is redacted.
    fn learn_opened(&self, _result: &Value) {}

    /// Learns what a provider keeps about an open ephemeral resource, before any text of the same answer is redacted.
    fn learn_private(&self, _private: &[u8]) {}
}

impl<F: Fn(&str) -> String + Send + Sync> Redact for F {
    fn redact(&self, text: &str) -> String {
        self(text)
    }
}

/// Receives what plugins log and print; all texts are already redacted.
///
/// Called from tasks that read pipes: an implementation that blocks holds up that plugin.
pub trait PluginSink: Send + Sync {
    /// Takes one event of the plugin called `plugin`.
    fn event(&self, plugin: &str, event: PluginEvent);
}

impl<F: Fn(&str, PluginEvent) + Send + Sync> PluginSink for F {
    fn event(&self, plugin: &str, event: PluginEvent) {
        self(plugin, event);
    }
}

/// One thing that a plugin said or did outside its RPC answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PluginEvent {
    /// A line of its log.
    Log(LogRecord),
    /// A line that it printed after the handshake, where nothing is expected.
    Output { channel: OutputChannel, text: String },
    /// A line of a panic report, at most 100 of one process; sent whatever the log level is.
    Panicked { line: String },
    /// The schemas that it was known by are not those that it has. Told before the error that says so.
    OtherSchemas,
    /// It ended.
    Exited { status: ExitStatus },
}

/// Which stream a plugin printed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputChannel {
    Stdout,
    Stderr,
}

/// A line of a plugin's log, as hclog writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogRecord {
    pub level: LogLevel,
    pub message: String,
    /// hclog's `@module`.
    pub module: Option<String>,
    /// hclog's `@caller`.
    pub caller: Option<String>,
    /// hclog's `@timestamp`, as written.
    pub timestamp: Option<String>,
    /// Every other key in the plugin's order; a value that is not a string is JSON text.
    pub fields: Vec<(String, String)>,
}

/// The level of a log line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}
