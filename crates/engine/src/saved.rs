//! Saved plans: checks that a plan file still matches the state and the files, and restores the variables.

use db::{Diagnostic, Summary, System};
use hir::{Entry, Program, eval};
use state::{Plan, PlannedFile, StateFile, StateIdentity};
use values::Value;

use crate::{
    files::planned_file,
    variables::{GivenValue, ValueSource, VariableValues},
};

/// Rejects a plan that was made for another state, or for another version of this state.
///
/// # Errors
/// Fails with the diagnostic to show.
pub fn check_plan_is_current(
    plan: &StateIdentity,
    current: Option<&StateFile>,
) -> Result<(), Box<Diagnostic>> {
    let (lineage, serial) = current.map_or(("", 0), |it| (it.lineage.as_str(), it.serial));
    if !plan.lineage.is_empty() && !lineage.is_empty() && plan.lineage != lineage {
        let detail = format!(
            "The given plan file was created against a different state: its lineage is {:?}, and \
             that of the state here is {lineage:?}. A plan can only be applied to the state that \
             it was made for. Make a new plan in this directory.",
            plan.lineage
        );
        return Err(Box::new(Diagnostic::new(Summary::PLAN_FOR_OTHER_STATE, detail)));
    }
    if plan.serial != serial || plan.lineage.is_empty() != lineage.is_empty() {
        let which = |lineage: &str, serial: u64| match lineage {
            "" => "no state".to_owned(),
            _ => format!("the state with serial {serial}"),
        };
        let detail = format!(
            "The given plan file can no longer be applied because the state was changed by another \
             operation after the plan was created: it was made for {}, and here is {}. Make a new plan.",
            which(&plan.lineage, plan.serial),
            which(lineage, serial)
        );
        return Err(Box::new(Diagnostic::new(Summary::STALE_PLAN, detail)));
    }
    Ok(())
}

/// Rejects a plan if a file that the apply reads again has changed since the plan.
///
/// # Errors
/// Fails with a diagnostic that lists all changed files.
pub fn check_planned_files(plan: &Plan, system: &dyn System) -> Result<(), Box<Diagnostic>> {
    let changed = plan.files.read.iter().filter_map(|(path, planned)| {
        let how = match (planned, planned_file(&plan.files, system, path)) {
            (before, now) if *before == now => return None,
            (PlannedFile::Exists, PlannedFile::Content(_)) => return None,
            (_, PlannedFile::Missing) => "is gone",
            (PlannedFile::Missing, _) => "was created",
            _ => "was changed",
        };
        Some(format!("\n  - {path:?} {how}"))
    });
    let changed: Vec<String> = changed.collect();
    if changed.is_empty() {
        return Ok(());
    }
    let detail = format!(
        "Functions of the configuration read these files, and read them again when the plan is \
         applied. Since the plan was made:\n{}\n\nNothing was done. Restore the files, or make a new plan.",
        changed.concat()
    );
    Err(Box::new(Diagnostic::new(Summary::PLANNED_FILE_CHANGED, detail)))
}

/// Returns the variables for the apply of a saved plan. As in OpenTofu, the values in the plan apply: they may be
/// set again only to the same value. An ephemeral variable that was set for the plan must be set again.
///
/// # Errors
/// Fails with a diagnostic for each variable that violates these rules.
pub fn variables_for_saved_plan(
    program: &Program,
    plan: &Plan,
    given: &VariableValues,
) -> Result<VariableValues, Vec<Diagnostic>> {
    let mut variables = VariableValues::new();
    let mut problems = Vec::new();
    for (name, value) in &plan.variables {
        variables.set(name.clone(), value.clone(), ValueSource::Plan);
    }
    for (name, entry) in &program.root().variables {
        match (entry.variable().ephemeral, given.get(name)) {
            (true, Some(now)) => variables.set(name.clone(), now.value.clone(), now.source.clone()),
            (true, None) if plan.ephemeral_variables.contains(name) => {
                problems.push(missing_ephemeral(program, entry));
            }
            (false, Some(now)) => problems.extend(changed_plain(entry, now, plan)),
            (_, None) => {}
        }
    }
    if problems.is_empty() { Ok(variables) } else { Err(problems) }
}

fn missing_ephemeral(program: &Program, entry: &Entry) -> Diagnostic {
    let detail = format!(
        "Variable \"{}\" is configured as ephemeral. This type of variables need to be given a \
         value during `tofu plan` and also during `tofu apply`.",
        entry.variable().name
    );
    let location = program.locate(entry.origin, entry.item.header.into());
    Diagnostic::new(Summary::EPHEMERAL_VARIABLE_NOT_SET, detail).at(location)
}

/// Returns an error if a variable whose value is in the plan was set to another value.
fn changed_plain(entry: &Entry, now: &GivenValue, plan: &Plan) -> Option<Diagnostic> {
    let variable = entry.variable();
    let typed = |value: &Value| {
        let converted = eval::apply_type(&variable.ty, value.clone());
        converted.ok().unwrap_or_else(|| value.clone()).without_all_marks()
    };
    let default = || Some(typed(&eval::constant(&entry.item.exprs, variable.default?).value));
    let planned = plan.variables.get(&variable.name).map(typed).or_else(default);
    if planned.is_some_and(|planned| planned.raw_equals(&typed(&now.value))) {
        return None;
    }
    let detail = format!(
        "Value saved in the plan file for variable \"{}\" is different from the one given to the \
         current command. Make a new plan to use another value.",
        variable.name
    );
    Some(Diagnostic::new(Summary::PLAN_VARIABLE_MISMATCH, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(lineage: &str, serial: u64) -> StateIdentity {
        StateIdentity { lineage: lineage.to_owned(), serial }
    }

    #[track_caller]
    fn check(plan: StateIdentity, current: Option<StateIdentity>, expected: Option<[&str; 3]>) {
        let current =
            current.map(|it| StateFile { serial: it.serial, ..StateFile::new(it.lineage) });
        let found = check_plan_is_current(&plan, current.as_ref()).err();
        let text = found.as_ref().map(|it| format!("{}: {}", it.summary, it.detail));
        assert_eq!(text.is_some(), expected.is_some(), "{text:?}");
        for part in expected.into_iter().flatten() {
            assert!(text.as_ref().is_some_and(|it| it.contains(part)), "{part}: {text:?}");
        }
    }

    #[test]
    fn saved_plan_matches_only_its_own_lineage_and_serial() {
        check(identity("a", 3), Some(identity("a", 3)), None);
        check(identity("", 0), None, None);
        let stale = "Saved plan is stale";
        check(identity("a", 3), Some(identity("a", 4)), Some([stale, "serial 3", "serial 4"]));
        check(identity("", 0), Some(identity("a", 1)), Some([stale, "for no state", "serial 1"]));
        check(identity("a", 3), None, Some([stale, "serial 3", "here is no state"]));
        let other = "Saved plan does not match the given state";
        check(identity("a", 3), Some(identity("b", 3)), Some([other, "\"a\"", "\"b\""]));
    }
}
