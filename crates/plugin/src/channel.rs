//! A gRPC channel to a plugin's socket, with our TLS below it.

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

/// Schemas of large clouds have tens of megabytes; with HTTP/2's 64 KiB windows they would crawl.
pub(crate) const STREAM_WINDOW: u32 = 16 << 20;
pub(crate) const CONNECTION_WINDOW: u32 = 32 << 20;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Connects to `address`; the caller bounds the time.
pub(crate) async fn connect(
    address: Address,
    tls: Option<ClientConfig>,
) -> Result<Channel, tonic::transport::Error> {
    let tls = tls.map(|config| TlsConnector::from(Arc::new(config)));
    let connector = tower::service_fn(move |_: Uri| {
        let (address, tls) = (address.clone(), tls.clone());
        async move { open(address, tls).await.map(TokioIo::new) }
    });
    // The scheme says `http` because the TLS is below the channel, which knows nothing of it.
    Endpoint::from_static("http://localhost")
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .connect_with_connector(connector)
        .await
}

/// Waits until something that speaks gRPC answers, whatever it says: HTTP/2 alone is heard of only with the first call.
///
/// # Errors
/// If nothing does, and the connection is gone; while it is not, this waits.
pub(crate) async fn greet(channel: &Channel) -> Result<(), String> {
    let request = HealthCheckRequest { service: "plugin".to_owned() };
    let answer = HealthClient::new(channel.clone()).check(request).await;
    // A status with a cause was made here, from a connection that broke.
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
