//! Differences that are known, each by a narrow rule: those that `docs/stricter.md` asks for, and those that wait to be mended.
//!
//! A rule looks at the class of a difference or at the summaries of Mayfly's diagnostics, never at a whole aspect.

use crate::{compare::Difference, model::Step, observation::Observation};

/// Why a difference is no finding.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// The name that figures list.
    name: &'static str,
    applies: fn(&Seen<'_>) -> bool,
}

/// What a rule may look at.
struct Seen<'a> {
    difference: &'a Difference,
    step: &'a Step,
    mayfly: &'a Observation,
}

impl Seen<'_> {
    /// Whether Mayfly alone has a diagnostic with this summary.
    fn only_mayfly(&self, summary: &str) -> bool {
        self.difference
            .detail
            .lines()
            .any(|it| it.starts_with("only mayfly") && it.ends_with(summary))
    }

    fn only_reference(&self, summary: &str) -> bool {
        self.difference
            .detail
            .lines()
            .any(|it| it.starts_with("only reference") && it.ends_with(summary))
    }
}

const RULES: &[Rule] = &[Rule {
    name: "not supported yet",
    applies: |seen| {
        seen.mayfly.strings("diagnostics").iter().any(|it| it.ends_with("Not supported yet"))
    },
}];

/// The name of the rule that explains the difference.
pub(crate) fn rule(
    difference: &Difference,
    step: &Step,
    mayfly: &Observation,
) -> Option<&'static str> {
    let seen = Seen { difference, step, mayfly };
    RULES.iter().find(|it| (it.applies)(&seen)).map(|it| it.name)
}
