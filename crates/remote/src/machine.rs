//! A connected machine: commands, and the end of the connection.

use std::time::Duration;

use engine::{CommandStatus, ConnectError, Connection, Machine, Platform, Source};
use plugin::Lines;
use provider::BoxFuture;
use russh::{Channel, ChannelMsg, Disconnect, Pty, client::Msg};
use tokio::{
    io::{AsyncRead, AsyncWriteExt as _, DuplexStream, duplex},
    time::timeout,
};

use crate::{
    dial::{Socket, dial},
    failure::passing,
    host_key::Certificates,
    scp,
    server::Session,
};

/// The time for an orderly end of a connection.
const FAREWELL: Duration = Duration::from_secs(2);

/// The bytes of output that wait to be split into lines.
const BUFFER: usize = 64 << 10;

/// The type of data on the standard error of a command.
const STDERR: u32 = 1;

/// A machine that is connected with SSH.
pub(crate) struct SshMachine {
    session: Session,
    /// The session with the bastion, through which that with the machine runs.
    bastion: Option<Session>,
    platform: Platform,
    forwards_agent: bool,
    _socket: Socket,
}

impl SshMachine {
    /// Connects and authenticates, to the bastion first if there is one.
    pub(crate) async fn connect(connection: &Connection) -> Result<SshMachine, ConnectError> {
        let mut certificates = Certificates::default();
        loop {
            match SshMachine::connect_once(connection, &certificates).await {
                Err(error) => certificates = certificates.next().ok_or(error)?,
                connected => return connected,
            }
        }
    }

    async fn connect_once(
        connection: &Connection,
        certificates: &Certificates,
    ) -> Result<SshMachine, ConnectError> {
        let (target, agent) = (&connection.target, connection.agent.as_ref());
        let first = connection.bastion.as_ref().unwrap_or(target);
        let (stream, socket) = dial(&first.host, first.port, connection.proxy.as_ref()).await?;
        let (session, bastion) = match &connection.bastion {
            None => (Session::open(stream, target, "host_key", certificates, agent).await?, None),
            Some(endpoint) => {
                let name = "bastion_host_key";
                let opened = Session::open(stream, endpoint, name, certificates, agent).await;
                let bastion = opened.map_err(|error| ConnectError {
                    reason: format!("connecting to the bastion: {}", error.reason),
                    ..error
                })?;
                let (host, port) = (target.host.as_str(), u32::from(target.port));
                let opened =
                    bastion.handle.channel_open_direct_tcpip(host, port, "127.0.0.1", 0).await;
                let channel = opened.map_err(|error| {
                    passing(format!("the bastion cannot connect to {host}:{port}: {error}"))
                })?;
                let stream = channel.into_stream();
                (
                    Session::open(stream, target, "host_key", certificates, agent).await?,
                    Some(bastion),
                )
            }
        };
        Ok(SshMachine {
            session,
            bastion,
            platform: connection.platform,
            forwards_agent: agent.is_some(),
            _socket: socket,
        })
    }

    /// Opens a channel for one command.
    async fn channel(&self) -> Result<Channel<Msg>, String> {
        self.session.handle.channel_open_session().await.map_err(|error| self.reason(&error))
    }

    /// The reason of an error, which is often the end of the connection.
    pub(crate) fn reason(&self, error: &russh::Error) -> String {
        match self.session.handle.is_closed() {
            true => self.session.end(),
            false => error.to_string(),
        }
    }

