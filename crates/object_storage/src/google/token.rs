//! The search for a token: the application default credentials of Google.

use std::path::PathBuf;
use std::time::SystemTime;

use http_client::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http_client::{Credentials, Method, Request, Url};
use serde::Deserialize;

use super::account::ServiceAccount;
use crate::address::encoded;
use crate::credentials::FoundToken;
use crate::error::StorageError;
use crate::file::read;
use crate::service::{FORM, MAX_ANSWER, PATIENCE, direct_client, sent};
use crate::storage::ObjectStorage;

/// The service for tokens of users.
const TOKENS: &str = "https://oauth2.googleapis.com/token";

/// The service of an instance.
const INSTANCE: &str = "169.254.169.254";

const FLAVOR: HeaderName = HeaderName::from_static("metadata-flavor");

/// A file with credentials.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CredentialsFile {
    ServiceAccount(ServiceAccount),
    AuthorizedUser {
        client_id: String,
        client_secret: String,
        refresh_token: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
}

impl ObjectStorage {
    /// Finds a token, once. `None` if there are no credentials.
    pub(super) async fn google_token(&self) -> Result<Option<FoundToken>, StorageError> {
        self.token.get_or_try_init(|| self.search_token()).await.cloned()
    }

    async fn search_token(&self) -> Result<Option<FoundToken>, StorageError> {
        if let Some(token) = self.environment.get("GOOGLE_OAUTH_ACCESS_TOKEN") {
            let token = bearer(token).map_err(|why| {
                StorageError::Refused(format!("GOOGLE_OAUTH_ACCESS_TOKEN cannot be used: {why}"))
            })?;
            let place = "in GOOGLE_OAUTH_ACCESS_TOKEN".to_owned();
            return Ok(Some(FoundToken { token, place }));
        }
        let Some((file, is_named)) = self.google_file() else { return Ok(None) };
        match read(&file).await? {
            Some(text) => {
                let place = format!("for the credentials in {}", file.display());
                let token = self.token_of_file(&text).await.map_err(|why| {
                    StorageError::Refused(format!("the credentials in {}: {why}", file.display()))
                })?;
                Ok(Some(FoundToken { token, place }))
            }
            None if is_named => Err(StorageError::Refused(format!(
                "there is no file {}, which GOOGLE_APPLICATION_CREDENTIALS names",
                file.display()
            ))),
            None => Ok(self.token_of_instance().await),
        }
    }

    /// The file with the credentials, and whether the environment names it.
    fn google_file(&self) -> Option<(PathBuf, bool)> {
        let environment = &self.environment;
        if let Some(file) = environment.get("GOOGLE_APPLICATION_CREDENTIALS") {
            return Some((environment.expanded(file), true));
        }
        let directory = environment.path("CLOUDSDK_CONFIG", ".config/gcloud")?;
        Some((directory.join("application_default_credentials.json"), false))
    }

    /// The error is a sentence fragment that quotes nothing of the file.
    async fn token_of_file(&self, text: &str) -> Result<Credentials, String> {
        let file: CredentialsFile = serde_json::from_str(text).map_err(|_| {
            "the file has neither a key of a service account nor the refresh token of a user"
                .to_owned()
        })?;
        match file {
            CredentialsFile::ServiceAccount(account) => {
                let assertion = account.assertion(SystemTime::now())?;
                let grant = encoded("urn:ietf:params:oauth:grant-type:jwt-bearer");
                let form = format!("grant_type={grant}&assertion={}", encoded(&assertion));
                self.granted(&account.token_uri, form).await
            }
            CredentialsFile::AuthorizedUser { client_id, client_secret, refresh_token } => {
                let form = format!(
                    "grant_type=refresh_token&client_id={}&client_secret={}&refresh_token={}",
                    encoded(&client_id),
                    encoded(&client_secret),
                    encoded(&refresh_token)
                );
                self.granted(TOKENS, form).await
            }
            CredentialsFile::Other => {
                Err("their type is not supported; set GOOGLE_OAUTH_ACCESS_TOKEN to the output of \
                                           \"gcloud auth application-default print-access-token\""
                    .to_owned())
            }
        }
    }

    /// Asks a service for a token. The error is a sentence fragment.
    async fn granted(&self, service: &str, form: String) -> Result<Credentials, String> {
        let url = Url::parse(service).map_err(|error| format!("their token service: {error}"))?;
        if !url.is_https() && !url.is_loopback() {
            return Err(format!("their token service {url} is not encrypted"));
        }
        let mut request = Request::get(url.clone(), MAX_ANSWER);
        request.method = Method::POST;
        request.headers.insert(CONTENT_TYPE, FORM);
        request.body = form.into();
        let body = sent(&self.client, &request).await;
        let body = body.map_err(|error| format!("their token service {url}: {error}"))?;
        let granted: Granted = serde_json::from_slice(&body)
            .map_err(|_| format!("the answer of their token service {url} has no token"))?;
        bearer(&granted.access_token)
    }

    /// Asks the service of the instance. `None` if there is none.
    async fn token_of_instance(&self) -> Option<FoundToken> {
        let host = self.environment.get("GCE_METADATA_HOST").unwrap_or(INSTANCE);
        let path = "computeMetadata/v1/instance/service-accounts/default/token";
        let url = Url::parse(&format!("http://{host}/{path}")).ok()?;
        let mut request = Request::get(url, MAX_ANSWER);
        request.headers.insert(FLAVOR, HeaderValue::from_static("Google"));
        (request.retries, request.answer_timeout) = (Some(0), Some(PATIENCE));
        let response = direct_client().send(&request).await.ok()?.success().ok()?;
        // Other clouds have other services at this address.
        response.headers.get(FLAVOR).filter(|it| *it == "Google")?;
        let granted: Granted = serde_json::from_slice(&response.body.bytes().await.ok()?).ok()?;
        let token = bearer(&granted.access_token).ok()?;
        Some(FoundToken { token, place: "of the instance".to_owned() })
    }
}

/// The credentials that a token makes. The error is a sentence fragment.
fn bearer(token: &str) -> Result<Credentials, String> {
    let credentials = Credentials::bearer(token.trim());
    credentials.ok_or_else(|| "the token has characters that no token has".to_owned())
}
