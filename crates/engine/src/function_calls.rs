//! Functions of providers: what expressions want to have called, and the answers.
//!
//! Evaluating is synchronous and asks nobody. So an expression that calls a function whose answer is not there yet goes on
//! with a value that is not known, and leaves the call here. Whoever had it evaluated makes the calls, all at once, and has
//! it evaluated again:
//!
//! ```text
//!   evaluate ──► calls wanted? ── no ──► the value counts
//!      ▲              │ yes: value and diagnostics do not count
//!      └── answers ◄──┴─► processes of the providers, not configured
//! ```
//!
//! A function gives the same for the same arguments, so each call is made once in a run.
//!
//! **Invariant:** a process that is asked has no configuration: what a function gives cannot depend on one, and it can be
//! asked before any configuration is known.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
};

use addr::ProviderSource;
use db::Diagnostic;
use futures::{StreamExt, stream};
use hir::{Interrupt, provider_function::Misfit};
use provider::{CallFunctionRequest, FunctionFault, FunctionSignature, Provider};
use rustc_hash::FxHashMap;
use values::{Str, Type, Value, msgpack};

use crate::{
    event::Event,
    redact::Redactor,
    request::{Environment, ProviderFactory},
    walk::{Failed, Walk},
};

/// A call that only a provider can answer.
#[derive(Clone)]
pub(crate) struct FunctionCall {
    /// The provider.
    pub(crate) source: ProviderSource,
    /// The function's own name.
    pub(crate) function: Str,
    /// The arguments, of the types of the parameters, without marks.
    arguments: Vec<Value>,
    /// Those that are secret, with their marks: the redactor learns them before the provider does.
    secrets: Vec<Value>,
    /// The arguments as bytes, since values cannot be looked up by themselves.
    encoded: Rc<[u8]>,
}

/// Provider, function and arguments.
type Key = (ProviderSource, Str, Rc<[u8]>);

impl FunctionCall {
    /// None if the arguments cannot be sent.
    pub(crate) fn new(
        source: ProviderSource,
        function: Str,
        arguments: Vec<Value>,
    ) -> Option<FunctionCall> {
        let plain: Vec<Value> = arguments.iter().map(Value::without_all_marks).collect();
        let encoded = msgpack::encode(&Value::tuple(plain.clone()), &Type::Dynamic).ok()?;
        let secrets = arguments.into_iter().filter(Value::has_deep_secret).collect();
        Some(FunctionCall { source, function, arguments: plain, secrets, encoded: encoded.into() })
    }

    fn key(&self) -> Key {
        (self.source.clone(), self.function.clone(), Rc::clone(&self.encoded))
    }
}

enum Answer {
    Value(Value),
    Fault(FunctionFault),
    /// There is none; why was reported.
    None,
}

/// Ends when it is dropped, by a panic, too.
struct Gathering<'a> {
    is: &'a Cell<bool>,
    was: bool,
}

impl Drop for Gathering<'_> {
    fn drop(&mut self) {
        self.is.set(self.was);
    }
}

/// The answers that are there, and the calls that are wanted.
#[derive(Default)]
pub(crate) struct FunctionAnswers {
    answers: RefCell<FxHashMap<Key, Answer>>,
    wanted: RefCell<Vec<FunctionCall>>,
    is_gathering: Cell<bool>,
}

impl FunctionAnswers {
    /// The answer to a call, or a value that is not known for now.
    pub(crate) fn answer(
        &self,
        call: FunctionCall,
        name: &str,
        signature: &FunctionSignature,
    ) -> Result<Value, Interrupt> {
        match self.answers.borrow().get(&call.key()) {
            Some(Answer::Value(value)) => return Ok(value.clone()),
            Some(Answer::Fault(FunctionFault { argument, message })) => {
                let misfit = Misfit::said(name, signature, *argument, message);
                return Err(Interrupt::Misfit(Box::new(misfit)));
            }
            Some(Answer::None) => return Err(Interrupt::Poisoned),
            None => {}
        }
        // What is not known beside wanted calls may be the answer of one: then this call is another the next time.
        let is_settled = !self.is_waiting() || call.arguments.iter().all(Value::is_wholly_known);
        if self.is_gathering.get() && is_settled {
            self.wanted.borrow_mut().push(call);
        }
        Ok(Value::unknown(signature.returns.clone()))
    }

