//! The server side: serves a [`Provider`] or a [`Provisioner`] over go-plugin, to this program as well as to `tofu` and
//! `terraform`.

mod listen;
mod messages;
mod provisioner;
mod routes;
mod service;
mod versions;
mod write_only;

use std::{
    env, fmt,
    io::{self, Write},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use provider::{BoxFuture, Provider, Provisioner};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::{
    net::UnixListener,
    signal::unix::{SignalKind, signal},
    sync::{oneshot, watch},
};
use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, codegen::BoxStream, transport::Server};

use crate::{
    channel::{CONNECTION_WINDOW, STREAM_WINDOW},
    encoded::{V5, V6},
    generated::{
        plugin::{
            Empty, StdioData,
            grpc_controller_server::{GrpcController, GrpcControllerServer},
            grpc_stdio_server::{GrpcStdio, GrpcStdioServer},
        },
        tfplugin5,
    },
    handshake,
    process::remove_socket,
    protocol::{self, ProtocolVersion},
    server::{routes::Services, service::Service},
    tls::Identity,
    wire::LARGEST_MESSAGE,
};

/// The time that calls in progress get to finish after the core asked for the shutdown. The core kills the plugin
/// after two seconds.
const LAST_CALLS: Duration = Duration::from_millis(1000);
/// The interval of checks for another parent process, for cores whose end does not close stdout's pipe.
const PARENT_CHECK: Duration = Duration::from_secs(1);

/// An error that prevented serving a provider or stopped it.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A person started this program, not a core. The caller prints this on stderr and exits with status 1.
    #[error(
        "This binary is a plugin. These are not meant to be executed directly.\nPlease execute the \
         program that consumes these plugins, which will\nload any plugins automatically"
    )]
    NotAPlugin,
    #[error("failed to listen on {}: {source}", path.display())]
    Listen { path: PathBuf, source: io::Error },
    #[error("failed to set up TLS: {0}")]
    Tls(String),
    #[error("failed to report the address of the plugin: {0}")]
    Announce(io::Error),
    #[error("failed to watch for signals: {0}")]
    Signals(io::Error),
    #[error("failed to serve: {0}")]
    Transport(String),
}

/// Serves `provider` to the core that started this process. Returns when the core asks for the shutdown or has
/// ended.
///
/// Prints the handshake line on stdout; the caller must not print anything before. Serves protocol 6, or protocol
/// 5 if the core supports only that and no schema has nested attributes. SIGINT is ignored, because Ctrl-C reaches
/// the whole process group and the core decides what ends. stdin is not read: it may be the user's terminal.
///
/// A core that dies is noticed at once, because its end of the stdout pipe closes, even if it started this process
/// through another one. In addition, a change of the parent process is noticed within a second.
///
/// # Errors
/// Returns [`ServeError::NotAPlugin`] without the magic cookie, else the error that prevents listening.
pub fn serve(provider: Arc<dyn Provider>) -> BoxFuture<'static, Result<(), ServeError>> {
    Box::pin(serve_to_core(Served::Provider(Arc::new(Service::new(provider)))))
}

/// Serves `provisioner` in protocol 5 to the core that started this process, like [`serve`].
///
/// # Errors
/// Returns [`ServeError::NotAPlugin`] without the magic cookie, else the error that prevents listening.
pub fn serve_provisioner(
    provisioner: Arc<dyn Provisioner>,
) -> BoxFuture<'static, Result<(), ServeError>> {
    Box::pin(serve_to_core(Served::Provisioner(provisioner)))
}

/// The service of a plugin.
enum Served {
    Provider(Arc<Service>),
    Provisioner(Arc<dyn Provisioner>),
}

impl Served {
    async fn version(&self) -> ProtocolVersion {
        match self {
            Served::Provider(service) => {
                let offered = env::var(protocol::VERSIONS_KEY).unwrap_or_default();
                choose_version(&offered, service.fits_v5().await)
            }
            Served::Provisioner(_) => ProtocolVersion::V5,
        }
    }
}

