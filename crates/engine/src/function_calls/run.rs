//! Evaluation that repeats until all provider functions that it needs have results.

use std::{rc::Rc, sync::Arc};

use addr::ProviderSource;
use futures::{StreamExt, stream};
use provider::Provider;

use crate::{
    event::Event,
    function_calls::{FunctionCall, FunctionRequest, ask},
    pool::SlotIx,
    schedule::Failed,
    walk::context::Walk,
};

impl Walk<'_> {
    /// Evaluates repeatedly until all provider functions that it needs have results.
    pub(crate) async fn answered<T>(
        &self,
        mut evaluate: impl FnMut() -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        loop {
            let (result, wanted) = self.gather_calls(&mut evaluate);
            if wanted.is_empty() {
                return result;
            }
            self.answer_requests(&wanted).await;
            if self.is_stopping() {
                return Err(Failed);
            }
        }
    }

    /// Runs an evaluation and returns its result with the requests that it needs. If there are any, drops the
    /// diagnostics of the evaluation; otherwise emits them.
    pub(crate) fn gather_calls<T>(
        &self,
        evaluate: impl FnOnce() -> T,
    ) -> (T, Vec<FunctionRequest>) {
        let reported = self.report.len();
        let (result, wanted) = self.calls.answers.gather(evaluate);
        let found = self.report.split_off(reported);
        if wanted.is_empty() {
            for diagnostic in found {
                self.emit(Event::Diagnostic(diagnostic.clone()));
                self.report.add(diagnostic);
            }
        }
        (result, wanted)
    }

    /// Asks providers several questions concurrently.
    pub(crate) async fn answer_requests(&self, requests: &[FunctionRequest]) {
        let at_once = self.settings.parallelism.max(1);
        let requests = stream::iter(requests);
        requests.for_each_concurrent(at_once, |request| self.answer_request(request)).await;
    }

    async fn answer_request(&self, request: &FunctionRequest) {
        match request {
            FunctionRequest::Offers(slot) => self.ask_offers(*slot).await,
            FunctionRequest::Call(call) => self.call_function(call).await,
        }
    }

    /// Asks a configured provider for its functions.
    async fn ask_offers(&self, slot: SlotIx) {
        if self.calls.answers.has_offers(slot) {
            return;
        }
        let slot_of_config = self.pool.get(slot);
        let place = slot_of_config.entry().map(|entry| (entry, &entry.provider_config().body));
        let offered = match self.provider_of(Rc::clone(&slot_of_config)).await {
            Ok(provider) => match provider.functions().await {
                Ok(offered) => Some(offered),
                Err(found) => {
                    // An answer without the functions is a failure, even if it only warns.
                    let _ = self.report_provider(found, place, None);
                    None
                }
            },
            Err(Failed) => None,
        };
        // Another node may have asked meanwhile.
        if !self.calls.answers.has_offers(slot) {
            self.calls.answers.settle_offers(slot, offered);
        }
    }

    async fn call_function(&self, call: &FunctionCall) {
        if self.calls.answers.has(call) {
            return;
        }
        let provider = match call.slot {
            Some(slot) => self.provider_of(self.pool.get(slot)).await,
            None => self.unconfigured_provider(&call.source).await,
        };
        let Ok(provider) = provider else { return self.calls.answers.give_up(call) };
        let answer = ask(&*provider, call, &self.environment.redactor).await;
        self.calls.answers.settle(call, answer);
    }

    /// Returns a process of the provider without a configuration.
    async fn unconfigured_provider(
        &self,
        source: &ProviderSource,
    ) -> Result<Arc<dyn Provider>, Failed> {
        let config = self.reuse.memo(|memo| memo.digest(&[b"without a configuration"]));
        self.provider_of(self.pool.unconfigured(source.clone(), config)).await
    }
}
