//! The state of one evaluation: bound symbols, diagnostics and the budget. Dispatches on the form of expression.

use db::{Rule, Summary};
use values::{Budget, Exceeded, Kind, MarkKind, Marks, Value};

use crate::{
    eval::{
        describe,
        evaluated::{Evaluated, exceeded_problem},
    },
    expr::{At, Expr, ExprId, Exprs, Ref, SymbolId},
    fix::Fix,
    scope::{EvalDiagnostic, Interrupt, Scope, SecretParts},
};

/// The memory size of an element in a tuple or list.
pub(super) const ELEMENT: u64 = size_of::<Value>() as u64;

/// The memory size of an entry in an object or map.
pub(super) const ENTRY: u64 = 2 * ELEMENT;

/// A value, or the reason why the whole evaluation stops.
pub(super) type Outcome = Result<Value, Interrupt>;

/// One evaluation of expressions of one item.
pub(super) struct Evaluation<'a> {
    pub(super) exprs: &'a Exprs,
    /// The scope of references. `None` for constants.
    pub(super) scope: Option<&'a dyn Scope>,
    symbols: Vec<Option<Value>>,
    diagnostics: Vec<EvalDiagnostic>,
    /// References that are not allowed in this place. Neither conditionals nor `try` suppress these errors.
    refused: Vec<EvalDiagnostic>,
    /// The number of errors since the start, without discarded ones.
    failures: usize,
    /// The nesting depth of [`Evaluation::unseen`]. Diagnostics are discarded if it is not zero.
    unseen: u32,
    /// The collector of secrets. `None` if no caller collects them.
    parts: Option<&'a SecretParts>,
    /// Set if the value will be discarded, so that bound symbols may carry extra marks.
    marks_names: bool,
    /// The budget. `None` if the evaluation is not limited.
    pub(super) budget: Option<&'a Budget>,
    /// The memory use of the budget when the evaluation began.
    taken_before: u64,
}

/// A problem of an expression.
pub(super) struct Fault {
    pub(super) at: ExprId,
    pub(super) summary: Summary,
    pub(super) detail: String,
}

