//! A bucket of Google Cloud Storage, and the requests for its objects.

use http_client::{Error, Request, Url};
use serde::{Deserialize, Deserializer};

use crate::address::{base, encoded, is_bucket, is_denied, url};
use crate::credentials::FoundToken;
use crate::error::StorageError;
use crate::list::{ListedObject, Page};
use crate::storage::ObjectStorage;

/// The server of all buckets.
const SERVER: &str = "https://storage.googleapis.com";

/// A bucket with the token for it.
pub(crate) struct GoogleBucket {
    /// The URL of the objects, without a slash at its end.
    base: String,
    token: Option<FoundToken>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectList {
    #[serde(default)]
    items: Vec<ObjectItem>,
    #[serde(default)]
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
struct ObjectItem {
    name: String,
    #[serde(deserialize_with = "number")]
    size: u64,
}

/// Reads a number of 64 bits, which the interface writes as a text.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

impl GoogleBucket {
    /// Finds the credentials for a bucket. Without any, its requests have none, as for a public bucket.
    pub(crate) async fn open(
        storage: &ObjectStorage,
        bucket: &str,
    ) -> Result<GoogleBucket, StorageError> {
        if !is_bucket(bucket) {
            let why = format!("{bucket:?} cannot be the name of a bucket");
            return Err(StorageError::Refused(why));
        }
        let emulator = storage.environment.get("STORAGE_EMULATOR_HOST");
        let (server, token) = match emulator {
            // An emulator gets no token: its address may lead anywhere, and it needs none.
            Some(emulator) => (emulator_url(emulator)?, None),
            None => (SERVER.to_owned(), storage.google_token().await?),
        };
        let base = format!("{server}/storage/v1/b/{bucket}/o");
        Ok(GoogleBucket { base, token })
    }
}

/// The URL of an emulator, which may be a host alone.
fn emulator_url(emulator: &str) -> Result<String, StorageError> {
    let absolute = match emulator.contains("://") {
        true => emulator.to_owned(),
        false => format!("http://{emulator}"),
    };
    let url = Url::parse(&absolute).map_err(|error| {
        StorageError::Refused(format!("STORAGE_EMULATOR_HOST cannot be used: {error}"))
    })?;
    Ok(base(&url))
}

impl GoogleBucket {
    /// The request for a page of a list.
    pub(crate) fn page(&self, prefix: &str, token: Option<&str>) -> Result<Request, StorageError> {
        let mut query = format!(
            "fields=items(name,size),nextPageToken&maxResults=1000&prefix={}",
            encoded(prefix)
        );
        if let Some(token) = token {
            query.push_str(&format!("&pageToken={}", encoded(token)));
        }
        Ok(self.request(url(&self.base, "", &query)?))
    }

    /// The request for an object, or for a generation of it.
    pub(crate) fn object(
        &self,
        name: &str,
        generation: Option<&str>,
    ) -> Result<Request, StorageError> {
        let generation = generation.map(|it| format!("&generation={}", encoded(it)));
        let query = format!("alt=media{}", generation.unwrap_or_default());
        Ok(self.request(url(&self.base, &format!("/{}", encoded(name)), &query)?))
    }

    fn request(&self, url: Url) -> Request {
        let mut request = Request::get(url, 0);
        request.credentials = self.token.as_ref().map(|it| it.token.clone());
        request
    }

    /// The way out of an error.
    pub(crate) fn advice(&self, error: &Error) -> String {
        match &self.token {
            _ if !is_denied(error) => String::new(),
            Some(found) => format!("; the request had the token {}", found.place),
            None => "; no credentials of Google were found: run \"gcloud auth application-default login\", or set \
                     GOOGLE_APPLICATION_CREDENTIALS"
                .to_owned(),
        }
    }
}

/// Reads a page of a list. `None` if it is none.
pub(crate) fn page(body: &[u8]) -> Option<Page> {
    let list: ObjectList = serde_json::from_slice(body).ok()?;
    let items = list.items.into_iter();
    let objects = items.map(|it| ListedObject { name: it.name, size: it.size }).collect();
    Some(Page { objects, next: list.next_page_token.filter(|it| !it.is_empty()) })
}
