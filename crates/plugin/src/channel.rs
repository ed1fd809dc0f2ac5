//! The gRPC channel to a plugin's socket, with this crate's TLS below it.

use std::{error::Error, io, sync::Arc};

use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
};
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::{handshake::Address, launch::chain, tls::SERVER_NAME};

/// Flow-control windows. Schemas of large clouds have tens of megabytes, which HTTP/2's default of 64 KiB would
/// transfer slowly.
pub(crate) const STREAM_WINDOW: u32 = 16 << 20;
pub(crate) const CONNECTION_WINDOW: u32 = 32 << 20;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Connects to `address`. There is no timeout; the caller sets one.
pub(crate) async fn connect(
    address: Address,
    tls: Option<ClientConfig>,
) -> Result<Channel, tonic::transport::Error> {
    let tls = tls.map(|config| TlsConnector::from(Arc::new(config)));
    let connector = tower::service_fn(move |_: Uri| {
        let (address, tls) = (address.clone(), tls.clone());
        async move { open(address, tls).await.map(TokioIo::new) }
    });
    // The URI scheme is `http` because TLS runs below the channel.
    Endpoint::from_static("http://localhost")
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .connect_with_connector(connector)
        .await
}

/// Waits until the peer answers a gRPC health check with any status. An HTTP/2 connection alone does not show that
/// a gRPC server listens; only a call does.
///
/// # Errors
/// If the connection breaks before an answer. While it stays open without an answer, this waits.
pub(crate) async fn greet(channel: &Channel) -> Result<(), String> {
    let request = HealthCheckRequest { service: "plugin".to_owned() };
    let answer = HealthClient::new(channel.clone()).check(request).await;
    // A status with a source error was made by the client for a broken connection. The peer did not send it.
    match answer.as_ref().err().and_then(Error::source) {
        Some(cause) => Err(chain(cause)),
        None => Ok(()),
    }
}

async fn open(address: Address, tls: Option<TlsConnector>) -> io::Result<Box<dyn Stream>> {
    let stream: Box<dyn Stream> = match address {
        Address::Unix(path) => Box::new(UnixStream::connect(path).await?),
        Address::Tcp(address) => {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
    };
    let Some(tls) = tls else { return Ok(stream) };
    let name = ServerName::try_from(SERVER_NAME).map_err(io::Error::other)?;
    Ok(Box::new(tls.connect(name, stream).await?))
}
