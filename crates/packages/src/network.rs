//! The access to hosts over the network: the client, the tokens, and the services of each host.

use std::ffi::OsString;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_client::{Client, Credentials, Request, Response, StatusCode, Url};
use object_storage::{ObjectStorage, StorageEnvironment};
use sorted::TreeMap;
use tokio::sync::OnceCell;

use crate::cli_config::{CliConfig, ConfigEnvironment, ConfiguredServices, RegistryProtocols};
use crate::downloads::{DownloadObserver, Downloads};
use crate::hosts::{HostCredentials, HostName, Services, discover};
use crate::oci::{OciAccess, OciCredentials};
use crate::signatures::SignaturePolicy;

/// The access to hosts. Each host is asked for its services once.
pub struct Network {
    /// The client.
    pub client: Client,
    /// The tokens of hosts.
    pub credentials: HostCredentials,
    /// The policy for signatures of providers.
    pub(crate) signatures: SignaturePolicy,
    /// The credentials for OCI repositories.
    oci: OciCredentials,
    /// The access to buckets.
    storage: ObjectStorage,
    protocols: RegistryProtocols,
    configured: ConfiguredServices,
    /// The downloads of packages.
    pub(crate) downloads: Downloads,
    known: Mutex<TreeMap<HostName, Arc<AskedHost>>>,
}

/// The services of a host once it has answered, or the reason why it did not.
type AskedHost = OnceCell<Result<Services, String>>;

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Network")
    }
}

impl Network {
    /// Creates the access to hosts. A program that has credentials does not inherit the variables in `withheld`.
    pub fn new(
        client: Client,
        config: &CliConfig,
        environment: &ConfigEnvironment<'_>,
        credentials: HostCredentials,
        withheld: Vec<OsString>,
    ) -> Network {
        let (blocks, defaults) = (config.oci_credentials.clone(), config.oci_defaults.clone());
        let buckets = StorageEnvironment::read(environment.variable, environment.home.clone());
        Network {
            storage: ObjectStorage::new(client.clone(), buckets),
            client,
            credentials,
            signatures: SignaturePolicy::from_environment(environment.variable),
            oci: OciCredentials::new(blocks, defaults.unwrap_or_default(), environment, withheld),
            protocols: config.registry_protocols,
            configured: config.services.clone(),
            downloads: Downloads::default(),
            known: Mutex::default(),
        }
    }

    /// Returns the access with an observer of its downloads.
    pub fn with_observer(self, observer: DownloadObserver) -> Network {
        Network { downloads: Downloads::new(observer), ..self }
    }

    /// The access to OCI registries.
    pub(crate) fn oci(&self) -> OciAccess<'_> {
        OciAccess { client: &self.client, credentials: &self.oci }
    }

    /// The access to buckets.
    pub(crate) fn storage(&self) -> &ObjectStorage {
        &self.storage
    }

    /// Returns the services of a host.
    ///
    /// # Errors
    /// Returns a sentence fragment if the host cannot be asked for them.
    pub(crate) async fn services(&self, host: &HostName) -> Result<Services, String> {
        let known = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(host.clone()).or_default().clone()
        };
        let asked = known.get_or_init(|| async {
            let token = self.credentials.token(host).await?;
            discover(&self.client, &self.configured, host, token.as_ref()).await
        });
        asked.await.clone()
    }

    /// Returns the URL of a service of a host, which ends with a slash.
    ///
    /// # Errors
    /// Returns a sentence fragment if the host cannot be asked, or lacks the service.
    pub(crate) async fn service(&self, host: &HostName, id: &str) -> Result<Url, String> {
        let unreachable = |error| format!("could not connect to {host}: {error}");
        let services = self.services(host).await.map_err(unreachable)?;
        let url = services.url(id).map_err(|error| error.to_string())?;
        if !url.is_https() && !url.is_loopback() {
            return Err(format!("the service {id} of {host} is at {url}, which is not encrypted"));
        }
        match url.path().ends_with('/') {
            true => Ok(url),
            false => url.join(&format!("{}/", url.path())).map_err(|error| error.to_string()),
        }
    }

    /// The token of a host, as credentials for the services that it names. The client sends them to no other host.
    pub(crate) async fn bearer(&self, host: &HostName) -> Result<Option<Credentials>, String> {
        let token = self.credentials.token(host).await?;
        Ok(token.and_then(|it| Credentials::bearer(it.expose())))
    }

    /// Sends a request to a service. `None` if the service lacks the resource.
    ///
    /// # Errors
    /// Returns a sentence fragment for all other answers than successes.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Option<Response>, String> {
        let RegistryProtocols { retries, timeout_seconds } = self.protocols;
        let answer_timeout = timeout_seconds.map(|it| Duration::from_secs(it.into()));
        let mut request = request.clone();
        (request.retries, request.answer_timeout) = (retries, answer_timeout);
        let response = self.client.send(&request).await.map_err(|error| error.to_string())?;
        match response.status {
            StatusCode::NOT_FOUND => Ok(None),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let host = response.url.host_and_port();
                Err(match request.credentials {
                    Some(_) => format!("host {host} rejected the given authentication credentials"),
                    None => format!("host {host} requires authentication credentials"),
                })
            }
            _ => response.success().map(Some).map_err(|error| error.to_string()),
        }
    }
}
