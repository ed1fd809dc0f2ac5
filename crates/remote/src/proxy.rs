//! Proxies: `CONNECT` of HTTP, and SOCKS 5.
//!
//! An SSH server speaks first, so its first bytes may directly follow the answer of the proxy. The answer is read
//! without a buffer, so that it takes none of them.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use engine::{Proxy, ProxyScheme};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::dial::written;

/// The longest answer of an HTTP proxy, in bytes.
const LONGEST_ANSWER: usize = 16 << 10;

/// The version of SOCKS, and of its authentication with a password.
const SOCKS: u8 = 5;
const SOCKS_LOGIN: u8 = 1;

/// The methods of SOCKS.
const NO_LOGIN: u8 = 0;
const PASSWORD: u8 = 2;

/// Connects to a server through a proxy.
///
/// # Errors
/// Fails with the reason, which contains no credentials.
pub(crate) async fn connect(proxy: &Proxy, host: &str, port: u16) -> Result<TcpStream, String> {
    let connected = TcpStream::connect((proxy.host.as_str(), proxy.port)).await;
    let mut stream = connected.map_err(|error| error.to_string())?;
    match proxy.scheme {
        ProxyScheme::Http => http(&mut stream, proxy, &written(host, port)).await?,
        ProxyScheme::Socks5 => socks(&mut stream, proxy, host, port).await?,
    }
    Ok(stream)
}

/// The user and the password, if there is one of them.
fn credentials(proxy: &Proxy) -> Option<[&str; 2]> {
    let has_some = proxy.user.is_some() || proxy.password.is_some();
    has_some.then(|| [&proxy.user, &proxy.password].map(|it| it.as_deref().unwrap_or_default()))
}

async fn http(stream: &mut TcpStream, proxy: &Proxy, target: &str) -> Result<(), String> {
    if target.contains(|it: char| it.is_whitespace() || it.is_control()) {
        return Err("the host is not the name or the address of a machine".to_owned());
    }
    let login = credentials(proxy).map(|[user, password]| {
        let text = STANDARD.encode(format!("{user}:{password}"));
        format!("Proxy-Authorization: Basic {text}\r\n")
    });
    let login = login.unwrap_or_default();
    let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{login}\r\n");
    let failed = |error: std::io::Error| error.to_string();
    stream.write_all(request.as_bytes()).await.map_err(failed)?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() == LONGEST_ANSWER {
            return Err("its answer is too long".to_owned());
        }
        answer.push(stream.read_u8().await.map_err(failed)?);
    }
    let answer = String::from_utf8_lossy(&answer);
    let line = answer.lines().next().unwrap_or_default();
    let mut words = line.split(' ');
    let is_http = words.next().is_some_and(|it| it.starts_with("HTTP/1."));
    match words.next().filter(|_| is_http) {
        Some(status) if status.starts_with('2') => Ok(()),
        Some(status) => Err(format!("it answers with the status {status:?}")),
        None => Err("it is not an HTTP proxy".to_owned()),
    }
}

async fn socks(stream: &mut TcpStream, proxy: &Proxy, host: &str, port: u16) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let credentials = credentials(proxy);
    let methods = match credentials {
        Some(_) => vec![SOCKS, 2, NO_LOGIN, PASSWORD],
        None => vec![SOCKS, 1, NO_LOGIN],
    };
    stream.write_all(&methods).await.map_err(failed)?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await.map_err(failed)?;
    match (chosen, credentials) {
        ([SOCKS, NO_LOGIN], _) => {}
        ([SOCKS, PASSWORD], Some([user, password])) => {
            let mut login = vec![SOCKS_LOGIN];
            login.extend(sized(user)?);
            login.extend(sized(password)?);
            stream.write_all(&login).await.map_err(failed)?;
            let mut answer = [0; 2];
            stream.read_exact(&mut answer).await.map_err(failed)?;
            if answer[1] != 0 {
                return Err("it refuses the user name or the password".to_owned());
            }
        }
        ([SOCKS, _], _) => return Err("it accepts none of the ways to log in".to_owned()),
        _ => return Err("it is not a SOCKS 5 proxy".to_owned()),
    }
    let mut request = vec![SOCKS, 1, 0];
    match host.parse() {
        Ok(std::net::IpAddr::V4(address)) => {
            request.push(1);
            request.extend(address.octets());
        }
        Ok(std::net::IpAddr::V6(address)) => {
            request.push(4);
            request.extend(address.octets());
        }
        Err(_) => {
            request.push(3);
            request.extend(sized(host)?);
        }
    }
    request.extend(port.to_be_bytes());
    stream.write_all(&request).await.map_err(failed)?;
    bound(stream).await
}

/// Reads the answer to the request of a connection, with the address in it.
async fn bound(stream: &mut TcpStream) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await.map_err(failed)?;
    if answer[1] != 0 {
        return Err(format!("it cannot connect (SOCKS status {})", answer[1]));
    }
    let length = match answer[3] {
        1 => 4,
        4 => 16,
        3 => usize::from(stream.read_u8().await.map_err(failed)?),
        _ => return Err("its answer is invalid".to_owned()),
    };
    let mut address = vec![0; length + 2];
    stream.read_exact(&mut address).await.map_err(failed)?;
    Ok(())
}

/// A text after its length in one byte.
fn sized(text: &str) -> Result<Vec<u8>, String> {
    let length = u8::try_from(text.len());
    let length = length.map_err(|_| "a name or a password is longer than 255 bytes".to_owned())?;
    Ok([&[length], text.as_bytes()].concat())
}
