//! Credentials and host keys.

use engine::{Agent, Connection, Endpoint};
use russh::MethodKind;
use tokio::net::{TcpListener, UnixListener};

use crate::{Place, connect, data, refusal, run, server, server::PASSWORD, with_both_servers};

with_both_servers!(
    private_keys_of_all_kinds_are_accepted,
    certificate_is_accepted,
    keys_of_an_agent_are_used_and_the_agent_is_forwarded,
    unknown_key_is_refused,
    server_shows_the_expected_key_or_certificate,
    wrong_host_key_is_refused,
    bastion_is_a_connection_in_a_connection,
);

/// A connection with other credentials.
fn with(place: &Place, change: impl FnOnce(&mut Endpoint)) -> Connection {
    let mut connection = place.connection();
    change(&mut connection.target);
    connection
}

async fn private_keys_of_all_kinds_are_accepted(place: Place) {
    let names = ["ed25519", "ecdsa", "ecdsa_sec1", "ecdsa_pkcs8", "rsa", "rsa_pkcs1", "rsa_pkcs8"];
    for name in names {
        let connection = with(&place, |it| it.private_key = Some(data(name)));
        let machine =
            connect(&connection).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        machine.close().await;
    }
}

async fn certificate_is_accepted(place: Place) {
    for name in ["ed25519", "rsa"] {
        let connection = with(&place, |it| {
            it.private_key = Some(data(name));
            it.certificate = Some(data(&format!("{name}-cert.pub")));
        });
        let machine =
            connect(&connection).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        machine.close().await;
    }
}

/// An agent in this process that holds some keys.
async fn agent(place: &Place, names: &[&str]) -> Agent {
    use russh::keys::agent::{client::AgentClient, server as agent_server};
    let socket = place.directory.join("agent.sock");
    let listener = UnixListener::bind(&socket).expect("can be bound");
    let incoming = futures::stream::unfold(listener, |listener| async {
        let accepted = listener.accept().await.map(|(stream, _)| stream);
        Some((accepted, listener))
    });
    tokio::spawn(agent_server::serve(Box::pin(incoming), ()));
    let mut client = AgentClient::connect_uds(&socket).await.expect("is listening");
    for name in names {
        client.add_identity(&server::key(name), &[]).await.expect("is added");
    }
    Agent { socket, identity: None, directory: place.directory.clone() }
}

async fn keys_of_an_agent_are_used_and_the_agent_is_forwarded(place: Place) {
    let mut connection = with(&place, |it| it.private_key = None);
    connection.agent = Some(agent(&place, &["authority", "rsa"]).await);
    let machine = connect(&connection).await.expect("connects");
    let (lines, end) = run(&*machine, "test -S \"$SSH_AUTH_SOCK\" || echo none").await;
    assert!(end.expect("ends").success);
    match &place.shared {
        Some(shared) => assert!(shared.with(|it| it.has_agent)),
        None => assert!(lines.is_empty(), "{lines:?}"),
    }
    machine.close().await;
}

async fn unknown_key_is_refused(place: Place) {
    let connection = with(&place, |it| it.private_key = Some(data("authority")));
    let error = refusal(&connection).await;
    assert!(!error.is_final);
    let start = format!("SSH authentication failed ({}@127.0.0.1:{})", place.user, place.port);
    assert!(error.reason.starts_with(&start), "{}", error.reason);
    assert!(error.reason.contains("(methods tried: publickey; accepted"), "{}", error.reason);
}

async fn server_shows_the_expected_key_or_certificate(place: Place) {
    for name in ["ecdsa.pub", "rsa.pub", "authority.pub"] {
        let connection = with(&place, |it| it.host_key = Some(data(name)));
        let machine =
            connect(&connection).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        machine.close().await;
    }
}

async fn wrong_host_key_is_refused(place: Place) {
    let connection = with(&place, |it| it.host_key = Some(data("ed25519.pub")));
    let error = refusal(&connection).await;
    let start =
        format!("SSH handshake failed (127.0.0.1:{}): the host key does not match", place.port);
    assert!(error.reason.starts_with(&start), "{}", error.reason);
    let connection = with(&place, |it| {
        it.host = "localhost".to_owned();
        it.host_key = Some(data("authority.pub"));
    });
    let error = refusal(&connection).await;
    let end = "the server's certificate is not for localhost";
    assert!(error.reason.ends_with(end), "{}", error.reason);
}

