//! The concrete evaluator: evaluates lowered expressions over values that may be unknown or marked.
//!
//! Start reading at [`evaluate`], which runs one [`Evaluation`](evaluation::Evaluation); each form of expression
//! has its own file. [`decode_body`] converts a body to an object of its schema's type. Unknown values, null and
//! errors behave as HCL defines. [`values::rules`] defines how marks propagate; the abstract evaluator shares
//! these rules.
//!
//! **Invariant:** no I/O; the scope performs provider calls ([`Scope::provider_function`]).
//! **Invariant:** a diagnostic quotes no sensitive or ephemeral value; see [`describe`].
//! **Invariant:** time and memory are linear in the size of the values that are read.

pub(crate) mod access;
pub(crate) mod attempt;
pub(crate) mod body;
pub(crate) mod call;
pub(crate) mod conditional;
pub(crate) mod constraint;
pub(crate) mod constructor;
pub(crate) mod describe;
pub(crate) mod evaluation;
pub(crate) mod iterate;
pub(crate) mod locate;
pub(crate) mod operator;
pub(crate) mod splat;
pub(crate) mod template;
#[cfg(test)]
mod tests;
pub(crate) mod traversal;

use db::{Rule, Summary};
use values::{Budget, Exceeded, Type, Value, convert::ConvertError};

use crate::{
    expr::{At, ExprId, Exprs, NodeId, SymbolId},
    item::{Body, TypeConstraint},
    scope::{EvalDiagnostic, Interrupt, Scope},
};

pub(crate) use body::{attribute_as_blocks, wrong_labels};

pub use call::function_problem;

pub(crate) use constraint::with_defaults;

pub(crate) use traversal::traversals;

/// The result of an evaluation. A failed part of the value is unknown, and a diagnostic reports the failure.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The value.
    pub value: Value,
    /// The diagnostics of the evaluation.
    pub diagnostics: Vec<EvalDiagnostic>,
    /// Set if the evaluation exceeded its budget. A diagnostic reports it too.
    pub exceeded: Option<Exceeded>,
}

impl Evaluated {
    /// Returns true if a diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|it| it.severity() == db::Severity::Error)
    }
}

/// Evaluates an expression.
///
/// # Errors
/// Only [`Interrupt::Poisoned`] and [`Interrupt::Stopped`]; all other failures are diagnostics.
pub fn evaluate(exprs: &Exprs, expr: ExprId, scope: &dyn Scope) -> Result<Evaluated, Interrupt> {
    evaluate_with(exprs, expr, &[], scope)
}

/// Evaluates an expression with initial values for some symbols, such as the variables of a template file.
///
/// # Errors
/// See [`evaluate`].
pub fn evaluate_with(
    exprs: &Exprs,
    expr: ExprId,
    symbols: &[(SymbolId, Value)],
    scope: &dyn Scope,
) -> Result<Evaluated, Interrupt> {
    let mut evaluation = evaluation::Evaluation::new(exprs, Some(scope));
    for (symbol, value) in symbols {
        evaluation.bind(*symbol, value.clone());
    }
    let outcome = evaluation.value(expr);
    evaluation.finish(expr, outcome)
}

/// Evaluates a constant expression: one without references and function calls.
pub fn constant(exprs: &Exprs, expr: ExprId) -> Evaluated {
    let mut evaluation = evaluation::Evaluation::new(exprs, None);
    let outcome = evaluation.value(expr);
    // Only a scope can interrupt, so the fallback is never used.
    let nothing = Evaluated { value: Value::dynamic(), diagnostics: Vec::new(), exceeded: None };
    evaluation.finish(expr, outcome).unwrap_or(nothing)
}

/// Evaluates a body to an object of the schema's type. Expands `dynamic` blocks and sets absent attributes and
/// blocks to null or empty values. Reports missing, unsupported and mistyped arguments and blocks. Diagnostics
/// about the body as a whole are located at `header`.
///
/// # Errors
/// See [`evaluate`].
pub fn decode_body(
    exprs: &Exprs,
    body: &Body,
    header: NodeId,
    block: &provider::Block,
    scope: &dyn Scope,
) -> Result<Evaluated, Interrupt> {
    let mut evaluation = evaluation::Evaluation::new(exprs, Some(scope));
    let outcome = body::decode(&mut evaluation, body, header, block);
    evaluation.finish(header, outcome)
}

/// The summary and detail of the diagnostic for a value that exceeds the budget of the run.
pub fn exceeded_problem(exceeded: Exceeded) -> (Summary, String) {
    let detail = match exceeded {
        Exceeded::Memory { needed, .. } => {
            let wanted = needed.div_ceil(1 << 30).max(4);
            let way_out = match wanted {
                ..=64 => format!(
                    "Make a smaller value, or set the environment variable {} to a higher limit, such as {wanted}GiB.",
                    Budget::VARIABLE
                ),
                _ => format!(
                    "Make a smaller value. The environment variable {} sets the limit.",
                    Budget::VARIABLE
                ),
            };
            format!("The value is too large: {exceeded}. {way_out}")
        }
        Exceeded::Steps | Exceeded::Interrupted => {
            format!("The evaluation ended early: {exceeded}.")
        }
    };
    (Summary::EVALUATION_TOO_LARGE, detail)
}

/// The id of the diagnostic for a value that exceeds the budget.
pub const TOO_LARGE: Rule = Rule::EvaluationTooLarge;

/// The location in a body that is nearest to the value at a path. `None` if the body has no attribute or block for
/// the first step.
pub fn locate_path(body: &Body, exprs: &Exprs, path: &values::Path) -> Option<At> {
    locate::locate(body, exprs, path.steps())
}

/// Converts a value to the type of a constraint, after filling in the defaults of optional attributes.
///
/// # Errors
/// If the value does not convert.
pub fn apply_type(constraint: &TypeConstraint, value: Value) -> Result<Value, ConvertError> {
    let value = match &constraint.defaults {
        Some(defaults) => with_defaults(defaults, &constraint.ty, value),
        None => value,
    };
    if constraint.ty == Type::Dynamic {
        return Ok(value);
    }
    values::convert::convert(&value, &constraint.ty)
}
