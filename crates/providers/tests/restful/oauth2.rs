//! Tokens of an OAuth 2.0 server.

use std::time::Duration;

use futures::future::join_all;
use http_client::{ErrorKind, StatusCode, Url};
use providers::restful::request::build::Call;
use providers::restful::request::client::{InitError, RequestError};
use providers::restful::request::oauth2::TokenError;
use providers::restful::request::settings::{
    Grant, OAuth2, Query, Registration, RegistrationPlace, RetryBlock, Security, Settings,
};

use super::restful_server::RestfulServer;
use super::{Provider, http_error, map, secret, settings};

fn oauth2(server: &RestfulServer, path: &str, grant: Grant) -> OAuth2 {
    let registration = Registration { id: "id".to_owned(), secret: secret("s3cret"), place: None };
    OAuth2 {
        token_url: Url::parse(&format!("{}{path}", server.url)).expect("a URL"),
        registration: Some(registration),
        scopes: vec!["read".to_owned(), "write".to_owned()],
        grant,
    }
}

fn provider(server: &RestfulServer, oauth2: OAuth2) -> Provider {
    Provider::new(Settings { security: Security::OAuth2(oauth2), ..settings(server) })
}

fn own_registration() -> Grant {
    Grant::ClientCredentials { endpoint_params: Query::new() }
}

fn password(password: &str) -> Grant {
    Grant::Password { username: "user".to_owned(), password: secret(password) }
}

fn placed(mut oauth2: OAuth2, place: RegistrationPlace) -> OAuth2 {
    oauth2.registration.as_mut().expect("a registration").place = Some(place);
    oauth2
}

/// Moves the clock behind the end of a token of the server.
async fn let_tokens_expire() {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::time::resume();
}

async fn authorization(provider: &Provider) -> String {
    provider.json("secure").await["authorization"].as_str().expect("a text").to_owned()
}

