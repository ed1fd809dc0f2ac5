//! The problems that only the JSON syntax has.

use db::Summary;
use syntax::TextRange;

use crate::{lower::problem::Problem, suggest};

/// The problem of a property that is neither an argument nor a block.
pub(in crate::lower) fn extraneous<'n>(
    range: TextRange,
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Problem {
    let hint = suggest::question(suggest::closest(name, known));
    let detail = format!("No argument or block type is named \"{name}\".{hint}");
    Problem::new(Summary::EXTRANEOUS_JSON_PROPERTY, range, detail)
}

/// A problem of the JSON text itself.
pub(super) fn fault(range: TextRange, summary: Summary, detail: impl Into<String>) -> Problem {
    Problem::new(summary, range, detail)
}
