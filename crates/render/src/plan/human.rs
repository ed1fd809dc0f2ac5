//! A plan as text.

use std::{fmt::Write, sync::Arc};

use addr::{ProviderSource, ResourceInstance};
use provider::ProviderSchemas;
use sorted::TreeMap;
use state::{Action, Plan, PlanMode, ResourceChange};
use values::Path;

use crate::{
    diff,
    event::human::summary,
    plan::{
        ahead::ObjectTexts,
        comment::{self, Section, push_comment},
        overview::overview,
        view::{ObjectView, PlanView, SchemaFinder},
    },
    style::{Paint, Style, visible_line},
};

/// The actions in the order of the legend, with their meanings.
pub(super) const LEGEND: [(Action, &str); 8] = [
    (Action::Create, "create"),
    (Action::Update, "update in-place (current -> planned)"),
    (Action::Delete, "destroy"),
    (Action::DeleteThenCreate, "destroy and then create replacement"),
    (Action::CreateThenDelete, "create replacement and then destroy"),
    (Action::Read, "read (data resources)"),
    (Action::ForgetThenCreate, "forget and then create replacement"),
    (Action::Forget, "forget"),
];

/// Renders a plan: the drift, the changes and the outputs, or the note that there are no changes.
///
/// Objects are sorted by address. The time is linear in the size of the plan. Two lists are compared by their
/// longest common subsequence up to a million pairs of elements, and beyond that by the elements that occur once.
pub fn plan(view: &PlanView<'_>, style: &Style) -> String {
    plan_with(view, ObjectTexts::default(), style).concat()
}

/// Renders a plan of which some objects are rendered already, in the same style. Returns the text in pieces, because
/// that of a large plan is large.
pub(super) fn plan_with(view: &PlanView<'_>, texts: ObjectTexts, style: &Style) -> Vec<String> {
    let plan = view.plan;
    let changes = shown_changes(&plan.resource_changes);
    let outputs = diff::output_lines(view, style);
    let is_empty = changes.is_empty() && outputs.is_empty();
    let is_refresh_only = plan.mode == PlanMode::RefreshOnly;
    let drift = if is_empty && !is_refresh_only { String::new() } else { drift(view, style) };
    if is_empty {
        return vec![if drift.is_empty() { nothing(plan, style) } else { drift }];
    }
    let mut pieces = vec![drift];
    if !pieces[0].is_empty() {
        pieces.push(format!("\n{}\n", style.paint(Paint::Dim, &style.rule())));
    }
    let has_actions = changes.iter().any(|it| it.change.action != Action::NoOp);
    if !changes.is_empty() {
        push_changes(view, &changes, texts, style, &mut pieces);
    }
    if !outputs.is_empty() {
        pieces.push("\nChanges to Outputs:\n".to_owned());
        pieces.push(outputs);
        if !has_actions {
            let note = "You can apply this plan to save these new output values to the OpenTofu \
                        state, without changing any real infrastructure.";
            pieces.push(format!("\n{}\n", style.wrap(note, 1)));
        }
    }
    pieces
}

/// The files that a plan wrote.
pub struct PlanNotes<'p> {
    /// The path to which the plan was saved; `None` if it was not saved.
    pub saved_as: Option<&'p str>,
    /// The path of generated configuration, if there is any.
    pub generated: Option<&'p str>,
}

/// The rule and the notes after a plan: the files that it wrote, or that it was not saved.
pub fn plan_footer(notes: &PlanNotes<'_>, style: &Style) -> String {
    let note = match notes.saved_as {
        Some(path) => format!(
            "Saved the plan to: {}\n\nTo perform exactly these actions, run the following command \
             to apply:\n    mayfly apply {path:?}",
            visible_line(path)
        ),
        None => {
            "Note: You didn't use the -out option to save this plan, so Mayfly can't guarantee \
                 to take exactly these actions if you run \"mayfly apply\" now."
                .to_owned()
        }
    };
    let generated = notes.generated.map(|path| {
        let note = format!(
            "Mayfly has generated configuration and written it to {}. Please review the configuration \
             and edit it as necessary before adding it to version control.",
            visible_line(path)
        );
        format!("{}\n\n", style.wrap(&note, 1))
    });
    let generated = generated.unwrap_or_default();
    format!("\n{}\n\n{generated}{}\n", style.paint(Paint::Dim, &style.rule()), style.wrap(&note, 1))
}

