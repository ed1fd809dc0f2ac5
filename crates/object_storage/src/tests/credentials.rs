//! Tests of the credentials that a request to S3 has.

use http_client::Url;

use super::server::Server;
use super::storage;
use crate::{AwsKeys, ObjectStorage, S3Address, S3Endpoint};

fn address(profile: Option<&str>) -> S3Address {
    S3Address {
        endpoint: S3Endpoint::Aws { domain: "amazonaws.com" },
        region: None,
        bucket: "modules".to_owned(),
        profile: profile.map(str::to_owned),
        keys: None,
    }
}

/// The URL, the key and the region of a request for `net/a b.zip`, or the error.
async fn used(storage: &ObjectStorage, address: &S3Address) -> String {
    let bucket = match storage.s3(address).await {
        Ok(bucket) => bucket,
        Err(error) => return error.to_string(),
    };
    let request = bucket.object("net/a b.zip", None).expect("can be requested");
    let url = request.url.to_string();
    let token = match request.headers.get("x-amz-security-token") {
        Some(token) => format!(" with {}", token.to_str().expect("text")),
        None => String::new(),
    };
    let Some(credentials) = request.credentials else { return format!("{url} unsigned") };
    let scope: Vec<&str> = credentials.parameter().split(['=', '/', ',']).collect();
    format!("{url} by {} in {}{token}", scope[1], scope[3])
}

/// The files of a user.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(home.path().join(".aws")).expect("can be made");
    let config = "[default]\nregion = eu-west-1\naws_access_key_id = other\n[profile team]\nregion = eu-north-1\n\
                  endpoint_url = https://minio.example:9000/s3/\n[profile role]\nrole_arn = arn:x\n\
                  [profile half]\naws_access_key_id = H\n[profile far]\nregion = evil.example/x\n";
    let credentials = "[default]\naws_access_key_id = FILE\naws_secret_access_key = s3cret\n[team]\n\
                       aws_access_key_id = TEAM\naws_secret_access_key = s3cret\naws_session_token = t0ken\n";
    std::fs::write(home.path().join(".aws/config"), config).expect("can be written");
    std::fs::write(home.path().join(".aws/credentials"), credentials).expect("can be written");
    home
}

const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "ENV"), ("AWS_SECRET_ACCESS_KEY", "s3cret")];
const OFF: (&str, &str) = ("AWS_EC2_METADATA_DISABLED", "true");

#[tokio::test]
async fn keys_come_from_the_environment_or_from_profiles() {
    let home = home();
    let aws = "https://s3.us-east-1.amazonaws.com/modules/net/a%20b.zip";
    let minio = "https://minio.example:9000/s3/modules/net/a%20b.zip";
    for (variables, profile, expected) in [
        (&KEYS[..], None, format!("{aws} by ENV in us-east-1")),
        (&[], None, format!("{aws} by FILE in us-east-1")),
        (&[("AWS_PROFILE", "team")], None, format!("{minio} by TEAM in us-east-1 with t0ken")),
        // The profile in the address replaces the environment.
        (&KEYS, Some("team"), format!("{minio} by TEAM in eu-north-1 with t0ken")),
        (
            &[("AWS_REGION", "eu-south-1")],
            Some("default"),
            format!("{} by FILE in eu-south-1", aws.replace("us-east-1", "eu-south-1")),
        ),
        (
            &[("AWS_SESSION_TOKEN", "x"), KEYS[0], KEYS[1]],
            None,
            format!("{aws} by ENV in us-east-1 with x"),
        ),
        (
            &[("AWS_ENDPOINT_URL", "http://localhost:1/"), KEYS[0], KEYS[1]],
            None,
            "http://localhost:1/modules/net/a%20b.zip by ENV in us-east-1".to_owned(),
        ),
        (
            &[("AWS_SHARED_CREDENTIALS_FILE", "~/none"), ("AWS_CONFIG_FILE", "HOME/none"), OFF],
            None,
            format!("{aws} unsigned"),
        ),
    ] {
        assert_eq!(used(&storage(home.path(), variables), &address(profile)).await, expected);
    }
}

#[tokio::test]
async fn unusable_credentials_are_errors() {
    let home = home();
    for (variables, profile, expected) in [
        (&KEYS[..1], None, "only one of AWS_ACCESS_KEY_ID and"),
        (
            &[],
            Some("role"),
            "the AWS profile \"role\" has role_arn, which is not supported; let \"aws configure",
        ),
        (&[], Some("half"), "has only one of aws_access_key_id and"),
        (&[("AWS_PROFILE", "none")], None, "there is no AWS profile \"none\" in "),
        (&[], Some("far"), "\"evil.example/x\" cannot be the name of a region"),
        (
            &[("AWS_ENDPOINT_URL_S3", "minio"), KEYS[0], KEYS[1]],
            None,
            "the endpoint in place of that of AWS cannot be used",
        ),
        (&[("AWS_CONFIG_FILE", "HOME")], None, "cannot be read"),
        (&[("AWS_WEB_IDENTITY_TOKEN_FILE", "HOME/none")], None, "AWS_ROLE_ARN is not set"),
        (
            &[
                ("AWS_WEB_IDENTITY_TOKEN_FILE", "~/.aws/config"),
                ("AWS_ROLE_ARN", "arn:x"),
                ("AWS_REGION", "evil.example/"),
            ],
            None,
            "\"evil.example/\" cannot be the name of a region",
        ),
    ] {
        let error = used(&storage(home.path(), variables), &address(profile)).await;
        assert!(error.contains(expected), "{error}");
    }
    let odd = S3Address { bucket: "a/../b".to_owned(), ..address(None) };
    let error = used(&storage(home.path(), &KEYS), &odd).await;
    assert_eq!(error, "\"a/../b\" cannot be the name of a bucket");
}

