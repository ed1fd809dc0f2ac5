//! `playground_tunnel`, ephemeral: a local port that forwards to another host while it is open.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use mayfly_sdk::{Diagnostic, EphemeralCall, EphemeralResource, Model};
use tokio::{
    io::{AsyncRead, AsyncWrite, copy, copy_bidirectional, split},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use super::{client::Client, fault::Fault, names::unique};

const TYPE: &str = "playground_tunnel";
/// The pause after a failed `accept`, so that the listener does not spin.
const PAUSE: Duration = Duration::from_millis(50);
/// Domains that RFC 2606 reserves for documentation and tests. No host exists there, so the tunnel itself answers
/// for them and echoes its input.
const RESERVED: &[&str] =
    &["example", "example.com", "example.net", "example.org", "test", "invalid"];

pub(super) struct TunnelType;

/// A port on this machine that leads to another while it is open.
#[derive(Model)]
pub(super) struct Tunnel {
    user: Option<String>,
    tunnel_host: Option<String>,
    /// The host that the tunnel leads to. Hosts of reserved domains, such as example.com, echo what they are sent.
    #[attribute(length(1, 253))]
    remote_host: String,
    #[attribute(between(1, 65_535))]
    remote_port: u16,
    /// Host and port on this machine.
    #[attribute(computed)]
    local_address: Option<String>,
    #[attribute(computed)]
    local_host: Option<String>,
    #[attribute(computed)]
    local_port: Option<u16>,
    fault: Option<Fault>,
}

impl EphemeralResource<Client> for TunnelType {
    type Model = Tunnel;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn open(
        &self,
        client: &Client,
        config: Tunnel,
        call: &mut EphemeralCall,
    ) -> Result<Tunnel, Diagnostic> {
        let failed = |error: std::io::Error| {
            let detail = format!("No port of this machine can be had: {error}.");
            Diagnostic::error("Tunnel cannot be opened", detail)
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let local = listener.local_addr().map_err(failed)?;
        let id = format!("tunnel-{}", unique());
        let remote = Remote { host: config.remote_host.clone(), port: config.remote_port };
        client.keep_tunnel(&id, tokio::spawn(listen(listener, Arc::new(remote))));
        call.private.set("id", id.as_str());
        client.record("opened", TYPE, &config.remote_host, &id)?;
        Ok(Tunnel {
            local_address: Some(local.to_string()),
            local_host: Some(local.ip().to_string()),
            local_port: Some(local.port()),
            ..config
        })
    }

    async fn close(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let id = call.private.text("id").unwrap_or_default();
        if !client.end_tunnel(id).await {
            let detail =
                "This process of the provider has not opened it, or has closed it already.";
            return Err(Diagnostic::error("Tunnel is not open", detail));
        }
        client.record("closed", TYPE, "", id)
    }
}

struct Remote {
    host: String,
    port: u16,
}

impl Remote {
    fn is_reserved(&self) -> bool {
        let host = self.host.trim_end_matches('.').to_ascii_lowercase();
        let inside = |domain: &&str| {
            host.strip_suffix(domain).is_some_and(|it| it.is_empty() || it.ends_with('.'))
        };
        RESERVED.iter().any(inside)
    }
}

/// Accepts connections until it is aborted. The connections end with it, because they belong to its `JoinSet`.
async fn listen(listener: TcpListener, remote: Arc<Remote>) {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let remote = remote.clone();
                // An error of a connection concerns only its two ends.
                connections.spawn(async move { serve(stream, &remote).await.is_ok() });
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(mut local: TcpStream, remote: &Remote) -> std::io::Result<()> {
    if remote.is_reserved() {
        return echo(local).await;
    }
    let mut far = TcpStream::connect((remote.host.as_str(), remote.port)).await?;
    copy_bidirectional(&mut local, &mut far).await.map(drop)
}

async fn echo(stream: impl AsyncRead + AsyncWrite) -> std::io::Result<()> {
    let (mut read, mut write) = split(stream);
    copy(&mut read, &mut write).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_inside_reserved_domains_are_reserved() {
        let reserved = |host: &str| Remote { host: host.to_owned(), port: 1 }.is_reserved();
        for host in ["example.com", "consul.prod.example.com", "A.TEST", "example.org."] {
            assert!(reserved(host), "{host}");
        }
        for host in ["myexample.com", "example.com.evil.net", "localhost", "127.0.0.1"] {
            assert!(!reserved(host), "{host}");
        }
    }
}
