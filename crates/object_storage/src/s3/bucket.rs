//! A bucket of S3, and the requests for its objects.

use std::time::SystemTime;

use http_client::{Error, ErrorKind, Request, StatusCode, Url};

use super::profile::{self, USUAL_REGION};
use super::signature::Scope;
use crate::address::{base, encoded, encoded_path, is_bucket, is_denied, url};
use crate::credentials::{AwsKeys, FoundKeys};
use crate::error::StorageError;
use crate::storage::ObjectStorage;

/// The server of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum S3Endpoint {
    /// The service of AWS, under a domain such as `amazonaws.com`, unless the environment names another endpoint.
    Aws {
        /// The domain.
        domain: &'static str,
    },
    /// Another server.
    Server(Url),
}

/// The address of a bucket, and the credentials that come with it.
#[derive(Clone, Debug)]
pub struct S3Address {
    /// The server.
    pub endpoint: S3Endpoint,
    /// The region. `None` for that of the named profile, or the usual one.
    pub region: Option<String>,
    /// The name of the bucket.
    pub bucket: String,
    /// The name of a profile in the user's files. `None` for the usual credentials.
    pub profile: Option<String>,
    /// The keys in the address. `None` if it has none.
    pub keys: Option<AwsKeys>,
}

/// The variables with an endpoint in place of that of AWS.
const ENDPOINTS: [&str; 2] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"];

/// A bucket with the keys for it.
pub(crate) struct S3Bucket {
    /// The URL of the bucket, without a slash at its end.
    base: String,
    region: String,
    keys: Option<FoundKeys>,
}

impl S3Bucket {
    /// Finds the credentials for a bucket. Without any, its requests are not signed, as for a public bucket.
    pub(crate) async fn open(
        storage: &ObjectStorage,
        address: &S3Address,
    ) -> Result<S3Bucket, StorageError> {
        let S3Address { endpoint, region, bucket, .. } = address;
        if !is_bucket(bucket) {
            let why = format!("{bucket:?} cannot be the name of a bucket");
            return Err(StorageError::Refused(why));
        }
        let profile = storage.profile(address.profile.as_deref()).await?;
        let region = match (region, &address.profile) {
            (Some(named), _) => profile::region(named)?,
            (None, Some(_)) => storage.usual_region(profile.as_ref())?,
            (None, None) => USUAL_REGION.to_owned(),
        };
        let server = match endpoint {
            S3Endpoint::Server(url) => url.clone(),
            S3Endpoint::Aws { domain } => match storage.endpoint(&ENDPOINTS, profile.as_ref())? {
                Some(url) => url,
                None => Url::parse(&format!("https://s3.{region}.{domain}")).map_err(|error| {
                    StorageError::Refused(format!("the region {region:?} cannot be used: {error}"))
                })?,
            },
        };
        let base = format!("{}/{bucket}", base(&server));
        let keys = match &address.keys {
            Some(keys) => {
                Some(FoundKeys { keys: keys.clone(), place: "in the address".to_owned() })
            }
            // Any package can name a server: what identifies the user is not sent in the clear.
            None if !server.is_https() && !server.is_loopback() => None,
            None => storage.keys(profile, address.profile.is_some()).await?,
        };
        Ok(S3Bucket { base, region, keys })
    }

    /// The request for a page of a list.
    pub(crate) fn page(&self, prefix: &str, token: Option<&str>) -> Result<Request, StorageError> {
        let mut query = "list-type=2".to_owned();
        if !prefix.is_empty() {
            query.push_str(&format!("&prefix={}", encoded(prefix)));
        }
        if let Some(token) = token {
            query.push_str(&format!("&continuation-token={}", encoded(token)));
        }
        self.request(url(&self.base, "", &query)?)
    }

    /// The request for an object.
    pub(crate) fn object(
        &self,
        name: &str,
        version: Option<&str>,
    ) -> Result<Request, StorageError> {
        let query = version.map(|it| format!("versionId={}", encoded(it))).unwrap_or_default();
        self.request(url(&self.base, &format!("/{}", encoded_path(name)), &query)?)
    }

    fn request(&self, url: Url) -> Result<Request, StorageError> {
        let mut request = Request::get(url, 0);
        if let Some(found) = &self.keys {
            let scope = Scope { region: &self.region, service: "s3" };
            scope.sign(&mut request, &found.keys, SystemTime::now())?;
        }
        Ok(request)
    }

    /// The way out of an error.
    pub(crate) fn advice(&self, error: &Error) -> String {
        let region = &self.region;
        match (&error.kind, &self.keys) {
            // The service names no target if the bucket is in another region.
            (ErrorKind::Redirect(_), _) => format!(
                "; the bucket may be in another region than {region}, which the host in the address names, as in \
                 \"s3::https://s3.eu-west-1.amazonaws.com/BUCKET/KEY\""
            ),
            (ErrorKind::Status { status: StatusCode::BAD_REQUEST, .. }, _) => {
                format!("; the region of the request was {region}")
            }
            _ if !is_denied(error) => String::new(),
            (_, Some(found)) => format!("; the request had the AWS credentials {}", found.place),
            (_, None) => {
                let why = "; no AWS credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
                           AWS_PROFILE";
                why.to_owned()
            }
        }
    }
}
