//! Tests of requests: status, retries, redirects, proxies, bounds.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::server::{Step, World, answer, head, request};
use crate::{Client, Credentials, Error, ErrorKind, Proxies, Request, Url};

const A: &str = "a.example:443";
const B: &str = "b.example:443";

fn world() -> World {
    World::new(&["a.example", "b.example"])
}

fn secret_request(url: &str) -> Request {
    let mut request = request(url);
    request.credentials = Credentials::bearer("t0ken");
    let header = (HeaderName::from_static("x-key"), HeaderValue::from_static("k3y"));
    request.headers.extend([header]);
    request
}

fn has_secret(head: &str) -> bool {
    head.contains("t0ken") || head.contains("k3y")
}

#[tokio::test(start_paused = true)]
async fn request_has_a_user_agent_and_returns_the_response() {
    let world = world();
    world.answers(A, [answer("200 OK", &["x-a: b"], b"hello")]);
    let response = world.get("https://a.example/x?y=z").await.expect("an answer");
    assert_eq!(
        (response.status, &response.headers["x-a"]),
        (StatusCode::OK, &"b".parse().unwrap())
    );
    assert_eq!(response.body.size(), Some(5));
    assert_eq!(response.body.bytes().await.expect("a body"), "hello");
    let heads = world.heads();
    assert!(heads[0].starts_with("a.example:443 GET /x?y=z HTTP/1.1\r\n"), "{heads:?}");
    assert!(heads[0].contains("user-agent: Test/1\r\n"), "{heads:?}");
    assert!(heads[0].contains("host: a.example\r\n"), "{heads:?}");
}

