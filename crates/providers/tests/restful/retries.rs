//! Repeated requests.

use std::time::Duration;

use http_client::{ErrorKind, Method, StatusCode};
use providers::restful::request::build::Call;
use providers::restful::request::client::RequestError;
use providers::restful::request::retry::RetryPolicy;
use providers::restful::request::settings::{BaseUrl, Settings};
use tokio::net::TcpListener;

use super::restful_server::RestfulServer;
use super::{Provider, call, http_error, settings};

const MILLISECOND: Duration = Duration::from_millis(1);

fn policy() -> RetryPolicy {
    let (wait, max_wait) = (MILLISECOND, 5 * MILLISECOND);
    RetryPolicy { status_codes: [503].into(), count: 2, wait, max_wait }
}

fn provider(mut settings: Settings, policy: RetryPolicy) -> Provider {
    settings.client.retry = Some(policy);
    Provider::new(settings)
}

#[tokio::test]
async fn request_is_repeated_until_its_status_is_another() {
    let server = RestfulServer::start().await;
    let provider = provider(settings(&server), policy());
    // Neither the fraction nor the hour is waited for.
    for path in ["flaky/0/0", "flaky/1/3600", "flaky/2/0.01", "flaky/2/soon"] {
        let answer = provider.get(path).await.expect("an answer");
        assert_eq!(answer.status, StatusCode::OK, "{path}");
    }
    let answer = provider.send(&call(Method::POST, "flaky/2/0", "{}")).await.expect("an answer");
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(server.count("GET /flaky/0/0"), 1);
    assert_eq!(server.count("GET /flaky/1/3600"), 2);
    assert_eq!(server.count("GET /flaky/2/soon"), 3);
    assert_eq!(server.count("POST /flaky/2/0"), 3);
    assert_eq!(provider.log().len(), 12);
}

#[tokio::test]
async fn last_answer_counts_after_all_retries() {
    let server = RestfulServer::start().await;
    let answer = provider(settings(&server), policy()).get("flaky/9/0").await.expect("an answer");
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(server.count("GET /flaky/9/0"), 3);
}

#[tokio::test]
async fn request_is_not_repeated_without_a_matching_policy() {
    let server = RestfulServer::start().await;
    let other = RetryPolicy { status_codes: [502].into(), ..policy() };
    for (provider, count) in
        [(Provider::new(settings(&server)), 1), (provider(settings(&server), other), 2)]
    {
        let answer = provider.get("flaky/9/0").await.expect("an answer");
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(server.count("GET /flaky/9/0"), count);
    }
}

#[tokio::test]
async fn failed_connection_is_repeated() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let settings = Settings::new(BaseUrl::parse(&url).expect("a base URL"));
    let provider = provider(settings, policy());
    let error = http_error(provider.get("posts").await);
    assert!(matches!(error, ErrorKind::Connect { .. }), "{error}");
    assert_eq!(provider.log().len(), 3);
}

#[tokio::test]
async fn pause_before_a_retry_ends_with_a_stop() {
    let server = RestfulServer::start().await;
    let hour = Duration::from_secs(3600);
    let policy = RetryPolicy { wait: hour, max_wait: hour, ..policy() };
    let provider = provider(settings(&server), policy);
    // The line is written just before the pause.
    let outcome =
        provider.stopped_when(&Call::get("flaky/9/0"), || provider.log().len() == 1).await;
    assert!(matches!(outcome, Err(RequestError::Stopped(_))), "{outcome:?}");
    assert_eq!(server.count("GET /flaky/9/0"), 1);
}
