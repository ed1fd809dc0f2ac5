//! Helpers for the tests with real processes: the path of the peer, and a sink that keeps events.

use std::{
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use plugin::{
    GrpcProvider, LaunchOptions, LogRecord, PluginEvent, PluginStdin, Processes, TlsMode, launch,
};
use provider::{Provider, ProviderDiagnostic};

/// The executable of `examples/peer.rs`, which cargo builds with the tests.
pub(crate) fn peer() -> PathBuf {
    let mut path = std::env::current_exe().expect("a test has an executable");
    path.pop();
    if path.ends_with("deps") {
        path.pop();
    }
    path.join("examples/peer")
}

/// A command that starts the peer and overrides the protocol versions that the client offers.
pub(crate) fn peer_speaking(version: &str) -> Command {
    let mut command = Command::new("env");
    command.arg(format!("PLUGIN_PROTOCOL_VERSIONS={version}")).arg(peer());
    command
}

pub(crate) fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// The events of all plugins.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<PluginEvent>>>);

impl Heard {
    pub(crate) fn events(&self) -> Vec<PluginEvent> {
        self.0.lock().expect("not poisoned").clone()
    }

    pub(crate) fn logs(&self) -> Vec<LogRecord> {
        let log = |event| match event {
            PluginEvent::Log(record) => Some(record),
            _ => None,
        };
        self.events().into_iter().filter_map(log).collect()
    }

    /// The calls that the peer logged, with their details.
    pub(crate) fn calls(&self) -> Vec<String> {
        let call = |it: LogRecord| format!("{} {}", it.message, it.fields[0].1).trim().to_owned();
        self.logs()
            .into_iter()
            .filter(|it| it.module.as_deref() == Some("peer"))
            .map(call)
            .collect()
    }
}

/// Options with a sink that keeps events and a redactor for the secret `hunter2`.
pub(crate) fn options(heard: &Heard) -> LaunchOptions {
    let heard = heard.clone();
    let sink = move |_: &str, event: PluginEvent| heard.0.lock().expect("not poisoned").push(event);
    let mut options = LaunchOptions::new(
        "example.com/tests/peer",
        Processes::default(),
        Arc::new(sink),
        Arc::new(|text: &str| text.replace("hunter2", "***")),
    );
    options.stdin = PluginStdin::Null;
    options.start_timeout = Duration::from_secs(20);
    options
}

pub(crate) async fn start(command: Command, tls: TlsMode, heard: &Heard) -> GrpcProvider {
    let process = launch(command, LaunchOptions { tls, ..options(heard) }).await;
    GrpcProvider::new(process.unwrap_or_else(|error| panic!("{error}")), None)
}

/// Closes the provider and checks that this is quick and that its process is gone.
pub(crate) async fn end(provider: &GrpcProvider) {
    let id = provider.process().and_then(|it| it.id()).expect("it runs");
    let begin = Instant::now();
    provider.close().await;
    assert!(begin.elapsed() < Duration::from_secs(6), "took {:?}", begin.elapsed());
    assert!(!exists(id), "process {id} is still there");
}

/// Returns true if a process with this id exists, even as a zombie.
pub(crate) fn exists(id: u32) -> bool {
    PathBuf::from(format!("/proc/{id}")).exists()
}

/// Waits until `condition` holds, for at most half a minute.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(30), "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Formats diagnostics as lines.
pub(crate) fn texts(diagnostics: &[ProviderDiagnostic]) -> Vec<String> {
    let text = |it: &ProviderDiagnostic| {
        let path = it.path.as_ref().map(|path| format!(" at {path}")).unwrap_or_default();
        format!("{:?}: {}: {}{path}", it.severity, it.summary, it.detail)
    };
    diagnostics.iter().map(text).collect()
}