#[tokio::test(start_paused = true)]
async fn a_missing_page_is_an_error_without_retry() {
    let world = world();
    world.answers(A, [answer("404 Not Found", &[], b"")]);
    let error = world.text("https://a.example/x?token=s3cret").await.expect_err("no page");
    assert_eq!(error.to_string(), "the server answered with the status 404 Not Found");
    assert_eq!(error.url.to_string(), "https://a.example/x");
    assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    assert_eq!(world.heads().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn retry_after_header_sets_the_pause() {
    let world = world();
    world.answers(
        A,
        [
            answer("429 Too Many Requests", &["retry-after: 7"], b"later"),
            answer("200 OK", &[], b"now"),
        ],
    );
    let begin = Instant::now();
    assert_eq!(world.text("https://a.example/").await.expect("an answer"), "now");
    assert_eq!(begin.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn long_retry_after_prevents_a_retry() {
    let world = world();
    world.answers(A, [answer("429 Too Many Requests", &["retry-after: 3600"], b"")]);
    let error = world.text("https://a.example/").await.expect_err("no answer");
    let text =
        "the server answered with the status 429 Too Many Requests and asks to wait 3600 seconds";
    assert_eq!(error.to_string(), text);
}

#[tokio::test(start_paused = true)]
async fn failing_server_is_retried_with_growing_pauses() {
    let world = world();
    let busy = || answer("503 Service Unavailable", &[], b"");
    world.answers(A, [busy(), vec![Step::Close], answer("200 OK", &[], b"up")]);
    let begin = Instant::now();
    assert_eq!(world.text("https://a.example/").await.expect("an answer"), "up");
    let pauses = begin.elapsed().as_secs_f64();
    assert!((3.0..3.8).contains(&pauses), "{pauses}");
    world.answers(A, [busy(), busy(), busy()]);
    assert!(world.text("https://a.example/").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn post_request_is_not_retried() {
    let world = world();
    world.answers(A, [answer("503 Service Unavailable", &[], b""), answer("200 OK", &[], b"")]);
    let mut post = request("https://a.example/");
    post.method = Method::POST;
    let response = world.client().send(&post).await.expect("an answer");
    assert_eq!(response.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(world.heads().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_another_origin_loses_credentials_and_headers() {
    for target in ["https://b.example/y?z", "//b.example/y?z", "https://a.example:8443/y?z"] {
        let world = world();
        world.answers(A, [answer("302 Found", &[&format!("location: {target}")], b"")]);
        for server in [B, "a.example:8443"] {
            world.answers(server, [answer("200 OK", &[], b"there")]);
        }
        let response = world.client().send(&secret_request("https://a.example/x")).await;
        let response = response.expect(target);
        assert_eq!(response.status, StatusCode::OK);
        let heads = world.heads();
        assert!(has_secret(&heads[0]) && !has_secret(&heads[1]), "{heads:?}");
        assert!(heads[1].contains("GET /y?z HTTP/1.1"), "{heads:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_and_back_does_not_restore_credentials() {
    let world = world();
    world.answers(
        A,
        [
            answer("307 Temporary Redirect", &["location: https://b.example/"], b""),
            answer("200 OK", &[], b""),
        ],
    );
    world.answers(B, [answer("307 Temporary Redirect", &["location: https://a.example/2"], b"")]);
    drop(world.client().send(&secret_request("https://a.example/1")).await.expect("an answer"));
    assert_eq!(
        world.heads().iter().map(|it| has_secret(it)).collect::<Vec<_>>(),
        [true, false, false]
    );
}

#[tokio::test(start_paused = true)]
async fn a_redirect_within_the_origin_keeps_credentials() {
    let world = world();
    world.answers(
        A,
        [answer("301 Moved Permanently", &["location: y"], b""), answer("200 OK", &[], b"")],
    );
    drop(world.client().send(&secret_request("https://a.example/d/x")).await.expect("an answer"));
    let heads = world.heads();
    assert!(heads[1].contains("GET /d/y ") && has_secret(&heads[1]), "{heads:?}");
}

async fn refused(world: &World, status: &str, location: &str) -> String {
    world.answers(A, [answer(status, &[&format!("location: {location}")], b"")]);
    let error = world.get("https://a.example/").await.err().expect("refused");
    assert!(matches!(error.kind, ErrorKind::Redirect(_)), "{error}");
    error.to_string()
}

#[tokio::test(start_paused = true)]
async fn a_redirect_without_encryption_is_refused() {
    let world = world();
    let error = refused(&world, "302 Found", "http://u:p@b.example/y?token=s3cret").await;
    let expected = "the redirect of the server is refused: it leads to http://b.example/y, which is not encrypted";
    assert_eq!(error, expected);
    assert_eq!(world.heads().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn redirect_to_another_scheme_is_refused() {
    let world = world();
    for location in
        ["file:///etc/passwd", "gopher://b.example/", "https://", "https://b.example/ x"]
    {
        refused(&world, "302 Found", location).await;
    }
    world.answers(A, [answer("302 Found", &[], b"")]);
    assert!(world.get("https://a.example/").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn number_of_redirects_is_limited() {
    let world = world();
    let again = || answer("302 Found", &["location: /again"], b"");
    world.answers(A, std::iter::repeat_with(again).take(50));
    let error = world.get("https://a.example/").await.err().expect("refused");
    assert!(matches!(error.kind, ErrorKind::Redirect(_)), "{error}");
    assert_eq!(world.heads().len(), 11);
}

#[tokio::test(start_paused = true)]
async fn redirected_post_becomes_a_get() {
    let world = world();
    world.answers(A, [answer("303 See Other", &["location: /y"], b""), answer("200 OK", &[], b"")]);
    let mut post = request("https://a.example/x");
    (post.method, post.body) = (Method::POST, Bytes::from_static(b""));
    drop(world.client().send(&post).await.expect("an answer"));
    assert!(world.heads()[1].contains("GET /y "));
}

#[tokio::test(start_paused = true)]
async fn request_body_is_not_redirected_to_another_origin() {
    let world = world();
    world.answers(A, [answer("308 Permanent Redirect", &["location: https://b.example/"], b"")]);
    let mut put = request("https://a.example/x");
    (put.method, put.body) = (Method::PUT, Bytes::from_static(b"state"));
    let error = world.client().send(&put).await.err().expect("refused");
    assert!(matches!(error.kind, ErrorKind::Redirect(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn response_body_beyond_the_limit_is_refused() {
    let world = world();
    let mut small = request("https://a.example/");
    small.max_bytes = 4;
    let chunked =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n".to_vec();
    for steps in [answer("200 OK", &[], b"hello"), vec![Step::Send(chunked)]] {
        world.answers(A, [steps]);
        let response = world.client().send(&small).await.expect("a head");
        let error = response.body.bytes().await.expect_err("too large");
        assert_eq!(error.to_string(), "the answer is larger than 4 bytes");
    }
}

#[tokio::test(start_paused = true)]
async fn response_head_beyond_the_limit_is_refused() {
    let world = world();
    let long = format!("x: {}", "y".repeat(1 << 20));
    let many: Vec<String> = (0..500).map(|it| format!("x{it}: y")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for headers in [&[&*long][..], &many] {
        world.answers(A, [answer("200 OK", headers, b"")]);
        let error = world.get("https://a.example/").await.err().expect("too large");
        assert!(matches!(error.kind, ErrorKind::Protocol(_)), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn response_of_another_protocol_is_refused() {
    let world = world();
    world.answers(A, [vec![Step::Send(b"SSH-2.0-OpenSSH\r\n".to_vec()), Step::Close]]);
    let error = world.get("https://a.example/").await.err().expect("no HTTP");
    assert!(matches!(error.kind, ErrorKind::Protocol(_)), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn silent_server_times_out() {
    let world = world();
    let silent = || vec![Step::Wait(Duration::from_secs(3600))];
    world.answers(A, [silent(), silent(), silent()]);
    let begin = Instant::now();
    let error = world.get("https://a.example/").await.err().expect("no answer");
    assert_eq!(error.to_string(), "the server did not answer within 20 seconds");
    assert!((60..65).contains(&begin.elapsed().as_secs()));
}

async fn slow(step: Duration) -> (Error, u64) {
    let world = world();
    let mut steps = vec![Step::Send(head("200 OK", &[], 1000))];
    for _ in 0..1000 {
        steps.extend([Step::Wait(step), Step::Send(b"x".to_vec())]);
    }
    world.answers(A, [steps]);
    let begin = Instant::now();
    let error = world.text("https://a.example/").await.expect_err("too slow");
    (error, begin.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn slow_response_body_times_out() {
    let (error, seconds) = slow(Duration::from_secs(11)).await;
    assert!(matches!(error.kind, ErrorKind::Slow { received: 0 }), "{error}");
    assert_eq!(seconds, 10);
    // Single bytes do not keep the transfer alive.
    let (error, seconds) = slow(Duration::from_secs(3)).await;
    assert!(matches!(error.kind, ErrorKind::Slow { received: 3 }), "{error}");
    assert_eq!(seconds, 10);
}

#[tokio::test(start_paused = true)]
async fn certificate_of_another_host_is_refused() {
    let world = World::new(&["a.example"]);
    world.answers(B, [answer("200 OK", &[], b"")]);
    let error = world.get("https://b.example/").await.err().expect("not trusted");
    assert!(matches!(error.kind, ErrorKind::Certificate { .. }), "{error:?}");
    assert!(world.heads().is_empty());
}

#[tokio::test(start_paused = true)]
async fn certificate_of_an_unknown_authority_is_refused() {
    let (world, other) = (world(), world());
    world.answers(A, [answer("200 OK", &[], b"")]);
    let error = world.client_with(other.config()).send(&request("https://a.example/")).await;
    let error = error.err().expect("not trusted");
    assert!(matches!(error.kind, ErrorKind::Certificate { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn unknown_host_error_names_the_host() {
    let error = world().get("https://c.example/x?token=s3cret").await.err().expect("unknown");
    assert_eq!(error.to_string(), "failed to connect to c.example: no such server");
}

fn through_proxy(world: &World) -> Client {
    let mut config = world.config();
    config.proxies = Proxies::from_environment(&|name| match name {
        "HTTPS_PROXY" | "HTTP_PROXY" => Some("http://user:passw0rd@proxy.example:3128".to_owned()),
        _ => None,
    });
    world.client_with(config)
}

#[tokio::test(start_paused = true)]
async fn https_request_is_tunnelled_through_the_proxy() {
    let world = world();
    let connected = b"HTTP/1.1 200 Connection established\r\n\r\n".to_vec();
    world.answers("proxy.example:3128", [vec![Step::Send(connected), Step::Tunnel]]);
    world.answers(A, [answer("200 OK", &[], b"")]);
    let request = secret_request("https://a.example/x");
    drop(through_proxy(&world).send(&request).await.expect("an answer"));
    let heads = world.heads();
    assert!(heads[0].starts_with("proxy.example:3128 CONNECT a.example:443 "), "{heads:?}");
    assert!(heads[0].contains("Proxy-Authorization: Basic "), "{heads:?}");
    assert!(!has_secret(&heads[0]), "{heads:?}");
    assert!(heads[1].starts_with("a.example:443 GET /x HTTP/1.1"), "{heads:?}");
    assert!(!heads[1].to_lowercase().contains("proxy-authorization"), "{heads:?}");
}

#[tokio::test(start_paused = true)]
async fn refusing_proxy_is_named_without_its_password() {
    let world = world();
    let refusal = answer("407 Proxy Authentication Required", &[], b"");
    world.answers("proxy.example:3128", [refusal]);
    let error = through_proxy(&world).send(&request("https://a.example/")).await;
    let error = error.err().expect("refused");
    assert!(matches!(error.kind, ErrorKind::Proxy { .. }), "{error:?}");
    assert!(error.to_string().starts_with("the proxy proxy.example failed: "), "{error}");
    assert!(!format!("{error:?}").contains("passw0rd"));
}

#[tokio::test(start_paused = true)]
async fn proxy_gets_the_absolute_url_of_an_http_request() {
    let world = world();
    world.answers("proxy.example:3128", [answer("200 OK", &[], b"")]);
    drop(through_proxy(&world).send(&request("http://a.example/x")).await.expect("an answer"));
    let heads = world.heads();
    assert!(
        heads[0].starts_with("proxy.example:3128 GET http://a.example/x HTTP/1.1"),
        "{heads:?}"
    );
    assert!(heads[0].contains("proxy-authorization: Basic "), "{heads:?}");
}

#[tokio::test]
async fn request_is_sent_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let mut head = vec![0; 1 << 10];
        let length = stream.read(&mut head).await.expect("a request");
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.expect("open");
        String::from_utf8_lossy(&head[..length]).into_owned()
    });
    let client = Client::new(world().config());
    let url = Url::parse(&format!("http://127.0.0.1:{port}/x")).expect("a URL");
    let response = client.send(&Request::get(url, 10)).await.expect("an answer");
    assert_eq!(response.body.bytes().await.expect("a body"), "ok");
    assert!(server.await.expect("a request").starts_with("GET /x HTTP/1.1\r\n"));
}
