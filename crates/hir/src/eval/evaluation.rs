//! One evaluation: the bound names, the problems found so far, and the choice of the form.

use values::{Budget, Exceeded, Kind, MarkKind, Marks, Value};

use super::{Evaluated, describe, exceeded_problem};
use crate::{
    expr::{At, Expr, ExprId, Exprs, Literal, Ref, SymbolId},
    fix::Fix,
    scope::{EvalDiagnostic, Interrupt, Scope, SecretParts},
};

/// Memory that an element takes in a tuple or list.
pub(super) const ELEMENT: u64 = size_of::<Value>() as u64;

/// Memory that an entry takes in an object or map.
pub(super) const ENTRY: u64 = 2 * ELEMENT;

/// A value, or the reason why the evaluation as a whole cannot go on now.
pub(super) type Outcome = Result<Value, Interrupt>;

/// One run over the expressions of one item.
pub(super) struct Evaluation<'a> {
    pub(super) exprs: &'a Exprs,
    /// Absent for constants.
    pub(super) scope: Option<&'a dyn Scope>,
    symbols: Vec<Option<Value>>,
    diagnostics: Vec<EvalDiagnostic>,
    /// References that may not stand here at all. No arm and no `try` hides them.
    refused: Vec<EvalDiagnostic>,
    /// How many errors there were since the start, less those that were thrown away.
    failures: usize,
    /// Above zero where nobody will see the diagnostics.
    unseen: u32,
    /// Where secrets that are come across go; absent if nobody asks for them.
    parts: Option<&'a SecretParts>,
    /// Whether nobody will see the value either, so that names may be marked beyond what is true of them.
    marks_names: bool,
    /// What the evaluation may take; absent where nothing is limited.
    pub(super) budget: Option<&'a Budget>,
    /// What was taken of the budget when the evaluation began.
    taken_before: u64,
}

/// Something that is wrong with an expression.
pub(super) struct Fault {
    pub(super) at: ExprId,
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) detail: String,
}

