//! Evaluation that repeats until all provider functions that it needs have results.

use std::sync::Arc;

use addr::ProviderSource;
use futures::{StreamExt, stream};
use provider::Provider;

use crate::{
    event::Event,
    function_calls::{FunctionCall, ask},
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
            self.call_functions(&wanted).await;
            if self.is_stopping() {
                return Err(Failed);
            }
        }
    }

    /// Runs an evaluation and returns its result with the calls that it needs. If there are any, drops the
    /// diagnostics of the evaluation; otherwise emits them.
    pub(crate) fn gather_calls<T>(&self, evaluate: impl FnOnce() -> T) -> (T, Vec<FunctionCall>) {
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

    /// Makes several calls concurrently.
    pub(crate) async fn call_functions(&self, calls: &[FunctionCall]) {
        let at_once = self.settings.parallelism.max(1);
        stream::iter(calls).for_each_concurrent(at_once, |call| self.call_function(call)).await;
    }

    async fn call_function(&self, call: &FunctionCall) {
        if self.calls.answers.has(call) {
            return;
        }
        let Ok(provider) = self.unconfigured_provider(&call.source).await else {
            return self.calls.answers.give_up(call);
        };
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
