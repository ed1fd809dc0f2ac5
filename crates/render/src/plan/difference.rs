//! The changes of a plan that the difference to another configuration causes, apart from those pending anyway.
//!
//! ```text
//!                 with the other configuration
//!                 the same change │ another one, or none
//!   in the plan   pending         │ caused
//!   not in it     –               │ gone
//! ```

use std::{fmt::Write as _, sync::Arc};

use serde_json::{Value as Json, json};
use sorted::TreeSet;
use state::{Action, ObjectAddress, Plan, PlanMode};

use crate::{
    diff,
    event::json::Line,
    plan::{comment::is_shown, human, view::PlanView},
    style::{Paint, Style, visible_line},
    watch::{ListedChange, change_list, news::same_change},
};

/// The number of changes that a list has at most; a note says how many others there are.
const MOST_LISTED: usize = 50;

/// The parts of a plan, beside the plan for another configuration with the same state.
pub struct PlanDifference {
    /// The revision of the other configuration, as the user named it.
    pub revision: String,
    /// The identifier of its commit.
    pub commit: String,
    /// The changes that the difference of the configurations causes.
    pub caused: Plan,
    /// The changes that both plans have alike.
    pub pending: Plan,
    /// The changes that only the plan for the other configuration has.
    pub gone: Plan,
}

impl PlanDifference {
    /// Compares a plan with the one for the configuration at a revision. The time is linear in the size of both plans,
    /// apart from sorting.
    pub fn new(revision: &str, commit: &str, base: &Plan, plan: &Plan) -> PlanDifference {
        let (caused, pending) = divided(plan, base);
        let (mut gone, _) = divided(base, plan);
        let addresses: TreeSet<ObjectAddress> =
            plan.changes().filter(|it| is_shown(it)).map(state::ResourceChange::object).collect();
        gone.resource_changes.retain(|it| !addresses.contains(&it.object()));
        gone.output_changes.retain(|name, _| {
            plan.output_changes.get(name).is_none_or(|it| it.action == Action::NoOp)
        });
        let (revision, commit) = (revision.to_owned(), commit.to_owned());
        PlanDifference { revision, commit, caused, pending, gone }
    }

    /// Returns true if the difference of the configurations causes changes.
    pub fn causes_changes(&self) -> bool {
        !change_list(&self.caused).is_empty()
    }
}

/// The changes of a plan that another plan lacks or has in another form, and those that it has alike.
fn divided(plan: &Plan, other: &Plan) -> (Plan, Plan) {
    let mut others: Vec<_> = other.changes().filter(|it| is_shown(it)).collect();
    sorted::sort_by(&mut others, |a, b| a.compare_addresses(b));
    let (mut own, mut alike) = (without_changes(plan), without_changes(plan));
    for change in plan.resource_changes.iter().filter(|it| is_shown(it)) {
        let at = others.binary_search_by(|it| it.compare_addresses(change));
        let is_alike = at.is_ok_and(|at| same_change(Some(others[at]), Some(change)));
        let part = if is_alike { &mut alike } else { &mut own };
        part.resource_changes.push(Arc::clone(change));
    }
    for (name, change) in plan.output_changes.iter().filter(|(_, it)| it.action != Action::NoOp) {
        let is_alike = other.output_changes.get(name) == Some(change);
        let part = if is_alike { &mut alike } else { &mut own };
        part.output_changes.insert(name.clone(), change.clone());
    }
    alike.resource_drift.clone_from(&plan.resource_drift);
    (own, alike)
}

/// The plan without any change. What it says about the whole run stays.
fn without_changes(plan: &Plan) -> Plan {
    Plan {
        resource_changes: Vec::new(),
        resource_drift: Vec::new(),
        output_changes: Default::default(),
        mode: PlanMode::Normal,
        ..plan.clone()
    }
}

/// Renders the caused changes as a plan, and the others as lists.
pub fn plan_difference(view: &PlanView<'_>, difference: &PlanDifference, style: &Style) -> String {
    let PlanDifference { revision, commit, caused, pending, gone } = difference;
    let revision = visible_line(revision);
    let short = commit.get(..12).unwrap_or(commit);
    let mut text = String::new();
    let heading = format!("Changes since {revision} ({short})");
    let _ = writeln!(text, "\n{}", style.paint(Paint::Bold, &heading));
    if !difference.causes_changes() {
        let lead = style.paint(Paint::BoldGreen, "No changes.");
        let note = format!("The difference to {revision} causes no changes.");
        let _ = writeln!(text, "\n{lead} {}", style.paint(Paint::Bold, &note));
    } else {
        text.push_str(&human::plan(&PlanView { plan: caused, ..*view }, style));
    }
    let count = change_list(pending).len();
    let heading = format!("Pending anyway, without the difference to {revision}: {count}");
    push_list(&heading, &change_list(pending), style, &mut text);
    let gone = change_list(gone);
    if !gone.is_empty() {
        let count = gone.len();
        let heading =
            format!("No longer pending, because of the difference to {revision}: {count}");
        push_list(&heading, &gone, style, &mut text);
    }
    text
}

