//! The connections that a core opens, with TLS if the core asked for it.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{UnixListener, UnixStream},
    task::JoinSet,
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_stream::Stream;
use tonic::transport::server::Connected;

/// The timeout of a TLS handshake. A peer that never finishes one must not occupy the server.
const TLS_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the stream of connections. A connection whose TLS handshake fails is dropped, because it does not come
/// from the core.
pub(super) fn incoming(
    listener: UnixListener,
    tls: Option<TlsAcceptor>,
) -> impl Stream<Item = io::Result<Connection>> + Unpin {
    Incoming { listener, tls, handshakes: JoinSet::new() }
}

struct Incoming {
    listener: UnixListener,
    tls: Option<TlsAcceptor>,
    handshakes: JoinSet<Option<Connection>>,
}

impl Stream for Incoming {
    type Item = io::Result<Connection>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        while let Poll::Ready(accepted) = self.listener.poll_accept(cx) {
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => return Poll::Ready(Some(Err(error))),
            };
            let Some(tls) = self.tls.clone() else {
                return Poll::Ready(Some(Ok(Connection::Plain(stream))));
            };
            self.handshakes.spawn(async move {
                let stream = timeout(TLS_TIMEOUT, tls.accept(stream)).await.ok()?.ok()?;
                Some(Connection::Tls(Box::new(stream)))
            });
        }
        while let Poll::Ready(Some(done)) = self.handshakes.poll_join_next(cx) {
            if let Ok(Some(connection)) = done {
                return Poll::Ready(Some(Ok(connection)));
            }
        }
        Poll::Pending
    }
}

pub(super) enum Connection {
    Plain(UnixStream),
    Tls(Box<TlsStream<UnixStream>>),
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