    /// Does some evaluating, and gives with its result the calls that it wants. If there are any, the result means nothing,
    /// and nothing that was said on the way counts.
    pub(crate) fn gather<T>(&self, evaluate: impl FnOnce() -> T) -> (T, Vec<FunctionCall>) {
        // What a panic left behind is nobody's.
        self.wanted.take();
        let gathering = Gathering { is: &self.is_gathering, was: self.is_gathering.replace(true) };
        let result = evaluate();
        drop(gathering);
        (result, self.wanted.take())
    }

    /// Whether what is being evaluated has wanted a call, so that its values are not the last word.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.wanted.borrow().is_empty()
    }

    /// Whether what is being evaluated may be evaluated again.
    pub(crate) fn is_gathering(&self) -> bool {
        self.is_gathering.get()
    }

    fn has(&self, call: &FunctionCall) -> bool {
        self.answers.borrow().contains_key(&call.key())
    }

    /// Takes what a provider answered.
    pub(crate) fn settle(&self, call: &FunctionCall, answer: Result<Value, FunctionFault>) {
        let answer = answer.map_or_else(Answer::Fault, Answer::Value);
        self.answers.borrow_mut().insert(call.key(), answer);
    }

    /// Says that a provider cannot be asked, which was reported.
    pub(crate) fn give_up(&self, call: &FunctionCall) {
        self.answers.borrow_mut().insert(call.key(), Answer::None);
    }
}

/// The processes that are asked where no run has any; started when they are needed.
pub(crate) struct FunctionProviders {
    factory: Arc<dyn ProviderFactory>,
    redactor: Redactor,
    running: RefCell<FxHashMap<ProviderSource, Arc<dyn Provider>>>,
}

impl FunctionProviders {
    pub(crate) fn new(environment: &Environment) -> FunctionProviders {
        FunctionProviders {
            factory: Arc::clone(&environment.providers),
            redactor: environment.redactor.clone(),
            running: RefCell::default(),
        }
    }

    /// Makes a call.
    ///
    /// # Errors
    /// If the provider cannot be started.
    pub(crate) async fn ask(
        &self,
        call: &FunctionCall,
    ) -> Result<Result<Value, FunctionFault>, Box<Diagnostic>> {
        let running = self.running.borrow().get(&call.source).cloned();
        let provider = match running {
            Some(running) => running,
            None => {
                let started = self.factory.start(&call.source).await?;
                self.running.borrow_mut().insert(call.source.clone(), Arc::clone(&started));
                started
            }
        };
        Ok(ask(&*provider, call, &self.redactor).await)
    }

    /// Ends what was started.
    pub(crate) async fn end(&self) {
        let running: Vec<_> = self.running.take().into_values().collect();
        futures::future::join_all(running.iter().map(|it| it.close())).await;
    }
}

/// Asks a provider.
async fn ask(
    provider: &dyn Provider,
    call: &FunctionCall,
    redactor: &Redactor,
) -> Result<Value, FunctionFault> {
    // The provider may print what it is given.
    call.secrets.iter().for_each(|it| redactor.learn(it));
    let request =
        CallFunctionRequest { name: call.function.clone(), arguments: call.arguments.clone() };
    let answer = provider.call_function(request).await;
    answer.map_err(|fault| FunctionFault { message: redactor.redact(&fault.message), ..fault })
}

impl Walk<'_> {
    /// Evaluates, with all answers of providers that this takes.
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

    /// Does some evaluating; if it wants calls, what it reported does not count. So nobody hears of it before.
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

    /// Makes calls, some at the same time.
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

    /// A process of a provider that has no configuration.
    async fn unconfigured_provider(
        &self,
        source: &ProviderSource,
    ) -> Result<Arc<dyn Provider>, Failed> {
        let config = self.reuse.memo(|memo| memo.digest(&[b"without a configuration"]));
        self.provider_of(self.pool.unconfigured(source.clone(), config)).await
    }
}
