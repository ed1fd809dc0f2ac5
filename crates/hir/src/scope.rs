//! What an expression is evaluated in: the engine, the console and tests each bring their own [`Scope`].

use std::cell::RefCell;

use values::{Exceeded, Value, functions::FunctionEnv};

use crate::{
    expr::{At, Ref},
    provider_function::Misfit,
};

/// Gives references their runtime values.
///
/// **Invariant:** a scope never performs I/O for a provider. What needs a provider's answer is not known at first; whoever
/// drives the evaluation performs the calls and evaluates again with the answers.
pub trait Scope {
    /// The value of a whole reference. For a resource or module with `count` or `for_each` that is the collection of
    /// all its instances; prefer [`Scope::resource_instance`] and [`Scope::module_output`].
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt>;

    /// `type.name[key]`, without building the collection. `None` means that the general way must be taken: `reference`,
    /// then an index.
    fn resource_instance(
        &self,
        _resource: &addr::Resource,
        _key: &Value,
    ) -> Result<Option<Value>, Interrupt> {
        Ok(None)
    }

    /// `module.call.output` or `module.call[key].output`, without building the object of all outputs. `None` means that
    /// the general way must be taken.
    fn module_output(
        &self,
        _call: &str,
        _key: Option<&Value>,
        _output: &str,
    ) -> Result<Option<Value>, Interrupt> {
        Ok(None)
    }

    /// The value of a module call as far as one output goes: what [`Scope::module_output`] looks into, as a whole, for
    /// instances that are not there and keys that are marked. `None` means that the value of the call itself must be
    /// taken.
    fn module_with_output(&self, _call: &str, _output: &str) -> Result<Option<Value>, Interrupt> {
        Ok(None)
    }

    /// A function of a provider, `provider::name::function`. The arguments have their marks, so that who sends them knows what is
    /// secret; the evaluator puts the marks on the result. A scope that must ask a provider first answers with a value that is not known, and has the expression
    /// evaluated again when it has the answer. [`Interrupt::Misfit`] and [`Interrupt::Refused`] are failures of this
    /// call, which a `try` may hide.
    fn provider_function(&self, name: &str, args: &[Value]) -> Result<Value, Interrupt>;

    /// What functions may ask of their surroundings: files, the time.
    fn functions(&self) -> &dyn FunctionEnv;

    /// Whether this is the console, whose functions are not quite those of configurations.
    fn is_console(&self) -> bool {
        false
    }

    /// Where to put the secrets that expressions come across on the way to their value, if somebody asks for them.
    fn secret_parts(&self) -> Option<&SecretParts> {
        None
    }
}

/// Gathers the secrets that expressions come across on the way to their value.
///
/// A finished value does not show what it was made from: of `"login ${upper(var.password)}"` it tells that the whole
/// text is secret, and a program that is given the text may print the part. So whoever hands a value to a program and
/// promises to hide its secrets must know the parts.
///
/// **Invariant:** of what references give, only texts and numbers are gathered, and no collections: whoever gave them
/// their values knows those. So the work grows with what is computed, and not with what is only looked at.
#[derive(Default)]
pub struct SecretParts {
    /// Absent while nobody asks, so that evaluating costs nothing more.
    gathered: RefCell<Option<Vec<Value>>>,
}

impl SecretParts {
    /// Does some evaluating, and gives with its result the secrets that it came across.
    pub fn gather<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<Value>) {
        let outer = self.gathered.replace(Some(Vec::new()));
        let result = work();
        (result, self.gathered.replace(outer).unwrap_or_default())
    }

    /// Whether somebody asks.
    pub fn is_wanted(&self) -> bool {
        self.gathered.borrow().is_some()
    }

    pub(crate) fn add(&self, part: &Value) {
        if let Some(gathered) = &mut *self.gathered.borrow_mut() {
            gathered.push(part.clone());
        }
    }
}

/// Why an evaluation stopped without a diagnostic of its own.
#[derive(Clone, Debug)]
pub enum Interrupt {
    /// A provider's function does not take these arguments, or failed with them.
    Misfit(Box<Misfit>),
    /// Something that the expression refers to failed, and that was reported there.
    Poisoned,
    /// The user interrupted the run: there is no result, and nothing to report here.
    Stopped,
    /// The budget of the evaluation is used up. It ends as a whole; [`eval`](crate::eval) makes it a diagnostic.
    Exceeded {
        /// What was being evaluated.
        at: At,
        /// What there was too much of.
        exceeded: Exceeded,
    },
    /// A reference has no value here, for a reason in words: `self` outside of a resource, `each` without `for_each`.
    Refused {
        /// The diagnostic's summary.
        summary: &'static str,
        /// The diagnostic's detail.
        detail: String,
    },
}

/// A problem found while evaluating, at a place inside the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalDiagnostic {
    /// Where.
    pub at: At,
    /// Error or warning.
    pub severity: db::Severity,
    /// The stable id, kebab-case.
    pub id: &'static str,
    /// One line, OpenTofu's wording where it has one.
    pub summary: String,
    /// What is wrong and the way out.
    pub detail: String,
    /// Lines such as `var.x is 5`, shown below the source line. Never the value of anything sensitive or ephemeral.
    pub values: Vec<String>,
    /// What would mend it.
    pub fix: Option<crate::Fix>,
}
