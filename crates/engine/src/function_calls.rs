//! Provider functions: collects the calls that expressions need, and caches the results.
//!
//! Evaluation is synchronous and cannot wait for a provider. An expression that calls a function whose result is
//! not cached therefore continues with an unknown value, and the call is collected here. The caller of the
//! evaluation makes all collected calls at once and evaluates again:
//!
//! ```text
//!   evaluate ──► requests? ── no ──► the value counts
//!      ▲              │ yes: value and diagnostics do not count
//!      └── answers ◄──┴─► processes of the providers
//! ```
//!
//! A function returns the same result for the same arguments, so each call is made once per run and configuration.
//!
//! **Invariant:** a function of the schema runs in a process without a configuration, unless the call names an alias.
//! Its result cannot depend on a configuration, and it can be called before any is known.
//! **Invariant:** a function of a configuration is asked of that configuration only, and only if that is wholly known.

mod called;
mod configuration;
mod run;

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
};

use addr::ProviderSource;
use db::Diagnostic;
use hir::{Interrupt, provider_function::ArgumentError};
use provider::{CallFunctionRequest, FunctionFault, FunctionSignature, Provider};
use rustc_hash::FxHashMap;
use sorted::SortedMap;
use values::{Str, Type, Value, msgpack};

pub(crate) use self::called::{Answerer, Called};
use crate::{
    pool::SlotIx,
    redact::Redactor,
    request::{Environment, ProviderFactory},
};

/// The functions of a provider, by their names.
pub(crate) type Signatures = SortedMap<Str, FunctionSignature>;

/// A call of a provider function.
#[derive(Clone)]
pub(crate) struct FunctionCall {
    /// The source address of the provider.
    pub(crate) source: ProviderSource,
    /// The configuration that answers; `None` for a process without one.
    slot: Option<SlotIx>,
    /// The name of the function in the provider.
    pub(crate) function: Str,
    /// The arguments, converted to the types of the parameters, without marks.
    arguments: Vec<Value>,
    /// The secret arguments, with their marks. The redactor learns them before they are sent to the provider.
    secrets: Vec<Value>,
    /// The encoded arguments, for the cache key: values themselves cannot be hashed.
    encoded: Rc<[u8]>,
}

/// The cache key of a call.
#[derive(PartialEq, Eq, Hash)]
struct CallKey {
    source: ProviderSource,
    slot: Option<SlotIx>,
    function: Str,
    /// The encoded arguments.
    encoded: Rc<[u8]>,
}

impl FunctionCall {
    /// Creates a call; `None` if the arguments cannot be encoded.
    pub(crate) fn new(
        source: ProviderSource,
        function: Str,
        arguments: Vec<Value>,
    ) -> Option<FunctionCall> {
        let plain: Vec<Value> = arguments.iter().map(Value::without_all_marks).collect();
        let encoded = msgpack::encode(&Value::tuple(plain.clone()), &Type::Dynamic).ok()?;
        let secrets = arguments.into_iter().filter(Value::has_deep_secret).collect();
        let encoded = encoded.into();
        Some(FunctionCall { source, slot: None, function, arguments: plain, secrets, encoded })
    }

    /// Asks the configuration of a slot. `None` asks a process without a configuration.
    pub(crate) fn of(self, slot: Option<SlotIx>) -> FunctionCall {
        FunctionCall { slot, ..self }
    }

    fn key(&self) -> CallKey {
        CallKey {
            source: self.source.clone(),
            slot: self.slot,
            function: self.function.clone(),
            encoded: Rc::clone(&self.encoded),
        }
    }
}

enum Answer {
    Value(Value),
    Fault(FunctionFault),
    /// No result: the provider could not be started, which has been reported.
    None,
}

/// A question to a provider that an evaluation needs the answer of.
#[derive(Clone)]
pub(crate) enum FunctionRequest {
    /// The functions that a configured provider offers.
    Offers(SlotIx),
    /// The result of a function.
    Call(FunctionCall),
}

/// The functions of a configured provider.
pub(crate) enum Offers {
    /// The provider's answer.
    Known(Rc<Signatures>),
    /// No answer: the provider could not be started, or its answer was an error. That has been reported.
    Failed,
    /// Not asked yet. The question has been collected.
    Requested,
}

/// Restores the previous state of gathering on drop, so that a panic restores it too.
struct Gathering<'a> {
    is: &'a Cell<bool>,
    was: bool,
}

impl Drop for Gathering<'_> {
    fn drop(&mut self) {
        self.is.set(self.was);
    }
}

/// The cached results, and the calls that the current evaluation needs.
#[derive(Default)]
pub(crate) struct FunctionAnswers {
    answers: RefCell<FxHashMap<CallKey, Answer>>,
    /// The functions of configured providers; `None` for one that gave no answer.
    offers: RefCell<FxHashMap<SlotIx, Option<Rc<Signatures>>>>,
    wanted: RefCell<Vec<FunctionRequest>>,
    is_gathering: Cell<bool>,
}

