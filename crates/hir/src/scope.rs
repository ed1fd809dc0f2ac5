//! The evaluation scope: the engine, the console and tests each implement [`Scope`].

use std::cell::RefCell;

use db::{Rule, Severity, Summary};
use values::{Exceeded, Value, functions::FunctionEnv};

use crate::{
    expr::{At, Ref},
    provider_function::ArgumentError,
};

/// Gives references their runtime values.
///
/// **Invariant:** a scope never performs I/O for a provider. A value that needs a provider's answer is unknown at
/// first. The driver of the evaluation performs the calls and evaluates again with the answers.
pub trait Scope {
    /// The value of a whole reference. For a resource or module with `count` or `for_each`, that is the collection
    /// of all instances; prefer [`Scope::resource_instance`] and [`Scope::module_output`].
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt>;

    /// The value of `type.name[key]`, without building the collection. `None` if the caller must index the result
    /// of [`Scope::reference`] instead.
    fn resource_instance(
        &self,
        _resource: &addr::Resource,
        _key: &Value,
    ) -> Result<Option<Value>, Interrupt> {
        Ok(None)
    }

    /// The value of `module.call.output` or `module.call[key].output`, without building the object of all outputs.
    /// `None` if the caller must use [`Scope::reference`] instead.
    fn module_output(
        &self,
        _call: &str,
        _key: Option<&Value>,
        _output: &str,
    ) -> Result<Option<Value>, Interrupt> {
        Ok(None)
    }

    /// The value of a module call, restricted to one output: the collection that [`Scope::module_output`] selects
    /// from. It is needed for keys without an instance and for marked keys. `None` if the caller must use
    /// [`Scope::reference`] instead.
    fn module_with_output(&self, _call: &str, _output: &str) -> Result<Option<Value>, Interrupt> {
        Ok(None)
    }

    /// Calls a provider function, `provider::name::function`. The arguments have their marks, so that the scope
    /// knows which are secret; the evaluator adds the marks to the result. A scope that must first call the
    /// provider returns an unknown value and evaluates the expression again with the answer.
    /// [`Interrupt::ArgumentError`] and [`Interrupt::Refused`] are failures of this call, which `try` can catch.
    fn provider_function(&self, name: &str, args: &[Value]) -> Result<Value, Interrupt>;

    /// The environment of functions: files and the current time.
    fn functions(&self) -> &dyn FunctionEnv;

    /// Returns true in the console, whose functions differ slightly from those of configurations.
    fn is_console(&self) -> bool {
        false
    }

    /// The collector of secrets that occur during evaluation. `None` if no caller collects them.
    fn secret_parts(&self) -> Option<&SecretParts> {
        None
    }
}

/// Collects the secrets that occur during evaluation.
///
/// A finished value does not show its parts. In `"login ${upper(var.password)}"`, the mark covers the whole text,
/// but a program that receives the text may print only the password. A caller that passes a value to a program and
/// must redact its secrets therefore needs the parts.
///
/// **Invariant:** from the values of references, only strings and numbers are collected, no collections. The
/// caller already knows those. So the cost grows with the computed values, not with the values that are only read.
#[derive(Default)]
pub struct SecretParts {
    /// `None` outside of [`SecretParts::gather`], so that evaluation has no extra cost.
    collected: RefCell<Option<Vec<Value>>>,
}

impl SecretParts {
    /// Runs `work` and returns its result with the secrets that occurred.
    pub fn gather<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<Value>) {
        let outer = self.collected.replace(Some(Vec::new()));
        let result = work();
        (result, self.collected.replace(outer).unwrap_or_default())
    }

    /// Returns true inside of [`SecretParts::gather`].
    pub fn is_wanted(&self) -> bool {
        self.collected.borrow().is_some()
    }

    pub(crate) fn add(&self, part: &Value) {
        if let Some(collected) = &mut *self.collected.borrow_mut() {
            collected.push(part.clone());
        }
    }
}

/// The reason why an evaluation stopped without a diagnostic of its own.
#[derive(Clone, Debug)]
pub enum Interrupt {
    /// A provider function does not accept these arguments, or failed with them.
    ArgumentError(Box<ArgumentError>),
    /// A referenced object failed, and its failure is already reported.
    Poisoned,
    /// The user interrupted the run: there is no result, and nothing to report.
    Stopped,
    /// The budget of the evaluation is used up. The whole evaluation ends; [`eval`](crate::eval) makes it a
    /// diagnostic.
    Exceeded {
        /// The expression that was being evaluated.
        at: At,
        /// The resource that was exceeded.
        exceeded: Exceeded,
    },
    /// A reference has no value here: `self` outside of a resource, or `each` without `for_each`.
    Refused {
        /// The diagnostic's summary.
        summary: Summary,
        /// The diagnostic's detail.
        detail: String,
    },
}

/// A diagnostic of an evaluation, with a location inside the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalDiagnostic {
    /// The location in the item.
    pub at: At,
    /// The rule, the severity and the summary.
    pub summary: Summary,
    /// The detail: the problem and how to solve it.
    pub detail: String,
    /// Lines such as `var.x is 5`, shown below the source line. Never contains sensitive or ephemeral values.
    pub values: Vec<String>,
    /// A suggested fix, if any.
    pub fix: Option<crate::Fix>,
}

impl EvalDiagnostic {
    /// Returns the rule that was broken.
    pub fn id(&self) -> Rule {
        self.summary.rule()
    }

    /// Returns the severity.
    pub fn severity(&self) -> Severity {
        self.summary.severity()
    }
}
