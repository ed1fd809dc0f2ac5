//! Poll loops.

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use http_client::Method;
use mayfly_sdk::Stop;
use providers::restful::request::build::Call;
use providers::restful::request::client::{Answer, RequestError};
use providers::restful::request::poll::{FirstPause, PollError, PollRules, PollTarget, poll};
use serde_json::json;

use super::restful_server::RestfulServer;
use super::{Provider, call, parsed, settings};

/// Rules with a pause that no test waits for.
fn rules(success: &str, pending: &[&str]) -> PollRules {
    PollRules {
        success: success.to_owned(),
        pending: pending.iter().map(|it| (*it).to_owned()).collect(),
        default_delay: Duration::from_secs(3600),
        is_status_code: false,
    }
}

fn status_in_body(answer: &Answer) -> Result<String, String> {
    parsed(answer)["status"].as_str().map(str::to_owned).ok_or_else(|| "no status".to_owned())
}

fn status_code(answer: &Answer) -> Result<String, String> {
    Ok(answer.status.as_u16().to_string())
}

async fn polled(
    provider: &Provider,
    target: &PollTarget,
    rules: &PollRules,
    first: FirstPause<'_>,
) -> Result<Answer, PollError> {
    let client = provider.client().await.unwrap_or_else(|error| panic!("{error}"));
    let call = Call { query: target.query.clone(), ..Call::get(target.path.clone()) };
    let request = |mut stop: Stop| -> BoxFuture<'_, Result<Answer, RequestError>> {
        let call = call.clone();
        async move { client.send(&call, &mut stop).await }.boxed()
    };
    let status = if rules.is_status_code { status_code } else { status_in_body };
    poll(rules, first, &mut provider.stopper.stop(), request, status).await
}

#[tokio::test]
async fn creation_is_polled_at_its_url_with_the_pauses_of_the_server() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(settings(&server));
    let created =
        provider.send(&call(Method::PUT, "lro/x", r#"{"a":1}"#)).await.expect("an answer");
    let url = created.headers["azure-asyncoperation"].to_str().expect("a text");
    let target = PollTarget::located(&format!("{url}?version=1"));
    let rules = rules("succeeded", &["inprogress"]);
    let done = polled(&provider, &target, &rules, FirstPause::After(&created)).await;
    assert_eq!(parsed(&done.expect("an answer"))["status"], "Succeeded");
    assert_eq!(server.count("GET /lro-status/x"), 3);
    assert!(provider.log().last().expect("a line").contains("/lro-status/x?version=…: 200"));
}

#[tokio::test]
async fn deletion_is_polled_by_the_code_of_answers() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(settings(&server));
    provider.send(&call(Method::PUT, "lro/x", "{}")).await.expect("an answer");
    assert_eq!(provider.json("lro/x").await, json!({}));
    let deleted = provider.send(&Call { method: Method::DELETE, ..Call::get("lro/x") }).await;
    let deleted = deleted.expect("an answer");
    let rules = PollRules { is_status_code: true, ..rules("404", &["202", "200"]) };
    let target = PollTarget::original(&format!("{}/lro/x?a=1", server.url), Default::default());
    let done = polled(&provider, &target, &rules, FirstPause::After(&deleted)).await;
    assert_eq!(done.expect("an answer").status.as_u16(), 404);
    assert_eq!(server.count("GET /lro/x"), 4);
}

#[tokio::test]
async fn other_ends_are_errors_with_the_answer() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(settings(&server));
    for (path, expected) in [
        ("bar/1", "unexpected status \"OK\""),
        ("posts/1", "polling returns 404"),
        ("build-id", "failed to read the status: no status"),
    ] {
        let target = PollTarget::located(path);
        let outcome = polled(&provider, &target, &rules("done", &["busy"]), FirstPause::None).await;
        let error = outcome.expect_err(path);
        assert_eq!(error.to_string(), expected);
        assert!(error.answer().is_some());
        assert_eq!(server.count(&format!("GET /{path}")), 1);
    }
}

#[tokio::test]
async fn pauses_end_with_a_stop() {
    let server = RestfulServer::start().await;
    let provider = Provider::new(settings(&server));
    let answer = provider.get("bar/1").await.expect("an answer");
    let rules = rules("done", &["ok"]);
    // The first pause of an hour, and the one after the first answer.
    for (first, requests) in [(FirstPause::After(&answer), 1), (FirstPause::None, 2)] {
        let target = PollTarget::located("bar/1");
        let stopping = async {
            super::until(|| provider.log().len() == requests).await;
            provider.stopper.fire();
        };
        let polling = polled(&provider, &target, &rules, first);
        let outcome = tokio::join!(polling, stopping).0;
        assert!(
            matches!(outcome, Err(PollError::Request(RequestError::Stopped(_)))),
            "{outcome:?}"
        );
        assert_eq!(server.count("GET /bar/1"), requests);
    }
}
