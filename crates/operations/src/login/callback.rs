//! The temporary server to which a browser brings the answer of a login.

use std::{ops::RangeInclusive, sync::Arc, time::Duration};

use packages::hosts::{Authorization, Callback};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

/// The largest accepted request, in bytes.
const MAX_HEAD: usize = 32 << 10;

/// The most connections at once. Browsers open some that they do not use.
const MOST_CONNECTIONS: usize = 32;

/// The time in which a browser sends its request.
const PATIENCE: Duration = Duration::from_secs(30);

/// Listens on a free port of the range, on this machine only. `None` if none is free.
pub(super) async fn listen(ports: RangeInclusive<u16>) -> Option<(TcpListener, u16)> {
    let (first, count) = (*ports.start(), ports.len());
    // Any port will do, and the first ones are the most likely to be in use.
    let offset =
        usize::try_from(uuid::Uuid::new_v4().as_u128() % count.max(1) as u128).unwrap_or(0);
    for step in 0..count {
        let port = first + u16::try_from((offset + step) % count).unwrap_or(0);
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)).await {
            return Some((listener, port));
        }
    }
    None
}

/// Waits for the authorization code. Requests that do not answer the pending one are refused.
///
/// # Errors
/// Returns a sentence fragment if the host refused the login.
pub(super) async fn receive(
    listener: TcpListener,
    pending: &Authorization,
) -> Result<String, String> {
    let pending = Arc::new(pending.clone());
    let mut serving = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if serving.len() < MOST_CONNECTIONS => match accepted {
                Ok((stream, _)) => drop(serving.spawn(serve(stream, Arc::clone(&pending)))),
                // Too many open files, for example.
                Err(_) => sleep(Duration::from_millis(100)).await,
            },
            Some(served) = serving.join_next() => match served {
                Ok(Callback::Code(code)) => return Ok(code),
                Ok(Callback::Refused(cause)) => return Err(cause),
                Ok(Callback::Unrelated) | Err(_) => {}
            },
        }
    }
}

/// Answers one request.
async fn serve(mut stream: TcpStream, pending: Arc<Authorization>) -> Callback {
    let target = timeout(PATIENCE, read_target(&mut stream)).await.ok().flatten();
    let callback = target.map_or(Callback::Unrelated, |it| pending.callback(&it));
    let (status, page) = match &callback {
        Callback::Code(_) => ("200 OK", DONE),
        Callback::Refused(_) => ("200 OK", REFUSED),
        Callback::Unrelated => ("400 Bad Request", UNRELATED),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: \
         close\r\n\r\n{page}",
        page.len()
    );
    // A browser that left has brought its answer all the same.
    let write = async { stream.write_all(answer.as_bytes()).await.and(stream.shutdown().await) };
    drop(timeout(PATIENCE, write).await);
    callback
}

/// Reads the head of a request, and returns its path and query. `None` if it is not a `GET` request.
async fn read_target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|it| it == b"\r\n\r\n") {
        let length = stream.read(&mut buffer).await.ok().filter(|it| *it > 0)?;
        head.extend_from_slice(&buffer[..length]);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    let line = head.split(|it| *it == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    match (words.next(), words.next()) {
        (Some("GET"), Some(target)) => Some(target.to_owned()),
        _ => None,
    }
}

const DONE: &str = "<!DOCTYPE html>\n<title>Mayfly</title>\n<p>Mayfly has received the answer of the host. You can \
                    close this page and return to the terminal.</p>\n";

const REFUSED: &str = "<!DOCTYPE html>\n<title>Mayfly</title>\n<p>The host refused the login. The terminal shows the \
                       reason.</p>\n";

const UNRELATED: &str =
    "<!DOCTYPE html>\n<title>Mayfly</title>\n<p>This page belongs to no pending login.</p>\n";
