//! Whether a saved plan is still for the state that there is.

use db::Diagnostic;
use state::{StateFile, StateIdentity};

/// Refuses a plan that was made for another state, or for an earlier version of this one.
///
/// # Errors
/// The diagnostic to show.
pub fn check_plan_is_current(
    plan: &StateIdentity,
    current: Option<&StateFile>,
) -> Result<(), Box<Diagnostic>> {
    let (lineage, serial) = current.map_or(("", 0), |it| (it.lineage.as_str(), it.serial));
    if !plan.lineage.is_empty() && !lineage.is_empty() && plan.lineage != lineage {
        let detail = "The given plan file was created against a different state: its lineage is another one. A plan can only be applied to the state that it was made for. Make a new plan in this directory.";
        return Err(Box::new(Diagnostic::error(
            "plan-for-other-state",
            "Saved plan does not match the given state",
            detail,
        )));
    }
    if plan.serial != serial || plan.lineage.is_empty() != lineage.is_empty() {
        let detail = "The given plan file can no longer be applied because the state was changed by another operation after the plan was created.";
        return Err(Box::new(Diagnostic::error("stale-plan", "Saved plan is stale", detail)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(plan: (&str, u64), current: Option<(&str, u64)>, expected: Option<&str>) {
        let plan = StateIdentity { lineage: plan.0.to_owned(), serial: plan.1 };
        let current = current
            .map(|(lineage, serial)| StateFile { serial, ..StateFile::new(lineage.to_owned()) });
        let found = check_plan_is_current(&plan, current.as_ref()).err();
        assert_eq!(found.map(|it| it.summary).as_deref(), expected);
    }

    #[test]
    fn a_plan_fits_the_state_that_it_was_made_for_and_no_other() {
        check(("a", 3), Some(("a", 3)), None);
        check(("", 0), None, None);
        check(("a", 3), Some(("a", 4)), Some("Saved plan is stale"));
        check(("", 0), Some(("a", 1)), Some("Saved plan is stale"));
        check(("a", 3), None, Some("Saved plan is stale"));
        check(("a", 3), Some(("b", 3)), Some("Saved plan does not match the given state"));
    }
}
