//! The plugin's side: serves a [`Provider`] over go-plugin, under this program as well as under `tofu` and `terraform`.

mod listen;
mod messages;
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

use provider::Provider;
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
    generated::{
        plugin::{
            Empty, StdioData,
            grpc_controller_server::{GrpcController, GrpcControllerServer},
            grpc_stdio_server::{GrpcStdio, GrpcStdioServer},
        },
        tfplugin5, tfplugin6,
    },
    handshake,
    process::remove_socket,
    protocol::{self, ProtocolVersion},
    server::service::Service,
    tls::Identity,
};

/// Limit of a message in both directions, that of the Go SDKs.
const LARGEST_MESSAGE: usize = 256 << 20;
/// How long calls in flight may take after the core asked for the end; it kills after two seconds.
const LAST_CALLS: Duration = Duration::from_millis(1000);
/// How often it is looked whether another process is our parent, where nothing is heard of the end of the core's pipe.
const PARENT_CHECK: Duration = Duration::from_secs(1);

/// Why a provider could not be served, or stopped being served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Nobody but a person started this program. The caller prints this on stderr and exits with status 1.
    #[error(
        "This binary is a plugin. These are not meant to be executed directly.\nPlease execute the program that consumes these \
         plugins, which will\nload any plugins automatically"
    )]
    NotAPlugin,
    #[error("failed to listen on {}: {source}", path.display())]
    Listen { path: PathBuf, source: io::Error },
    #[error("failed to set up TLS: {0}")]
    Tls(String),
    #[error("failed to tell where the plugin listens: {0}")]
    Announce(io::Error),
    #[error("failed to watch for signals: {0}")]
    Signals(io::Error),
    #[error("failed to serve: {0}")]
    Transport(String),
}

/// Serves `provider` to the core that started this process; returns when the core asks for the end.
///
/// Prints the handshake line on stdout: nothing may be printed there before. Protocol 6 is served, or 5 to a core that
/// knows no other if no schema has nested attributes. SIGINT is ignored, because Ctrl-C goes to the whole process group
/// and the core decides what ends. stdin is not looked at: it is the user's terminal. A core that dies without a word is
/// noticed at once by the end of the pipe that stdout is, which a core holds as long as it lives, also one that started us
/// through another process; and after a second by our having another parent.
///
/// # Errors
/// [`ServeError::NotAPlugin`] without the magic cookie; else what prevents listening.
pub async fn serve(provider: Arc<dyn Provider>) -> Result<(), ServeError> {
    if env::var(protocol::MAGIC_COOKIE_KEY).as_deref() != Ok(protocol::MAGIC_COOKIE_VALUE) {
        return Err(ServeError::NotAPlugin);
    }
    // Before anything is announced: a core that has ended by now reads nothing, and that is an error then.
    let end_of_core = end_of_core();
    let _ignored = signal(SignalKind::interrupt()).map_err(ServeError::Signals)?;
    let service = Arc::new(Service::new(provider));
    let offered = env::var(protocol::VERSIONS_KEY).unwrap_or_default();
    let version = choose_version(&offered, service.fits_v5().await);
    let client = env::var(protocol::CLIENT_CERT_KEY).ok().filter(|it| !it.is_empty());
    let (tls, certificate) = client.map(|pem| acceptor(&pem)).transpose()?.unzip();
    let (listener, socket) = Socket::bind()?;
    let mut line = handshake::print(version, &socket.path, certificate.as_deref());
    if env::var_os(protocol::MULTIPLEX_KEY).is_some() {
        line.push_str("|false");
    }
    announce(&line)?;
    tokio::select! {
        result = run(service, version, listener, tls) => result,
        () = end_of_core => Ok(()),
    }
}

