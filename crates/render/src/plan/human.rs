//! A plan as text.

use std::fmt::Write;

use state::{Action, OutputChange, Plan, PlanMode, ResourceChange};

use super::{
    PlanView, change_counts,
    comment::{self, Section, comment},
};
use crate::{
    diff,
    event::summary,
    style::{Paint, Style},
};

/// Symbols in the order of the legend.
const LEGEND: [(Action, &str); 8] = [
    (Action::Create, "create"),
    (Action::Update, "update in-place (current -> planned)"),
    (Action::Delete, "destroy"),
    (Action::DeleteThenCreate, "destroy and then create replacement"),
    (Action::CreateThenDelete, "create replacement and then destroy"),
    (Action::Read, "read (data resources)"),
    (Action::ForgetThenCreate, "forget and then create replacement"),
    (Action::Forget, "forget"),
];

/// Everything that people see of a plan, from what changed outside to the outputs, or that there is nothing to do.
///
/// Objects come in the order of their addresses. The time is linear in the plan's size; two lists are compared by their
/// longest common subsequence up to a million pairs of elements, and by the elements that occur once beyond that.
pub fn plan(view: &PlanView<'_>, style: &Style) -> String {
    let plan = view.plan;
    let changes = shown_changes(&plan.resource_changes);
    let outputs: Vec<_> =
        plan.output_changes.iter().filter(|(_, it)| it.action != Action::NoOp).collect();
    let drift = drift(view, style);
    let is_refresh_only = plan.mode == PlanMode::RefreshOnly;
    if changes.is_empty() && outputs.is_empty() {
        return nothing(plan, &drift, style);
    }
    let mut text = String::new();
    if !drift.is_empty() {
        let trailer = drift_trailer(plan, !changes.is_empty() || !outputs.is_empty());
        let _ = write!(text, "{drift}{}", style.wrap(trailer, 0));
        let _ = write!(text, "\n\n{}\n", style.rule());
    }
    if !changes.is_empty() {
        push_changes(view, &changes, style, &mut text);
    }
    if !outputs.is_empty() {
        push_outputs(view, changes.is_empty() && !is_refresh_only, style, &mut text);
    }
    text
}

/// The rule and the note under a plan: that it was saved as `path`, or that it was not.
pub fn plan_footer(saved_as: Option<&str>, style: &Style) -> String {
    let note = match saved_as {
        Some(path) => format!(
            "Saved the plan to: {path}\n\nTo perform exactly these actions, run the following command to apply:\n    tofu apply {path:?}"
        ),
        None => "Note: You didn't use the -out option to save this plan, so OpenTofu can't guarantee to take exactly these actions if you run \"tofu apply\" now.".to_owned(),
    };
    format!("\n{}\n\n{}\n", style.paint(Paint::Dim, &style.rule()), style.wrap(&note, 1))
}

/// Changes with something to say, by address.
fn shown_changes(changes: &[ResourceChange]) -> Vec<&ResourceChange> {
    let is_shown = |it: &&ResourceChange| {
        it.change.action != Action::NoOp || comment::is_moved(it) || it.change.importing.is_some()
    };
    let mut shown: Vec<_> = changes.iter().filter(is_shown).collect();
    shown.sort_by(|a, b| (&a.addr, a.deposed).cmp(&(&b.addr, b.deposed)));
    shown
}

fn push_changes(
    view: &PlanView<'_>,
    changes: &[&ResourceChange],
    style: &Style,
    text: &mut String,
) {
    let plan = view.plan;
    let actions: Vec<Action> =
        changes.iter().map(|it| it.change.action).filter(|it| *it != Action::NoOp).collect();
    if !actions.is_empty() {
        let intro = "OpenTofu used the selected providers to generate the following execution plan. Resource actions are indicated with the following symbols:";
        let _ = writeln!(text, "\n{}", style.wrap(intro, 1));
        for (action, meaning) in LEGEND.iter().filter(|(action, _)| actions.contains(action)) {
            let _ = writeln!(text, "{} {meaning}", diff::symbol(*action, style));
        }
    }
    let heading = match plan.has_errors {
        true => "OpenTofu planned the following actions, but then encountered a problem:",
        false => "OpenTofu will perform the following actions:",
    };
    let _ = writeln!(text, "\n{heading}");
    for change in changes {
        text.push('\n');
        push_resource(view, change, Section::Proposed, style, text);
    }
    let counts = summary(engine::Operation::Plan, &change_counts(plan));
    let counts = counts.strip_prefix("Plan:").unwrap_or(&counts);
    let _ = writeln!(text, "\n{}{counts}", style.paint(Paint::Bold, "Plan:"));
}

