//! Connections to servers: directly or through a proxy, and encrypted for `https`.

use std::error::Error as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tower::{Service, ServiceExt, service_fn};

use crate::error::{ErrorKind, cause};
use crate::proxy::Proxies;
use crate::tls::TlsSettings;
use crate::trust::Trust;
use crate::url::host_of;

/// A stream of bytes in both directions.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// The lowest layer: opens a stream to the host and port of a URI. Tests open one in memory.
pub(crate) type Dial =
    Box<dyn Fn(Uri) -> BoxFuture<'static, Result<Box<dyn Duplex>, ErrorKind>> + Send + Sync>;

/// Opens streams over TCP.
pub(crate) fn tcp() -> Dial {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    Box::new(move |to| {
        let connector = connector.clone();
        Box::pin(async move {
            match connector.oneshot(to.clone()).await {
                Ok(stream) => Ok(Box::new(stream.into_inner()) as Box<dyn Duplex>),
                Err(error) => Err(unreached(&to, cause(&error))),
            }
        })
    })
}

/// Connects the pool of the client with servers.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Settings>);

struct Settings {
    dial: Dial,
    proxies: Proxies,
    trust: Trust,
    tls_settings: TlsSettings,
    /// Loaded at the first encrypted connection, because a machine has hundreds of certificates.
    tls: OnceCell<TlsConnector>,
    timeout: Duration,
}

impl Connector {
    pub(crate) fn new(
        dial: Dial,
        proxies: Proxies,
        trust: Trust,
        tls_settings: TlsSettings,
        timeout: Duration,
    ) -> Connector {
        let tls = OnceCell::new();
        Connector(Arc::new(Settings { dial, proxies, trust, tls_settings, tls, timeout }))
    }

    /// Returns the proxy for a destination without TLS, which gets the request itself and not a tunnel.
    pub(crate) fn plain_proxy(&self, to: &Uri) -> Option<Intercept> {
        match is_https(to) {
            true => None,
            // The connector reports an error of the setting.
            false => self.0.proxies.proxy_for(to).ok().flatten(),
        }
    }

    async fn connect(self, to: Uri) -> Result<Stream, ErrorKind> {
        let tls = match is_https(&to) {
            true => Some(self.tls().await?),
            false => None,
        };
        let timeout = self.0.timeout;
        let connected = tokio::time::timeout(timeout, self.reach(&to, tls)).await;
        connected.unwrap_or_else(|_| {
            Err(unreached(
                &to,
                format!("there was no connection within {} seconds", timeout.as_secs()),
            ))
        })
    }

    async fn reach(&self, to: &Uri, tls: Option<TlsConnector>) -> Result<Stream, ErrorKind> {
        let proxy = self.0.proxies.proxy_for(to).map_err(ErrorKind::ProxySetting)?;
        let is_proxied = proxy.is_some() && tls.is_none();
        let io = match &proxy {
            None => (self.0.dial)(to.clone()).await?,
            Some(proxy) if is_proxied => self.reach_proxy(proxy.uri().clone()).await?,
            Some(proxy) => self.tunnel(proxy, to).await?,
        };
        let io = match tls {
            Some(tls) => secure(&tls, io, to).await?,
            None => io,
        };
        Ok(Stream { io: TokioIo::new(io), is_proxied })
    }

    /// Opens a stream to a server through a proxy, with `CONNECT`.
    async fn tunnel(&self, proxy: &Intercept, to: &Uri) -> Result<Box<dyn Duplex>, ErrorKind> {
        let connector = self.clone();
        let inner = service_fn(move |proxy: Uri| {
            let connector = connector.clone();
            async move { connector.reach_proxy(proxy).await.map(TokioIo::new) }
        });
        let mut tunnel = Tunnel::new(proxy.uri().clone(), inner);
        if let Some(header) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(header.clone());
        }
        let stream = tunnel.call(to.clone()).await.map_err(|error| {
            match error.source().and_then(|it| it.downcast_ref::<ErrorKind>()) {
                Some(kind) => kind.clone(),
                None => {
                    let proxy = host_of(proxy.uri()).to_owned();
                    ErrorKind::Proxy { proxy, cause: cause(&error) }
                }
            }
        })?;
        Ok(stream.into_inner())
    }

    async fn reach_proxy(&self, proxy: Uri) -> Result<Box<dyn Duplex>, ErrorKind> {
        let io = (self.0.dial)(proxy.clone()).await?;
        match is_https(&proxy) {
            true => secure(&self.tls().await?, io, &proxy).await,
            false => Ok(io),
        }
    }

    async fn tls(&self) -> Result<TlsConnector, ErrorKind> {
        let load = || async {
            let (trust, settings) = (self.0.trust.clone(), self.0.tls_settings.clone());
            let loaded = tokio::task::spawn_blocking(move || settings.load(&trust)).await;
            let loaded = loaded.unwrap_or_else(|error| Err(error.to_string()));
            loaded.map(TlsConnector::from).map_err(ErrorKind::Trust)
        };
        self.0.tls.get_or_try_init(load).await.cloned()
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = ErrorKind;
    type Future = BoxFuture<'static, Result<Stream, ErrorKind>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ErrorKind>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        Box::pin(self.clone().connect(to))
    }
}

fn is_https(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

fn unreached(to: &Uri, cause: String) -> ErrorKind {
    ErrorKind::Connect { host: host_of(to).to_owned(), cause }
}

/// Begins TLS on a stream, and checks the certificate of the server.
async fn secure(
    tls: &TlsConnector,
    io: Box<dyn Duplex>,
    to: &Uri,
) -> Result<Box<dyn Duplex>, ErrorKind> {
    let host = host_of(to).to_owned();
    let name = match ServerName::try_from(host.clone()) {
        Ok(name) => name,
        Err(error) => return Err(ErrorKind::Connect { host, cause: error.to_string() }),
    };
    match tls.connect(name, io).await {
        Ok(stream) => Ok(Box::new(stream)),
        Err(error) if is_about_certificate(&error) => {
            Err(ErrorKind::Certificate { host, cause: cause(&error) })
        }
        Err(error) => Err(ErrorKind::Connect { host, cause: cause(&error) }),
    }
}

fn is_about_certificate(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|it| it.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::InvalidCertificate(_)))
}

/// A connection to a server.
pub(crate) struct Stream {
    io: TokioIo<Box<dyn Duplex>>,
    /// True if a proxy reads the requests, which then name the whole URL.
    is_proxied: bool,
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.is_proxied)
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
