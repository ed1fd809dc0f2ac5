//! Tests of buckets of Google Cloud Storage and of the search for a token.

use std::path::Path;

use super::server::Server;
use super::storage;

const KEY: &str = include_str!("data/rsa.pem");

/// The header of a request for an object, or the error.
async fn used(home: &Path, variables: &[(&str, &str)]) -> String {
    let access = storage(home, variables);
    match access.google("modules").await {
        Ok(bucket) => {
            let request = bucket.object("net/a b.zip", Some("7")).expect("can be requested");
            let token = request.credentials.as_ref().map_or("none", |it| it.parameter()).to_owned();
            format!("{} {token}", request.url.expose())
        }
        Err(error) => error.to_string().replace(&home.display().to_string(), "HOME"),
    }
}

const OBJECT: &str =
    "https://storage.googleapis.com/storage/v1/b/modules/o/net%2Fa%20b.zip?alt=media&generation=7";

const NO_INSTANCE: (&str, &str) = ("GCE_METADATA_HOST", "127.0.0.1:1");

#[tokio::test]
async fn token_comes_from_the_environment() {
    let home = tempfile::tempdir().expect("a directory");
    let token = ("GOOGLE_OAUTH_ACCESS_TOKEN", "t0ken");
    assert_eq!(used(home.path(), &[token]).await, format!("{OBJECT} t0ken"));
    assert_eq!(used(home.path(), &[NO_INSTANCE]).await, format!("{OBJECT} none"));
    let error = used(home.path(), &[("GOOGLE_OAUTH_ACCESS_TOKEN", "t0\nken")]).await;
    assert!(error.contains("cannot be used") && !error.contains("ken\""), "{error}");
    // An emulator gets no token.
    for (host, expected) in
        [("localhost:1", "http://localhost:1"), ("https://h:2/x/", "https://h:2/x")]
    {
        let found = used(home.path(), &[token, ("STORAGE_EMULATOR_HOST", host)]).await;
        assert_eq!(
            found,
            format!("{} none", OBJECT.replace("https://storage.googleapis.com", expected))
        );
    }
}

#[tokio::test]
async fn service_account_gets_a_token_for_its_signature() {
    let home = tempfile::tempdir().expect("a directory");
    let server = Server::start(|request| {
        let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
        let (_, assertion) = request.split_once(grant)?;
        let is_signed = request.starts_with("POST /token ") && assertion.split('.').count() == 3;
        is_signed.then(|| r#"{"access_token": "gr4nted", "expires_in": 3599}"#.to_owned())
    });
    let write = |service: &str| {
        let file = serde_json::json!({
            "type": "service_account", "client_email": "robot@example.com", "private_key": KEY,
            "token_uri": service,
        });
        std::fs::write(home.path().join("key.json"), file.to_string()).expect("can be written");
    };
    let variables = [("GOOGLE_APPLICATION_CREDENTIALS", "HOME/key.json")];
    write(&format!("{}/token", server.url));
    assert_eq!(used(home.path(), &variables).await, format!("{OBJECT} gr4nted"));
    write("http://tokens.example/token");
    let expected = "the credentials in HOME/key.json: their token service http://tokens.example/token is not encrypted";
    assert_eq!(used(home.path(), &variables).await, expected);
    let moved = Server::start({
        let target = server.url.clone();
        move |_| {
            let to = format!("location: {target}/token\r\n");
            Some(format!(
                "HTTP/1.1 308 Moved\r\n{to}connection: close\r\ncontent-length: 0\r\n\r\n"
            ))
        }
    });
    drop(server.requests());
    write(&moved.url);
    let error = used(home.path(), &variables).await;
    assert!(error.contains("it would send the content of the request to"), "{error}");
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn unusable_files_are_errors() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("key.json");
    let variables = [("GOOGLE_APPLICATION_CREDENTIALS", "HOME/key.json"), NO_INSTANCE];
    let error = used(home.path(), &variables).await;
    assert!(error.contains("there is no file HOME/key.json"), "{error}");
    for (text, expected) in [
        ("s3cret", "the file has neither a key of a service account nor"),
        ("{\"type\": \"authorized_user\", \"client_secret\": \"s3cret\"}", "the file has neither"),
        (
            "{\"type\": \"external_account\"}",
            "their type is not supported; set GOOGLE_OAUTH_ACCESS_TOKEN to",
        ),
        (
            "{\"type\": \"service_account\", \"client_email\": \"a\", \"private_key\": \"s3cret\", \"token_uri\": \"https://h\"}",
            "their private key is none of RSA",
        ),
    ] {
        std::fs::write(&path, text).expect("can be written");
        let error = used(home.path(), &variables).await;
        assert!(error.contains(expected) && !error.contains("s3cret"), "{error}");
    }
}

#[tokio::test]
async fn token_comes_from_the_service_of_the_instance() {
    let home = tempfile::tempdir().expect("a directory");
    for (flavor, expected) in [("metadata-flavor: Google\r\n", "inst4nce"), ("", "none")] {
        let body = r#"{"access_token": "inst4nce"}"#;
        let answer = format!(
            "HTTP/1.1 200 OK\r\n{flavor}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let server = Server::start(move |request| {
            let path = "GET /computeMetadata/v1/instance/service-accounts/default/token ";
            let is_asked =
                request.starts_with(path) && request.contains("metadata-flavor: Google\r\n");
            is_asked.then(|| answer.clone())
        });
        let host = server.url.trim_start_matches("http://");
        let found = used(home.path(), &[("GCE_METADATA_HOST", host)]).await;
        assert_eq!(found, format!("{OBJECT} {expected}"));
    }
}

#[tokio::test]
async fn objects_of_an_emulator_are_listed() {
    let home = tempfile::tempdir().expect("a directory");
    let server = Server::start(|request| {
        let target = request.split(' ').nth(1)?;
        let first = "/storage/v1/b/modules/o?fields=items(name,size),nextPageToken&maxResults=1000&prefix=net%2F";
        if target == first {
            let items = r#"{"items": [{"name": "net/a", "size": "5"}], "nextPageToken": "p/2"}"#;
            return Some(items.to_owned());
        }
        (target == format!("{first}&pageToken=p%2F2")).then(|| "{}".to_owned())
    });
    let access = storage(home.path(), &[("STORAGE_EMULATOR_HOST", &server.url)]);
    let bucket = access.google("modules").await.expect("a bucket");
    let objects = bucket.list("net/").await.expect("a list");
    assert_eq!(objects.len(), 1);
    assert_eq!((&*objects[0].name, objects[0].size), ("net/a", 5));
    let error = access.google("a/b").await.err().expect("no bucket");
    assert_eq!(error.to_string(), "\"a/b\" cannot be the name of a bucket");
}
