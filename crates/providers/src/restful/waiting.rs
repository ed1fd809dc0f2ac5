//! Waiting for an API: prechecks before a request, and poll loops after it.

use std::time::Duration;

use futures::{FutureExt as _, future::BoxFuture};
use values::Path;

use super::{
    expression::locator::Locator,
    request::{
        build::{Call, DefaultContentType},
        client::{Answer, RequestError},
        locks::HeldLocks,
        poll::{FirstPause, PollError, PollRules, PollTarget, poll},
    },
    schema::{Arguments, Condition, Polling, StatusArguments, text_values},
    session::{Parameters, Session, located, sentence, unusable},
};
use mayfly_sdk::{Diagnostic, Stop};

/// The pause if neither the API nor the configuration names one.
const DEFAULT_DELAY: i64 = 10;

/// The operation that prechecks guard.
pub(super) struct Guarded<'a> {
    /// The attribute with the prechecks.
    pub(super) attribute: &'a str,
    /// The path that a precheck asks if it names none.
    pub(super) path: &'a str,
    /// The document for expressions. Without bytes, they stay.
    pub(super) document: &'a [u8],
    pub(super) parameters: &'a Parameters,
}

/// Takes the locks and awaits the statuses of all prechecks, in their order. The locks are free when the result is
/// dropped.
pub(super) async fn precheck<'a, P>(
    session: &Session<'_>,
    prechecks: Option<&'a Vec<P>>,
    guarded: &Guarded<'_>,
) -> Result<HeldLocks, Diagnostic>
where
    Condition<'a>: From<&'a P>,
{
    let mut locks = HeldLocks::new();
    for condition in prechecks.into_iter().flatten().map(Condition::from) {
        if let Some(mutex) = condition.mutex {
            let acquired = locks.acquire(mutex, &mut session.stop.clone()).await;
            acquired
                .map_err(|it| Diagnostic::error("Precheck Failed", sentence(&it.to_string())))?;
        }
        if let Some(api) = condition.api {
            let path = api.path.filter(|it| !it.is_empty()).unwrap_or(guarded.path);
            let loop_ = Loop::of(api.status, guarded.attribute, guarded.document)?;
            let own = Arguments { query: api.query.cloned(), header: api.status.header.clone() };
            let parameters = guarded.parameters.clone().with(&own, None);
            let target = PollTarget::original(path, parameters.query.clone());
            loop_.run(session, &target, &parameters, FirstPause::None).await?;
        }
    }
    Ok(locks)
}

/// An operation that has begun, and is polled for its end.
pub(super) struct Begun<'a> {
    /// The attribute with the rules of the loop.
    pub(super) attribute: &'a str,
    /// The answer of the operation.
    pub(super) answer: &'a Answer,
    /// The URL to poll unless the rules locate one.
    pub(super) url: &'a str,
    /// The document for expressions. Without bytes, they stay.
    pub(super) document: &'a [u8],
    pub(super) parameters: &'a Parameters,
}

/// Awaits the end of an operation, if there are rules for it.
pub(super) async fn await_end(
    session: &Session<'_>,
    rules: Option<&Polling>,
    begun: &Begun<'_>,
) -> Result<(), Diagnostic> {
    let Some(rules) = rules else { return Ok(()) };
    let loop_ = Loop::of(&rules.status, begun.attribute, begun.document)?;
    let own = Arguments { query: None, header: rules.status.header.clone() };
    let parameters = begun.parameters.clone().with(&own, None);
    let target = match &rules.url_locator {
        None => PollTarget::original(begun.url, parameters.query.clone()),
        Some(locator) => {
            let missing = || {
                let detail = format!("The answer has no polling URL at {locator:?}.");
                let path = Path::root().attr(begun.attribute);
                Diagnostic::error("No Polling URL", detail).at(path)
            };
            let place = place(locator, begun.attribute, begun.document)?;
            PollTarget::located(&located(&place, begun.answer).ok_or_else(missing)?)
        }
    };
    loop_.run(session, &target, &parameters, FirstPause::After(begun.answer)).await
}

/// A poll loop that is ready to run.
struct Loop<'a> {
    attribute: &'a str,
    /// The `status_locator` as it is configured.
    locator: &'a str,
    status: Locator,
    rules: PollRules,
}

fn place(locator: &str, attribute: &str, document: &[u8]) -> Result<Locator, Diagnostic> {
    let locator = Locator::parse(locator).map_err(|it| unusable(attribute, &it.to_string()))?;
    locator.expanded(document).map_err(|it| unusable(attribute, &it.to_string()))
}

impl<'a> Loop<'a> {
    fn of(
        arguments: &'a StatusArguments,
        attribute: &'a str,
        document: &[u8],
    ) -> Result<Loop<'a>, Diagnostic> {
        let locator = arguments.status_locator.as_str();
        let status = place(locator, attribute, document)?;
        let delay = arguments.default_delay_sec.unwrap_or(DEFAULT_DELAY);
        let rules = PollRules {
            success: arguments.status.success.clone(),
            pending: text_values(arguments.status.pending.as_ref()),
            default_delay: Duration::from_secs(u64::try_from(delay).unwrap_or_default()),
            is_status_code: status == Locator::Code,
        };
        Ok(Loop { attribute, locator, status, rules })
    }

    async fn run(
        &self,
        session: &Session<'_>,
        target: &PollTarget,
        parameters: &Parameters,
        first: FirstPause<'_>,
    ) -> Result<(), Diagnostic> {
        let call = Call {
            query: target.query.clone(),
            headers: parameters.headers.clone(),
            content_type: DefaultContentType::Never,
            ..Call::get(target.path.clone())
        };
        let client = session.client;
        let request = |mut stop: Stop| -> BoxFuture<'_, Result<Answer, RequestError>> {
            let call = call.clone();
            async move { client.send(&call, &mut stop).await }.boxed()
        };
        let status = |answer: &Answer| {
            let missing = || format!("the answer has nothing at {:?}", self.locator);
            located(&self.status, answer).ok_or_else(missing)
        };
        let ended = poll(&self.rules, first, &mut session.stop.clone(), request, status).await;
        ended.map(drop).map_err(|error| self.error(session, &error))
    }

    fn error(&self, session: &Session<'_>, error: &PollError) -> Diagnostic {
        let reason = match error {
            // The status is a part of the answer, which may repeat a secret.
            PollError::Unexpected { status, .. } => {
                format!("unexpected status {:?}", session.hidden.hide(status))
            }
            error => error.to_string(),
        };
        let detail = match error.answer() {
            None => sentence(&reason),
            Some(answer) => {
                format!("{} The answer:\n{}", sentence(&reason), session.excerpt(answer))
            }
        };
        let path = Path::root().attr(self.attribute);
        Diagnostic::error(format!("`{}` failed", self.attribute), detail).at(path)
    }
}