async fn serve_to_core(served: Served) -> Result<(), ServeError> {
    if env::var(protocol::MAGIC_COOKIE_KEY).as_deref() != Ok(protocol::MAGIC_COOKIE_VALUE) {
        return Err(ServeError::NotAPlugin);
    }
    // Watch the core before announcing the address: a core that ends in between would not read the line, which is
    // an error.
    let end_of_core = end_of_core();
    let _ignored = signal(SignalKind::interrupt()).map_err(ServeError::Signals)?;
    let version = served.version().await;
    let client = env::var(protocol::CLIENT_CERT_KEY).ok().filter(|it| !it.is_empty());
    let (tls, certificate) = client.map(|pem| acceptor(&pem)).transpose()?.unzip();
    let (listener, socket) = Socket::bind()?;
    let mut line = handshake::print(version, &socket.path, certificate.as_deref());
    if env::var_os(protocol::MULTIPLEX_KEY).is_some() {
        line.push_str("|false");
    }
    announce(&line)?;
    tokio::select! {
        result = run(served, version, listener, tls) => result,
        () = end_of_core => Ok(()),
    }
}

/// Serves `provider` to every core that reattaches, without TLS, until SIGINT.
///
/// Prints the value of `TF_REATTACH_PROVIDERS` on stdout, with `address` as the provider's source address.
///
/// # Errors
/// Returns the error that prevents listening.
pub fn serve_debug(
    provider: Arc<dyn Provider>,
    address: &str,
) -> BoxFuture<'_, Result<(), ServeError>> {
    Box::pin(serve_to_any_core(provider, address))
}

async fn serve_to_any_core(provider: Arc<dyn Provider>, address: &str) -> Result<(), ServeError> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(ServeError::Signals)?;
    let served = Served::Provider(Arc::new(Service::new(provider)));
    let (listener, socket) = Socket::bind()?;
    let config = serde_json::json!({address: {
        "Protocol": "grpc", "ProtocolVersion": 6, "Pid": std::process::id(), "Test": true,
        "Addr": {"Network": "unix", "String": socket.path.to_string_lossy()},
    }});
    announce(&format!("TF_REATTACH_PROVIDERS='{config}'"))?;
    tokio::select! {
        result = run(served, ProtocolVersion::V6, listener, None) => result,
        _ = interrupt.recv() => Ok(()),
    }
}

/// Chooses the highest version that both sides support. If the core offers none of them, chooses the lowest
/// version that the schemas allow, as go-plugin does.
fn choose_version(offered: &str, fits_v5: bool) -> ProtocolVersion {
    let offered: Vec<_> =
        offered.split(',').filter_map(|it| ProtocolVersion::parse(it.trim())).collect();
    if !fits_v5 || offered.contains(&ProtocolVersion::V6) {
        ProtocolVersion::V6
    } else {
        ProtocolVersion::V5
    }
}

fn acceptor(client_pem: &str) -> Result<(TlsAcceptor, Vec<u8>), ServeError> {
    let failed = |error: &dyn fmt::Display| ServeError::Tls(error.to_string());
    let identity = Identity::generate().map_err(|error| failed(&error))?;
    let der = identity.der().to_vec();
    let config = identity.server_config(client_pem).map_err(|error| failed(&error))?;
    Ok((TlsAcceptor::from(Arc::new(config)), der))
}

fn announce(line: &str) -> Result<(), ServeError> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(ServeError::Announce)
}

/// The file of a listening socket. Dropping this removes the file.
struct Socket {
    path: PathBuf,
}

impl Socket {
    /// Binds a socket with a new name in the directory that the core asks for, or else in the temporary directory.
    fn bind() -> Result<(UnixListener, Self), ServeError> {
        let folder = env::var_os(protocol::SOCKET_DIR_KEY).filter(|it| !it.is_empty());
        let folder = folder.map_or_else(env::temp_dir, PathBuf::from);
        // The name is short, because a socket path is limited to about a hundred bytes. A file with the id of this
        // process is stale: it comes from an earlier process.
        let path = folder.join(format!("plugin{}", std::process::id()));
        remove_socket(&path);
        let listener = UnixListener::bind(&path)
            .map_err(|source| ServeError::Listen { path: path.clone(), source })?;
        Ok((listener, Self { path }))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        remove_socket(&self.path);
    }
}

