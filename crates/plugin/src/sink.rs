//! The interfaces that receive and redact what a plugin logs and prints.

use std::process::ExitStatus;

use values::Value;

/// Replaces secrets in texts that come from a plugin.
///
/// It is called for every text, so an implementation may learn new secrets while plugins run.
pub trait Redact: Send + Sync {
    /// Returns `text` without the secrets in it.
    fn redact(&self, text: &str) -> String;

    /// Adds the result of an open ephemeral resource, before any text of the same answer is redacted.
    fn learn_opened(&self, _result: &Value) {}

    /// Adds the private data of an open ephemeral resource, before any text of the same answer is redacted.
    fn learn_private(&self, _private: &[u8]) {}
}

impl<F: Fn(&str) -> String + Send + Sync> Redact for F {
    fn redact(&self, text: &str) -> String {
        self(text)
    }
}

/// Receives the logs and the output of plugins. All texts are already redacted.
///
/// It is called from tasks that read pipes: an implementation that blocks delays that plugin.
pub trait PluginSink: Send + Sync {
    /// Receives one event of the plugin called `plugin`.
    fn event(&self, plugin: &str, event: PluginEvent);
}

impl<F: Fn(&str, PluginEvent) + Send + Sync> PluginSink for F {
    fn event(&self, plugin: &str, event: PluginEvent) {
        self(plugin, event);
    }
}

/// One event of a plugin outside of its RPC answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PluginEvent {
    /// A line of the log.
    Log(LogRecord),
    /// A line on stdout or stderr after the handshake, where no output is expected.
    Output { channel: OutputChannel, text: String },
    /// A line of a panic report, at most 100 for each process. It is sent at every log level.
    Panicked { line: String },
    /// The schemas of the process differ from the cached ones. This event precedes the error.
    OtherSchemas,
    /// The end of the process.
    Exited { status: ExitStatus },
}

/// The stream that a plugin printed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputChannel {
    Stdout,
    Stderr,
}

/// A line of a plugin's log in hclog's format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogRecord {
    /// hclog's `@level`.
    pub level: LogLevel,
    /// hclog's `@message`.
    pub message: String,
    /// hclog's `@module`.
    pub module: Option<String>,
    /// hclog's `@caller`.
    pub caller: Option<String>,
    /// hclog's `@timestamp`, as written.
    pub timestamp: Option<String>,
    /// All other keys, in the plugin's order. A value that is not a string is given as JSON text.
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
