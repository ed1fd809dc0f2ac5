//! The result of a call of a provider function, as an expression sees it.

use std::rc::Rc;

use addr::ProviderSource;
use db::Summary;
use hir::{
    Interrupt, Module, Program,
    provider_function::{self, ArgumentError, Name, Prepared, is_of_configuration},
};
use provider::FunctionSignature;
use values::Value;

use crate::{
    builtin,
    function_calls::{FunctionAnswers, FunctionCall, Offers, Signatures},
    pool::SlotIx,
};

/// The provider configuration that a call of a function names.
pub(crate) enum Answerer {
    /// A configuration without unknown parts.
    Configured(SlotIx),
    /// The configuration is known only later: the result is unknown.
    Later,
    /// Nothing is configured outside of a run: a process without a configuration answers functions of the schema, and
    /// the results of others are unknown.
    OutsideOfRun,
    /// The module has no configuration with this alias.
    Absent,
    /// The configuration cannot answer. Holds the detail of the diagnostic.
    Unusable(String),
}

/// The context of the calls of provider functions in a module.
pub(crate) struct Called<'a> {
    pub(crate) program: &'a Program,
    pub(crate) module: &'a Module,
    /// The results of providers; `None` if they are not asked, so that the results are unknown.
    pub(crate) answers: Option<&'a FunctionAnswers>,
    /// Finds the configuration that answers a call.
    pub(crate) answerer: &'a dyn Fn(Name<'_>) -> Answerer,
}

/// A call with the source of its provider and the signature of its function.
struct Resolved<'c> {
    /// The name in the source text.
    name: &'c str,
    function: &'c str,
    source: &'c ProviderSource,
    signature: FunctionSignature,
    /// The configuration that answers; `None` for a process without one.
    slot: Option<SlotIx>,
    /// False if the configuration that answers is not known yet.
    is_answered: bool,
}

impl Called<'_> {
    /// Returns the result of a call of a provider function. If the provider must be called, the result is a cached one;
    /// if that is missing, collects the call and returns an unknown value.
    pub(crate) fn answer(&self, name: &str, arguments: &[Value]) -> Result<Value, Interrupt> {
        let unknown = |detail| refused(Summary::UNKNOWN_PROVIDER_FUNCTION, detail);
        let parts = provider_function::parse(name);
        let Some(parts) = parts else { return Err(unknown(provider_function::not_a_name())) };
        let no_provider = || unknown(provider_function::no_provider(name, parts.provider));
        let source = self.module.provider_sources.get(parts.provider).ok_or_else(no_provider)?;
        let is_builtin = *source == builtin::source();
        // The built-in provider has no configurations, hence no aliases.
        if is_builtin && parts.alias.is_some() {
            return Err(no_provider());
        }
        let declared = &self.program.schemas.get(source).ok_or_else(no_provider)?.functions;
        let signature = declared.get(parts.function).cloned();
        let function = parts.function;
        if is_builtin || !is_of_configuration(parts, declared) {
            let offered = declared.keys().map(|it| &**it);
            let not_offered = || unknown(provider_function::not_offered(parts, offered).0);
            let signature = signature.ok_or_else(not_offered)?;
            let slot = None;
            let call = Resolved { name, function, source, signature, slot, is_answered: true };
            return self.result(&call, arguments);
        }
        let (slot, is_answered) = match (self.answerer)(parts) {
            Answerer::Configured(slot) => (Some(slot), true),
            Answerer::Absent => (None, true),
            Answerer::Later => (None, false),
            Answerer::OutsideOfRun => (None, signature.is_some()),
            Answerer::Unusable(detail) => {
                return Err(refused(Summary::UNINITIALIZED_FUNCTION_PROVIDER, detail));
            }
        };
        let signature = match signature {
            Some(signature) => signature,
            None if !is_answered => return Ok(Value::dynamic()),
            None => {
                let Some(offered) = self.offered(slot)? else { return Ok(Value::dynamic()) };
                let offered = offered.as_deref().unwrap_or(declared);
                let names = offered.keys().map(|it| &**it);
                let detail = || provider_function::not_registered(name, parts, names);
                let not_found = || refused(Summary::FUNCTION_NOT_IN_PROVIDER, detail());
                offered.get(function).cloned().ok_or_else(not_found)?
            }
        };
        self.result(&Resolved { name, function, source, signature, slot, is_answered }, arguments)
    }

    /// The functions that the configuration of a slot offers. `None` while they are not known. Without a slot, the
    /// inner value is `None`: an unconfigured process offers the functions of the schema.
    fn offered(&self, slot: Option<SlotIx>) -> Result<Option<Option<Rc<Signatures>>>, Interrupt> {
        let Some(slot) = slot else { return Ok(Some(None)) };
        match self.answers.map(|it| it.offers(slot)) {
            Some(Offers::Known(offered)) => Ok(Some(Some(offered))),
            Some(Offers::Failed) => Err(Interrupt::Poisoned),
            Some(Offers::Requested) | None => Ok(None),
        }
    }

    fn result(&self, call: &Resolved<'_>, arguments: &[Value]) -> Result<Value, Interrupt> {
        let Resolved { name, signature, .. } = call;
        let failed = |error| Interrupt::ArgumentError(Box::new(error));
        let returned =
            |message: &str| failed(ArgumentError::returned(name, signature, None, message));
        let arguments = match provider_function::prepare(name, signature, arguments) {
            Ok(Prepared::Unknown(ty)) => return Ok(Value::unknown(ty)),
            Ok(Prepared::Call(arguments)) => arguments,
            Err(error) => return Err(failed(error)),
        };
        if *call.source == builtin::source() {
            let plain: Vec<Value> = arguments.iter().map(Value::without_all_marks).collect();
            return builtin::functions::call(call.function, &plain)
                .map_err(|message| returned(&message));
        }
        let Some(answers) = self.answers.filter(|_| call.is_answered) else {
            return Ok(Value::unknown(signature.returns.clone()));
        };
        match FunctionCall::new(call.source.clone(), call.function.into(), arguments) {
            Some(request) => answers.answer(request.of(call.slot), name, signature),
            None => Err(returned("its arguments cannot be sent to the provider")),
        }
    }
}

fn refused(summary: Summary, detail: String) -> Interrupt {
    Interrupt::Refused { summary, detail }
}