/// The changes that are shown, by address.
pub(crate) fn shown_changes(changes: &[Arc<ResourceChange>]) -> Vec<&ResourceChange> {
    let mut shown: Vec<_> =
        changes.iter().map(Arc::as_ref).filter(|it| comment::is_shown(it)).collect();
    sorted::sort_by(&mut shown, |a, b| a.compare_addresses(b));
    shown
}

fn push_changes(
    view: &PlanView<'_>,
    changes: &[&ResourceChange],
    texts: ObjectTexts,
    style: &Style,
    pieces: &mut Vec<String>,
) {
    let does = |action| changes.iter().any(|it| it.change.action == action);
    let mut text = String::new();
    if LEGEND.iter().any(|(action, _)| does(*action)) {
        let intro = "OpenTofu used the selected providers to generate the following execution \
                     plan. Resource actions are indicated with the following symbols:";
        let _ = writeln!(text, "\n{}", style.wrap(intro, 1));
    }
    for (action, meaning) in LEGEND.iter().filter(|(action, _)| does(*action)) {
        let _ = writeln!(text, "{} {meaning}", diff::symbol(*action, style));
    }
    let heading = match view.plan.has_errors {
        true => "OpenTofu planned the following actions, but then encountered a problem:",
        false => "OpenTofu will perform the following actions:",
    };
    let _ = writeln!(text, "\n{heading}");
    pieces.push(text);
    pieces.extend(objects(view, changes, texts, style));
    let counts = summary(engine::Operation::Plan, &engine::ChangeCounts::of_plan(view.plan));
    let counts = counts.strip_prefix("Plan:").unwrap_or(&counts);
    pieces.push(format!("\n{}{counts}\n", style.paint(Paint::Bold, "Plan:")));
    pieces.push(overview(changes, style));
}

/// The text of each changed object.
fn objects(
    view: &PlanView<'_>,
    changes: &[&ResourceChange],
    mut texts: ObjectTexts,
    style: &Style,
) -> Vec<String> {
    let known: Vec<Option<String>> = changes.iter().map(|it| texts.take(it)).collect();
    let missing = changes.iter().zip(&known).filter(|(_, text)| text.is_none());
    let missing: Vec<&ResourceChange> = missing.map(|(change, _)| *change).collect();
    let rendered = map_changes(view, &missing, |view, change| object(view, change, style));
    let mut rendered = rendered.into_iter();
    let mut next = || rendered.next().expect("each missing object is rendered");
    known.into_iter().map(|known| known.unwrap_or_else(&mut next)).collect()
}

/// Renders a changed object. Empty if nothing in it changes.
pub(super) fn object(view: &ObjectView<'_>, change: &ResourceChange, style: &Style) -> String {
    let mut text = String::new();
    if let Some(body) = diff::resource_body(view, change, None, style) {
        push_resource(change, Section::Proposed, &body, style, &mut text);
    }
    text
}

