//! Tests of packages from a web server.

use super::*;

/// Serves one answer, and returns the URL of the server and its request.
fn server(answer: Vec<u8>) -> (String, std::thread::JoinHandle<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let serve = move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            std::io::Read::read_exact(&mut stream, &mut byte).expect("a request");
            head.push(byte[0]);
        }
        stream.write_all(&answer).expect("open");
        String::from_utf8_lossy(&head).into_owned()
    };
    (url, std::thread::spawn(serve))
}

fn zipped(name: &str, text: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file(name, SimpleFileOptions::default()).expect("in memory");
    zip.write_all(text.as_bytes()).expect("in memory");
    zip.finish().expect("in memory").into_inner()
}

fn ok(body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[test]
fn archive_is_fetched_from_a_web_server() {
    let (url, serving) = server(ok(&zipped("main.tf", "# web\n")));
    let mut bench = Bench::new();
    let address = url.replace("http://", "http://user:passw0rd@");
    let package = bench.package(&format!("{address}/net?archive=zip&token=s3cret"));
    assert_eq!(bench.install(&[&package]).expect("is installed"), ["Fetching call0"]);
    assert_eq!(files(&bench.only_directory()), "main.tf\n");
    let head = serving.join().expect("a request");
    assert!(head.starts_with("GET /net?token=s3cret HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nauthorization: Basic "), "{head}");
    // The locked package is in place, so the server, which is gone, is not needed.
    assert_eq!(bench.install(&[&package]).expect("is in place"), ["call0"]);
    let lock = bench.locks.to_text();
    assert!(!lock.contains("passw0rd") && !lock.contains("s3cret"), "{lock}");
}

#[test]
fn missing_or_invalid_web_archive_is_an_error() {
    let missing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec();
    for (answer, expected) in [
        (missing, "the server answered with the status 404 Not Found"),
        (ok(b"<html>"), "invalid Zip archive"),
        (ok(&zipped("../main.tf", "")), "is outside of it"),
    ] {
        let (url, serving) = server(answer);
        let mut bench = Bench::new();
        let package = bench.package(&format!("{url}/net.zip"));
        let error = bench.install(&[&package]).expect_err(expected);
        assert!(error.contains(expected), "{error}");
        assert!(bench.locks.modules.is_empty());
        serving.join().expect("a request");
    }
}

#[test]
fn url_without_a_supported_archive_is_not_fetched() {
    let mut bench = Bench::new();
    for (address, expected) in [
        ("https://example.com/net.tar.xz", "cannot be unpacked"),
        ("https://example.com/net.zip?checksum=md5:1", "\"checksum\" is not understood"),
    ] {
        let package = bench.package(address);
        let error = bench.install(&[&package]).expect_err(address);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn packages_are_installed_concurrently() {
    let mut bench = Bench::new();
    let names: Vec<String> = (0..20).map(|it| format!("d{it}")).collect();
    let packages: Vec<ModulePackage> = names
        .iter()
        .map(|name| {
            bench.write(&format!("{name}/main.tf"), &format!("# {name}\n"));
            bench.at(name)
        })
        .collect();
    let packages: Vec<&ModulePackage> = packages.iter().collect();
    let done = bench.install(&packages).expect("are installed");
    let expected: Vec<_> = (0..20).map(|it| format!("Fetching call{it}")).collect();
    assert_eq!(done, expected);
    let expected: Vec<_> = (0..20).map(|it| format!("call{it}")).collect();
    assert_eq!(bench.install(&packages).expect("are in place"), expected);
}

#[test]
fn urls_that_differ_only_in_hidden_parameters_are_refused() {
    let mut bench = Bench::new();
    let package = |query: &str| bench.package(&format!("http://127.0.0.1:1/net.zip?{query}"));
    let (one, other) = (package("build=1"), package("build=2"));
    let error = bench.install(&[&one, &other]).expect_err("clashes");
    assert!(error.contains("the same address with other parameters"), "{error}");
    assert!(!error.contains("build"), "{error}");
}
