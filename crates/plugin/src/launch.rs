//! Starts a provider's executable and performs go-plugin's handshake with it.

use std::{
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    pin::pin,
    process::{Command, ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use provider::BoxFuture;
use tokio::{
    io::AsyncRead,
    process::{Child, ChildStdout},
    time::{Instant, timeout, timeout_at},
};
use tonic::transport::Channel;

use crate::{
    channel,
    handshake::{self, Handshake, HandshakeError},
    logs::{self, Line, Lines, Listener, Tail},
    process::{Guard, PluginProcess, Readers},
    protocol::{self, ProtocolVersion},
    sandboxed::{Sandbox, Sandboxed},
    sink::{PluginSink, Redact},
    stdio,
    supervision::{self, Processes, Registration},
    tls::Identity,
};

/// The time that a plugin gets to exit after it closed its stdout, so that the error can include the exit status.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// The options for starting a plugin.
pub struct LaunchOptions {
    /// The plugin's name in events and errors, such as the provider's source address.
    pub name: String,
    /// The list that the plugin's process is added to.
    pub processes: Processes,
    /// The encryption of the connection.
    pub tls: TlsMode,
    /// The timeout from the start of the process to the open connection; go-plugin uses 60 s.
    pub start_timeout: Duration,
    /// The stdin of the plugin. A plugin in a sandbox that may not start programs has none.
    pub stdin: PluginStdin,
    /// The restrictions of the process. `None` if it runs without any.
    pub sandbox: Option<Sandbox>,
    /// Receives the plugin's log and output.
    pub sink: Arc<dyn PluginSink>,
    /// Redacts every text of the plugin, in events, errors and diagnostics.
    pub redact: Arc<dyn Redact>,
}

impl LaunchOptions {
    /// Returns the options of an ordinary run: TLS on, 60 seconds, and stdin inherited as go-plugin does.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        processes: Processes,
        sink: Arc<dyn PluginSink>,
        redact: Arc<dyn Redact>,
    ) -> Self {
        Self {
            name: name.into(),
            processes,
            tls: TlsMode::Auto,
            start_timeout: Duration::from_secs(60),
            stdin: PluginStdin::Inherit,
            sandbox: None,
            sink,
            redact,
        }
    }
}

/// The encryption mode of a plugin's connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlsMode {
    /// Mutual TLS: each side authenticates with a certificate made for this connection.
    Auto,
    /// Plain text, as `TF_DISABLE_PLUGIN_TLS` requests.
    Off,
}

/// The stdin of a plugin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PluginStdin {
    /// The stdin of this process, so that a login program that the provider runs can ask the user.
    Inherit,
    /// No input, for a process whose stdin carries a protocol, such as a language server.
    Null,
}

/// An error that prevented a plugin from starting. Texts of the plugin in it are redacted.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("failed to start {}: {source}", program.display())]
    Spawn { program: PathBuf, source: io::Error },
    #[error("its sandbox could not be set up: {0}")]
    Sandbox(String),
    #[error(
        "it reported the address {0}, which may belong to another program, so nothing was sent there"
    )]
    ForeignAddress(String),
    #[error("timeout while waiting for plugin to start{}", timed_out(*after, stderr))]
    Timeout { after: Duration, stderr: Vec<String> },
    #[error("plugin closed its stdout before it reported its address{}", quoted(stderr))]
    Silent { stderr: Vec<String> },
    #[error("plugin exited before we could connect{}", exited(*status, stderr))]
    Exited { status: Option<ExitStatus>, stderr: Vec<String> },
    #[error("{source}{hints}")]
    Handshake { source: HandshakeError, hints: String },
    #[error("failed to read from the plugin: {0}")]
    Read(io::Error),
    #[error("failed to make a certificate for the connection to the plugin: {0}")]
    Certificate(String),
    #[error("failed to connect to the plugin: {0}")]
    Connect(String),
}

fn exited(status: Option<ExitStatus>, stderr: &[String]) -> String {
    let status = status.map(|it| format!(" ({it})")).unwrap_or_default();
    status + &quoted(stderr)
}

