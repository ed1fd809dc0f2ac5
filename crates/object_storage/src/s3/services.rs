//! Keys from services: of the container, of the instance, and of AWS for the identity of a workload.

use http_client::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use http_client::{Method, Request, Url, UrlError};
use serde::Deserialize;

use super::list::{document, text};
use super::profile::Profile;
use crate::address::encoded;
use crate::credentials::AwsKeys;
use crate::error::StorageError;
use crate::file::read;
use crate::service::{FORM, MAX_ANSWER, PATIENCE, direct_client, sent};
use crate::storage::ObjectStorage;

/// The service of a container whose variable has only a path.
const CONTAINER: &str = "http://169.254.170.2";

/// The hosts of the services of containers, which need no encryption.
const CONTAINERS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];

const INSTANCE: &str = "http://169.254.169.254";

const LIFETIME: HeaderName = HeaderName::from_static("x-aws-ec2-metadata-token-ttl-seconds");
const SESSION: HeaderName = HeaderName::from_static("x-aws-ec2-metadata-token");

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ServedKeys {
    access_key_id: String,
    secret_access_key: String,
    #[serde(default)]
    token: Option<String>,
}

impl ServedKeys {
    fn parse(body: &[u8]) -> Option<AwsKeys> {
        let keys: ServedKeys = serde_json::from_slice(body).ok()?;
        Some(AwsKeys { id: keys.access_key_id, secret: keys.secret_access_key, token: keys.token })
    }
}

impl ObjectStorage {
    /// Asks the service of the container. `None` if the environment names none.
    pub(super) async fn keys_of_container(&self) -> Result<Option<AwsKeys>, StorageError> {
        let failed = |cause: &dyn std::fmt::Display| {
            StorageError::Refused(format!(
                "the service with the AWS credentials of the container cannot be used: {cause}"
            ))
        };
        let environment = &self.environment;
        let url = match environment.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            Some(path) => format!("{CONTAINER}/{}", path.trim_start_matches('/')),
            None => match environment.get("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
                Some(url) => url.to_owned(),
                None => return Ok(None),
            },
        };
        let url = Url::parse(&url).map_err(|it| failed(&it))?;
        if !url.is_https() && !url.is_loopback() && !CONTAINERS.contains(&url.host()) {
            return Err(failed(&format!("{url} is not encrypted")));
        }
        let token = match environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            Some(file) => read(&environment.expanded(file)).await?,
            None => environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(str::to_owned),
        };
        let mut request = Request::get(url, MAX_ANSWER);
        if let Some(token) = token {
            let value = HeaderValue::try_from(token.trim());
            let mut value = value.map_err(|_| failed(&"its token is not one line of text"))?;
            value.set_sensitive(true);
            request.headers.insert(AUTHORIZATION, value);
        }
        let body = sent(&direct_client(), &request).await.map_err(|it| failed(&it))?;
        ServedKeys::parse(&body).map(Some).ok_or_else(|| failed(&"its answer has no keys"))
    }

    /// Asks the service of the instance. `None` if there is none, or if it has no role.
    pub(super) async fn keys_of_instance(&self) -> Result<Option<AwsKeys>, StorageError> {
        let environment = &self.environment;
        let is_off = environment.get("AWS_EC2_METADATA_DISABLED");
        if is_off.is_some_and(|it| it.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let base = environment.first(&["AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_METADATA_URL"]);
        let base = Url::parse(base.unwrap_or(INSTANCE).trim_end_matches('/')).map_err(|error| {
            StorageError::Refused(format!("the service of the instance cannot be used: {error}"))
        })?;
        Ok(self.served_by_instance(&base).await)
    }

    async fn served_by_instance(&self, base: &Url) -> Option<AwsKeys> {
        let client = direct_client();
        let request = |path: &str| {
            let mut request = Request::get(base.join(path).ok()?, MAX_ANSWER);
            (request.retries, request.answer_timeout) = (Some(0), Some(PATIENCE));
            Some(request)
        };
        let mut begin = request("/latest/api/token")?;
        begin.method = Method::PUT;
        begin.headers.insert(LIFETIME, HeaderValue::from_static("600"));
        let session = HeaderValue::from_bytes(&sent(&client, &begin).await.ok()?).ok()?;
        let roles = "/latest/meta-data/iam/security-credentials/";
        let mut ask = request(roles)?;
        ask.headers.insert(SESSION, session.clone());
        let names = sent(&client, &ask).await.ok()?;
        let name = std::str::from_utf8(&names).ok()?.lines().next()?.trim();
        let mut ask = request(&format!("{roles}{}", encoded(name)))?;
        ask.headers.insert(SESSION, session);
        ServedKeys::parse(&sent(&client, &ask).await.ok()?)
    }

    /// Exchanges the identity token of a workload for the keys of a role. `None` if the environment names none.
    pub(super) async fn keys_of_web_identity(
        &self,
        profile: Option<&Profile>,
    ) -> Result<Option<AwsKeys>, StorageError> {
        let environment = &self.environment;
        let Some(file) = environment.get("AWS_WEB_IDENTITY_TOKEN_FILE") else { return Ok(None) };
        let failed = |cause: &dyn std::fmt::Display| {
            let why = "the role in AWS_ROLE_ARN cannot be assumed with AWS_WEB_IDENTITY_TOKEN_FILE";
            StorageError::Refused(format!("{why}: {cause}"))
        };
        let role =
            environment.get("AWS_ROLE_ARN").ok_or_else(|| failed(&"AWS_ROLE_ARN is not set"))?;
        let token = read(&environment.expanded(file)).await?;
        let token = token.ok_or_else(|| failed(&format!("there is no file {file}")))?;
        let url = match self.endpoint(&["AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"], None)? {
            Some(url) => url,
            None => token_service(&self.usual_region(profile)?).map_err(|it| failed(&it))?,
        };
        if !url.is_https() && !url.is_loopback() {
            return Err(failed(&format!("{url} is not encrypted")));
        }
        let session = environment.get("AWS_ROLE_SESSION_NAME").unwrap_or("mayfly");
        let mut request = Request::get(url, MAX_ANSWER);
        request.method = Method::POST;
        request.headers.insert(CONTENT_TYPE, FORM);
        request.body = format!(
            "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn={}&RoleSessionName={}&WebIdentityToken={}",
            encoded(role),
            encoded(session),
            encoded(token.trim())
        )
        .into();
        let body = sent(&self.client, &request).await.map_err(|it| failed(&it))?;
        role_keys(&body).map(Some).ok_or_else(|| failed(&"the answer has no keys"))
    }
}

/// The service of AWS that gives out the keys of roles in a region.
fn token_service(region: &str) -> Result<Url, UrlError> {
    let end = if region.starts_with("cn-") { ".cn" } else { "" };
    Url::parse(&format!("https://sts.{region}.amazonaws.com{end}/"))
}

fn role_keys(body: &[u8]) -> Option<AwsKeys> {
    let document = document(body)?;
    let keys = document.descendants().find(|it| it.tag_name().name() == "Credentials")?;
    Some(AwsKeys {
        id: text(keys, "AccessKeyId")?.to_owned(),
        secret: text(keys, "SecretAccessKey")?.to_owned(),
        token: text(keys, "SessionToken").map(str::to_owned),
    })
}
