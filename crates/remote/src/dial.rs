//! The stream to the first server: a TCP connection, or one that a proxy makes.

use std::{
    net::{Shutdown, TcpStream as StdStream},
    time::Duration,
};

use engine::{ConnectError, Proxy};
use tokio::{net::TcpStream, time::timeout};

use crate::{failure::passing, proxy};

/// The longest time for a TCP connection, and for the answer of a proxy.
const LONGEST: Duration = Duration::from_secs(15);

/// The socket below a session. To drop it closes the connection, even while another task reads from it.
pub(crate) struct Socket(StdStream);

impl Drop for Socket {
    fn drop(&mut self) {
        // Fails only if the other end has closed it before.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Opens a stream to a server.
pub(crate) async fn dial(
    host: &str,
    port: u16,
    proxy: Option<&Proxy>,
) -> Result<(TcpStream, Socket), ConnectError> {
    let connecting = async {
        match proxy {
            None => TcpStream::connect((host, port)).await.map_err(|error| {
                passing(format!("connecting to {}: {error}", written(host, port)))
            }),
            Some(proxy) => {
                let place = written(&proxy.host, proxy.port);
                let through = proxy::connect(proxy, host, port).await;
                through.map_err(|reason| {
                    passing(format!("connecting through the proxy {place}: {reason}"))
                })
            }
        }
    };
    let Ok(stream) = timeout(LONGEST, connecting).await else {
        let place = written(host, port);
        return Err(passing(format!("connecting to {place}: no answer within 15 seconds")));
    };
    divided(stream?).map_err(|error| passing(format!("connecting to {host}: {error}")))
}

/// Keeps a second handle of the socket, by which the connection can be closed from outside.
fn divided(stream: TcpStream) -> std::io::Result<(TcpStream, Socket)> {
    stream.set_nodelay(true)?;
    let stream = stream.into_std()?;
    let socket = Socket(stream.try_clone()?);
    Ok((TcpStream::from_std(stream)?, socket))
}

/// A host and a port, with brackets around an address of IPv6.
pub(crate) fn written(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
