//! Repositories of OCI registries: their tags, manifests and blobs (OCI Distribution, version 1.1).
//!
//! ```text
//!   address ──► Repository ──tags, manifest──► Descriptor of a blob ──blob──► Request for its bytes
//!                    └── challenge (401) ──► OciCredentials ──► token of the repository's token service
//! ```
//!
//! **Invariant:** what a descriptor refers to is compared with its digest before it is used.
//! **Invariant:** credentials go to the registry, and to the token service that it names over an encrypted connection.

mod challenge;
mod credentials;
mod login;

use http_client::header::{ACCEPT, HeaderValue, LINK};
use http_client::{Client, Credentials, Request, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;

use crate::hash::sha256_of_bytes;
use crate::json_answer::{json, or_default};

pub(crate) use credentials::OciCredentials;

/// The largest accepted manifest, in bytes: the size that registries must accept (OCI Distribution).
const MAX_MANIFEST: u64 = 4 << 20;

/// The most tags that are read.
const MAX_TAGS: usize = 100_000;

/// The media types of manifests that a request accepts.
const MANIFESTS: HeaderValue = HeaderValue::from_static(
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json",
);

/// A reference to content in a repository.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) media_type: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) artifact_type: String,
    pub(crate) digest: String,
    #[serde(default)]
    pub(crate) size: u64,
    #[serde(default)]
    pub(crate) platform: Option<OciPlatform>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct OciPlatform {
    #[serde(default)]
    pub(crate) os: String,
    #[serde(default)]
    pub(crate) architecture: String,
}

/// A manifest: an index of other manifests, or a list of layers.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OciManifest {
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) artifact_type: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) manifests: Vec<Descriptor>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) layers: Vec<Descriptor>,
}

#[derive(Deserialize)]
struct TagList {
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// The access to OCI registries.
#[derive(Clone, Copy)]
pub(crate) struct OciAccess<'n> {
    pub(crate) client: &'n Client,
    pub(crate) credentials: &'n OciCredentials,
}

/// A repository.
pub(crate) struct Repository<'n> {
    access: OciAccess<'n>,
    /// The registry, as in the address.
    host: String,
    name: String,
    /// The URL of the repository in the registry, which ends with a slash.
    base: Url,
    /// The credentials that the registry has accepted. `None` as long as it has asked for none.
    accepted: Mutex<Option<Credentials>>,
}