async fn token_error(provider: &Provider) -> TokenError {
    match provider.get("secure").await {
        Err(RequestError::Token(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn registration_is_tried_in_the_header_and_then_in_the_parameters() {
    let server = RestfulServer::start().await;
    let header = provider(&server, oauth2(&server, "/token/header", own_registration()));
    assert_eq!(authorization(&header).await, "Bearer t1");
    assert_eq!(server.count("POST /token/header"), 1);
    let params = provider(&server, oauth2(&server, "/token/params", own_registration()));
    assert_eq!(authorization(&params).await, "Bearer t2");
    assert_eq!(server.count("POST /token/params"), 2);
    // The client remembers the place that the server accepts.
    let_tokens_expire().await;
    assert_eq!(authorization(&params).await, "Bearer t3");
    assert_eq!(server.count("POST /token/params"), 3);
}

#[tokio::test]
async fn registration_is_sent_at_the_configured_place_only() {
    let server = RestfulServer::start().await;
    let with = |path, place| placed(oauth2(&server, path, own_registration()), place);
    for (path, place) in
        [("/token/header", RegistrationPlace::Params), ("/token/params", RegistrationPlace::Header)]
    {
        let error = token_error(&provider(&server, with(path, place))).await;
        let expected = "the token server answered with the status 401 Unauthorized: invalid_client";
        assert_eq!(error.to_string(), expected);
        assert_eq!(server.count(&format!("POST {path}")), 1);
    }
    let params = provider(&server, with("/token/params", RegistrationPlace::Params));
    assert_eq!(authorization(&params).await, "Bearer t1");
    assert_eq!(server.count("POST /token/params"), 2);
}

#[tokio::test]
async fn concurrent_requests_share_one_token() {
    let server = RestfulServer::start().await;
    let provider = provider(&server, oauth2(&server, "/token/header", own_registration()));
    assert!(provider.client().await.is_ok());
    assert_eq!(server.count("POST /token/header"), 0, "the first request fetches the token");
    let all = join_all((0..8).map(|_| authorization(&provider))).await;
    assert_eq!(all, vec!["Bearer t1"; 8]);
    let_tokens_expire().await;
    let all = join_all((0..8).map(|_| authorization(&provider))).await;
    assert_eq!(all, vec!["Bearer t2"; 8]);
    assert_eq!(server.count("POST /token/header"), 2);
}

#[tokio::test]
async fn last_refresh_token_is_used() {
    let server = RestfulServer::start().await;
    let token_type = Some("Token".to_owned());
    let grant = Grant::RefreshToken { refresh_token: secret("r0"), token_type };
    let provider = provider(&server, oauth2(&server, "/token/params", grant));
    for expected in ["Token t1", "Token t2", "Token t3"] {
        assert_eq!(authorization(&provider).await, expected);
        assert_eq!(authorization(&provider).await, expected);
        let_tokens_expire().await;
    }
    // The first request tries the header too.
    assert_eq!(server.count("POST /token/params"), 4);
}

#[tokio::test]
async fn password_is_used_at_once_and_after_a_refused_refresh_token() {
    let server = RestfulServer::start().await;
    let new = || provider(&server, oauth2(&server, "/token/header", password("passw0rd")));
    let (first, second) = (new(), new());
    for (provider, tokens) in [(&first, 1), (&second, 2)] {
        assert!(provider.client().await.is_ok());
        assert_eq!(server.count("POST /token/header"), tokens);
    }
    assert_eq!(authorization(&first).await, "Bearer t1");
    let_tokens_expire().await;
    assert_eq!(authorization(&second).await, "Bearer t3");
    assert_eq!(server.count("POST /token/header"), 3);
    // The server knows the refresh token of the other client only.
    assert_eq!(authorization(&first).await, "Bearer t4");
    assert_eq!(server.count("POST /token/header"), 5);
}

#[tokio::test]
async fn wrong_password_is_reported_each_time_without_the_password() {
    let server = RestfulServer::start().await;
    let settings = oauth2(&server, "/token/header", password("wr0ng"));
    let provider = provider(&server, placed(settings, RegistrationPlace::Header));
    for _ in 0..2 {
        let error = provider.init_error().await;
        assert!(
            matches!(error, InitError::Request(RequestError::Token(TokenError::Refused { .. }))),
            "{error}"
        );
        let expected = "the token server answered with the status 400 Bad Request";
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(server.count("POST /token/header"), 1);
    assert!(!provider.log().concat().contains("wr0ng"), "{:?}", provider.log());
}

#[tokio::test]
async fn stopped_initialization_begins_again() {
    let server = RestfulServer::start().await;
    let empty = oauth2(&server, "/empty", password("passw0rd"));
    let retry = RetryBlock {
        status_codes: vec![Some(200)],
        wait_in_sec: Some(3600),
        ..RetryBlock::default()
    };
    let mut settings = Settings { security: Security::OAuth2(empty), ..settings(&server) };
    settings.client.retry = Some(retry.policy().expect("a policy"));
    let provider = Provider::new(settings);
    for attempts in 1..=2 {
        let stopping = async {
            super::until(|| provider.log().len() == attempts).await;
            provider.stopper.fire();
        };
        let error = tokio::join!(provider.init_error(), stopping).0;
        assert!(matches!(error, InitError::Request(RequestError::Stopped(_))), "{error}");
    }
    assert_eq!(server.count("POST /empty"), 2);
}

#[tokio::test]
async fn requests_for_tokens_end_with_a_stop() {
    let server = RestfulServer::start().await;
    let path = "/sleep/3600000";
    let provider = provider(&server, oauth2(&server, path, own_registration()));
    // One request waits for the server, and the other for the first.
    let is_sent = || server.count("POST /sleep/3600000") == 1;
    let call = Call::get("secure");
    let first = provider.stopped_when(&call, is_sent);
    for outcome in <[_; 2]>::from(tokio::join!(first, provider.send(&call))) {
        assert!(matches!(outcome, Err(RequestError::Stopped(_))), "{outcome:?}");
    }
    assert_eq!(server.count("POST /sleep/3600000"), 1);
}

#[tokio::test]
async fn tokens_in_form_encoding_are_read() {
    let server = RestfulServer::start().await;
    let endpoint_params = map("audience", vec!["bearer".to_owned()]);
    let grant = Grant::ClientCredentials { endpoint_params };
    let [form, text] = ["/token/header?form", "/token/header?text"]
        .map(|path| provider(&server, oauth2(&server, path, grant.clone())));
    for (provider, expected) in [(&form, "Bearer t1"), (&text, "Bearer t2")] {
        assert_eq!(authorization(provider).await, expected);
        assert_eq!(authorization(provider).await, expected);
    }
    let_tokens_expire().await;
    assert_eq!(authorization(&form).await, "Bearer t3");
}

#[tokio::test]
async fn parameters_of_the_endpoint_are_added_but_replace_no_others() {
    let server = RestfulServer::start().await;
    let with = |name| {
        let endpoint_params = map(name, vec!["mac".to_owned()]);
        let grant = Grant::ClientCredentials { endpoint_params };
        provider(&server, oauth2(&server, "/token/header", grant))
    };
    assert_eq!(authorization(&with("audience")).await, "MAC t1");
    let error = token_error(&with("scope")).await;
    assert_eq!(error, TokenError::Parameter("scope".to_owned()));
    assert_eq!(server.count("POST /token/header"), 1);
}

#[tokio::test]
async fn requests_for_tokens_are_repeated_too() {
    let server = RestfulServer::start().await;
    let retry =
        RetryBlock { status_codes: vec![Some(503)], wait_in_sec: Some(0), ..RetryBlock::default() };
    let flaky = oauth2(&server, "/flaky/2/0", own_registration());
    let mut settings = Settings { security: Security::OAuth2(flaky), ..settings(&server) };
    settings.client.retry = Some(retry.policy().expect("a policy"));
    let error = token_error(&Provider::new(settings)).await;
    assert_eq!(error, TokenError::Invalid("it has no `access_token`"));
    assert_eq!(server.count("POST /flaky/2/0"), 3);
}

#[tokio::test]
async fn hostile_token_servers_are_errors() {
    let (server, other) = (RestfulServer::start().await, RestfulServer::start().await);
    let at = |path: &str| {
        let settings = oauth2(&server, path, own_registration());
        provider(&server, placed(settings, RegistrationPlace::Header))
    };
    let error = token_error(&at("/empty")).await;
    assert_eq!(error, TokenError::Invalid("it is neither a JSON object nor a form"));
    let error = token_error(&at("/hostile/bytes")).await;
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    assert_eq!(error, TokenError::Refused { status, description: None });
    let elsewhere = format!("/redirect/307?to={}/token/header", other.url);
    let error = http_error(at("/hostile/endless").get("secure").await);
    assert!(matches!(error, ErrorKind::TooLarge { most: 1_048_576 }), "{error}");
    for path in ["/hostile/loop", &elsewhere] {
        let error = http_error(at(path).get("secure").await);
        assert!(matches!(error, ErrorKind::Redirect(_)), "{path}: {error}");
    }
    assert_eq!(other.count("POST /token/header"), 0);
    assert_eq!(server.count("GET /secure"), 0);
}