    async fn run_command(
        &self,
        command: &str,
        output: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<CommandStatus, String> {
        let mut channel = self.channel().await?;
        let started = self.start(&channel, command).await;
        started.map_err(|error| self.reason(&error))?;
        let (stdout, stdout_lines) = duplex(BUFFER);
        let (stderr, stderr_lines) = duplex(BUFFER);
        let (end, (), ()) = tokio::join!(
            follow(&mut channel, stdout, stderr),
            show(stdout_lines, output),
            show(stderr_lines, output)
        );
        match end {
            End::Exited(status) => Ok(status),
            End::Refused => Err("the machine refused to run the command".to_owned()),
            End::Lost if self.session.handle.is_closed() => Err(self.session.end()),
            End::Lost => {
                // The session may not have noticed yet that the connection is gone.
                let _ = timeout(FAREWELL, self.session.handle.send_ping()).await;
                match self.session.handle.is_closed() {
                    true => Err(self.session.end()),
                    false => Err("the command ended without an exit status".to_owned()),
                }
            }
        }
    }

    async fn start(&self, channel: &Channel<Msg>, command: &str) -> Result<(), russh::Error> {
        if self.forwards_agent {
            channel.agent_forward(false).await?;
        }
        if self.platform == Platform::Unix {
            // The size that OpenTofu asks for.
            let modes = [(Pty::ECHO, 0), (Pty::TTY_OP_ISPEED, 14400), (Pty::TTY_OP_OSPEED, 14400)];
            channel.request_pty(false, "xterm", 40, 80, 0, 0, &modes).await?;
        }
        channel.exec(true, format!("{}\n", command.trim())).await?;
        channel.eof().await
    }
}

/// The end of a command.
enum End {
    Exited(CommandStatus),
    Refused,
    Lost,
}

/// Follows a command to the end of its channel. Passes its output on.
async fn follow(
    channel: &mut Channel<Msg>,
    mut stdout: DuplexStream,
    mut stderr: DuplexStream,
) -> End {
    let mut status = None;
    while let Some(message) = channel.wait().await {
        // Writing fails only if the reader of the lines is gone.
        let _ = match message {
            ChannelMsg::Data { data } => stdout.write_all(&data).await,
            ChannelMsg::ExtendedData { data, ext: STDERR } => stderr.write_all(&data).await,
            ChannelMsg::Failure => return End::Refused,
            ChannelMsg::ExitStatus { exit_status } => {
                let text = format!("Process exited with status {exit_status}");
                status = Some(CommandStatus { success: exit_status == 0, text });
                Ok(())
            }
            ChannelMsg::ExitSignal { signal_name, .. } => {
                status = Some(killed(&signal_name));
                Ok(())
            }
            ChannelMsg::Close => break,
            _ => Ok(()),
        };
    }
    status.map_or(End::Lost, End::Exited)
}

/// The status of a command that a signal ended, as a shell would give it.
fn killed(signal: &russh::Sig) -> CommandStatus {
    use russh::Sig;
    let (name, number) = match signal {
        Sig::ABRT => ("ABRT", 6),
        Sig::ALRM => ("ALRM", 14),
        Sig::FPE => ("FPE", 8),
        Sig::HUP => ("HUP", 1),
        Sig::ILL => ("ILL", 4),
        Sig::INT => ("INT", 2),
        Sig::KILL => ("KILL", 9),
        Sig::PIPE => ("PIPE", 13),
        Sig::QUIT => ("QUIT", 3),
        Sig::SEGV => ("SEGV", 11),
        Sig::TERM => ("TERM", 15),
        Sig::USR1 => ("USR1", 10),
        Sig::Custom(_) => ("unknown", 0),
    };
    let text = format!("Process exited with status {} from signal {name}", 128 + number);
    CommandStatus { success: false, text }
}

/// Shows each line of a stream. A carriage return ends a line too: progress bars write one line again and again.
async fn show(stream: impl AsyncRead + Unpin, output: &(dyn Fn(&str) + Send + Sync)) {
    let mut lines = Lines::new(stream);
    while let Ok(Some(line)) = lines.next().await {
        line.into_text().split('\r').for_each(output);
    }
}

impl Machine for SshMachine {
    fn run<'a>(
        &'a self,
        command: &'a str,
        output: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<CommandStatus, String>> {
        Box::pin(self.run_command(command, output))
    }

    fn upload<'a>(
        &'a self,
        source: Source<'a>,
        destination: &'a str,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let channel = self.channel().await?;
            scp::upload(self, channel, self.platform, source, destination).await
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            for session in [Some(&self.session), self.bastion.as_ref()].into_iter().flatten() {
                let farewell = session.handle.disconnect(Disconnect::ByApplication, "", "en");
                let _ = timeout(FAREWELL, farewell).await;
            }
        })
    }
}
