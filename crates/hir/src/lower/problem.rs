//! The problems that lowering reports, with ranges relative to the block.

use db::{Rule, Severity, Summary};
use syntax::TextRange;

use crate::fix::Fix;

/// A problem of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The range, relative to the block.
    pub range: TextRange,
    /// The rule, the severity and the summary.
    pub summary: Summary,
    /// The detail: the problem and how to solve it. [`PLACE`] in it stands for the location of `related`.
    pub detail: String,
    /// A related range that the detail mentions.
    pub related: Option<TextRange>,
    /// A suggested fix, if any.
    pub fix: Option<Fix>,
}

/// A placeholder in a detail for a location, which can be named only when the file is known.
pub(crate) const PLACE: &str = "\u{fffc}";

/// The id of syntax errors.
pub const SYNTAX_ERROR: Rule = Rule::SyntaxError;

/// The id of references that are invalid regardless of the declarations.
pub(crate) const INVALID_REFERENCE: Rule = Rule::InvalidReference;

/// The id of missing required arguments.
pub(crate) const MISSING_ARGUMENT: Rule = Rule::MissingArgument;

impl Problem {
    pub(crate) fn new(summary: Summary, range: TextRange, detail: impl Into<String>) -> Problem {
        Problem { range, summary, detail: detail.into(), related: None, fix: None }
    }

    /// Returns the rule that was broken.
    pub fn id(&self) -> Rule {
        self.summary.rule()
    }

    /// Returns the severity.
    pub fn severity(&self) -> Severity {
        self.summary.severity()
    }

    /// Converts a syntax error. [`PLACE`] stands for a related location in its detail until the file is known.
    pub(crate) fn syntax(error: &syntax::SyntaxError) -> Problem {
        let detail = error.detail(|_| PLACE.to_owned()).into_owned();
        let problem = Problem::new(Summary::syntax_error(&error.summary), error.range, detail);
        Problem { related: error.related, ..problem }
    }

    /// Adds a suggested fix.
    pub(crate) fn fixed_by(self, fix: Option<Fix>) -> Problem {
        Problem { fix, ..self }
    }
}
