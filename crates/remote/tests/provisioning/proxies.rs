//! Proxies.

use engine::{Proxy, ProxyScheme};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
};

use crate::{Place, connect, refusal, run};

/// A proxy for one connection. Returns its port; the task ends with the request.
async fn proxy(scheme: ProxyScheme, accepts: bool) -> (u16, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = listener.local_addr().expect("is bound").port();
    let task = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("is accepted");
        match scheme {
            ProxyScheme::Http => http(stream, accepts).await,
            ProxyScheme::Socks5 => socks(stream).await,
        }
    });
    (port, task)
}

async fn http(mut stream: TcpStream, accepts: bool) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.expect("is sent"));
    }
    let request = String::from_utf8(request).expect("is text");
    if !accepts {
        stream.write_all(b"HTTP/1.1 407 No\r\n\r\n").await.expect("is sent");
        return request;
    }
    let target = request.split(' ').nth(1).expect("is CONNECT").to_owned();
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.expect("is sent");
    forward(stream, &target);
    request
}

async fn socks(mut stream: TcpStream) -> String {
    let mut head = [0; 2];
    stream.read_exact(&mut head).await.expect("is sent");
    let mut methods = vec![0; usize::from(head[1])];
    stream.read_exact(&mut methods).await.expect("is sent");
    stream.write_all(&[5, 2]).await.expect("is sent");
    let mut login = Vec::new();
    stream.read_u8().await.expect("is sent");
    for _ in 0..2 {
        let length = stream.read_u8().await.expect("is sent");
        let mut text = vec![0; usize::from(length)];
        stream.read_exact(&mut text).await.expect("is sent");
        login.push(String::from_utf8(text).expect("is text"));
    }
    stream.write_all(&[1, 0]).await.expect("is sent");
    let mut request = [0; 10];
    stream.read_exact(&mut request).await.expect("is sent");
    let [_, _, _, 1, a, b, c, d, high, low] = request else { panic!("{request:?}") };
    let target = format!("{a}.{b}.{c}.{d}:{}", u16::from_be_bytes([high, low]));
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.expect("is sent");
    forward(stream, &target);
    format!("{} {target}", login.join(":"))
}

fn forward(mut stream: TcpStream, target: &str) {
    let target = target.to_owned();
    tokio::spawn(async move {
        let mut target = TcpStream::connect(target).await.expect("is there");
        let _ = copy_bidirectional(&mut stream, &mut target).await;
    });
}

fn settings(scheme: ProxyScheme, port: u16) -> Proxy {
    Proxy {
        scheme,
        host: "127.0.0.1".to_owned(),
        port,
        user: Some("user".to_owned()),
        password: Some("proxy-password".to_owned()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_goes_through_a_proxy() {
    let place = Place::here().await;
    let target = format!("127.0.0.1:{}", place.port);
    for scheme in [ProxyScheme::Http, ProxyScheme::Socks5] {
        let (port, task) = proxy(scheme, true).await;
        let mut connection = place.connection();
        connection.proxy = Some(settings(scheme, port));
        let machine = connect(&connection).await.expect("connects");
        assert_eq!(run(&*machine, "echo through").await.0, ["through"]);
        let request = task.await.expect("ends");
        assert!(request.contains(&target), "{request}");
        match scheme {
            ProxyScheme::Http => {
                let header = "proxy-authorization: basic dxnlcjpwcm94es1wyxnzd29yza==";
                assert!(request.to_lowercase().contains(header), "{request}");
            }
            ProxyScheme::Socks5 => {
                assert!(request.starts_with("user:proxy-password "), "{request}")
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusal_of_a_proxy_is_reported_without_its_password() {
    let place = Place::here().await;
    let (port, _task) = proxy(ProxyScheme::Http, false).await;
    let mut connection = place.connection();
    connection.proxy = Some(settings(ProxyScheme::Http, port));
    let error = refusal(&connection).await;
    let start = format!("connecting through the proxy 127.0.0.1:{port}: ");
    assert!(!error.is_final && error.reason.starts_with(&start), "{error:?}");
    assert!(!error.reason.contains("proxy-password"), "{error:?}");
}
