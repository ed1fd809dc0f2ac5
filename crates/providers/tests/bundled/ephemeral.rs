//! Tests that ephemeral resources open, work while they are open, and end when they are closed.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use provider::Provider;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};
use values::Value;

use crate::core::{Core, assert_no_errors};

fn text(value: &Value, name: &str) -> String {
    value.get_attr(name).and_then(|it| it.as_str().map(str::to_owned)).expect("a text is there")
}

fn said(diagnostics: &[provider::ProviderDiagnostic]) -> String {
    diagnostics.iter().map(|it| it.summary.as_str()).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn playground_random_makes_a_new_password_with_the_given_rules() {
    let core = Core::launched("{}", &[]).await;
    let config = r#"{"length": 40, "upper": false, "special": false, "numeric": false}"#;
    let mut seen = Vec::new();
    for _ in 0..2 {
        let opened = core.open("playground_random", config).await.opened.expect("opens");
        assert!(opened.renew_at.is_none());
        let password = text(&opened.result, "result");
        assert!(password.len() == 40 && password.bytes().all(|it| it.is_ascii_lowercase()));
        assert_eq!(
            opened.result.get_attr("length"),
            Some(Value::int(40)),
            "what was given is echoed"
        );
        assert_no_errors(&core.close("playground_random", &opened.private).await);
        seen.push(password);
    }
    assert_ne!(seen[0], seen[1]);
    assert_eq!((core.count("opened", ""), core.count("closed", "")), (2, 2));
}

#[tokio::test]
async fn lease_token_works_until_it_is_closed() {
    let core = Core::launched("{}", &[]).await;
    let lease = core
        .open("playground_lease", r#"{"path": "p", "ttl_ms": 60000}"#)
        .await
        .opened
        .expect("opens");
    let data = lease.result.get_attr("data").expect("has data");
    let token = data
        .as_map()
        .and_then(|it| it.get("auth_token")?.as_str())
        .expect("has a token")
        .to_owned();
    let leased: Arc<dyn Provider> =
        core.another(&format!(r#"{{"auth_token": {token:?}}}"#)).await.expect("is configured");
    assert_eq!(read_something(&core, &*leased).await, "");
    let renewed = core.renew("playground_lease", &lease.private).await;
    assert_no_errors(&renewed.diagnostics);
    assert!(renewed.renew_at > Some(SystemTime::now() + Duration::from_secs(20)));
    assert_eq!(read_something(&core, &*leased).await, "");
    assert_no_errors(&core.close("playground_lease", &renewed.private).await);
    assert_eq!(read_something(&core, &*leased).await, "Access refused");
    assert_eq!(said(&core.close("playground_lease", &renewed.private).await), "Lease is over");
    assert_eq!(core.count("renewed", ""), 1);
}

/// Reads an object of the remote system with `provider` and returns the diagnostics.
async fn read_something(core: &Core, provider: &dyn Provider) -> String {
    let request = provider::ReadResourceRequest {
        type_name: "playground_parameter".into(),
        current_state: core
            .object("playground_parameter", Some(r#"{"name": "p", "type": "String"}"#)),
        private: provider::Private::default(),
        provider_meta: None,
        identity: None,
    };
    said(&provider.read_resource(request).await.diagnostics)
}

#[tokio::test]
async fn lease_returns_the_secret_at_its_path() {
    let core = Core::in_process("{}").await;
    let secret = r#"{"name": "p", "value": "{\"user\":\"u\",\"auth_token\":\"stale\"}"}"#;
    core.apply("playground_secret", None, secret).await;
    let lease = core.open("playground_lease", r#"{"path": "p"}"#).await.opened.expect("opens");
    let data = lease.result.get_attr("data").expect("has data");
    let data = data.as_map().expect("is a map");
    assert_eq!(data.get("user").and_then(Value::as_str), Some("u"));
    assert_ne!(
        data.get("auth_token").and_then(Value::as_str),
        Some("stale"),
        "the lease's own token wins"
    );
}

#[tokio::test]
async fn lease_can_expire_early_and_refuse_renewal() {
    let core = Core::in_process("{}").await;
    let early = r#"{"path": "p", "expire_after_ms": 1}"#;
    let lease = core.open("playground_lease", early).await.opened.expect("opens");
    tokio::time::sleep(Duration::from_millis(3)).await;
    assert_eq!(
        said(&core.renew("playground_lease", &lease.private).await.diagnostics),
        "Lease is over"
    );
    assert_no_errors(&core.close("playground_lease", &lease.private).await);
    assert_eq!((core.count("expired", ""), core.count("closed", "")), (2, 1));
    let once = core
        .open("playground_lease", r#"{"path": "p", "max_renewals": 1}"#)
        .await
        .opened
        .expect("opens");
    let first = core.renew("playground_lease", &once.private).await;
    assert_no_errors(&first.diagnostics);
    let second = core.renew("playground_lease", &first.private).await;
    assert_eq!(said(&second.diagnostics), "Lease is over");
    assert_no_errors(&core.close("playground_lease", &second.private).await);
}

async fn exchange(address: &str, line: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(line.as_bytes()).await?;
    let mut answer = String::new();
    BufReader::new(&mut stream).read_line(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn a_tunnel_carries_bytes_until_it_is_closed() {
    let core = Core::launched("{}", &[]).await;
    let config = r#"{"remote_host": "consul.prod.example.com", "remote_port": 443}"#;
    let tunnel = core.open("playground_tunnel", config).await.opened.expect("opens");
    let address = text(&tunnel.result, "local_address");
    assert_eq!(exchange(&address, "hello\n").await.expect("is carried"), "hello\n");
    let mut held = TcpStream::connect(&address).await.expect("connects");
    let through =
        core.another(&format!(r#"{{"address": {address:?}}}"#)).await.expect("is configured");
    assert_eq!(read_something(&core, &*through).await, "");
    assert_no_errors(&core.close("playground_tunnel", &tunnel.private).await);
    assert!(TcpStream::connect(&address).await.is_err(), "nobody listens any more");
    let mut rest = String::new();
    let ended = tokio::io::AsyncReadExt::read_to_string(&mut held, &mut rest).await;
    assert!(ended.is_err() || rest.is_empty(), "open connections end too");
    assert_eq!(read_something(&core, &*through).await, "Remote system is unreachable");
    assert_eq!(said(&core.close("playground_tunnel", &tunnel.private).await), "Tunnel is not open");
}

#[tokio::test]
async fn a_tunnel_leads_to_a_real_host() {
    let core = Core::in_process("{}").await;
    let far = TcpListener::bind("127.0.0.1:0").await.expect("listens");
    let port = far.local_addr().expect("has an address").port();
    let config = format!(r#"{{"remote_host": "127.0.0.1", "remote_port": {port}}}"#);
    let tunnel = core.open("playground_tunnel", &config).await.opened.expect("opens");
    let serve = async {
        let (mut stream, _) = far.accept().await.expect("is connected to");
        stream.write_all(b"from afar\n").await.expect("writes");
    };
    let address = text(&tunnel.result, "local_address");
    let (answer, ()) = tokio::join!(exchange(&address, "?"), serve);
    assert_eq!(answer.expect("is carried"), "from afar\n");
}

#[tokio::test]
async fn open_of_a_missing_secret_is_an_error() {
    let core = Core::in_process("{}").await;
    for (kind, config) in [
        ("playground_secret", r#"{"name": "none"}"#),
        ("playground_secret_version", r#"{"secret_id": "none"}"#),
        ("playground_database", r#"{"identifier": "none"}"#),
    ] {
        let response = core.open(kind, config).await;
        assert!(response.opened.is_none());
        assert_eq!(said(&response.diagnostics), "Not found", "{kind}");
    }
}

#[tokio::test]
async fn unknown_provider_arguments_count_as_not_set() {
    let core = Core::in_process("{}").await;
    let unknown = r#"{
        "require_keys": true, "access_key": "?", "secret_key": "?", "auth_token": "?", "address": "?",
        "fault": {"on": "?", "kind": "fail", "after": null, "late": null, "ms": null}
    }"#;
    let provider = core.another(unknown).await.unwrap_or_else(|it| panic!("{}", said(&it)));
    assert_eq!(read_something(&core, &*provider).await, "");
    let entry = core.ledger().into_iter().rfind(|it| it.event == "configured");
    assert!(entry.is_some_and(|it| it.received.is_empty()));
}

#[tokio::test]
async fn require_keys_refuses_a_provider_without_keys() {
    let core = Core::in_process("{}").await;
    let refused = core.another(r#"{"require_keys": true}"#).await.err().expect("is refused");
    assert_eq!(said(&refused), "Missing key");
    let keys = r#"{"require_keys": true, "access_key": "a", "secret_key": "k"}"#;
    assert!(core.another(keys).await.is_ok());
    let entry = core.ledger().pop().expect("is written down");
    assert_eq!(entry.received["secret_key"], core.fingerprint("k"));
}