#[tokio::test]
async fn keys_in_the_address_replace_all_others() {
    let home = home();
    let keys = AwsKeys { id: "ADDRESS".to_owned(), secret: "s3cret".to_owned(), token: None };
    let server = Url::parse("http://127.0.0.1:9000").expect("a URL");
    let address = S3Address {
        endpoint: S3Endpoint::Server(server),
        region: Some("here".to_owned()),
        keys: Some(keys),
        ..address(None)
    };
    let expected = "http://127.0.0.1:9000/modules/net/a%20b.zip by ADDRESS in here";
    assert_eq!(used(&storage(home.path(), &KEYS), &address).await, expected);
    assert!(!format!("{address:?}").contains("s3cret"));
}

const SERVED: &str =
    r#"{"Code": "Success", "AccessKeyId": "SERVED", "SecretAccessKey": "s3cret", "Token": "t"}"#;

#[tokio::test]
async fn keys_come_from_the_service_of_the_container() {
    let none = tempfile::tempdir().expect("a directory");
    let server = Server::start(|request| {
        request.contains("authorization: t0ken\r\n").then(|| SERVED.to_owned())
    });
    let url = format!("{}/v2/keys", server.url);
    let variables = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*url),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "t0ken"),
    ];
    let access = storage(none.path(), &variables);
    let expected =
        "https://s3.us-east-1.amazonaws.com/modules/net/a%20b.zip by SERVED in us-east-1 with t";
    assert_eq!(used(&access, &address(None)).await, expected);
    assert_eq!(used(&access, &address(None)).await, expected);
    assert_eq!(server.requests().len(), 1);
    let plain = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://keys.example/")];
    let error = used(&storage(none.path(), &plain), &address(None)).await;
    assert!(error.contains("http://keys.example/ is not encrypted"), "{error}");
    let silent = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*url)];
    let error = used(&storage(none.path(), &silent), &address(None)).await;
    assert!(error.contains("the status 404"), "{error}");
}

#[tokio::test]
async fn keys_come_from_the_service_of_the_instance() {
    let none = tempfile::tempdir().expect("a directory");
    let server = Server::start(|request| {
        let path = request.split(' ').nth(1)?;
        match (path, request.contains("x-aws-ec2-metadata-token: s3ssion\r\n")) {
            ("/latest/api/token", _) if request.starts_with("PUT ") => Some("s3ssion".to_owned()),
            ("/latest/meta-data/iam/security-credentials/", true) => {
                Some("a role\nanother\n".to_owned())
            }
            ("/latest/meta-data/iam/security-credentials/a%20role", true) => {
                Some(SERVED.to_owned())
            }
            _ => None,
        }
    });
    let variables = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", &*server.url)];
    let expected =
        "https://s3.us-east-1.amazonaws.com/modules/net/a%20b.zip by SERVED in us-east-1 with t";
    assert_eq!(used(&storage(none.path(), &variables), &address(None)).await, expected);
    assert_eq!(server.requests().len(), 3);
    let off = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", &*server.url), OFF];
    assert!(used(&storage(none.path(), &off), &address(None)).await.ends_with(" unsigned"));
    let odd = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1")];
    assert!(used(&storage(none.path(), &odd), &address(None)).await.ends_with(" unsigned"));
}

#[tokio::test]
async fn keys_of_a_role_come_for_the_identity_of_a_workload() {
    let home = tempfile::tempdir().expect("a directory");
    std::fs::write(home.path().join("token"), "id3ntity=\n").expect("can be written");
    let server = Server::start(|request| {
        let expected = "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&RoleSessionName=mayfly&WebIdentityToken=id3ntity%3D";
        let answer = "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\
                      <AssumeRoleWithWebIdentityResult><Credentials><SessionToken>t</SessionToken>\
                      <SecretAccessKey>s3cret</SecretAccessKey><AccessKeyId>ROLE</AccessKeyId></Credentials>\
                      </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";
        (request.starts_with("POST / ") && request.ends_with(expected)).then(|| answer.to_owned())
    });
    let variables = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "HOME/token"),
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/r"),
        ("AWS_ENDPOINT_URL_STS", &*server.url),
    ];
    let expected =
        "https://s3.us-east-1.amazonaws.com/modules/net/a%20b.zip by ROLE in us-east-1 with t";
    assert_eq!(used(&storage(home.path(), &variables), &address(None)).await, expected);
}