fn push_resource(
    view: &PlanView<'_>,
    change: &ResourceChange,
    section: Section,
    style: &Style,
    text: &mut String,
) {
    text.push_str(&comment(change, section, style));
    let resource = &change.addr.resource;
    let header =
        format!("{} \"{}\" \"{}\"", resource.mode.block_type(), resource.type_name, resource.name);
    let _ = writeln!(
        text,
        "{} {header} {}",
        diff::symbol(change.change.action, style),
        diff::resource_body(view, change, style)
    );
}

/// The note on what changed outside; empty where nothing did, or nothing that matters to this plan.
fn drift(view: &PlanView<'_>, style: &Style) -> String {
    let plan = view.plan;
    let drifted: Vec<_> = shown_changes(&plan.resource_drift)
        .into_iter()
        .filter(|it| plan.mode == PlanMode::RefreshOnly || is_relevant(plan, it))
        .collect();
    if drifted.is_empty() {
        return String::new();
    }
    let title = style.paint(Paint::Bold, "Objects have changed outside of OpenTofu");
    let note = style.paint(Paint::BoldGreen, "Note:");
    let intro = "OpenTofu detected the following changes made outside of OpenTofu since the last \"tofu apply\" which may have affected this plan:";
    let mut text = format!("\n{note} {title}\n\n{}\n\n", style.wrap(intro, 0));
    for change in drifted {
        push_resource(view, change, Section::Drift, style, &mut text);
        text.push('\n');
    }
    text
}

fn is_relevant(plan: &Plan, change: &ResourceChange) -> bool {
    let resource = change.addr.containing_resource();
    plan.relevant_attributes.iter().any(|it| it.resource == resource)
}

fn drift_trailer(plan: &Plan, has_changes: bool) -> &'static str {
    match (plan.mode, has_changes) {
        (PlanMode::RefreshOnly, _) => {
            "\nThis is a refresh-only plan, so OpenTofu will not take any actions to undo these. If you were expecting these changes then you can apply this plan to record the updated values in the OpenTofu state without changing any remote objects."
        }
        _ => {
            "\nUnless you have made equivalent changes to your configuration, or ignored the relevant attributes using ignore_changes, the following plan may include actions to undo or respond to these changes."
        }
    }
}

fn nothing(plan: &Plan, drift: &str, style: &Style) -> String {
    if plan.has_errors {
        let text = match drift.is_empty() {
            true => "Planning failed.",
            false => "Planning failed.",
        };
        return format!(
            "\n{} OpenTofu encountered an error while generating this plan.\n\n",
            style.paint(Paint::BoldRed, text)
        );
    }
    let (title, detail) = match plan.mode {
        PlanMode::Destroy => (
            "No changes. No objects need to be destroyed.",
            "Either you have not created any objects yet or the existing objects were already deleted outside of OpenTofu.",
        ),
        PlanMode::RefreshOnly => (
            "No changes. Your infrastructure still matches the configuration.",
            "OpenTofu has checked that the real remote objects still match the result of your most recent changes, and found no differences.",
        ),
        PlanMode::Normal => (
            "No changes. Your infrastructure matches the configuration.",
            "OpenTofu has compared your real infrastructure against your configuration and found no differences, so no changes are needed.",
        ),
    };
    let (lead, rest) = title.split_at(11);
    let title =
        format!("{}{}", style.paint(Paint::BoldGreen, lead), style.paint(Paint::Bold, rest));
    format!("{drift}\n{title}\n\n{}\n", style.wrap(detail, 1))
}

fn push_outputs(view: &PlanView<'_>, alone: bool, style: &Style, text: &mut String) {
    let _ = writeln!(text, "\n{}", style.paint(Paint::Bold, "Changes to Outputs:"));
    let shown: Vec<(&str, &OutputChange)> = view
        .plan
        .output_changes
        .iter()
        .filter(|(_, it)| it.action != Action::NoOp)
        .map(|(name, it)| (&**name, it))
        .collect();
    let width = shown.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, change) in shown {
        text.push_str(&diff::output_line(view, name, width, change, style));
    }
    if alone {
        let note = "You can apply this plan to save these new output values to the OpenTofu state, without changing any real infrastructure.";
        let _ = writeln!(text, "\n{}", style.wrap(note, 1));
    }
}
