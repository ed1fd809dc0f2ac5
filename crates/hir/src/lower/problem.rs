//! What lowering finds wrong with a block, with ranges that count from the block's start.

use db::Severity;
use syntax::TextRange;

use crate::{fix::Fix, unsupported};

/// A problem of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Stable, kebab-case.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where, from the block's start.
    pub range: TextRange,
    /// One line.
    pub summary: String,
    /// What is wrong and the way out. [`PLACE`] in it stands for `related`, in words.
    pub detail: String,
    /// Another place that the detail names.
    pub related: Option<TextRange>,
    /// What would mend it.
    pub fix: Option<Fix>,
}

/// Stands in a detail for a place that can be named only when the file is known.
pub const PLACE: &str = "\u{fffc}";

/// The id of what the parser finds.
pub const SYNTAX_ERROR: &str = "syntax-error";

/// The id of a reference that can be none, whatever is declared.
pub const INVALID_REFERENCE: &str = "invalid-reference";

/// The id of an argument that is not there.
pub const MISSING_ARGUMENT: &str = "missing-argument";

impl Problem {
    pub(crate) fn error(
        id: &'static str,
        range: TextRange,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) -> Problem {
        Problem {
            id,
            severity: Severity::Error,
            range,
            summary: summary.into(),
            detail: detail.into(),
            related: None,
            fix: None,
        }
    }

    /// The same with what would mend it.
    pub(crate) fn fixed_by(self, fix: Option<Fix>) -> Problem {
        Problem { fix, ..self }
    }

    /// A part of the language that this version does not run; `what` completes "does not support …".
    pub(crate) fn unsupported(range: TextRange, what: &str) -> Problem {
        Problem::error(unsupported::ID, range, unsupported::SUMMARY, unsupported::detail(what))
    }

    pub(crate) fn warning(
        id: &'static str,
        range: TextRange,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(id, range, summary, detail) }
    }
}