/// Serves `provider` to any core that reattaches, without TLS, until SIGINT.
///
/// Prints the value of `TF_REATTACH_PROVIDERS` on stdout, with `address` as the provider's source address.
///
/// # Errors
/// What prevents listening.
pub async fn serve_debug(provider: Arc<dyn Provider>, address: &str) -> Result<(), ServeError> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(ServeError::Signals)?;
    let service = Arc::new(Service::new(provider));
    let (listener, socket) = Socket::bind()?;
    let config = serde_json::json!({address: {
        "Protocol": "grpc", "ProtocolVersion": 6, "Pid": std::process::id(), "Test": true,
        "Addr": {"Network": "unix", "String": socket.path.to_string_lossy()},
    }});
    announce(&format!("TF_REATTACH_PROVIDERS='{config}'"))?;
    tokio::select! {
        result = run(service, ProtocolVersion::V6, listener, None) => result,
        _ = interrupt.recv() => Ok(()),
    }
}

/// The highest version that both sides know; our lowest where the core names none of ours, as go-plugin does.
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

/// The file of a listening socket; it goes with this.
struct Socket {
    path: PathBuf,
}

impl Socket {
    /// Binds a socket of a new name where the core wants it, else in the temporary folder.
    fn bind() -> Result<(UnixListener, Self), ServeError> {
        let folder = env::var_os(protocol::SOCKET_DIR_KEY).filter(|it| !it.is_empty());
        let folder = folder.map_or_else(env::temp_dir, PathBuf::from);
        // The name is short: a socket's path has about a hundred bytes. A stale file of an earlier process with our
        // id is in nobody's use.
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

/// Serves until the core calls Shutdown.
async fn run(
    service: Arc<Service>,
    version: ProtocolVersion,
    listener: UnixListener,
    tls: Option<TlsAcceptor>,
) -> Result<(), ServeError> {
    let (stop, mut stopped) = watch::channel(false);
    let incoming = listen::incoming(listener, tls);
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_service_status("plugin", tonic_health::ServingStatus::Serving).await;
    let router = Server::builder()
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .add_service(health)
        .add_service(GrpcControllerServer::new(Controller { stop }))
        .add_service(GrpcStdioServer::new(Stdio { stopped: stopped.clone() }));
    let router = match version {
        ProtocolVersion::V5 => router.add_service(
            tfplugin5::provider_server::ProviderServer::new(versions::V5(service))
                .max_decoding_message_size(LARGEST_MESSAGE)
                .max_encoding_message_size(LARGEST_MESSAGE),
        ),
        ProtocolVersion::V6 => router.add_service(
            tfplugin6::provider_server::ProviderServer::new(versions::V6(service))
                .max_decoding_message_size(LARGEST_MESSAGE)
                .max_encoding_message_size(LARGEST_MESSAGE),
        ),
    };
    let mut asked = stopped.clone();
    let serving = router.serve_with_incoming_shutdown(incoming, async move {
        let _closed = asked.wait_for(|it| *it).await;
    });
    tokio::select! {
        result = serving => result.map_err(|error| ServeError::Transport(error.to_string())),
        () = async {
            let _closed = stopped.wait_for(|it| *it).await;
            tokio::time::sleep(LAST_CALLS).await;
        } => Ok(()),
    }
}

/// Returns when the process that started us has ended: then nobody reads our stdout, or another process is our parent.
fn end_of_core() -> impl Future<Output = ()> {
    let core = rustix::process::getppid();
    let (ended, end) = oneshot::channel();
    let watch = move || {
        let stdout = io::stdout();
        let pause = Timespec { tv_sec: PARENT_CHECK.as_secs() as i64, tv_nsec: 0 };
        while rustix::process::getppid() == core {
            // Nothing is asked for, so only an error or the end of the other side is heard.
            let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
            if poll(&mut polled, Some(&pause)).is_ok_and(|count| count > 0) {
                break;
            }
        }
        let _over_already = ended.send(());
    };
    let thread = std::thread::Builder::new().name("core".to_owned()).spawn(watch);
    async move {
        // Without the thread, the core's call of Shutdown is what ends us.
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

/// The stream of what this process prints: nothing, because stdout and stderr stay what they are. It is held open to
/// the end, because cores log a warning when it is missing.
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
    fn the_highest_common_version_is_served() {
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