fn timed_out(after: Duration, stderr: &[String]) -> String {
    format!(" ({} s){}", after.as_secs_f32(), quoted(stderr))
}

/// The last lines that a plugin wrote to stderr, shortened to fit an error.
fn quoted(stderr: &[String]) -> String {
    let lines: Vec<String> = stderr.iter().map(|line| logs::shortened(line.clone())).collect();
    if lines.is_empty() { String::new() } else { format!(":\n{}", lines.join("\n")) }
}

/// Starts `command`, a provider's executable, and connects to it.
///
/// Adds go-plugin's variables to the command's environment, and removes those that are not set here, because this
/// process may itself run inside of a plugin. To cancel, drop the future: the process is killed at once. Needs a
/// tokio runtime with I/O and time drivers, which also reaps processes that were killed without waiting.
///
/// # Errors
/// Returns a [`LaunchError`] that names the step that failed. The process is dead and reaped by then.
pub fn launch(
    command: Command,
    options: LaunchOptions,
) -> BoxFuture<'static, Result<PluginProcess, LaunchError>> {
    Box::pin(start_and_connect(command, options))
}

async fn start_and_connect(
    mut command: Command,
    options: LaunchOptions,
) -> Result<PluginProcess, LaunchError> {
    let deadline = Instant::now() + options.start_timeout;
    let program = PathBuf::from(command.get_program());
    let identity = match options.tls {
        TlsMode::Auto => Some(
            Identity::generate().map_err(|error| LaunchError::Certificate(error.to_string()))?,
        ),
        TlsMode::Off => None,
    };
    let sandboxed = options.sandbox.map(|it| Sandboxed::prepare(it, &mut command)).transpose();
    let sandboxed = sandboxed.map_err(|error| LaunchError::Sandbox(error.to_string()))?;
    let surroundings = Surroundings {
        listener: Listener::new(options.name, options.sink, options.redact),
        processes: options.processes,
        stdin: options.stdin,
        sandboxed,
    };
    let mut started = Started::spawn(command, identity.as_ref(), surroundings)
        .await
        .map_err(|source| LaunchError::Spawn { program: program.clone(), source })?;
    match timeout_at(deadline, started.connect(&program, identity)).await {
        Ok(Ok((channel, protocol))) => Ok(started.into_process(channel, protocol)),
        Ok(Err(error)) => Err(started.fail(error).await),
        Err(_) => {
            let after = options.start_timeout;
            Err(started.fail(LaunchError::Timeout { after, stderr: Vec::new() }).await)
        }
    }
}

/// Sets go-plugin's variables and the mark of the registration.
fn set_environment(
    command: &mut Command,
    identity: Option<&Identity>,
    registration: &Registration,
) {
    let (name, value) = registration.variable();
    command
        .env(name, value)
        .env(protocol::MAGIC_COOKIE_KEY, protocol::MAGIC_COOKIE_VALUE)
        .env(protocol::VERSIONS_KEY, "5,6")
        .env(protocol::MIN_PORT_KEY, "10000")
        .env(protocol::MAX_PORT_KEY, "25000")
        .env_remove(protocol::SOCKET_DIR_KEY)
        .env_remove(protocol::SOCKET_GROUP_KEY)
        .env_remove(protocol::MULTIPLEX_KEY);
    match identity {
        Some(identity) => command.env(protocol::CLIENT_CERT_KEY, identity.pem()),
        None => command.env_remove(protocol::CLIENT_CERT_KEY),
    };
}

/// The settings of a start other than the command.
struct Surroundings {
    listener: Listener,
    processes: Processes,
    stdin: PluginStdin,
    sandboxed: Option<Sandboxed>,
}

/// A process whose handshake is not finished.
struct Started {
    guard: Guard,
    lines: Lines<ChildStdout>,
    stderr: tokio::task::JoinHandle<()>,
    tail: Tail,
    listener: Listener,
}

