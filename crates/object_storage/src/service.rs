//! Requests to the services that give out credentials.

use std::time::Duration;

use http_client::header::HeaderValue;
use http_client::{Client, ClientConfig, Error, Proxies, Request};

/// The largest accepted answer, in bytes.
pub(crate) const MAX_ANSWER: u64 = 1 << 20;

/// The longest wait for the service of an instance, which most machines do not have.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// The content type of parameters in a body.
pub(crate) const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// A client for the services of this machine, which no proxy reaches.
pub(crate) fn direct_client() -> Client {
    let user_agent = HeaderValue::from_static("Mayfly");
    let config = ClientConfig::from_environment(user_agent, &|_| None);
    Client::new(ClientConfig { proxies: Proxies::none(), ..config })
}

/// Sends a request, and returns the body of a success.
pub(crate) async fn sent(client: &Client, request: &Request) -> Result<Vec<u8>, Error> {
    let response = client.send(request).await?.success()?;
    Ok(response.body.bytes().await?.to_vec())
}
