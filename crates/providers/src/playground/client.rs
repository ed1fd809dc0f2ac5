//! The configured provider: its connection to the remote system.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    task::JoinHandle,
    time::timeout,
};

use super::{
    fault::Fault,
    lease, names,
    store::{Entry, Record, Store},
};
use mayfly_sdk::{Diagnostic, Secret};

/// The environment variable with the directory of the store.
pub(crate) const STORE_VARIABLE: &str = "PLAYGROUND_STORE";
/// The default directory of the store.
pub(crate) const STORE_DEFAULT: &str = ".playground";
/// The timeout for an answer through a tunnel.
const TUNNEL_TIMEOUT: Duration = Duration::from_secs(2);

/// The configured provider.
pub(crate) struct Client {
    pub(super) store: Arc<Store>,
    pub(super) latency: Duration,
    pub(super) fault: Option<Fault>,
    pub(super) auth_token: Option<Secret>,
    pub(super) address: Option<String>,
    pub(super) tunnels: Mutex<BTreeMap<String, JoinHandle<()>>>,
}

impl Client {
    /// Opens the store that the environment variable names, for calls before the provider is configured.
    pub(super) fn environment_store() -> Option<Arc<Store>> {
        let path = std::env::var_os(STORE_VARIABLE).filter(|it| !it.is_empty())?;
        Store::open(Path::new(&path)).ok().map(Arc::new)
    }

    /// Opens the store at `configured`, else at the path in the environment variable, else at the default path.
    pub(super) fn open_store(configured: Option<&str>) -> Result<Arc<Store>, Diagnostic> {
        let environment =
            || std::env::var_os(STORE_VARIABLE).filter(|it| !it.is_empty()).map(PathBuf::from);
        let path = configured.map(PathBuf::from).or_else(environment);
        let path = path.unwrap_or_else(|| PathBuf::from(STORE_DEFAULT));
        Ok(Store::open(&path).map(Arc::new)?)
    }

    /// Checks that the remote system can be reached: a configured token must be valid, and a configured address
    /// must answer.
    pub(super) async fn reach(&self) -> Result<(), Diagnostic> {
        if let Some(token) = &self.auth_token {
            lease::check_token(&self.store, token)?;
        }
        match &self.address {
            Some(address) => self.ping(address).await,
            None => Ok(()),
        }
    }

    /// Sends a line to the configured address, which must return it.
    async fn ping(&self, address: &str) -> Result<(), Diagnostic> {
        let line = format!("ping {}\n", names::unique());
        let exchange = async {
            let mut stream = TcpStream::connect(address).await?;
            stream.write_all(line.as_bytes()).await?;
            let mut answer = String::new();
            BufReader::new(&mut stream).read_line(&mut answer).await?;
            std::io::Result::Ok(answer)
        };
        let unreachable = |why: String| {
            let detail = format!(
                "The configured address does not answer: {why}. If it is a tunnel, it may be closed."
            );
            Diagnostic::error("Remote system is unreachable", detail)
        };
        match timeout(TUNNEL_TIMEOUT, exchange).await {
            Ok(Ok(answer)) if answer == line => Ok(()),
            Ok(Ok(_)) => Err(unreachable("it sent something else back".to_owned())),
            Ok(Err(error)) => Err(unreachable(error.to_string())),
            Err(_) => Err(unreachable("it is silent".to_owned())),
        }
    }

    /// Reads an object.
    pub(super) fn find(
        &self,
        kind: &'static str,
        name: &str,
    ) -> Result<Option<Record>, Diagnostic> {
        Ok(self.store.read(kind, name)?)
    }

    /// Creates an object and records that.
    pub(super) fn create<'a, K: Into<String>>(
        &self,
        type_name: &str,
        record: &Record,
        received: impl IntoIterator<Item = (K, &'a Secret)>,
    ) -> Result<(), Diagnostic> {
        self.store.create(record)?;
        self.record_received("created", type_name, &record.name, &record.id, received)
    }

    /// Changes an object and records that. Returns the result.
    pub(super) fn update<'a, K: Into<String>>(
        &self,
        type_name: &str,
        kind: &'static str,
        name: &str,
        received: impl IntoIterator<Item = (K, &'a Secret)>,
        change: impl FnOnce(&mut Record),
    ) -> Result<Record, Diagnostic> {
        let record = self.store.update(kind, name, change)?;
        self.record_received("updated", type_name, &record.name, &record.id, received)?;
        Ok(record)
    }

    /// Removes an object and records that. Does nothing if the object is gone already.
    pub(super) fn delete(&self, type_name: &str, found: Option<Record>) -> Result<(), Diagnostic> {
        let Some(record) = found else { return Ok(()) };
        self.store.remove(record.kind, &record.name)?;
        self.record("deleted", type_name, &record.name, &record.id)
    }

    /// Records an operation on an object in the ledger.
    pub(super) fn record(
        &self,
        event: &str,
        type_name: &str,
        name: &str,
        id: &str,
    ) -> Result<(), Diagnostic> {
        let entry = Entry::effect(event, type_name, name).with_id(id);
        Ok(self.store.ledger().write(&entry)?)
    }

    /// Records an operation with fingerprints of the secrets that the object received.
    pub(super) fn record_received<'a, K: Into<String>>(
        &self,
        event: &str,
        type_name: &str,
        name: &str,
        id: &str,
        received: impl IntoIterator<Item = (K, &'a Secret)>,
    ) -> Result<(), Diagnostic> {
        let received = self.store.fingerprints(received);
        let entry = Entry::effect(event, type_name, name).with_id(id);
        Ok(self.store.ledger().write(&Entry { received, ..entry })?)
    }

    /// Keeps the listener of a tunnel running until the tunnel is closed or the process ends.
    pub(super) fn keep_tunnel(&self, id: &str, running: JoinHandle<()>) {
        self.tunnels.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), running);
    }

    /// Ends all tunnels.
    pub(super) fn end_tunnels(&self) {
        let mut tunnels = self.tunnels.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *tunnels).into_values().for_each(|it| it.abort());
    }

    /// Ends a tunnel. Returns true if it belonged to this process. When this returns, its port is closed.
    pub(super) async fn end_tunnel(&self, id: &str) -> bool {
        let tunnel = self.tunnels.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        let Some(tunnel) = tunnel else { return false };
        tunnel.abort();
        // The result is the error of the aborted task, which is expected.
        let _ = tunnel.await;
        true
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.end_tunnels();
    }
}
