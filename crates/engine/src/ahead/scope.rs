//! The scope of an evaluation ahead: captured values, and nothing else.

use std::cell::Cell;

use hir::{Interrupt, Ref, Scope, SecretParts};
use rustc_hash::FxHashMap;
use values::{
    Budget, MarkKind, Value,
    functions::{FunctionEnv, RenderError},
};

use crate::walk::instances::Each;

/// The values of references, captured by the thread of the run.
pub(crate) struct Captured {
    values: FxHashMap<Ref, Value>,
    /// The result of `plantimestamp()`; `None` if it is not known.
    plan_time: Option<String>,
}

impl Captured {
    pub(crate) fn new(plan_time: Option<String>) -> Captured {
        Captured { values: FxHashMap::default(), plan_time }
    }

    /// Captures the value of a reference. Returns false for an ephemeral value, which is not captured.
    pub(crate) fn add(&mut self, reference: &Ref, value: Value) -> bool {
        let is_added = !value.has_deep(MarkKind::Ephemeral);
        if is_added {
            self.values.insert(reference.clone(), value);
        }
        is_added
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn get(&self, reference: &Ref) -> Option<&Value> {
        self.values.get(reference)
    }
}

/// Knows whether an evaluation read anything besides the captured values. Then its result does not count, so what it
/// reads there does not matter.
pub(super) struct CapturedScope<'r> {
    captured: &'r Captured,
    each: Option<&'r Each>,
    pub(super) budget: Budget,
    pub(super) parts: SecretParts,
    is_complete: Cell<bool>,
}

impl<'r> CapturedScope<'r> {
    pub(super) fn new(
        captured: &'r Captured,
        each: Option<&'r Each>,
        budget: Budget,
    ) -> CapturedScope<'r> {
        let parts = SecretParts::default();
        CapturedScope { captured, each, budget, parts, is_complete: Cell::new(true) }
    }

    /// Returns true if the evaluation read nothing but captured values.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete.get()
    }

    /// Records that something else was read.
    fn missing<T>(&self, result: T) -> T {
        self.is_complete.set(false);
        result
    }
}

impl Scope for CapturedScope<'_> {
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt> {
        let found = match reference {
            Ref::EachKey => self.each.and_then(Each::key_value),
            Ref::EachValue => self.each.and_then(|it| it.value.clone()),
            Ref::CountIndex => self.each.and_then(Each::count_index),
            _ => self.captured.get(reference).cloned(),
        };
        found.ok_or_else(|| self.missing(Interrupt::Poisoned))
    }

    fn resource_instance(&self, _: &addr::Resource, _: &Value) -> Result<Option<Value>, Interrupt> {
        self.missing(Err(Interrupt::Poisoned))
    }

    fn module_output(
        &self,
        _: &str,
        _: Option<&Value>,
        _: &str,
    ) -> Result<Option<Value>, Interrupt> {
        self.missing(Err(Interrupt::Poisoned))
    }

    fn module_with_output(&self, _: &str, _: &str) -> Result<Option<Value>, Interrupt> {
        self.missing(Err(Interrupt::Poisoned))
    }

    fn provider_function(&self, _: &str, _: &[Value]) -> Result<Value, Interrupt> {
        self.missing(Err(Interrupt::Poisoned))
    }

    fn functions(&self) -> &dyn FunctionEnv {
        self
    }

    fn secret_parts(&self) -> Option<&SecretParts> {
        Some(&self.parts)
    }
}

/// The message of a fault that is discarded with its evaluation.
const NOT_HERE: &str = "not available ahead of the run";

impl FunctionEnv for CapturedScope<'_> {
    fn read_file(&self, _: &str) -> Result<Vec<u8>, String> {
        self.missing(Err(NOT_HERE.to_owned()))
    }

    fn file_exists(&self, _: &str) -> Result<bool, String> {
        self.missing(Err(NOT_HERE.to_owned()))
    }

    fn list_directory(&self, _: &str) -> Result<Vec<(String, bool)>, String> {
        self.missing(Err(NOT_HERE.to_owned()))
    }

    fn base_directory(&self) -> Option<String> {
        self.missing(None)
    }

    fn home_directory(&self) -> Option<String> {
        self.missing(None)
    }

    fn is_undecided(&self, _: &str) -> bool {
        self.missing(false)
    }

    fn render_template(&self, _: &str, _: &str, _: &Value) -> Result<Value, RenderError> {
        self.missing(Err(NOT_HERE.to_owned().into()))
    }

    fn now(&self) -> Option<String> {
        self.missing(None)
    }

    fn plan_time(&self) -> Option<String> {
        self.captured.plan_time.clone()
    }

    fn salt(&self) -> Option<[u8; 16]> {
        self.missing(None)
    }

    fn budget(&self) -> Option<&Budget> {
        Some(&self.budget)
    }

    fn uuid(&self) -> Option<String> {
        self.missing(None)
    }
}
