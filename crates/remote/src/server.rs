//! The session with one server, on a stream to it.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use engine::{Agent, ConnectError, Endpoint};
use russh::{
    Channel,
    client::{self, ChannelOpenHandle, DisconnectReason, Handle, Msg},
    keys::PublicKeyOrCertificate,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, copy_bidirectional},
    net::UnixStream,
};

use crate::{
    dial::written,
    failure::passing,
    host_key::{Certificates, HostKeyCheck},
    keys, login,
};

/// A keepalive is sent when nothing was received for this time.
const KEEPALIVE: Duration = Duration::from_secs(2);

/// The number of keepalives without an answer after which the connection is lost: two minutes.
const LOST_KEEPALIVES: usize = 60;

/// An authenticated session.
pub(crate) struct Session {
    pub(crate) handle: Handle<Client>,
    /// The reason why the connection ended.
    end: Arc<Mutex<Option<String>>>,
}

impl Session {
    /// Opens a session: checks the host key and authenticates. `host_key` is the name of that argument.
    pub(crate) async fn open(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        endpoint: &Endpoint,
        host_key: &str,
        certificates: &Certificates,
        agent: Option<&Agent>,
    ) -> Result<Session, ConnectError> {
        let expected = endpoint.host_key.as_deref();
        let check = HostKeyCheck {
            expected: expected.map(|text| keys::host_key(text, host_key)).transpose()?,
            host: endpoint.host.clone(),
            certificates: certificates.clone(),
            refused: Arc::default(),
        };
        let credentials = login::Credentials::read(endpoint)?;
        let config = client::Config {
            keepalive_interval: Some(KEEPALIVE),
            keepalive_max: LOST_KEEPALIVES,
            preferred: check.preferred(),
            ..client::Config::default()
        };
        let end: Arc<Mutex<Option<String>>> = Arc::default();
        let client = Client {
            check: check.clone(),
            agent: agent.map(|it| it.socket.clone()),
            end: Arc::clone(&end),
        };
        let place = written(&endpoint.host, endpoint.port);
        let handle = client::connect_stream(Arc::new(config), stream, client).await;
        let handle = handle.map_err(|error| {
            let refused = check.refused.lock().unwrap_or_else(PoisonError::into_inner).take();
            let reason = refused.unwrap_or_else(|| error.to_string());
            passing(format!("SSH handshake failed ({place}): {reason}"))
        })?;
        let mut session = Session { handle, end };
        let user = &endpoint.user;
        login::authenticate(&mut session, user, credentials, agent).await.map_err(|error| {
            let reason = error.reason;
            ConnectError {
                reason: format!("SSH authentication failed ({user}@{place}): {reason}"),
                ..error
            }
        })?;
        Ok(session)
    }

    /// The reason why the connection ended, for an error.
    pub(crate) fn end(&self) -> String {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match end {
            Some(reason) => format!("the connection was lost ({reason})"),
            None => "the connection was lost".to_owned(),
        }
    }
}

/// The answers to the requests of a server.
pub(crate) struct Client {
    check: HostKeyCheck,
    /// The socket of the agent that the server may use.
    agent: Option<PathBuf>,
    end: Arc<Mutex<Option<String>>>,
}

impl client::Handler for Client {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        key: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        Ok(self.check.accepts(key))
    }

    async fn server_channel_open_agent_forward(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut client::Session,
    ) -> Result<(), Self::Error> {
        let Some(socket) = self.agent.clone() else { return Ok(()) };
        let Ok(mut agent) = UnixStream::connect(socket).await else { return Ok(()) };
        reply.accept().await;
        tokio::spawn(async move {
            // The end of either side ends the other.
            let _ = copy_bidirectional(&mut channel.into_stream(), &mut agent).await;
        });
        Ok(())
    }

    async fn server_channel_open_forwarded_tcpip(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: u32,
        _: &str,
        _: u32,
        _: ChannelOpenHandle,
        _: &mut client::Session,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    async fn server_channel_open_forwarded_streamlocal(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: ChannelOpenHandle,
        _: &mut client::Session,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    async fn server_channel_open_session(
        &mut self,
        _: Channel<Msg>,
        _: ChannelOpenHandle,
        _: &mut client::Session,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    async fn server_channel_open_direct_tcpip(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: u32,
        _: &str,
        _: u32,
        _: ChannelOpenHandle,
        _: &mut client::Session,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    async fn server_channel_open_direct_streamlocal(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: ChannelOpenHandle,
        _: &mut client::Session,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    async fn server_channel_open_x11(
        &mut self,
        _: Channel<Msg>,
        _: &str,
        _: u32,
        _: ChannelOpenHandle,
        _: &mut client::Session,
    ) -> Result<(), Self::Error> {
        Ok(())
    }

    async fn disconnected(
        &mut self,
        reason: DisconnectReason<Self::Error>,
    ) -> Result<(), Self::Error> {
        let text = match &reason {
            DisconnectReason::ReceivedDisconnect(info) => Some(info.message.clone()),
            // The server closed the connection without a reason.
            DisconnectReason::Error(russh::Error::HUP | russh::Error::Disconnect) => None,
            DisconnectReason::Error(error) => Some(error.to_string()),
        };
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = text;
        match reason {
            DisconnectReason::ReceivedDisconnect(_) => Ok(()),
            DisconnectReason::Error(error) => Err(error),
        }
    }
}