impl FunctionAnswers {
    /// Returns the cached result of a call, or an unknown value after collecting the call.
    pub(crate) fn answer(
        &self,
        call: FunctionCall,
        name: &str,
        signature: &FunctionSignature,
    ) -> Result<Value, Interrupt> {
        match self.answers.borrow().get(&call.key()) {
            Some(Answer::Value(value)) => return Ok(value.clone()),
            Some(Answer::Fault(FunctionFault { argument, message })) => {
                let error = ArgumentError::returned(name, signature, *argument, message);
                return Err(Interrupt::ArgumentError(Box::new(error)));
            }
            Some(Answer::None) => return Err(Interrupt::Poisoned),
            None => {}
        }
        // While other calls are pending, an unknown argument may be the result of one of them. The next evaluation
        // then makes a different call, so this one is not collected.
        let is_settled = !self.is_waiting() || call.arguments.iter().all(Value::is_wholly_known);
        if self.is_gathering.get() && is_settled {
            self.wanted.borrow_mut().push(FunctionRequest::Call(call));
        }
        Ok(Value::unknown(signature.returns.clone()))
    }

    /// Returns the cached functions of a configured provider. If they are missing, collects the question.
    pub(crate) fn offers(&self, slot: SlotIx) -> Offers {
        match self.offers.borrow().get(&slot) {
            Some(Some(offered)) => Offers::Known(Rc::clone(offered)),
            Some(None) => Offers::Failed,
            None => {
                if self.is_gathering.get() {
                    self.wanted.borrow_mut().push(FunctionRequest::Offers(slot));
                }
                Offers::Requested
            }
        }
    }

    /// Returns true if the functions of a configured provider are cached, or could not be had.
    fn has_offers(&self, slot: SlotIx) -> bool {
        self.offers.borrow().contains_key(&slot)
    }

    /// Caches the functions of a configured provider; `None` if it gave no answer.
    fn settle_offers(&self, slot: SlotIx, offered: Option<Signatures>) {
        self.offers.borrow_mut().insert(slot, offered.map(Rc::new));
    }

    /// Runs an evaluation and returns its result with the requests that it needs. If there are any, the caller must
    /// discard the result and the diagnostics.
    pub(crate) fn gather<T>(&self, evaluate: impl FnOnce() -> T) -> (T, Vec<FunctionRequest>) {
        // Discard calls that an evaluation left behind when it panicked.
        self.wanted.take();
        let gathering = Gathering { is: &self.is_gathering, was: self.is_gathering.replace(true) };
        let result = evaluate();
        drop(gathering);
        (result, self.wanted.take())
    }

    /// Returns true if the current evaluation needs a call, so that its values are not final.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.wanted.borrow().is_empty()
    }

    /// Returns true if the current evaluation may be repeated.
    pub(crate) fn is_gathering(&self) -> bool {
        self.is_gathering.get()
    }

    fn has(&self, call: &FunctionCall) -> bool {
        self.answers.borrow().contains_key(&call.key())
    }

    /// Caches the result of a call.
    pub(crate) fn settle(&self, call: &FunctionCall, answer: Result<Value, FunctionFault>) {
        let answer = answer.map_or_else(Answer::Fault, Answer::Value);
        // Two evaluations may have asked at once, and one may have used the first answer.
        self.answers.borrow_mut().entry(call.key()).or_insert(answer);
    }

    /// Records that the provider of a call cannot be started. The caller has reported it.
    pub(crate) fn give_up(&self, call: &FunctionCall) {
        self.answers.borrow_mut().entry(call.key()).or_insert(Answer::None);
    }
}

/// Provider processes for functions outside of a run. Each process starts with the first call. None is configured, so
/// no function of a configuration is requested.
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

    /// Makes a call and caches its result.
    ///
    /// # Errors
    /// Fails if the provider cannot be started.
    pub(crate) async fn settle(
        &self,
        call: &FunctionCall,
        answers: &FunctionAnswers,
    ) -> Result<(), Box<Diagnostic>> {
        let running = self.running.borrow().get(&call.source).cloned();
        let provider = match running {
            Some(running) => running,
            None => {
                let started = self.factory.start(&call.source).await?;
                self.running.borrow_mut().insert(call.source.clone(), Arc::clone(&started));
                started
            }
        };
        answers.settle(call, ask(&*provider, call, &self.redactor).await);
        Ok(())
    }

    /// Ends the started processes.
    pub(crate) async fn end(&self) {
        let running: Vec<_> = self.running.take().into_values().collect();
        futures::future::join_all(running.iter().map(|it| it.close())).await;
    }
}

/// Sends a call to a provider.
async fn ask(
    provider: &dyn Provider,
    call: &FunctionCall,
    redactor: &Redactor,
) -> Result<Value, FunctionFault> {
    // The provider may log its arguments, so the redactor must know them.
    call.secrets.iter().for_each(|it| redactor.learn(it));
    let request =
        CallFunctionRequest { name: call.function.clone(), arguments: call.arguments.clone() };
    let answer = provider.call_function(request).await;
    answer.map_err(|fault| FunctionFault { message: redactor.redact(&fault.message), ..fault })
}
