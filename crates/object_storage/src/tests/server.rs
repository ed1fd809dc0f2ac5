//! A server of plain HTTP on the loopback interface.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// A server for the rest of the process.
pub(super) struct Server {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each request, which is its head with its body, with the JSON or XML that `answer` returns. `None` is a
    /// missing page; a text that begins with `HTTP/` is a whole head.
    pub(super) fn start(answer: impl Fn(&str) -> Option<String> + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.expect("a connection"));
                let request = request(&mut stream);
                let answer = match answer(&request) {
                    None => "HTTP/1.1 404 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                        .to_owned(),
                    Some(text) if text.starts_with("HTTP/") => text,
                    Some(text) => {
                        let length = text.len();
                        format!(
                            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{text}"
                        )
                    }
                };
                seen.lock().expect("no panic").push(request);
                stream.get_mut().write_all(answer.as_bytes()).expect("open");
            }
        });
        Server { url, requests }
    }

    /// The requests since the last call.
    pub(super) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.requests.lock().expect("no panic"))
    }
}

fn request(stream: &mut impl BufRead) -> String {
    let mut text = String::new();
    let mut length = 0;
    while !text.ends_with("\r\n\r\n") {
        let begin = text.len();
        stream.read_line(&mut text).expect("a line");
        let line = text[begin..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("a body");
    text + &String::from_utf8_lossy(&body)
}
