//! The HTTP server that data sources of the provider `http` read, on the loopback interface.
//!
//! Its port differs from run to run, but a case and the stored answers of the reference must not. So configurations
//! name it [`ADDRESS`]; the real address is put in when files are written, and taken out of what programs print and
//! store.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::OnceLock,
    thread,
};

/// The address of the server in configurations and observations.
pub(crate) const ADDRESS: &str = "http://server.invalid";

/// The largest body of a request that the server reads.
const MOST_READ: u64 = 1 << 16;

/// The text with the real address.
///
/// # Errors
/// If the server cannot be started.
pub(crate) fn with_real_address(text: &str) -> io::Result<String> {
    if !text.contains(ADDRESS) {
        return Ok(text.to_owned());
    }
    Ok(text.replace(ADDRESS, address()?))
}

/// The text with [`ADDRESS`] in place of the real address.
pub(crate) fn without_real_address(text: String) -> String {
    match SERVER.get() {
        Some(Ok(real)) => text.replace(&**real, ADDRESS),
        _ => text,
    }
}

/// The real address, or the reason why the server did not start.
static SERVER: OnceLock<Result<String, String>> = OnceLock::new();

fn address() -> io::Result<&'static str> {
    let started = SERVER.get_or_init(|| start().map_err(|error| error.to_string()));
    started.as_deref().map_err(|error| io::Error::other(error.clone()))
}

fn start() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            // A client that hangs up early is no fault of the case.
            thread::spawn(move || answer(connection));
        }
    });
    Ok(address)
}

/// Answers one request. The answer depends only on the request.
fn answer(connection: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut length, mut accepted) = (0, String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        match &*name.to_ascii_lowercase() {
            "content-length" => length = value.trim().parse().unwrap_or_default(),
            "accept" => value.trim().clone_into(&mut accepted),
            _ => {}
        }
    }
    let mut body = String::new();
    reader.take(length.min(MOST_READ)).read_to_string(&mut body)?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, kind) = match path.split('/').nth(1) {
        Some("missing") => ("404 Not Found", "text/plain"),
        Some("json") => ("200 OK", "application/json"),
        Some("binary") => ("200 OK", "application/octet-stream"),
        _ => ("200 OK", "text/plain; charset=utf-8"),
    };
    let said = format!(
        "{{\"method\":\"{method}\",\"path\":\"{path}\",\"accept\":\"{accepted}\",\"body\":\"{body}\"}}"
    );
    let said = if method == "HEAD" { String::new() } else { said };
    let mut connection = connection;
    write!(
        connection,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nX-Case: a\r\nX-Case: b\r\n\
         Connection: close\r\n\r\n{said}",
        said.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_answers_with_the_parts_of_the_request() {
        let text = with_real_address("url = \"http://server.invalid/json/a\"").expect("it starts");
        let address = text.split('"').nth(1).expect("is quoted").to_owned();
        let host = address.strip_prefix("http://").and_then(|it| it.split('/').next());
        let mut client = TcpStream::connect(host.expect("is an address")).expect("it listens");
        let request = "POST /json/a HTTP/1.1\r\nAccept: x/y\r\nContent-Length: 2\r\n\r\nhi";
        client.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"));
        let said = r#"{"method":"POST","path":"/json/a","accept":"x/y","body":"hi"}"#;
        assert!(answer.ends_with(said), "{answer}");
        assert_eq!(without_real_address(address), "http://server.invalid/json/a");
    }
}
