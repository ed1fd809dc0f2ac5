//! Bodies, redirects, cookies, stops and hostile servers.

use bytes::Bytes;
use http_client::{ErrorKind, Method};
use providers::restful::request::build::{
    Call, DefaultContentType, FORM, MAX_ANSWER_BYTES, operation_body,
};
use providers::restful::request::client::RequestError;
use providers::restful::request::secret::Hidden;
use providers::restful::request::settings::{ApiKey, KeyPlace, Security, Settings};
use serde_json::{Value, json};

use super::restful_server::RestfulServer;
use super::{Provider, call, http_error, map, parsed, secret, settings};

async fn sent(provider: &Provider, method: Method, path: &str, body: &str) -> Value {
    let answer = provider.send(&call(method, path, body)).await;
    parsed(&answer.unwrap_or_else(|error| panic!("{path}: {error}")))
}

#[tokio::test]
async fn bodies_are_json_by_default() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(settings(&server));
    let created = sent(&provider, Method::POST, "posts", r#"{"a":1,"b":2}"#).await;
    assert_eq!(created, json!({ "id": 1, "a": 1, "b": 2 }));
    let patched = sent(&provider, Method::PATCH, "posts/1", r#"{"b":null}"#).await;
    assert_eq!(patched, json!({ "id": 1, "a": 1, "b": null }));
    let replaced = sent(&provider, Method::PUT, "posts/1", r#"{"id":7,"c":3}"#).await;
    assert_eq!(replaced, json!({ "id": 1, "c": 3 }));
    // The body of a read is dropped.
    assert_eq!(sent(&provider, Method::GET, "posts", "[]").await, json!([{ "id": 1, "c": 3 }]));
    assert_eq!(sent(&provider, Method::DELETE, "posts/1", "").await, json!({}));
    assert_eq!(provider.get("posts/1").await.expect("an answer").status.as_u16(), 404);
    let untyped = call(Method::POST, "posts", "{}");
    let untyped = Call { content_type: DefaultContentType::Never, ..untyped };
    assert_eq!(provider.send(&untyped).await.expect("an answer").status.as_u16(), 415);
}

#[tokio::test]
async fn documents_are_merged_and_located() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(settings(&server));
    let created = sent(&provider, Method::POST, "ret-url", r#"{"a":{"b":1,"c":2}}"#).await;
    let path = created["self"].as_str().expect("a URL");
    let patch = call(Method::PATCH, path, r#"{"a":{"b":null},"d":3}"#);
    assert!(provider.send(&patch).await.expect("an answer").body.is_empty());
    assert_eq!(provider.json(path).await, json!({ "a": { "c": 2 }, "d": 3 }));
    let deletion = Call { method: Method::DELETE, ..Call::get(path) };
    assert_eq!(provider.send(&deletion).await.expect("an answer").status.as_u16(), 200);
    assert_eq!(provider.get(path).await.expect("an answer").status.as_u16(), 404);
}

#[tokio::test]
async fn headers_and_parameters_of_a_call_are_sent() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(settings(&server));
    let plain = call(Method::POST, "demand/read", r#"{"a":1}"#);
    assert_eq!(provider.send(&plain).await.expect("an answer").status.as_u16(), 400);
    let headers = map("Type", "read".to_owned());
    let demanded = Call { headers, query: map("type", vec!["read".to_owned()]), ..plain };
    let answer = provider.send(&demanded).await.expect("an answer");
    assert_eq!(parsed(&answer), json!({ "a": 1 }));
}

#[tokio::test]
async fn body_is_sent_as_a_form_if_the_header_says_so() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(settings(&server));
    let headers = map("content-type", FORM.to_owned());
    let body = operation_body(&headers, Bytes::from_static(br#"{"a&b":"1 \u00e9+2","c":""}"#));
    let form = Call {
        method: Method::POST,
        headers,
        body: Some(body.expect("a form")),
        ..Call::get("form")
    };
    let answer = provider.send(&form).await.expect("an answer");
    assert_eq!(parsed(&answer), json!({ "a&b": ["1 \u{e9}+2"], "c": [""] }));
}

#[tokio::test]
async fn redirect_takes_credentials_to_the_same_server_only() {
    let (server, other) = (RestfulServer::start().await, RestfulServer::start().await);
    let basic = Security::Basic { username: "user".to_owned(), password: secret("passw0rd") };
    let key = |place, name: &str| ApiKey { name: name.to_owned(), place, value: secret("k1") };
    let keys = vec![
        key(KeyPlace::Header, "x-key"),
        key(KeyPlace::Cookie, "session"),
        key(KeyPlace::Query, "key"),
    ];
    let none = json!({ "authorization": "", "cookie": "", "key": "", "query": "" });
    for security in [basic, Security::ApiKeys(keys), Security::token(secret("t1"), None)] {
        let provider = Provider::new(Settings { security, ..settings(&server) });
        for code in [301, 302, 303, 307, 308] {
            let path = |to: &RestfulServer| format!("redirect/{code}?to={}/secure", to.url);
            assert_ne!(provider.json(&path(&server)).await, none, "{code}");
            assert_eq!(provider.json(&path(&other)).await, none, "{code}");
        }
    }
    let provider = Provider::new(settings(&server));
    let path = format!("redirect/307?to={}/posts", other.url);
    let error = http_error(provider.send(&call(Method::POST, &path, "{}")).await);
    assert!(matches!(error, ErrorKind::Redirect(_)), "{error:?}");
    assert_eq!(other.count("POST /posts"), 0);
}

#[tokio::test]
async fn cookies_are_kept_by_their_provider_if_it_says_so() {
    let server = RestfulServer::start().await;
    let with = |has_cookies| {
        let mut settings = settings(&server);
        settings.client.has_cookies = has_cookies;
        Provider::new(settings)
    };
    let (keeping, fresh, without) = (with(true), with(true), with(false));
    for provider in [&keeping, &without] {
        provider.get("cookie/set").await.expect("an answer");
    }
    for (provider, expected) in [(&keeping, "session=s1"), (&fresh, ""), (&without, "")] {
        assert_eq!(provider.json("cookie/show").await["cookie"], expected);
    }
    assert_eq!(keeping.json("secure").await["cookie"], "", "the cookie has a path");
    let own = Call { headers: map("cookie", "own=1".to_owned()), ..Call::get("cookie/show") };
    let answer = keeping.send(&own).await.expect("an answer");
    assert_eq!(parsed(&answer)["cookie"], "own=1; session=s1");
}

#[tokio::test]
async fn hostile_answers_are_bounded() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(settings(&server));
    let answer = provider.get("hostile/bytes").await.expect("an answer");
    let shown = answer.excerpt(&Hidden::default());
    assert_eq!(shown.as_deref(), Some("\u{fffd}\u{fffd}[31mtext"));
    assert_eq!(format!("{answer:?}"), format!("Answer(500 {}/hostile/bytes)", server.url));
    for path in ["hostile/endless", "hostile/announced"] {
        let error = http_error(provider.get(path).await);
        assert!(matches!(error, ErrorKind::TooLarge { most: MAX_ANSWER_BYTES }), "{error:?}");
    }
    let error = http_error(provider.get("hostile/headers").await);
    assert!(matches!(error, ErrorKind::Protocol(_)), "{error:?}");
    let error = http_error(provider.get("hostile/loop").await);
    assert!(matches!(error, ErrorKind::Redirect(_)), "{error:?}");
    assert_eq!(server.count("GET /hostile/loop"), 11);
    // The client is usable afterwards.
    assert!(provider.get("empty").await.is_ok());
}

#[tokio::test]
async fn stop_ends_reads_but_not_changes() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(settings(&server));
    let read = Call::get("sleep/3600000");
    let outcome = provider.stopped_when(&read, || server.count("GET /sleep/3600000") == 1).await;
    assert!(matches!(outcome, Err(RequestError::Stopped(_))), "{outcome:?}");
    let change = call(Method::POST, "sleep/30", "{}");
    let outcome = provider.stopped_when(&change, || server.count("POST /sleep/30") == 1).await;
    assert_eq!(outcome.expect("an answer").status.as_u16(), 200);
}
