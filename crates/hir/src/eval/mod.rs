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
pub(crate) mod evaluated;
pub(crate) mod evaluation;
pub(crate) mod iterate;
pub(crate) mod locate;
pub(crate) mod operator;
pub(crate) mod path_exprs;
pub(crate) mod splat;
pub(crate) mod template;
#[cfg(test)]
mod tests;
pub(crate) mod traversal;

use db::Difference;
use values::Value;

use crate::{
    expr::{At, ExprId, Exprs, NodeId, SymbolId},
    item::Body,
    scope::{Interrupt, Scope},
};

pub(crate) use body::{blocks::wrong_labels, legacy::attribute_as_blocks};

pub use call::function_problem;

pub use constraint::apply_type;

pub use evaluated::{Evaluated, TOO_LARGE, exceeded_problem};

pub use locate::part_at;

pub use path_exprs::{PathExpr, exprs_at};

pub(crate) use traversal::traversals;

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

/// The values that explain why a condition does not hold.
pub struct Explanation {
    /// Lines such as `var.x is "a"`, without secret and unknown values.
    pub values: Vec<String>,
    /// The sides of a comparison, if both may be shown.
    pub difference: Option<Box<Difference>>,
}

/// Explains why a condition does not hold.
pub fn explain_condition(exprs: &Exprs, condition: ExprId, scope: &dyn Scope) -> Explanation {
    let mut evaluation = evaluation::Evaluation::new(exprs, Some(scope));
    Explanation {
        values: describe::known_values_of(&mut evaluation, condition),
        difference: describe::difference(&mut evaluation, condition).map(Box::new),
    }
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

/// The location in a body that is nearest to the value at a path. `None` if the body has no attribute or block for
/// the first step.
pub fn locate_path(body: &Body, exprs: &Exprs, path: &values::Path) -> Option<At> {
    locate::locate(body, exprs, path.steps())
}
