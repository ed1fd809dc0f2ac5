//! The access to hosts over the network: the client, the tokens, and the services of each host.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use http_client::{Client, Credentials, Request, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use tokio::sync::OnceCell;

use crate::cli_config::{CliConfig, ConfiguredServices};
use crate::hosts::{HostCredentials, HostName, Services, discover};
use crate::signatures::SignaturePolicy;

/// The largest accepted document of a registry or a mirror, in bytes.
pub(crate) const MAX_DOCUMENT: u64 = 16 << 20;

/// The access to hosts. Each host is asked for its services once.
pub struct Network {
    /// The client.
    pub client: Client,
    /// The tokens of hosts.
    pub credentials: HostCredentials,
    /// The policy for signatures of providers.
    pub(crate) signatures: SignaturePolicy,
    configured: ConfiguredServices,
    known: Mutex<BTreeMap<HostName, Arc<AskedHost>>>,
}

/// The services of a host once it has answered, or the reason why it did not.
type AskedHost = OnceCell<Result<Services, String>>;

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Network")
    }
}

impl Network {
    /// Creates the access to hosts. `variable` reads an environment variable, for the policy for signatures.
    pub fn new(
        client: Client,
        config: &CliConfig,
        credentials: HostCredentials,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Network {
        Network {
            client,
            credentials,
            signatures: SignaturePolicy::from_environment(variable),
            configured: config.services.clone(),
            known: Mutex::default(),
        }
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
        match url.path().ends_with('/') {
            true => Ok(url),
            false => url.join(&format!("{}/", url.path())).map_err(|error| error.to_string()),
        }
    }

    /// The token of a host, as credentials. The client sends them to no other host.
    pub(crate) async fn bearer(&self, host: &HostName) -> Result<Option<Credentials>, String> {
        let token = self.credentials.token(host).await?;
        Ok(token.and_then(|it| Credentials::bearer(it.expose())))
    }

    /// Sends a request to a service. `None` if the service lacks the resource.
    ///
    /// # Errors
    /// Returns a sentence fragment for all other answers than successes.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Option<Response>, String> {
        let response = self.client.send(request).await.map_err(|error| error.to_string())?;
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

/// Reads the body of an answer as JSON of a known form. The error is a sentence fragment that quotes nothing.
pub(crate) async fn json<T: DeserializeOwned>(response: Response) -> Result<T, String> {
    let url = response.url;
    let body = response.body.bytes().await.map_err(|error| error.to_string())?;
    // The error of the parser quotes the document.
    serde_json::from_slice(&body)
        .map_err(|error| format!("the answer of {url} is not understood in line {}", error.line()))
}