impl Started {
    async fn spawn(
        command: Command,
        identity: Option<&Identity>,
        surroundings: Surroundings,
    ) -> io::Result<Self> {
        let Surroundings { listener, processes, stdin, sandboxed } = surroundings;
        let registration = Registration::new(&processes, &listener.name, false);
        let mut command = match &sandboxed {
            Some(sandboxed) => {
                registration.owns(sandboxed.directory());
                supervision::through_sandbox(sandboxed, &command)
            }
            None => supervision::through_starter(&processes, command),
        };
        set_environment(&mut command, identity, &registration);
        // A login program that the plugin runs may ask the user. Without such programs, a plugin in a sandbox has
        // nothing to ask.
        let asks = sandboxed.as_ref().is_none_or(|it| it.policy().grants.processes);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(match stdin {
            PluginStdin::Inherit if asks => Stdio::inherit(),
            PluginStdin::Inherit | PluginStdin::Null => Stdio::null(),
        });
        let mut command = tokio::process::Command::from(command);
        command.kill_on_drop(true);
        let mut child: Child = supervision::spawn(command).await?;
        let missing = || io::Error::other("the process has no pipes");
        let (stdout, stderr) =
            (child.stdout.take().ok_or_else(missing)?, child.stderr.take().ok_or_else(missing)?);
        let tail = Tail::default();
        let stderr = tokio::spawn(logs::read_stderr(stderr, listener.clone(), tail.clone()));
        Ok(Self {
            guard: Guard::new(child, registration, sandboxed),
            lines: Lines::new(stdout),
            stderr,
            tail,
            listener,
        })
    }

    /// Waits for the handshake and connects.
    async fn connect(
        &mut self,
        program: &Path,
        identity: Option<Identity>,
    ) -> Result<(Channel, ProtocolVersion), LaunchError> {
        let mut handshake = self.handshake(program).await?;
        if let Some(sandboxed) = self.guard.sandboxed() {
            let own = sandboxed.own_address(handshake.address);
            handshake.address = own.map_err(|address| {
                let text = self.listener.redact.redact(&address);
                LaunchError::ForeignAddress(logs::shortened(text))
            })?;
        }
        self.guard.listens(handshake.address.socket());
        let tls = match (identity, handshake.certificate) {
            (Some(identity), Some(der)) => Some(
                identity
                    .client_config(der)
                    .map_err(|error| LaunchError::Connect(error.to_string()))?,
            ),
            // The plugin does not support AutoMTLS. File permissions protect its Unix socket.
            _ => None,
        };
        let connecting = async {
            let channel = channel::connect(handshake.address, tls).await;
            let channel = channel.map_err(|error| LaunchError::Connect(chain(&error)))?;
            channel::greet(&channel).await.map_err(LaunchError::Connect)?;
            Ok((channel, handshake.protocol))
        };
        tokio::select! {
            biased;
            connected = connecting => connected,
            () = self.guard.ended() => Err(LaunchError::Exited { status: None, stderr: Vec::new() }),
        }
    }