impl<'n> Repository<'n> {
    /// Creates the access to the repository with an address such as `ghcr.io/owner/name`.
    ///
    /// # Errors
    /// Returns a sentence fragment if the address is not one.
    pub(crate) fn new(access: OciAccess<'n>, address: &str) -> Result<Repository<'n>, String> {
        let invalid = || format!("{address:?} is not the address of an OCI repository");
        let (host, name) = address.split_once('/').ok_or_else(invalid)?;
        if !name.split('/').all(is_name) {
            return Err(invalid());
        }
        // The registry of Docker is at another host than its addresses.
        let server = if host == "docker.io" { "registry-1.docker.io" } else { host };
        let base = Url::parse(&format!("https://{server}/v2/{name}/")).map_err(|_| invalid())?;
        let (host, name) = (host.to_owned(), name.to_owned());
        Ok(Repository { access, host, name, base, accepted: Mutex::default() })
    }

    /// Returns all tags. `None` if there is no such repository.
    pub(crate) async fn tags(&self) -> Result<Option<Vec<String>>, String> {
        let mut tags = Vec::new();
        let mut next = Some(self.url("tags/list")?);
        while let Some(url) = next {
            let request = Request::get(url, MAX_MANIFEST);
            let Some(response) = self.send(request).await? else { return Ok(None) };
            next = self.next_page(&response);
            let list: TagList = json(response).await.map_err(|it| self.failed(&it))?;
            let found = list.tags.unwrap_or_default();
            if tags.len() + found.len() > MAX_TAGS || (found.is_empty() && next.is_some()) {
                return Err(self.failed(&"its list of tags does not end"));
            }
            tags.extend(found);
        }
        Ok(Some(tags))
    }

    /// Returns the manifest with a tag or a digest. `None` if there is none.
    pub(crate) async fn manifest(&self, reference: &str) -> Result<Option<OciManifest>, String> {
        if !is_tag(reference) && sha256_digits(reference).is_none() {
            return Err(
                self.failed(&format!("{reference:?} is neither a tag nor a digest of SHA-256"))
            );
        }
        let mut request = Request::get(self.url(&format!("manifests/{reference}"))?, MAX_MANIFEST);
        request.headers.insert(ACCEPT, MANIFESTS);
        let Some(response) = self.send(request).await? else { return Ok(None) };
        let body = response.body.bytes().await.map_err(|it| self.failed(&it))?;
        if let Some(expected) = sha256_digits(reference)
            && sha256_of_bytes(&body) != expected
        {
            return Err(self.failed(&format!("its manifest {reference} has another content")));
        }
        self.parse(&body).map(Some)
    }

    fn parse<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, String> {
        serde_json::from_slice(body).map_err(|_| self.failed(&"a manifest is not understood"))
    }

    /// The request for the content of a descriptor. The registry accepts its credentials: a manifest came before.
    pub(crate) async fn blob(&self, descriptor: &Descriptor) -> Result<Request, String> {
        if sha256_digits(&descriptor.digest).is_none() {
            let digest = &descriptor.digest;
            return Err(self.failed(&format!("the digest {digest:?} is not one of SHA-256")));
        }
        let url = self.url(&format!("blobs/{}", descriptor.digest))?;
        let mut request = Request::get(url, descriptor.size);
        request.credentials = self.accepted.lock().await.clone();
        Ok(request)
    }

    fn url(&self, path: &str) -> Result<Url, String> {
        self.base.join(&format!("./{path}")).map_err(|it| self.failed(&it))
    }

    /// Sends a request to the registry, and logs in if the registry wants that. `None` if there is no such resource.
    async fn send(&self, mut request: Request) -> Result<Option<Response>, String> {
        if !request.url.has_origin_of(&self.base) {
            return Err(self.failed(&format!("it refers to {}", request.url)));
        }
        request.credentials = self.accepted.lock().await.clone();
        let sent = self.access.client.send(&request).await;
        let mut response = sent.map_err(|it| self.failed(&it))?;
        if response.status == StatusCode::UNAUTHORIZED && response.url.has_origin_of(&self.base) {
            let credentials = self.log_in(&response).await?;
            request.credentials = Some(credentials.clone());
            let sent = self.access.client.send(&request).await;
            response = sent.map_err(|it| self.failed(&it))?;
            *self.accepted.lock().await = Some(credentials);
        }
        match response.status {
            StatusCode::NOT_FOUND => Ok(None),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(self.failed(&"the registry denies access"))
            }
            _ => response.success().map(Some).map_err(|it| self.failed(&it)),
        }
    }

    /// The URL of the next page of a list. `None` if there is none at the same registry.
    fn next_page(&self, response: &Response) -> Option<Url> {
        let link = response.headers.get(LINK)?.to_str().ok()?;
        let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        let url = response.url.join(target).ok()?;
        (parameters.contains("next") && url.has_origin_of(&self.base)).then_some(url)
    }

    fn failed(&self, cause: &dyn std::fmt::Display) -> String {
        format!("the OCI repository {}/{} cannot be used: {cause}", self.host, self.name)
    }
}

/// The hexadecimal digits of a SHA-256 digest. `None` if it is another one.
pub(crate) fn sha256_digits(digest: &str) -> Option<&str> {
    let digits = digest.strip_prefix("sha256:")?;
    let is_digit = |it: u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
    (digits.len() == 64 && digits.bytes().all(is_digit)).then_some(digits)
}

/// Returns true for a part of the name of a repository (OCI Distribution, "Pulling manifests").
fn is_name(part: &str) -> bool {
    let is_plain = |it: u8| matches!(it, b'0'..=b'9' | b'a'..=b'z' | b'.' | b'_' | b'-');
    let is_edge = |it: Option<u8>| it.is_some_and(|it| it.is_ascii_alphanumeric());
    let (first, last) = (part.bytes().next(), part.bytes().next_back());
    part.len() <= 255 && part.bytes().all(is_plain) && is_edge(first) && is_edge(last)
}

/// Returns true if a text can be the name of a tag (OCI Distribution, "Pulling manifests").
pub(crate) fn is_tag(text: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    let is_length = (1..=128).contains(&text.len());
    is_length && !text.starts_with(['.', '-']) && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests;
