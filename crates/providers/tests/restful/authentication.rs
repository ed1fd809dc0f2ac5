//! Credentials that need no further request.

use providers::restful::request::build::Call;
use providers::restful::request::settings::{ApiKey, BaseUrl, KeyPlace, Security, Settings};
use serde_json::json;

use super::restful_server::RestfulServer;
use super::{Provider, map, parsed, secret, settings};

fn basic() -> Security {
    Security::Basic { username: "user".to_owned(), password: secret("passw0rd") }
}

#[tokio::test]
async fn authorization_header_has_the_configured_scheme() {
    let server = RestfulServer::start().await;
    let user = "Basic dXNlcjpwYXNzdzByZA==";
    for (security, expected) in [
        (Security::None, ""),
        (basic(), user),
        (Security::token(secret("passw0rd"), None), "Bearer passw0rd"),
        (Security::token(secret("passw0rd"), Some("Token".to_owned())), "Token passw0rd"),
    ] {
        let provider = Provider::new(Settings { security, ..settings(&server) });
        assert_eq!(provider.json("secure").await["authorization"], expected);
        let log = provider.log();
        let [line] = &*log else { panic!("{log:?}") };
        let begin = format!("GET {}/secure: 200 (", server.url);
        assert!(line.starts_with(&begin) && line.ends_with(" ms)"), "{line}");
    }
    let url = server.url.replace("http://", "http://user:passw0rd@");
    let provider = Provider::new(Settings::new(BaseUrl::parse(&url).expect("a base URL")));
    assert_eq!(provider.json("secure").await["authorization"], user);
    assert!(!provider.log().concat().contains("passw0rd"), "{:?}", provider.log());
}

#[tokio::test]
async fn header_of_a_call_wins_over_the_credentials() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(Settings { security: basic(), ..settings(&server) });
    let headers = map("authorization", "Own".to_owned());
    let answer = provider.send(&Call { headers, ..Call::get("secure") }).await.expect("an answer");
    assert_eq!(parsed(&answer)["authorization"], "Own");
}

#[tokio::test]
async fn unsendable_credentials_are_an_error_of_the_client() {
    let server = RestfulServer::start().await;
    let security = Security::token(secret("pass\nw0rd"), None);
    let provider = Provider::new(Settings { security, ..settings(&server) });
    for _ in 0..2 {
        let error = provider.init_error().await.to_string();
        assert_eq!(error, "the credentials contain characters that a header cannot contain");
    }
}

#[tokio::test]
async fn keys_are_sent_at_their_places_and_not_logged() {
    let server = RestfulServer::start().await;
    let key =
        |place, name: &str, value| ApiKey { name: name.to_owned(), place, value: secret(value) };
    let security = Security::ApiKeys(vec![
        key(KeyPlace::Header, "X-Key", "k1"),
        key(KeyPlace::Query, "key", "k2"),
        key(KeyPlace::Cookie, "session", "k3"),
    ]);
    let provider = Provider::new(Settings { security, ..settings(&server) });
    let expected = json!({
        "authorization": "", "cookie": "session=k3", "key": "k1", "query": "mine=m1&key=k2",
    });
    assert_eq!(provider.json("secure?mine=m1").await, expected);
    assert_eq!(provider.json("secure?key=own").await["query"], "key=own");
    let log = provider.log().concat();
    assert!(log.contains("/secure?key=…&mine=…: 200"), "{log}");
    assert!(!["m1", "k1", "k2", "k3", "own"].iter().any(|it| log.contains(it)), "{log}");
}
