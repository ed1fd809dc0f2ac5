//! The problems that lowering reports, with ranges relative to the block.

use db::{Rule, Severity};
use syntax::TextRange;

use crate::{fix::Fix, unsupported};

/// A problem of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The stable id, kebab-case.
    pub id: Rule,
    /// Error or warning.
    pub severity: Severity,
    /// The range, relative to the block.
    pub range: TextRange,
    /// The summary, one line.
    pub summary: String,
    /// The detail: the problem and how to solve it. [`PLACE`] in it stands for the location of `related`.
    pub detail: String,
    /// A related range that the detail mentions.
    pub related: Option<TextRange>,
    /// A suggested fix, if any.
    pub fix: Option<Fix>,
}

/// A placeholder in a detail for a location, which can be named only when the file is known.
pub const PLACE: &str = "\u{fffc}";

/// The id of syntax errors.
pub const SYNTAX_ERROR: Rule = Rule::SyntaxError;

/// The id of references that are invalid regardless of the declarations.
pub const INVALID_REFERENCE: Rule = Rule::InvalidReference;

/// The id of missing required arguments.
pub const MISSING_ARGUMENT: Rule = Rule::MissingArgument;

impl Problem {
    pub(crate) fn error(
        id: Rule,
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

    /// Adds a suggested fix.
    pub(crate) fn fixed_by(self, fix: Option<Fix>) -> Problem {
        Problem { fix, ..self }
    }

    /// The problem of an unsupported language feature; `what` completes the sentence "does not support …".
    pub(crate) fn unsupported(range: TextRange, what: &str) -> Problem {
        Problem::error(unsupported::ID, range, unsupported::SUMMARY, unsupported::detail(what))
    }

    pub(crate) fn warning(
        id: Rule,
        range: TextRange,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(id, range, summary, detail) }
    }
}