/// A value together with the diagnostics of its own evaluation, kept apart until it is clear that they count.
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

    /// Ends the evaluation. What it took of the budget and does not keep is given back.
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
                let (id, summary, detail) = exceeded_problem(exceeded);
                self.push(at, id, summary.to_owned(), detail, Vec::new());
                Value::dynamic()
            }
            Err(interrupt) => return Err(interrupt),
        };
        self.diagnostics.append(&mut self.refused);
        Ok(Evaluated { value, diagnostics: self.diagnostics, exceeded: ended })
    }

    /// All parts of a secret are looked at, to hide them: more must not be kept than can be walked.
    fn checked_secret(&self, at: At, value: Value) -> Outcome {
        /// Times that a secret is walked through, or copied without its marks.
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

    /// Takes memory for a part of the value of `at`, before it is allocated.
    pub(super) fn charge(&self, at: impl Into<At>, bytes: u64) -> Result<(), Interrupt> {
        self.within(at, self.budget.map_or(Ok(()), |budget| budget.charge(bytes)))
    }

    /// Makes sure that there is memory for something that is dropped soon.
    pub(super) fn reserve(&self, at: impl Into<At>, bytes: u64) -> Result<(), Interrupt> {
        self.within(at, self.budget.map_or(Ok(()), |budget| budget.reserve(bytes)))
    }

    /// Ends the evaluation where `at` exceeds the budget.
    pub(super) fn within<T>(
        &self,
        at: impl Into<At>,
        result: Result<T, Exceeded>,
    ) -> Result<T, Interrupt> {
        result.map_err(|exceeded| Interrupt::Exceeded { at: at.into(), exceeded })
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, id: ExprId) -> Outcome {
        self.step(id)?;
        let before = self.budget.map_or(0, Budget::used);
        let value = self.value_to_look_into(id)?;
        if let Some(budget) = self.budget {
            // What the value was made from is dropped now.
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

    /// Whether a secret was computed here. Of containers, those that functions gave count: all others are put together
    /// from parts that had their turn, or are what somebody else knows.
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

    /// The value of an expression of which only a part will be used: only that part counts as come across.
    pub(super) fn value_to_look_into(&mut self, id: ExprId) -> Outcome {
        let exprs = self.exprs;
        match &exprs[id] {
            Expr::Missing => Ok(Value::dynamic()),
            Expr::Literal(literal) => Ok(literal_value(literal)),
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
            // Who takes a type reads it as what it is.
            Expr::Type(_) => Ok(Value::dynamic()),
        }
    }

    /// The value of a reference as a whole.
    pub(super) fn reference(&mut self, id: ExprId, reference: &Ref) -> Outcome {
        let Some(scope) = self.scope else {
            let fault = Fault {
                at: id,
                id: "variables-not-allowed",
                summary: "Variables not allowed",
                detail: "Variables may not be used here.".to_owned(),
            };
            return Ok(self.fail(fault, &Marks::NONE));
        };
        self.or_refused(id, scope.reference(reference))
    }

    /// Turns a refusal of the scope into a diagnostic that nothing hides.
    pub(super) fn or_refused(&mut self, at: ExprId, outcome: Outcome) -> Outcome {
        let Err(Interrupt::Refused { summary, detail }) = outcome else { return outcome };
        self.failures += 1;
        let at = At::Expr(at);
        if !self.refused.iter().any(|it| it.at == at) {
            self.refused.push(EvalDiagnostic {
                at,
                severity: db::Severity::Error,
                id: "invalid-reference",
                summary: summary.to_owned(),
                detail,
                values: Vec::new(),
                fix: None,
            });
        }
        Ok(Value::dynamic())
    }

    /// The value bound to a name; unknown where it is looked at outside of its loop.
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

    /// Reports a fault and gives the value of the failing expression: unknown, with the marks of what it read.
    pub(super) fn fail(&mut self, fault: Fault, read: &Marks) -> Value {
        self.fail_in(fault, None, read)
    }

    /// Like [`Evaluation::fail`], with what would mend it.
    pub(super) fn fail_fixable(&mut self, fault: Fault, fix: Option<Fix>, read: &Marks) -> Value {
        let told = self.diagnostics.len();
        let value = self.fail(fault, read);
        if let Some(diagnostic) = self.diagnostics.get_mut(told) {
            diagnostic.fix = fix;
        }
        value
    }

    /// Like [`Evaluation::fail`], with a line on what was going on.
    pub(super) fn fail_in(&mut self, fault: Fault, doing: Option<String>, read: &Marks) -> Value {
        self.failures += 1;
        let at = At::of_problem(fault.id, fault.at);
        if self.unseen == 0 && !self.is_reported(at, fault.id) {
            let mut values: Vec<String> = doing.into_iter().collect();
            values.extend(describe::values_of(self, fault.at));
            self.push(at, fault.id, fault.summary.to_owned(), fault.detail, values);
        }
        Value::dynamic().with_marks(read)
    }

    /// Reports an error that no expression's value explains.
    pub(super) fn report(
        &mut self,
        at: At,
        id: &'static str,
        summary: impl Into<String>,
        detail: String,
    ) {
        self.failures += 1;
        // One place can lack several things; a block made several times lacks the same each time.
        let is_reported = |it: &EvalDiagnostic| it.at == at && it.id == id && it.detail == detail;
        if self.unseen == 0 && !self.diagnostics.iter().any(is_reported) {
            self.push(at, id, summary.into(), detail, Vec::new());
        }
    }

    fn push(
        &mut self,
        at: At,
        id: &'static str,
        summary: String,
        detail: String,
        values: Vec<String>,
    ) {
        self.diagnostics.push(EvalDiagnostic {
            at,
            severity: db::Severity::Error,
            id,
            summary,
            detail,
            values,
            fix: None,
        });
    }

    /// Whether the same problem was found at the same place, as in an earlier round of a loop. It is told once.
    fn is_reported(&self, at: At, id: &str) -> bool {
        self.diagnostics.iter().any(|it| it.at == at && it.id == id)
    }

    /// How many errors there were so far.
    pub(super) fn failures(&self) -> usize {
        self.failures
    }

    /// Does the work with names that are bound as they are; if it fails, once more with those names marked as secret,
    /// so that no message quotes them. Where secrets are gathered, that is done with the names marked, too, and for it
    /// alone; inside of it nothing is done twice, so that loops in loops do not multiply the work.
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
        let (failures, told) = (self.failures, self.diagnostics.len());
        let mut result = work(self, &Marks::NONE);
        if result.is_ok() && self.failures > failures {
            self.failures = failures;
            self.diagnostics.truncate(told);
            result = self.with_marked_names(|this| work(this, secret));
        }
        self.parts = parts;
        if result.is_ok() && self.parts.is_some() {
            // Without the marks nothing that is computed from those names was seen to be secret.
            self.with_marked_names(|this| this.unseen(|this| work(this, secret).map(drop)))?;
        }
        result
    }

    /// Does work in which all names that are bound have their marks, so that inside of it nothing need be done twice.
    fn with_marked_names<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.marks_names = true;
        let result = work(self);
        self.marks_names = false;
        result
    }

    /// Evaluates apart: the diagnostics count only if they are [adopted](Evaluation::adopt).
    pub(super) fn captured(&mut self, id: ExprId) -> Result<Captured, Interrupt> {
        let outer = std::mem::take(&mut self.diagnostics);
        let before = self.failures;
        let outcome = self.value(id);
        let diagnostics = std::mem::replace(&mut self.diagnostics, outer);
        let failures = self.failures - before;
        self.failures = before;
        Ok(Captured { value: outcome?, diagnostics, failures })
    }

    /// Makes diagnostics that were kept apart count.
    pub(super) fn adopt(&mut self, captured: Captured) -> Value {
        self.failures += captured.failures;
        for diagnostic in captured.diagnostics {
            if !self.is_reported(diagnostic.at, diagnostic.id) {
                self.diagnostics.push(diagnostic);
            }
        }
        captured.value
    }

    /// Does something whose diagnostics nobody will see.
    pub(super) fn unseen<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.failures;
        self.unseen += 1;
        let result = work(self);
        self.unseen -= 1;
        self.failures = before;
        result
    }
}

pub(super) fn literal_value(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::null(values::Type::Dynamic),
        Literal::Bool(value) => Value::bool(*value),
        Literal::Number(number) => Value::number(number.clone()),
        Literal::String(text) => Value::string(text.clone()),
    }
}