async fn bastion_is_a_connection_in_a_connection(place: Place) {
    let mut connection = place.connection();
    connection.bastion = Some(Endpoint { host_key: Some(data("rsa.pub")), ..place.endpoint() });
    let machine = connect(&connection).await.expect("connects");
    let (lines, _) = run(&*machine, "echo through").await;
    assert_eq!(lines, ["through"]);
    if let Some(shared) = &place.shared {
        let target = format!("127.0.0.1:{}", place.port);
        assert_eq!(shared.with(|it| it.forwarded.clone()), [target]);
    }
    machine.close().await;
    connection.bastion = Some(Endpoint { host_key: Some(data("ed25519.pub")), ..place.endpoint() });
    let error = refusal(&connection).await;
    assert!(
        error.reason.starts_with("connecting to the bastion: SSH handshake failed"),
        "{error:?}"
    );
    connection.bastion = Some(place.endpoint());
    connection.target.port = closed_port().await;
    let error = refusal(&connection).await;
    assert!(error.reason.starts_with("the bastion cannot connect to 127.0.0.1:"), "{error:?}");
}

/// A port on which nothing listens.
async fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    listener.local_addr().expect("is bound").port()
}

#[tokio::test(flavor = "multi_thread")]
async fn password_is_given_directly_and_as_an_answer() {
    let place = Place::here().await;
    let shared = place.shared.clone().expect("is in this process");
    let password = |text: &str| {
        with(&place, |it| {
            it.private_key = None;
            it.password = Some(text.to_owned());
        })
    };
    connect(&password(PASSWORD)).await.expect("connects").close().await;
    let error = refusal(&password("wrong-password")).await;
    assert!(error.reason.contains("tried: password, keyboard-interactive;"), "{}", error.reason);
    assert!(!error.reason.contains("wrong-password"), "{}", error.reason);
    shared.with(|it| it.only_questions = true);
    connect(&password(PASSWORD)).await.expect("connects").close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn server_may_ask_for_several_methods_in_its_order() {
    let place = Place::here().await;
    let shared = place.shared.clone().expect("is in this process");
    let both = with(&place, |it| it.password = Some(PASSWORD.to_owned()));
    for steps in [
        [MethodKind::PublicKey, MethodKind::Password],
        [MethodKind::PublicKey, MethodKind::KeyboardInteractive],
    ] {
        shared.with(|it| it.steps = steps.to_vec());
        connect(&both).await.unwrap_or_else(|error| panic!("{steps:?}: {error:?}")).close().await;
    }
    let error = refusal(&place.connection()).await;
    assert!(error.reason.contains("accepted by the server: keyboard-interactive)"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_tries_the_named_key_first() {
    let place = Place::here().await;
    let mut connection = with(&place, |it| it.private_key = None);
    let mut agent = agent(&place, &["authority", "ecdsa"]).await;
    std::fs::copy(crate::data_path("ecdsa.pub"), place.directory.join("id.pub"))
        .expect("is copied");
    agent.identity = Some("id".to_owned());
    connection.agent = Some(agent);
    connect(&connection).await.expect("connects").close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_that_cannot_be_used_are_final_errors_without_their_text() {
    let place = Place::here().await;
    let secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQ";
    let broken = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{secret}\n-----END");
    let cases: [(&str, Connection, &str); 6] = [
        ("encrypted", with(&place, |it| it.private_key = Some(data("encrypted"))), "passphrase"),
        ("PEM", with(&place, |it| it.private_key = Some(data("encrypted_pem"))), "passphrase"),
        ("broken", with(&place, |it| it.private_key = Some(broken)), "cannot be read"),
        (
            "certificate",
            with(&place, |it| it.certificate = Some(secret.to_owned())),
            "The certificate cannot be read",
        ),
        (
            "other certificate",
            with(&place, |it| it.certificate = Some(data("rsa-cert.pub"))),
            "does not belong to the private key",
        ),
        (
            "host key",
            with(&place, |it| it.host_key = Some(secret.to_owned())),
            "The host_key cannot be read",
        ),
    ];
    for (name, connection, expected) in cases {
        let error = refusal(&connection).await;
        assert!(error.is_final && error.reason.contains(expected), "{name}: {error:?}");
        assert!(!error.reason.contains(secret), "{name}: {error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_agent_is_a_final_error_if_it_is_needed() {
    let place = Place::here().await;
    let socket = place.directory.join("no.sock");
    let agent = Agent { socket, identity: None, directory: place.directory.clone() };
    let mut connection = place.connection();
    connection.agent = Some(agent);
    connect(&connection).await.expect("the private key suffices").close().await;
    connection.target.private_key = None;
    let error = refusal(&connection).await;
    assert!(error.is_final && error.reason.contains("SSH_AUTH_SOCK"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn machine_that_does_not_listen_is_no_final_error() {
    let place = Place::here().await;
    let port = closed_port().await;
    let error = refusal(&with(&place, |it| it.port = port)).await;
    assert!(!error.is_final);
    assert!(error.reason.starts_with(&format!("connecting to 127.0.0.1:{port}: ")), "{error:?}");
}
