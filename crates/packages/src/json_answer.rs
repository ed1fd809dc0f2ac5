//! Answers of servers in JSON.

use http_client::Response;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// The largest accepted document of a registry or a mirror, in bytes.
pub(crate) const MAX_DOCUMENT: u64 = 16 << 20;

/// Reads the body of an answer as JSON of a known form. The error is a sentence fragment that quotes nothing.
pub(crate) async fn json<T: DeserializeOwned>(response: Response) -> Result<T, String> {
    let url = response.url;
    let body = response.body.bytes().await.map_err(|error| error.to_string())?;
    // The error of the parser quotes the document.
    serde_json::from_slice(&body)
        .map_err(|error| format!("the answer of {url} is not understood in line {}", error.line()))
}

/// Reads a property that may be null, as servers in Go write empty lists and objects.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
