//! Signatures of requests to AWS, version 4.
//!
//! The secret key is the start of a chain of keyed hashes over the day, the region and the service; the last key
//! signs the request. The server computes the same chain.

use std::time::SystemTime;

use hmac::{Hmac, KeyInit, Mac};
use http_client::header::{HeaderName, HeaderValue};
use http_client::{Credentials, Request};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::credentials::AwsKeys;
use crate::error::StorageError;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

const DATE: &str = "x-amz-date";
const CONTENT: &str = "x-amz-content-sha256";
const TOKEN: &str = "x-amz-security-token";

/// The service for which a signature is good.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) region: &'a str,
    pub(crate) service: &'a str,
}

impl Scope<'_> {
    /// Signs a request: its method, host, path, query and body. The path and the query must be encoded once, with
    /// all characters but the unreserved ones (and the slashes of the path).
    ///
    /// # Errors
    /// Returns a [`StorageError`] if a header cannot contain the keys.
    pub(crate) fn sign(
        self,
        request: &mut Request,
        keys: &AwsKeys,
        now: SystemTime,
    ) -> Result<(), StorageError> {
        let unusable =
            || StorageError::refused("the AWS credentials have characters that no key has");
        let now = Timestamp::try_from(now).map_err(|_| unusable())?;
        let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        let mut headers = vec![(CONTENT, digest(&request.body)), (DATE, time.clone())];
        let token = keys.token.as_deref().map(|it| (TOKEN, it.trim().to_owned()));
        headers.extend(token);
        for (name, value) in &headers {
            let mut value = HeaderValue::try_from(value).map_err(|_| unusable())?;
            value.set_sensitive(*name == TOKEN);
            request.headers.insert(HeaderName::from_static(name), value);
        }
        headers.insert(0, ("host", request.url.host_and_port()));
        let parameters = self.parameters(request, &headers, keys, &time);
        let credentials = Credentials::with_scheme(ALGORITHM, &parameters).ok_or_else(unusable)?;
        request.credentials = Some(credentials);
        Ok(())
    }

    /// The parameters of the `Authorization` header. The headers are in the order of their names.
    fn parameters(
        self,
        request: &Request,
        headers: &[(&str, String)],
        keys: &AwsKeys,
        time: &str,
    ) -> String {
        let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
        let headers: String =
            headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let (method, path, content) = (&request.method, request.url.path(), digest(&request.body));
        let query = sorted(request.url.query().unwrap_or_default());
        let canonical = format!("{method}\n{path}\n{query}\n{headers}\n{names}\n{content}");
        let day = &time[..8];
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let text = format!("{ALGORITHM}\n{time}\n{scope}\n{}", digest(canonical.as_bytes()));
        let signature = base16ct::lower::encode_string(&keyed(&self.key(&keys.secret, day), &text));
        format!("Credential={}/{scope}, SignedHeaders={names}, Signature={signature}", keys.id)
    }

    fn key(self, secret: &str, day: &str) -> Vec<u8> {
        let start = format!("AWS4{secret}").into_bytes();
        [day, self.region, self.service, "aws4_request"]
            .iter()
            .fold(start, |key, it| keyed(&key, it))
    }
}

fn digest(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of HMAC may have any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// The parameters in their order. One without a value gets an empty one.
fn sorted(query: &str) -> String {
    let parameters = query.split('&').filter(|it| !it.is_empty());
    let mut parameters: Vec<(&str, &str)> =
        parameters.map(|it| it.split_once('=').unwrap_or((it, ""))).collect();
    parameters.sort_unstable();
    let parameters: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    parameters.join("&")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_client::Url;

    use super::*;

    /// The signature with the keys of the documentation of AWS, at the beginning of 24 May 2013.
    #[track_caller]
    fn check(url: &str, token: Option<&str>, expected: &str) {
        let mut request = Request::get(Url::parse(url).expect("a URL"), 0);
        let keys = AwsKeys {
            id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            token: token.map(str::to_owned),
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_369_353_600);
        let scope = Scope { region: "us-east-1", service: "s3" };
        scope.sign(&mut request, &keys, now).expect("can be signed");
        let parameters = request.credentials.expect("is signed").parameter().to_owned();
        let names = match token {
            Some(_) => "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
            None => "host;x-amz-content-sha256;x-amz-date",
        };
        let scope = "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request";
        assert_eq!(parameters, format!("{scope}, SignedHeaders={names}, Signature={expected}"));
        assert_eq!(request.headers["x-amz-date"], "20130524T000000Z");
        assert_eq!(request.headers.get("x-amz-security-token").is_some(), token.is_some());
    }

    /// The first two signatures are those of the examples in AWS's documentation of S3; botocore made the others.
    #[test]
    fn signatures_are_those_that_aws_expects() {
        let bucket = "https://examplebucket.s3.amazonaws.com";
        check(
            &format!("{bucket}/?prefix=J&max-keys=2"),
            None,
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        );
        check(
            &format!("{bucket}/?lifecycle"),
            None,
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        );
        check(
            "https://s3.us-east-1.amazonaws.com/b/a%20b/%C3%BC.zip?versionId=x%2By",
            Some("TOKEN/=="),
            "5740b443fd8a60911e3e092443db13765cd1c2f604f707a2677a2813d46b185f",
        );
        check(
            "http://127.0.0.1:9000/b?list-type=2&prefix=a%2Fb&continuation-token=x%3D",
            None,
            "33c138f61573fc8e669d359551bbec7a14c9d4e62d9446aa3ec64f427b24f00d",
        );
    }
}
