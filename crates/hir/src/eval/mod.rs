//! The concrete evaluator: lowered expressions over real values, which may be unknown or marked.
//!
//! Start at [`evaluate`], which runs one [`Evaluation`](evaluation::Evaluation); each form of expression has its file.
//! [`decode_body`] turns a body into an object of its schema's type. How a form treats unknown values, null and
//! errors is HCL's (`reference`: hcl 4); how marks pass is said by [`values::rules`], which the abstract evaluator
//! shares.
//!
//! **Invariant:** no I/O; what a provider must answer is the scope's affair ([`Scope::provider_function`]).
//! **Invariant:** a diagnostic quotes no sensitive or ephemeral value; see [`describe`].
//! **Invariant:** work and memory grow linearly with the values touched.

mod access;
mod attempt;
mod body;
mod call;
mod conditional;
mod constraint;
mod constructor;
mod describe;
mod evaluation;
mod iterate;
mod locate;
mod operator;
mod splat;
mod template;
#[cfg(test)]
mod tests;
mod traversal;

use values::{Budget, Exceeded, Type, Value, convert::ConvertError};

pub(crate) use body::{attribute_as_blocks, wrong_labels};
pub use call::function_problem;
pub(crate) use constraint::with_defaults;
pub(crate) use describe::statement;
pub(crate) use traversal::{traversal_text, traversals};

use crate::{
    expr::{At, ExprId, Exprs, NodeId, SymbolId},
    item::{Body, TypeConstraint},
    scope::{EvalDiagnostic, Interrupt, Scope},
};

/// What an evaluation gives. Where something failed, the value is unknown there and a diagnostic says why.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The value.
    pub value: Value,
    /// What was found wrong on the way.
    pub diagnostics: Vec<EvalDiagnostic>,
    /// Set where the evaluation ended because its budget was used up, which a diagnostic says, too.
    pub exceeded: Option<Exceeded>,
}

impl Evaluated {
    /// Whether a diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|it| it.severity == db::Severity::Error)
    }
}

/// Evaluates an expression.
///
/// # Errors
/// Only [`Interrupt::Poisoned`] and [`Interrupt::Stopped`]; everything else is a diagnostic.
pub fn evaluate(exprs: &Exprs, expr: ExprId, scope: &dyn Scope) -> Result<Evaluated, Interrupt> {
    evaluate_with(exprs, expr, &[], scope)
}

/// Evaluates an expression in which some symbols have a value already, as the names of a template file do.
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

/// Evaluates a constant: an expression that may neither refer to anything nor call a function.
pub fn constant(exprs: &Exprs, expr: ExprId) -> Evaluated {
    let mut evaluation = evaluation::Evaluation::new(exprs, None);
    let outcome = evaluation.value(expr);
    // Without a scope nothing can interrupt.
    let nothing = Evaluated { value: Value::dynamic(), diagnostics: Vec::new(), exceeded: None };
    evaluation.finish(expr, outcome).unwrap_or(nothing)
}

/// Evaluates a body into an object of the schema's type: `dynamic` blocks expanded, what is absent null or empty, what
/// is missing, unknown to the schema or of the wrong type diagnosed. Problems of the body as a whole stand at `header`.
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

/// What a diagnostic says of a value for which the budget of the run is too small: id, summary and detail.
pub fn exceeded_problem(exceeded: Exceeded) -> (&'static str, &'static str, String) {
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
    (TOO_LARGE, "Value too large", detail)
}

/// The id of a value for which the budget is too small.
pub const TOO_LARGE: &str = "evaluation-too-large";

/// The nearest place in a body of what a path into its value leads to; nothing if not even the first step is written.
pub fn locate_path(body: &Body, exprs: &Exprs, path: &values::Path) -> Option<At> {
    locate::locate(body, exprs, path.steps())
}

/// Gives a value the type of a constraint: defaults of optional attributes are filled in first, then it is converted.
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
