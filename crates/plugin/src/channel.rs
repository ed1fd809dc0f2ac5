//! A gRPC channel to a plugin's socket, with our TLS below it.

use std::{io, sync::Arc};

use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
};
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint, Uri};

use crate::{handshake::Address, tls::SERVER_NAME};

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
