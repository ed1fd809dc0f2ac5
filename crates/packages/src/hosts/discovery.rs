//! Service discovery: the document `/.well-known/terraform.json` of a host.

use futures::future::BoxFuture;
use http_client::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http_client::{Client, Credentials, Request, StatusCode, Url};
use serde_json::{Map, Value};

use crate::cli_config::{ConfiguredServices, Token};
use crate::hosts::HostName;

const DOCUMENT: &str = ".well-known/terraform.json";

/// The largest accepted document, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The services of a host.
#[derive(Clone, Debug)]
pub struct Services {
    host: HostName,
    /// The URL of the document, which relative URLs of services refer to.
    document: Url,
    services: Map<String, Value>,
}

/// The reason why a service cannot be used. The texts are sentence fragments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    #[error("host {host} does not provide a {service} service")]
    NotProvided { host: HostName, service: String },
    #[error("host {host} does not support {service} version {version}")]
    OtherVersion { host: HostName, service: String, version: String },
    /// The description of the service is not understood.
    #[error("{0}")]
    Invalid(String),
}

/// Asks a host for its services, unless the CLI configuration lists them. A host without the document has none.
///
/// # Errors
/// Returns a sentence fragment if the host does not answer, or if its document is not understood.
pub fn discover<'r>(
    client: &'r Client,
    configured: &'r ConfiguredServices,
    host: &'r HostName,
    token: Option<&'r Token>,
) -> BoxFuture<'r, Result<Services, String>> {
    Box::pin(services_of(client, configured, host, token))
}

async fn services_of(
    client: &Client,
    configured: &ConfiguredServices,
    host: &HostName,
    token: Option<&Token>,
) -> Result<Services, String> {
    let document = Url::parse(&format!("https://{host}/{DOCUMENT}"))
        .map_err(|error| format!("the host name {host} cannot be used in a URL: {error}"))?;
    let configured = configured.iter().find(|it| HostName::parse(it.0).as_ref() == Ok(host));
    if let Some((_, services)) = configured {
        return Ok(Services { host: host.clone(), document, services: services.clone() });
    }
    let failed = |error: http_client::Error| {
        format!("failed to request the discovery document of {host}: {error}")
    };
    let mut request = Request::get(document, MAX_BYTES);
    request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    request.credentials = token.and_then(|it| Credentials::bearer(it.expose()));
    let response = client.send(&request).await.map_err(failed)?;
    let document = response.url.clone();
    if response.status == StatusCode::NOT_FOUND {
        return Ok(Services { host: host.clone(), document, services: Map::new() });
    }
    let response = response.success().map_err(failed)?;
    require_json(response.headers.get(CONTENT_TYPE))
        .map_err(|it| format!("the discovery document of {host} {it}"))?;
    let body = response.body.bytes().await.map_err(failed)?;
    match serde_json::from_slice(&body) {
        Ok(services) => Ok(Services { host: host.clone(), document, services }),
        Err(_) => Err(format!("the discovery document of {host} is not a JSON object")),
    }
}

/// Checks the media type of an answer. The error completes a sentence.
pub(crate) fn require_json(content_type: Option<&HeaderValue>) -> Result<(), String> {
    let text = content_type.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default().trim();
    match media_type.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err("has another Content-Type than application/json".to_owned()),
    }
}

impl Services {
    /// Returns the URL of a service, such as `tfe.v2`.
    ///
    /// # Errors
    /// Returns a [`ServiceError`] if the host lacks the service, or if its URL is invalid.
    pub fn url(&self, id: &str) -> Result<Url, ServiceError> {
        match self.find(id)? {
            Value::String(text) => self.absolute(text).map_err(|it| {
                ServiceError::Invalid(format!("failed to parse the URL of the service {id}: {it}"))
            }),
            _ => Err(ServiceError::Invalid(format!("the service {id} must have a URL"))),
        }
    }

    /// Returns the description of a service that is an object.
    pub(crate) fn object(&self, id: &str) -> Result<&Map<String, Value>, ServiceError> {
        let found = self.find(id)?;
        let first = |it: &'_ Value| it.as_array().and_then(|it| it.first()).is_some();
        match found {
            Value::Object(object) => Ok(object),
            // HCL 1 reads a nested block as a list.
            Value::Array(items) if first(found) => {
                items[0].as_object().ok_or_else(|| no_object(id))
            }
            _ => Err(no_object(id)),
        }
    }

    /// Resolves a URL relative to the discovery document. The error is a sentence fragment.
    pub(crate) fn absolute(&self, text: &str) -> Result<Url, String> {
        if Credentials::split_from(text).1.is_some() {
            return Err("embedded username/password information is not permitted".to_owned());
        }
        self.document.join(text).map_err(|error| error.to_string())
    }

    fn find(&self, id: &str) -> Result<&Value, ServiceError> {
        if let Some(found) = self.services.get(id) {
            return Ok(found);
        }
        let (service, version) = id.split_once(".v").unwrap_or((id, ""));
        let (host, service, version) = (self.host.clone(), service.to_owned(), version.to_owned());
        let prefix = format!("{service}.");
        match self.services.keys().any(|it| it.starts_with(&prefix)) {
            true => Err(ServiceError::OtherVersion { host, service, version }),
            false => Err(ServiceError::NotProvided { host, service }),
        }
    }
}

fn no_object(id: &str) -> ServiceError {
    ServiceError::Invalid(format!(
        "the service {id} must be an object in the service discovery document"
    ))
}
