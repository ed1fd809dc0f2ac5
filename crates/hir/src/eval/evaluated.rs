//! The result of an evaluation.

use db::{Rule, Summary};
use values::{Budget, Exceeded, Value};

use crate::scope::EvalDiagnostic;

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