/// A value with the diagnostics of its evaluation, kept separate until the evaluation decides that they apply.
pub(super) struct Captured {
    pub(super) value: Value,
    pub(super) diagnostics: Vec<EvalDiagnostic>,
    pub(super) failures: usize,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(exprs: &'a Exprs, scope: Option<&'a dyn Scope>) -> Evaluation<'a> {
        let budget = scope.and_then(|scope| scope.functions().budget());
        Evaluation {
            exprs,
            scope,
            symbols: Vec::new(),
            diagnostics: Vec::new(),
            refused: Vec::new(),
            failures: 0,
            unseen: 0,
            parts: scope.and_then(Scope::secret_parts).filter(|it| it.is_wanted()),
            marks_names: false,
            budget,
            taken_before: budget.map_or(0, Budget::used),
        }
    }

    /// Ends the evaluation. Returns memory to the budget that the result does not keep.
    pub(super) fn finish(
        mut self,
        at: impl Into<At>,
        outcome: Outcome,
    ) -> Result<Evaluated, Interrupt> {
        let outcome = outcome.and_then(|value| self.checked_secret(at.into(), value));
        if let Some(budget) = self.budget {
            budget.settle(self.taken_before, outcome.as_ref().ok());
        }
        let mut ended = None;
        let value = match outcome {
            Ok(value) => value,
            Err(Interrupt::Exceeded { exceeded: Exceeded::Interrupted, .. }) => {
                return Err(Interrupt::Stopped);
            }
            Err(Interrupt::Exceeded { at, exceeded }) => {
                ended = Some(exceeded);
                let (summary, detail) = exceeded_problem(exceeded);
                self.push(at, summary, detail, Vec::new());
                Value::dynamic()
            }
            Err(interrupt) => return Err(interrupt),
        };
        self.diagnostics.append(&mut self.refused);
        Ok(Evaluated { value, diagnostics: self.diagnostics, exceeded: ended })
    }

    /// Reserves memory for walks over all parts of a secret, which redaction needs: a value must not be kept if it
    /// is too large to be walked.
    fn checked_secret(&self, at: At, value: Value) -> Outcome {
        /// The estimated number of walks and unmarked copies of a secret.
        const WALKS: u64 = 16;
        if value.has_deep_secret() {
            self.reserve(at, value.walked_size().saturating_mul(WALKS))?;
        }
        Ok(value)
    }

    /// Counts one step of the evaluation of `at`.
    fn step(&self, at: ExprId) -> Result<(), Interrupt> {
        self.within(at, self.budget.map_or(Ok(()), Budget::step))
    }

    /// Charges memory for a part of the value of `at`, before its allocation.
    #[inline]
    pub(super) fn charge(&self, at: impl Into<At>, bytes: u64) -> Result<(), Interrupt> {
        self.within(at, self.budget.map_or(Ok(()), |budget| budget.charge(bytes)))
    }

    /// Checks that there is memory for a temporary value.
    #[inline]
    pub(super) fn reserve(&self, at: impl Into<At>, bytes: u64) -> Result<(), Interrupt> {
        self.within(at, self.budget.map_or(Ok(()), |budget| budget.reserve(bytes)))
    }

    /// Converts an exceeded budget to an interrupt at the location `at`.
    pub(super) fn within<T>(
        &self,
        at: impl Into<At>,
        result: Result<T, Exceeded>,
    ) -> Result<T, Interrupt> {
        result.map_err(|exceeded| Interrupt::Exceeded { at: at.into(), exceeded })
    }

    /// Evaluates an expression.
    pub(super) fn value(&mut self, id: ExprId) -> Outcome {
        self.step(id)?;
        let before = self.budget.map_or(0, Budget::used);
        let value = self.value_to_look_into(id)?;
        if let Some(budget) = self.budget {
            // The intermediate values are dropped here, so return their memory.
            budget.settle(before, Some(&value));
        }
        if let Some(parts) = self.parts
            && value.has_deep_secret()
            && self.is_part(id, &value)
        {
            parts.add(&value);
        }
        Ok(value)
    }

    /// Returns true if a secret was computed by this expression. A container counts only if a function returned
    /// it: all others consist of parts that were collected before, or come from a reference, whose value the
    /// caller knows.
    fn is_part(&self, id: ExprId, value: &Value) -> bool {
        if matches!(value.kind(), Kind::String(_) | Kind::Number(_)) {
            return true;
        }
        let mut root = id;
        while let Expr::GetAttr { base, .. } | Expr::Index { base, .. } = &self.exprs[root] {
            root = *base;
        }
        matches!(&self.exprs[root], Expr::Call(call) if !matches!(&*call.name, "try" | "can"))
    }

    /// Evaluates an expression of which the caller uses only a part. Does not collect the whole value as a secret.
    pub(super) fn value_to_look_into(&mut self, id: ExprId) -> Outcome {
        let exprs = self.exprs;
        match &exprs[id] {
            Expr::Missing => Ok(Value::dynamic()),
            Expr::Literal(literal) => Ok(literal.value()),
            Expr::Template(parts) => self.template(id, parts),
            Expr::TemplateJoin(tuple) => self.template_join(*tuple),
            Expr::Ref(reference) => self.reference(id, reference),
            Expr::Symbol(symbol) => Ok(self.symbol(*symbol)),
            Expr::GetAttr { base, name } => self.get_attr(id, *base, name),
            Expr::Index { base, key } => self.index(id, *base, *key),
            Expr::Splat { base, item, each } => self.splat(id, *base, *item, *each),
            Expr::Tuple(elements) => self.tuple(id, elements),
            Expr::Object(items) => self.object(id, items),
            Expr::ForTuple(parts) => self.for_tuple(id, parts),
            Expr::ForObject(parts) => self.for_object(id, parts),
            Expr::Unary { op, operand } => self.unary(id, *op, *operand),
            Expr::Binary { op, left, right } => self.binary(id, *op, *left, *right),
            Expr::Conditional { condition, then, otherwise } => {
                self.conditional(id, *condition, *then, *otherwise)
            }
            Expr::Call(call) => self.call(id, call),
            // The function that accepts a type reads it from the expression.
            Expr::Type(_) => Ok(Value::dynamic()),
        }
    }

    /// Evaluates a reference as a whole.
    pub(super) fn reference(&mut self, id: ExprId, reference: &Ref) -> Outcome {
        let Some(scope) = self.scope else {
            let fault = Fault {
                at: id,
                summary: Summary::VARIABLES_NOT_ALLOWED,
                detail: "Variables may not be used here.".to_owned(),
            };
            return Ok(self.fail(fault, &Marks::NONE));
        };
        self.or_refused(id, scope.reference(reference))
    }

    /// Turns a refusal of the scope into a diagnostic that nothing suppresses.
    pub(super) fn or_refused(&mut self, at: ExprId, outcome: Outcome) -> Outcome {
        let Err(Interrupt::Refused { summary, detail }) = outcome else { return outcome };
        self.failures += 1;
        let at = At::Expr(at);
        if !self.refused.iter().any(|it| it.at == at) {
            self.refused.push(EvalDiagnostic {
                at,
                summary,
                detail,
                values: Vec::new(),
                fix: None,
            });
        }
        Ok(Value::dynamic())
    }

    /// The value bound to a symbol. Unknown if the symbol is evaluated outside of its loop.
    pub(super) fn symbol(&self, symbol: SymbolId) -> Value {
        self.bound(symbol).cloned().unwrap_or_else(Value::dynamic)
    }

    pub(super) fn bound(&self, symbol: SymbolId) -> Option<&Value> {
        self.symbols.get(symbol.0 as usize)?.as_ref()
    }

    pub(super) fn bind(&mut self, symbol: SymbolId, value: Value) {
        let index = symbol.0 as usize;
        if self.symbols.len() <= index {
            self.symbols.resize(index + 1, None);
        }
        self.symbols[index] = Some(value);
    }

    pub(super) fn unbind(&mut self, symbol: SymbolId) {
        if let Some(bound) = self.symbols.get_mut(symbol.0 as usize) {
            *bound = None;
        }
    }

    /// Reports a fault. Returns the value of the failing expression: unknown, with the marks of the values that it
    /// read.
    pub(super) fn fail(&mut self, fault: Fault, read: &Marks) -> Value {
        self.fail_in(fault, None, read)
    }

    /// Like [`Evaluation::fail`], with a suggested fix.
    pub(super) fn fail_fixable(&mut self, fault: Fault, fix: Option<Fix>, read: &Marks) -> Value {
        let before = self.diagnostics.len();
        let value = self.fail(fault, read);
        if let Some(diagnostic) = self.diagnostics.get_mut(before) {
            diagnostic.fix = fix;
        }
        value
    }

    /// Like [`Evaluation::fail`], with an extra line of context.
    pub(super) fn fail_in(&mut self, fault: Fault, doing: Option<String>, read: &Marks) -> Value {
        self.failures += 1;
        let at = At::of_problem(fault.summary.rule(), fault.at);
        if self.unseen == 0 && !self.is_reported(at, fault.summary.rule()) {
            let mut values: Vec<String> = doing.into_iter().collect();
            values.extend(describe::values_of(self, fault.at));
            self.push(at, fault.summary, fault.detail, values);
        }
        Value::dynamic().with_marks(read)
    }

    /// Reports an error that is not the value of an expression.
    pub(super) fn report(&mut self, at: At, summary: Summary, detail: String) {
        self.failures += 1;
        // One location can have several problems with the same id. A block that is generated several times has
        // each only once.
        let is_reported =
            |it: &EvalDiagnostic| it.at == at && it.id() == summary.rule() && it.detail == detail;
        if self.unseen == 0 && !self.diagnostics.iter().any(is_reported) {
            self.push(at, summary, detail, Vec::new());
        }
    }

    fn push(&mut self, at: At, summary: Summary, detail: String, values: Vec<String>) {
        self.diagnostics.push(EvalDiagnostic { at, summary, detail, values, fix: None });
    }

    /// Returns true if the same problem was already reported at this location, as in an earlier iteration of a
    /// loop.
    fn is_reported(&self, at: At, id: Rule) -> bool {
        self.diagnostics.iter().any(|it| it.at == at && it.id() == id)
    }

    /// The number of errors so far.
    pub(super) fn failures(&self) -> usize {
        self.failures
    }

    /// Runs `work` with the bound symbols unmarked. If it fails, discards its diagnostics and runs it again with
    /// marked symbols, so that no message quotes them. If secrets are collected, a further run with marked symbols
    /// does only that. Nested calls run their work once, so the cost of nested loops does not multiply.
    pub(super) fn without_quoting<T>(
        &mut self,
        secret: &Marks,
        mut work: impl FnMut(&mut Self, &Marks) -> Result<T, Interrupt>,
    ) -> Result<T, Interrupt> {
        if !secret.has(MarkKind::Sensitive) && !secret.has(MarkKind::Ephemeral) {
            return work(self, &Marks::NONE);
        }
        if self.marks_names {
            return work(self, secret);
        }
        let parts = self.parts.take();
        let (failures, reported) = (self.failures, self.diagnostics.len());
        let mut result = work(self, &Marks::NONE);
        if result.is_ok() && self.failures > failures {
            self.failures = failures;
            self.diagnostics.truncate(reported);
            result = self.with_marked_names(|this| work(this, secret));
        }
        self.parts = parts;
        if result.is_ok() && self.parts.is_some() {
            // In the unmarked run, values computed from the symbols were not recognized as secret.
            self.with_marked_names(|this| this.unseen(|this| work(this, secret).map(drop)))?;
        }
        result
    }

    /// Runs `work` with all bound symbols marked. Nested calls of `without_quoting` then run their work once.
    fn with_marked_names<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.marks_names = true;
        let result = work(self);
        self.marks_names = false;
        result
    }

    /// Evaluates with separate diagnostics, which apply only if they are [adopted](Evaluation::adopt).
    pub(super) fn captured(&mut self, id: ExprId) -> Result<Captured, Interrupt> {
        let outer = std::mem::take(&mut self.diagnostics);
        let before = self.failures;
        let outcome = self.value(id);
        let diagnostics = std::mem::replace(&mut self.diagnostics, outer);
        let failures = self.failures - before;
        self.failures = before;
        Ok(Captured { value: outcome?, diagnostics, failures })
    }

    /// Adds captured diagnostics to those of the evaluation. Returns the value.
    pub(super) fn adopt(&mut self, captured: Captured) -> Value {
        self.failures += captured.failures;
        for diagnostic in captured.diagnostics {
            if !self.is_reported(diagnostic.at, diagnostic.id()) {
                self.diagnostics.push(diagnostic);
            }
        }
        captured.value
    }

    /// Runs `work` and discards its diagnostics.
    pub(super) fn unseen<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.failures;
        self.unseen += 1;
        let result = work(self);
        self.unseen -= 1;
        self.failures = before;
        result
    }
}
