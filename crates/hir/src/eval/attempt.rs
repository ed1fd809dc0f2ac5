//! Evaluates `try` and `can`.
//!
//! The success or failure of an expression can reveal something about the values that it reads. The fallback of a
//! `try` and the result of a `can` depend on it, so they carry the marks of the values that were read.

use db::Summary;
use values::{
    Marks, Refinements, Type, Value,
    rules::{self, RuleId},
};

use crate::{
    eval::{
        call::Argument,
        evaluation::{Captured, Evaluation, Fault, Outcome},
        traversal::traversals,
    },
    expr::ExprId,
    scope::Interrupt,
};

/// The values of the references in an expression.
struct ReferencedValues(Vec<Value>);

impl ReferencedValues {
    /// The marks that the success or failure of the expression carries.
    fn revealed_marks(&self, rule: RuleId, result: &Value) -> Marks {
        rules::result_marks(rule, self.0.iter().chain([result]))
    }
}

impl Evaluation<'_> {
    /// Returns the first argument that succeeds. An argument that comes from an expansion always succeeds.
    ///
    /// A failure is final, even if it involves unknown values. A success that is not wholly known may still become
    /// a failure, so the result is unknown, because the choice among the remaining arguments is open.
    pub(super) fn attempt(&mut self, id: ExprId, args: &[Argument]) -> Outcome {
        let mut previous = Marks::NONE;
        let mut failed = Vec::new();
        for (position, arg) in args.iter().enumerate() {
            let arg = match arg {
                Argument::Written(arg) => *arg,
                Argument::Expanded(_, value) => return Ok(value.with_marks(&previous)),
            };
            let captured = self.captured(arg)?;
            if captured.failures == 0 && captured.value.is_wholly_known() {
                return Ok(self.adopt(captured).with_marks(&previous));
            }
            if captured.failures == 0 {
                let rest = self.marks_of_all(&args[position..])?;
                return Ok(Value::dynamic().with_marks(&previous.union(&rest)));
            }
            previous
                .add(&self.referenced_values(arg)?.revealed_marks(RuleId::Try, &captured.value));
            failed.push(captured);
        }
        let detail = nothing_succeeded(&failed);
        let marks = failed.iter().fold(previous, |all, it| all.union(&it.value.deep_marks()));
        Ok(self.fail(Fault { at: id, summary: Summary::ERROR_IN_FUNCTION_CALL, detail }, &marks))
    }

    pub(super) fn can(&mut self, arg: &Argument) -> Outcome {
        let Argument::Written(id) = arg else { return Ok(Value::bool(true)) };
        let captured = self.captured(*id)?;
        let marks = self.referenced_values(*id)?.revealed_marks(RuleId::Can, &captured.value);
        let succeeded = captured.failures == 0;
        let result = match succeeded && !captured.value.is_wholly_known() {
            true => Value::unknown_with(Type::Bool, Refinements::non_null()),
            false => Value::bool(succeeded),
        };
        Ok(result.with_marks(&marks))
    }

    /// The values of the traversals in an expression.
    fn referenced_values(&mut self, id: ExprId) -> Result<ReferencedValues, Interrupt> {
        let mut values = Vec::new();
        for traversal in traversals(self.exprs, id) {
            values.push(self.unseen(|this| this.value(traversal))?);
        }
        Ok(ReferencedValues(values))
    }

    /// The marks that the result may carry while the choice among the arguments is open.
    fn marks_of_all(&mut self, args: &[Argument]) -> Result<Marks, Interrupt> {
        let mut marks = Marks::NONE;
        for arg in args {
            match arg {
                Argument::Written(id) => {
                    let referenced_values = self.referenced_values(*id)?;
                    let value = self.unseen(|this| this.value(*id))?;
                    marks.add(&referenced_values.revealed_marks(RuleId::Try, &value));
                    marks.add(&value.deep_marks());
                }
                Argument::Expanded(_, value) => marks.add(&value.deep_marks()),
            }
        }
        Ok(marks)
    }
}

fn nothing_succeeded(failed: &[Captured]) -> String {
    if failed.is_empty() {
        return "Call to function \"try\" failed: at least one argument is required.".to_owned();
    }
    let mut detail = "Call to function \"try\" failed: no expression succeeded:\n".to_owned();
    for diagnostic in failed.iter().flat_map(|it| &it.diagnostics) {
        detail.push_str(&format!(
            "- {}\n  {}\n",
            diagnostic.summary,
            diagnostic.detail.replace('\n', "\n  ")
        ));
    }
    detail.push_str("\nAt least one expression must produce a successful result.");
    detail
}
