//! Tests of downloads, which continue after an interruption.

use std::time::Duration;

use tokio::fs::File;

use super::server::{Step, World, answer, head, request};
use crate::{Error, ErrorKind, Progress};

const A: &str = "a.example:443";
const B: &str = "b.example:443";
const TAG: &str = "etag: \"v1\"";

fn world() -> World {
    World::new(&["a.example", "b.example"])
}

/// Downloads `https://a.example/f`. Returns the content of the file and the largest progress.
async fn download(world: &World, most: u64) -> Result<(String, Option<Progress>), Error> {
    let path = world.files.path().join("file");
    let mut file = File::create(&path).await.expect("writable");
    let mut request = request("https://a.example/f");
    request.max_bytes = most;
    let mut last = None;
    world.client().download(&request, &mut file, &mut |it| last = Some(it)).await?;
    Ok((std::fs::read_to_string(path).expect("readable"), last))
}

async fn text(world: &World) -> Result<String, Error> {
    download(world, 100).await.map(|(text, _)| text)
}

/// An answer that ends in the middle of its body.
fn truncated(headers: &[&str], length: usize, body: &str) -> Vec<Step> {
    let bytes = [head("200 OK", headers, length), body.as_bytes().to_vec()].concat();
    // The client gets the bytes before the end of the connection.
    vec![Step::Send(bytes), Step::Wait(Duration::from_millis(1)), Step::Close]
}

fn partial(range: &str, body: &str) -> Vec<Step> {
    answer("206 Partial Content", &[&format!("content-range: {range}"), TAG], body.as_bytes())
}

#[tokio::test(start_paused = true)]
async fn download_reports_progress() {
    let world = world();
    world.answers(A, [answer("200 OK", &[], b"hello")]);
    let progress = Progress { received: 5, total: Some(5) };
    let (text, last) = download(&world, 5).await.expect("a file");
    assert_eq!((&*text, last), ("hello", Some(progress)));
}

#[tokio::test(start_paused = true)]
async fn truncated_download_is_resumed() {
    let world = world();
    world.answers(A, [truncated(&[TAG], 10, "hello"), partial("bytes 5-9/10", "world")]);
    let progress = Progress { received: 10, total: Some(10) };
    let (text, last) = download(&world, 10).await.expect("a file");
    assert_eq!((&*text, last), ("helloworld", Some(progress)));
    let heads = world.heads();
    assert!(!heads[0].contains("range:"), "{heads:?}");
    assert!(heads[1].contains("\r\nrange: bytes=5-\r\nif-range: \"v1\"\r\n"), "{heads:?}");
}

#[tokio::test(start_paused = true)]
async fn truncated_download_behind_a_redirect_is_resumed() {
    let world = world();
    let moved = || answer("302 Found", &["location: https://b.example/g"], b"");
    world.answers(A, [moved(), moved()]);
    world.answers(B, [truncated(&[TAG], 10, "hello"), partial("bytes 5-9/10", "world")]);
    assert_eq!(text(&world).await.expect("a file"), "helloworld");
}

#[tokio::test(start_paused = true)]
async fn changed_file_is_downloaded_again() {
    let world = world();
    world.answers(A, [truncated(&[TAG], 10, "hello"), answer("200 OK", &[], b"new")]);
    assert_eq!(text(&world).await.expect("a file"), "new");
    let gone = answer("416 Range Not Satisfiable", &[], b"");
    world.answers(A, [truncated(&[TAG], 10, "hello"), gone, answer("200 OK", &[], b"new")]);
    assert_eq!(text(&world).await.expect("a file"), "new");
}

#[tokio::test(start_paused = true)]
async fn file_without_a_strong_etag_is_downloaded_again() {
    for headers in [&[][..], &["etag: W/\"v1\""]] {
        let world = world();
        world.answers(A, [truncated(headers, 10, "hello"), answer("200 OK", &[], b"helloworld")]);
        assert_eq!(text(&world).await.expect("a file"), "helloworld");
        assert!(!world.heads()[1].contains("range:"));
    }
}

#[tokio::test(start_paused = true)]
async fn unrequested_range_is_refused() {
    for range in ["bytes 4-8/10", "bytes 0-4/10", "x", "bytes */10"] {
        let world = world();
        world.answers(A, [truncated(&[TAG], 10, "hello"), partial(range, "world")]);
        let error = text(&world).await.expect_err(range);
        assert!(matches!(error.kind, ErrorKind::Protocol(_)), "{error}");
    }
    let world = world();
    world.answers(A, [partial("bytes 0-4/5", "hello")]);
    assert!(text(&world).await.is_err(), "a part that was not requested");
}

#[tokio::test(start_paused = true)]
async fn download_beyond_the_limit_is_refused() {
    let world = world();
    world.answers(A, [answer("200 OK", &[], b"hello")]);
    let error = download(&world, 4).await.expect_err("too large");
    assert_eq!(error.to_string(), "the answer is larger than 4 bytes");
    world.answers(A, [truncated(&[TAG], 7, "hello"), partial("bytes 5-9/10", "world")]);
    let error = download(&world, 7).await.expect_err("too large");
    assert_eq!(error.to_string(), "the answer is larger than 7 bytes");
}

#[tokio::test(start_paused = true)]
async fn repeatedly_truncated_download_is_an_error() {
    let world = world();
    world.answers(A, std::iter::repeat_with(|| truncated(&[TAG], 10, "")).take(10));
    let error = text(&world).await.expect_err("never whole");
    assert!(matches!(error.kind, ErrorKind::Truncated { .. }), "{error}");
    assert_eq!(world.heads().len(), 3);
    // A single byte in each answer does not keep the download going.
    let drip = |at: usize| match at {
        0 => truncated(&[TAG], 1000, "x"),
        _ => {
            let range = format!("content-range: bytes {at}-999/1000");
            let bytes = head("206 Partial Content", &[&range, TAG], 1000 - at);
            let bytes = [bytes, b"x".to_vec()].concat();
            vec![Step::Send(bytes), Step::Wait(Duration::from_millis(1)), Step::Close]
        }
    };
    let world = self::world();
    world.answers(A, (0..100).map(drip));
    assert!(download(&world, 1000).await.is_err());
    assert_eq!(world.heads().len(), 40);
}

#[tokio::test(start_paused = true)]
async fn a_missing_file_is_an_error() {
    let world = world();
    world.answers(A, [answer("404 Not Found", &[], b"page")]);
    let error = text(&world).await.expect_err("no file");
    assert!(matches!(error.kind, ErrorKind::Status { .. }), "{error}");
}