/// Serves until the core calls `Shutdown`.
async fn run(
    served: Served,
    version: ProtocolVersion,
    listener: UnixListener,
    tls: Option<TlsAcceptor>,
) -> Result<(), ServeError> {
    let (stop, mut stopped) = watch::channel(false);
    let incoming = listen::incoming(listener, tls);
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_service_status("plugin", tonic_health::ServingStatus::Serving).await;
    let services = Services::default()
        .with(health)
        .with(GrpcControllerServer::new(Controller { stop }))
        .with(GrpcStdioServer::new(Stdio { stopped: stopped.clone() }));
    let services = match (served, version) {
        (Served::Provisioner(provisioner), _) => services.with(
            tfplugin5::provisioner_server::ProvisionerServer::new(provisioner::Service(
                provisioner,
            ))
            .max_decoding_message_size(LARGEST_MESSAGE)
            .max_encoding_message_size(LARGEST_MESSAGE),
        ),
        (Served::Provider(service), ProtocolVersion::V5) => {
            services.with(V5(versions::v5(service)))
        }
        (Served::Provider(service), ProtocolVersion::V6) => {
            services.with(V6(versions::v6(service)))
        }
    };
    let mut asked = stopped.clone();
    let server = Server::builder()
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    let serving = server.serve_with_incoming_shutdown(services, incoming, async move {
        let _closed = asked.wait_for(|it| *it).await;
    });
    tokio::select! {
        result = serving => result.map_err(|error| ServeError::Transport(error.to_string())),
        () = async {
            drop(stopped.wait_for(|it| *it).await);
            tokio::time::sleep(LAST_CALLS).await;
        } => Ok(()),
    }
}

/// Returns when the core has ended: the reader of stdout is gone, or the parent process is a different one.
fn end_of_core() -> impl Future<Output = ()> {
    let core = rustix::process::getppid();
    let (ended, end) = oneshot::channel();
    let watch = move || {
        let stdout = io::stdout();
        let pause = Timespec { tv_sec: PARENT_CHECK.as_secs() as i64, tv_nsec: 0 };
        while rustix::process::getppid() == core {
            // No events are requested, so `poll` returns only for errors and for the end of the other side.
            let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
            if poll(&mut polled, Some(&pause)).is_ok_and(|count| count > 0) {
                break;
            }
        }
        let _over_already = ended.send(());
    };
    let thread = parallel::thread("core", watch);
    async move {
        // Without the thread, only the core's call of `Shutdown` ends this process.
        if thread.is_err() || end.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

struct Controller {
    stop: watch::Sender<bool>,
}

#[tonic::async_trait]
impl GrpcController for Controller {
    async fn shutdown(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        self.stop.send_replace(true);
        Ok(Response::new(Empty {}))
    }
}

/// The stream of this process's output. It stays empty, because stdout and stderr are not redirected, and open
/// until the end, because cores log a warning if it is missing.
struct Stdio {
    stopped: watch::Receiver<bool>,
}

#[tonic::async_trait]
impl GrpcStdio for Stdio {
    async fn stream_stdio(&self, _: Request<()>) -> Result<Response<BoxStream<StdioData>>, Status> {
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        let mut stopped = self.stopped.clone();
        tokio::spawn(async move {
            tokio::select! {
                _ = stopped.wait_for(|it| *it) => {}
                () = sender.closed() => {}
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_chooses_the_highest_common_protocol() {
        let check = |offered, fits_v5, version| {
            assert_eq!(choose_version(offered, fits_v5), version, "{offered}")
        };
        check("5,6", true, ProtocolVersion::V6);
        check("6,5", false, ProtocolVersion::V6);
        check("5", true, ProtocolVersion::V5);
        check("5", false, ProtocolVersion::V6);
        check("", true, ProtocolVersion::V5);
        check("4,7", true, ProtocolVersion::V5);
    }
}
