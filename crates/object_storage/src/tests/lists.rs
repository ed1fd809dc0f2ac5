//! Tests of lists of objects, and of servers that do not end them.

use http_client::Url;

use super::server::Server;
use super::storage;
use crate::{AwsKeys, S3Address, S3Endpoint};

/// The objects below `net/` that a server lists, or the error.
async fn listed(server: &Server) -> String {
    let home = tempfile::tempdir().expect("a directory");
    let keys = AwsKeys { id: "id".to_owned(), secret: "s3cret".to_owned(), token: None };
    let address = S3Address {
        endpoint: S3Endpoint::Server(Url::parse(&server.url).expect("a URL")),
        region: None,
        bucket: "modules".to_owned(),
        profile: None,
        keys: Some(keys),
    };
    let access = storage(home.path(), &[]);
    let bucket = access.s3(&address).await.expect("a bucket");
    match bucket.list("net/").await {
        Ok(objects) => objects.iter().map(|it| format!("{} {}\n", it.name, it.size)).collect(),
        Err(error) => error.to_string(),
    }
}

fn page(names: &[&str], next: Option<&str>) -> String {
    let entries: String = names
        .iter()
        .map(|it| format!("<Contents><Key>{it}</Key><Size>{}</Size></Contents>", it.len()))
        .collect();
    let next = match next {
        Some(token) => format!(
            "<IsTruncated>true</IsTruncated><NextContinuationToken>{token}</NextContinuationToken>"
        ),
        None => "<IsTruncated>false</IsTruncated>".to_owned(),
    };
    format!("<ListBucketResult>{entries}{next}</ListBucketResult>")
}

#[tokio::test]
async fn all_pages_of_a_list_are_read() {
    let server = Server::start(|request| {
        let target = request.split(' ').nth(1)?;
        match target {
            "/modules?list-type=2&prefix=net%2F" => Some(page(&["net/a"], Some("t/1="))),
            "/modules?list-type=2&prefix=net%2F&continuation-token=t%2F1%3D" => {
                Some(page(&["net/b/c"], None))
            }
            _ => None,
        }
    });
    assert_eq!(listed(&server).await, "net/a 5\nnet/b/c 7\n");
    for request in server.requests() {
        assert!(request.contains("authorization: AWS4-HMAC-SHA256 Credential=id/"), "{request}");
        assert!(!request.contains("s3cret"), "{request}");
    }
}

#[tokio::test]
async fn endless_and_odd_lists_are_refused() {
    for (answer, expected) in [
        (page(&["net/a"], Some("same")), "its list does not end, or has more than 200000 objects"),
        (page(&["other/a"], None), "its list has \"other/a\", which was not asked for"),
        (
            page(&[&format!("net/{}", "x".repeat(1021))], None),
            "its list has a name with more than 1024 bytes",
        ),
        ("<html/>".to_owned(), "the list of its objects is not understood"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n".to_owned(),
            "the answer is larger than 8388608 bytes",
        ),
        (
            "HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned(),
            "the server answered with the status 403 Forbidden; the request had the AWS credentials in the address",
        ),
        (
            "HTTP/1.1 301 Moved Permanently\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                .to_owned(),
            "the redirect of the server is refused: it does not say where to; the bucket may be in another region \
             than us-east-1, which the host in the address names, as in \
             \"s3::https://s3.eu-west-1.amazonaws.com/BUCKET/KEY\"",
        ),
    ] {
        let server = Server::start(move |_| Some(answer.clone()));
        assert_eq!(listed(&server).await, expected);
    }
}

/// Each page has another token, so that only the number of pages or objects ends the list.
#[tokio::test]
async fn number_of_pages_is_limited() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::start(move |_| {
        let count = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(page(&[], Some(&count.to_string())))
    });
    assert_eq!(listed(&server).await, "its list does not end, or has more than 200000 objects");
    assert_eq!(server.requests().len(), 400);
}

#[tokio::test]
async fn signature_does_not_follow_a_redirect_to_another_server() {
    let other = Server::start(|_| Some(page(&["net/a"], None)));
    let moved = format!(
        "HTTP/1.1 307 Moved\r\nlocation: {}/modules\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
        other.url
    );
    let server = Server::start(move |_| Some(moved.clone()));
    assert_eq!(listed(&server).await, "net/a 5\n");
    let requests = other.requests();
    assert!(
        !requests[0].contains("authorization") && !requests[0].contains("x-amz"),
        "{requests:?}"
    );
}