fn push_list(heading: &str, changes: &[ListedChange], style: &Style, text: &mut String) {
    let _ = writeln!(text, "\n{}", style.paint(Paint::Bold, heading));
    for change in changes.iter().take(MOST_LISTED) {
        let symbol = diff::symbol(change.action, style);
        let line = format!("{symbol} {} {}", visible_line(&change.address), change.words);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if let Some(more) = changes.len().checked_sub(MOST_LISTED).filter(|it| *it > 0) {
        let _ = writeln!(text, "    and {more} more");
    }
}

/// The line of `plan -json` with the parts of the plan.
pub fn plan_difference_json(difference: &PlanDifference, timestamp: &str) -> String {
    let PlanDifference { revision, commit, caused, pending, gone } = difference;
    let [caused, pending, gone] = [caused, pending, gone].map(change_list);
    let message = format!(
        "Since {revision}: {} changes caused, {} pending anyway, {} no longer pending",
        caused.len(),
        pending.len(),
        gone.len()
    );
    let list = |changes: &[ListedChange]| -> Json { changes.iter().map(listed_json).collect() };
    Line::new("since", message, timestamp)
        .with("revision", revision.as_str().into())
        .with("commit", commit.as_str().into())
        .with("caused", list(&caused))
        .with("pending", list(&pending))
        .with("gone", list(&gone))
        .finish()
}

fn listed_json(change: &ListedChange) -> Json {
    json!({ "addr": change.address, "actions": change.action.json_words() })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use values::Value;

    use super::*;
    use crate::plan::tests::{change, null, plan_of, secret};

    fn updated(address: &str, after: &str) -> state::ResourceChange {
        let object = |path: &str| secret(&[("path", Value::string(path))]);
        change(address, Action::Update, object("x"), object(after))
    }

    #[test]
    fn changes_that_both_plans_have_alike_were_pending_anyway() {
        let mut deposed = change("t_secret.both", Action::Delete, secret(&[]), null());
        deposed.deposed = state::DeposedKey::parse("0123abcd");
        let base = plan_of(vec![
            updated("t_secret.both", "y"),
            deposed.clone(),
            updated("t_secret.differs", "y"),
            updated("t_secret.gone", "y"),
        ]);
        let plan = plan_of(vec![
            updated("t_secret.both", "y"),
            deposed,
            updated("t_secret.differs", "z"),
            change("t_secret.new", Action::Create, null(), secret(&[])),
        ]);
        let difference = PlanDifference::new("main", &"ab".repeat(20), &base, &plan);
        assert!(difference.causes_changes());
        let view = PlanView { plan: &plan, schemas: &|_| None, show_sensitive: false };
        let text = plan_difference(&view, &difference, &Style::PLAIN);
        let (_, lists) = text.split_once("Plan: ").expect("a plan of what is caused");
        expect![[r#"
            1 to add, 1 to change, 0 to destroy.

            Pending anyway, without the difference to main: 2
              ~ t_secret.both update in-place
              - t_secret.both destroy

            No longer pending, because of the difference to main: 1
              ~ t_secret.gone update in-place
        "#]]
        .assert_eq(lists);
        let same = PlanDifference::new("main", "ab", &plan, &plan);
        assert!(!same.causes_changes());
        let text = plan_difference(&view, &same, &Style::PLAIN);
        assert!(text.contains("No changes. The difference to main causes no changes."), "{text}");
        expect![[r#"{"@level":"info","@message":"Since main: 2 changes caused, 2 pending anyway, 1 no longer pending","@module":"tofu.ui","@timestamp":"now","caused":[{"addr":"t_secret.differs","actions":["update"]},{"addr":"t_secret.new","actions":["create"]}],"commit":"abababababababababababababababababababab","gone":[{"addr":"t_secret.gone","actions":["update"]}],"pending":[{"addr":"t_secret.both","actions":["update"]},{"addr":"t_secret.both","actions":["delete"]}],"revision":"main","type":"since"}"#]].assert_eq(&plan_difference_json(&difference, "now"));
    }
}