    /// Returns the first line of stdout, or `None` if the process ended without one.
    async fn first_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = pin!(self.lines.next());
        tokio::select! {
            biased;
            line = &mut line => return line,
            () = self.guard.ended() => {}
        }
        // Output from before the end is still in the pipe. A child of the plugin may keep the pipe open, so this
        // wait has a limit.
        timeout(EXIT_GRACE, line).await.unwrap_or(Ok(None))
    }

    async fn handshake(&mut self, program: &Path) -> Result<Handshake, LaunchError> {
        let line = self.first_line().await.map_err(LaunchError::Read)?;
        let line = line.ok_or(LaunchError::Exited { status: None, stderr: Vec::new() })?;
        if let Some(source) = supervision::refused(&line.text) {
            return Err(LaunchError::Spawn { program: program.to_owned(), source });
        }
        if let Some(cause) = supervision::not_sandboxed(&line.text) {
            return Err(LaunchError::Sandbox(cause.to_owned()));
        }
        handshake::parse(&line.text).map_err(|error| {
            let source = match error {
                HandshakeError::Unrecognized(_) => {
                    HandshakeError::Unrecognized(logs::shortened(self.listener.clean(&line)))
                }
                // The other errors quote one field, which may be arbitrary output of the program.
                other => other.map_text(|text| logs::shortened(self.listener.redact.redact(&text))),
            };
            LaunchError::Handshake { hints: hints(&source, program), source }
        })
    }

    fn into_process(self, channel: Channel, protocol: ProtocolVersion) -> PluginProcess {
        let readers = Readers {
            stdout: tokio::spawn(drain(self.lines)),
            stderr: self.stderr,
            stdio: tokio::spawn(stdio::read(channel.clone(), self.listener.clone())),
        };
        PluginProcess {
            guard: self.guard,
            readers: tokio::sync::Mutex::new(Some(readers)),
            channel,
            protocol,
            listener: self.listener,
            tail: self.tail,
        }
    }

    /// Ends the process and adds its exit status and its last stderr lines to `error`.
    async fn fail(mut self, error: LaunchError) -> LaunchError {
        let grace =
            if matches!(error, LaunchError::Exited { .. }) { EXIT_GRACE } else { Duration::ZERO };
        if grace > Duration::ZERO {
            let _lives_on = timeout(grace, self.guard.ended()).await;
        }
        let ended_itself = self.guard.has_ended();
        let status = self.guard.end(Instant::now()).await.ok();
        self.guard.kill_leftovers();
        let _cut_off = timeout(EXIT_GRACE, &mut self.stderr).await;
        self.stderr.abort();
        self.explained(match error {
            LaunchError::Exited { .. } if !ended_itself => {
                LaunchError::Silent { stderr: self.tail.take() }
            }
            LaunchError::Exited { .. } => LaunchError::Exited { status, stderr: self.tail.take() },
            LaunchError::Timeout { after, .. } => {
                LaunchError::Timeout { after, stderr: self.tail.take() }
            }
            other => other,
        })
    }

    /// Explains the refusals of the sandbox that the last words of a process name.
    fn explained(&self, error: LaunchError) -> LaunchError {
        let Some(sandboxed) = self.guard.sandboxed() else { return error };
        match error {
            LaunchError::Spawn { program, source }
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                let cause = format!(
                    "{} cannot be executed in it ({source}): the file, or the interpreter that it \
                     names, is missing or has no permission",
                    program.display()
                );
                LaunchError::Sandbox(cause)
            }
            LaunchError::Exited { status, mut stderr } => {
                let addition = sandboxed.addition(&stderr.join("\n"));
                stderr.extend((!addition.is_empty()).then_some(addition));
                LaunchError::Exited { status, stderr }
            }
            other => other,
        }
    }
}

/// Reads and drops all output after the handshake, because a full pipe would block the plugin.
async fn drain(mut lines: Lines<impl AsyncRead + Unpin>) {
    while let Ok(Some(_)) = lines.next().await {}
}

/// Returns the text of an error followed by its causes; the text of a tonic error alone is only "transport error".
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let part = error.to_string();
        // Some wrappers repeat the text of their cause.
        if !text.ends_with(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        cause = error.source();
    }
    text
}

/// Likely reasons why the first line of a program is no handshake.
fn hints(error: &HandshakeError, program: &Path) -> String {
    if !matches!(error, HandshakeError::Unrecognized(_)) {
        return String::new();
    }
    let mode =
        std::fs::metadata(program).map(|it| format!("{:o}", it.permissions().mode() & 0o7777));
    format!(
        "\nThis usually means\n  the plugin was not compiled for this architecture,\n  the plugin \
         is missing dynamic-link libraries necessary to run,\n  the plugin is not executable by \
         this process due to file permissions, or\n  the plugin failed to negotiate the initial \
         go-plugin protocol handshake\n\nPath: {}\nMode: {}",
        program.display(),
        mode.as_deref().unwrap_or("unknown"),
    )
}