/// Renders each changed object on all processors.
pub(crate) fn map_changes<'c, R: Send>(
    view: &PlanView<'_>,
    changes: &[&'c ResourceChange],
    render: impl Fn(&ObjectView<'_>, &ResourceChange) -> R + Sync,
) -> Vec<R> {
    let mut schemas: TreeMap<&ProviderSource, Option<Arc<ProviderSchemas>>> = TreeMap::new();
    for change in changes {
        let source = &change.provider.source;
        schemas.entry(source).or_insert_with(|| (view.schemas)(source));
    }
    let PlanView { plan, show_sensitive, .. } = *view;
    let parts = parallel::share_parts(changes, diff::PART, |parts| {
        let found = |source: &ProviderSource| schemas.get(source).cloned().flatten();
        let mut finder = SchemaFinder::new(&found);
        let rendered = |(index, part): (usize, &[&'c ResourceChange])| {
            let rendered = part.iter().map(|change| {
                let block = finder.block(change);
                render(&ObjectView { block, show_sensitive, data_dir: &plan.data_dir }, change)
            });
            (index, rendered.collect::<Vec<R>>())
        };
        parts.map(rendered).collect()
    });
    parts.into_iter().flatten().collect()
}

fn push_resource(
    change: &ResourceChange,
    section: Section,
    body: &str,
    style: &Style,
    text: &mut String,
) {
    let resource = &change.addr.resource;
    let symbol = diff::symbol(change.change.action, style);
    // OpenTofu indents only this symbol.
    let indent = match change.change.action {
        Action::ForgetThenCreate => "  ",
        _ => "",
    };
    let (block_type, type_name, name) =
        (resource.mode.block_type(), &*resource.type_name, &*resource.name);
    // The comment has about two lines.
    text.reserve(body.len() + 240);
    text.push('\n');
    push_comment(text, change, section, style);
    let parts =
        [indent, symbol, " ", block_type, " \"", type_name, "\" \"", name, "\" ", body, "\n"];
    parts.iter().for_each(|part| text.push_str(part));
}

/// An object that changed outside of this program.
pub(crate) struct DriftedObject<'p> {
    pub(crate) change: &'p ResourceChange,
    /// The body, as [`diff::resource_body`] renders it.
    pub(crate) body: String,
}

/// The drift that is relevant to the plan, by address.
pub(crate) fn drifted_objects<'p>(view: &PlanView<'p>, style: &Style) -> Vec<DriftedObject<'p>> {
    let plan = view.plan;
    // As in OpenTofu, a reference without an instance key is relevant only to an instance without a key.
    let mut relevant: TreeMap<&ResourceInstance, Vec<&Path>> = TreeMap::new();
    for it in &plan.relevant_attributes {
        relevant.entry(&it.resource).or_default().push(&it.attribute);
    }
    let mut finder = SchemaFinder::new(view.schemas);
    let drifted = |change: &'p ResourceChange| {
        let paths = relevant.get(&change.addr).map(Vec::as_slice);
        let paths = match plan.mode {
            PlanMode::RefreshOnly => None,
            PlanMode::Normal | PlanMode::Destroy => Some(paths.unwrap_or_default()),
        };
        let block = finder.block(change);
        let view =
            ObjectView { block, show_sensitive: view.show_sensitive, data_dir: &plan.data_dir };
        let body = diff::resource_body(&view, change, paths, style)?;
        Some(DriftedObject { change, body })
    };
    shown_changes(&plan.resource_drift).into_iter().filter_map(drifted).collect()
}

/// The section on drift. Empty if there is none, or none that is relevant to the plan.
fn drift(view: &PlanView<'_>, style: &Style) -> String {
    let mut text = String::new();
    for DriftedObject { change, body } in drifted_objects(view, style) {
        push_resource(change, Section::Drift, &body, style, &mut text);
    }
    if text.is_empty() {
        return text;
    }
    let title = style.paint(Paint::Bold, "Objects have changed outside of OpenTofu");
    let note = style.paint(Paint::Cyan, "Note:");
    let intro = "OpenTofu detected the following changes made outside of OpenTofu since the last \
                 \"tofu apply\" which may have affected this plan:";
    let trailer = style.wrap(drift_trailer(view.plan.mode), 1);
    format!("\n{note} {title}\n\n{}\n{text}\n\n{trailer}\n", style.wrap(intro, 1))
}

fn drift_trailer(mode: PlanMode) -> &'static str {
    match mode {
        PlanMode::RefreshOnly => {
            "This is a refresh-only plan, so OpenTofu will not take any actions to undo these. If \
             you were expecting these changes then you can apply this plan to record the updated \
             values in the OpenTofu state without changing any remote objects."
        }
        PlanMode::Normal | PlanMode::Destroy => {
            "Unless you have made equivalent changes to your configuration, or ignored the \
             relevant attributes using ignore_changes, the following plan may include actions to \
             undo or respond to these changes."
        }
    }
}

fn nothing(plan: &Plan, style: &Style) -> String {
    let (paint, lead, rest, detail) = match (plan.has_errors, plan.mode) {
        (true, _) => (
            Paint::BoldRed,
            "Planning failed.",
            "OpenTofu encountered an error while generating this plan.",
            "",
        ),
        (false, PlanMode::Destroy) => (
            Paint::BoldGreen,
            "No changes.",
            "No objects need to be destroyed.",
            "Either you have not created any objects yet or the existing objects were already \
             deleted outside of OpenTofu.",
        ),
        (false, PlanMode::RefreshOnly) => (
            Paint::BoldGreen,
            "No changes.",
            "Your infrastructure still matches the configuration.",
            "OpenTofu has checked that the real remote objects still match the result of your most \
             recent changes, and found no differences.",
        ),
        (false, PlanMode::Normal) => (
            Paint::BoldGreen,
            "No changes.",
            "Your infrastructure matches the configuration.",
            "OpenTofu has compared your real infrastructure against your configuration and found \
             no differences, so no changes are needed.",
        ),
    };
    let title = format!("\n{} {}\n", style.paint(paint, lead), style.paint(Paint::Bold, rest));
    format!("{title}\n{}{}", style.wrap(detail, 1), if detail.is_empty() { "" } else { "\n" })
}
