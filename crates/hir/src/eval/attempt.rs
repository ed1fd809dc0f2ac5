//! `try` and `can` (DESIGN 2.9).
//!
//! Whether an expression fails can tell something of what it reads. So where its failing shows, in the fallback of a
//! `try` and in the result of `can`, what was read leaves its marks.

use values::{
    Marks, Refinements, Type, Value,
    rules::{self, RuleId},
};

use super::{
    call::Argument,
    evaluation::{Captured, Evaluation, Fault, Outcome},
    traversal::traversals,
};
use crate::{expr::ExprId, scope::Interrupt};

/// What an expression reads from outside of itself.
struct Reads {
    values: Vec<Value>,
    is_wholly_known: bool,
}

impl Reads {
    /// The marks of what shows where the expression failed, or did not.
    fn shown(&self, rule: RuleId, result: &Value) -> Marks {
        rules::result_marks(rule, self.values.iter().chain([result]))
    }
}

impl Evaluation<'_> {
    /// The first argument that succeeds. Arguments that came out of an expansion always do.
    pub(super) fn attempt(&mut self, id: ExprId, args: &[Argument]) -> Outcome {
        let mut tried = Marks::NONE;
        let mut failed = Vec::new();
        for (position, arg) in args.iter().enumerate() {
            let arg = match arg {
                Argument::Written(arg) => *arg,
                Argument::Expanded(_, value) => return Ok(value.with_marks(&tried)),
            };
            let reads = self.reads(arg)?;
            if !reads.is_wholly_known {
                // Which of the rest it will be cannot be told yet.
                let rest = self.marks_of_all(&args[position..])?;
                return Ok(Value::dynamic().with_marks(&tried.union(&rest)));
            }
            let captured = self.captured(arg)?;
            if captured.failures == 0 {
                return Ok(self.adopt(captured).with_marks(&tried));
            }
            tried.add(&reads.shown(RuleId::Try, &captured.value));
            failed.push(captured);
        }
        let detail = nothing_succeeded(&failed);
        let marks = failed.iter().fold(tried, |all, it| all.union(&it.value.deep_marks()));
        Ok(self.fail(
            Fault {
                at: id,
                id: "error-in-function-call",
                summary: "Error in function call",
                detail,
            },
            &marks,
        ))
    }

    pub(super) fn can(&mut self, arg: &Argument) -> Outcome {
        let Argument::Written(id) = arg else { return Ok(Value::bool(true)) };
        let reads = self.reads(*id)?;
        if !reads.is_wholly_known {
            let value = self.unseen(|this| this.value(*id))?;
            let marks = reads.shown(RuleId::Can, &value);
            return Ok(Value::unknown_with(Type::Bool, Refinements::non_null()).with_marks(&marks));
        }
        let captured = self.captured(*id)?;
        Ok(Value::bool(captured.failures == 0)
            .with_marks(&reads.shown(RuleId::Can, &captured.value)))
    }

    /// The values of the traversals in an expression. One that fails cannot go through anything unknown.
    fn reads(&mut self, id: ExprId) -> Result<Reads, Interrupt> {
        let mut reads = Reads { values: Vec::new(), is_wholly_known: true };
        for traversal in traversals(self.exprs, id) {
            let (value, failed) = self.unseen(|this| {
                let before = this.failures();
                this.value(traversal).map(|value| (value, this.failures() > before))
            })?;
            reads.is_wholly_known &= failed || value.is_wholly_known();
            reads.values.push(value);
        }
        Ok(reads)
    }

    /// The marks that the result of one of the arguments can have, while none of them is decided.
    fn marks_of_all(&mut self, args: &[Argument]) -> Result<Marks, Interrupt> {
        let mut marks = Marks::NONE;
        for arg in args {
            match arg {
                Argument::Written(id) => {
                    let reads = self.reads(*id)?;
                    let value = self.unseen(|this| this.value(*id))?;
                    marks.add(&reads.shown(RuleId::Try, &value));
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
