//! The sections of the page, each with a heading, in the order in which a reviewer needs them.

use db::Severity;
use state::{CheckStatus, Plan};

use super::{
    change::{ShownChange, write_lines},
    content::{PlanPage, STYLE},
    secrets::Secrets,
    tree::Tree,
    writer::Html,
};
use crate::{
    diagnostic::diagnostics,
    diff,
    plan::{
        comment::Section,
        difference::PlanDifference,
        human::{DriftedObject, drifted_objects, shown_changes},
        overview::{Overview, OverviewRow},
        view::PlanView,
    },
    style::painted,
    watch::change_list,
};

/// A plan with at most so many changes shows all of them open.
const MOST_OPEN: usize = 20;

/// Writes all sections that have content.
pub(super) fn write(page: &PlanPage<'_>, html: &mut Html) {
    let whole = page.view.plan;
    let plan = page.difference.map_or(whole, |it| &it.caused);
    let view = &PlanView { plan, ..page.view };
    let secrets = &Secrets::of(&page.view, page.program);
    write_diagnostics(page, secrets, html);
    let changes = shown_changes(&plan.resource_changes);
    let overview = Overview::of(&changes);
    if overview.rows.len() > 1 {
        write_overview(&overview, html);
    }
    let shown = ShownChange::planned(page, &changes, secrets, changes.len() <= MOST_OPEN);
    write_changes(&shown, page.difference, html);
    write_outputs(view, secrets, html);
    if let Some(difference) = page.difference {
        write_pending(page, difference, secrets, html);
    }
    write_drift(page, secrets, html);
    write_checks(whole, secrets, html);
    write_ephemerals(whole, html);
}

/// Begins a section. `</section>` ends it.
fn begin(id: &'static str, heading: &str, html: &mut Html) {
    html.markup("<section");
    html.attribute("id", id);
    html.attribute("aria-labelledby", &format!("{id}-heading"));
    html.markup(">\n<h2");
    html.attribute("id", &format!("{id}-heading"));
    html.markup(">");
    html.text(heading);
    html.markup("</h2>\n");
}

fn write_diagnostics(page: &PlanPage<'_>, secrets: &Secrets, html: &mut Html) {
    let is_error = |severity: Severity| severity == Severity::Error;
    let shown = page.diagnostics.iter().filter(|it| it.severity() != Severity::Hint);
    let (errors, warnings): (Vec<_>, Vec<_>) =
        shown.cloned().partition(|it| is_error(it.severity()));
    for (id, noun, class, found) in
        [("errors", "error", "error", errors), ("warnings", "warning", "warning", warnings)]
    {
        if found.is_empty() {
            continue;
        }
        begin(id, &counted(found.len(), noun), html);
        for diagnostic in &found {
            let text = diagnostics(std::slice::from_ref(diagnostic), page.sources, &STYLE);
            html.markup("<pre");
            html.attribute("class", &format!("diagnostic {class}"));
            html.markup(">");
            let text = secrets.removed_from(text.trim_matches('\n'));
            html.painted(&painted(&text));
            html.markup("</pre>\n");
        }
        html.markup("</section>\n");
    }
}

/// A number with its noun, whose plural ends with "s".
fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    let mut letters = noun.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase()).into_iter();
    match number {
        1 => first.chain(letters).collect(),
        _ => format!("{number} {noun}{plural}"),
    }
}

fn write_overview(overview: &Overview, html: &mut Html) {
    begin("overview", "Changes by module", html);
    // A region that scrolls must be reachable by the keyboard.
    html.markup("<div class=\"scroll\" role=\"group\" aria-labelledby=\"overview-heading\" tabindex=\"0\">\n");
    html.markup("<table>\n<thead><tr><th scope=\"col\">Module</th>");
    for column in &overview.columns {
        html.markup("<th scope=\"col\"");
        html.attribute("class", &format!("kind-{column}"));
        html.markup(">");
        html.text(column);
        html.markup("</th>");
    }
    html.markup("</tr></thead>\n<tbody>\n");
    for OverviewRow { name, counts } in &overview.rows {
        html.element("<tr><th scope=\"row\"><code>", name, "</code></th>");
        for count in counts {
            html.markup(if *count == 0 { "<td class=\"none\">" } else { "<td>" });
            html.number(*count);
            html.markup("</td>");
        }
        html.markup("</tr>\n");
    }
    html.markup("</tbody>\n</table>\n</div>\n</section>\n");
}

fn write_changes(
    changes: &[ShownChange<'_>],
    difference: Option<&PlanDifference>,
    html: &mut Html,
) {
    let heading = difference.map(|it| format!("Changes since {}", it.revision));
    begin("changes", heading.as_deref().unwrap_or("Changes"), html);
    if changes.is_empty() {
        html.markup("<p>No object changes.</p>\n</section>\n");
        return;
    }
    // The script fills and shows it; without the script there is nothing to filter with.
    html.markup(
        "<form id=\"filters\" role=\"search\" aria-label=\"Filter the changes\" hidden></form>\n",
    );
    html.markup("<p id=\"count\" role=\"status\" class=\"dim\"></p>\n<div id=\"tree\">\n");
    Tree::of(changes).write(html);
    html.markup("</div>\n</section>\n");
}

/// Writes the changes that were pending anyway, and those that the difference makes unnecessary.
fn write_pending(
    page: &PlanPage<'_>,
    difference: &PlanDifference,
    secrets: &Secrets,
    html: &mut Html,
) {
    let PlanDifference { revision, pending, gone, .. } = difference;
    let changes = shown_changes(&pending.resource_changes);
    let heading = format!("Pending anyway, without the difference to {revision}");
    begin("pending", &heading, html);
    if change_list(pending).is_empty() {
        html.markup("<p>Nothing.</p>\n");
    }
    Tree::of(&ShownChange::planned(page, &changes, secrets, false)).write(html);
    let lines = diff::output_lines(&PlanView { plan: pending, ..page.view }, &STYLE);
    if !lines.is_empty() {
        write_lines(&secrets.removed_from(&lines), "", html);
    }
    html.markup("</section>\n");
    let gone = change_list(gone);
    if gone.is_empty() {
        return;
    }
    begin("gone", &format!("No longer pending, because of the difference to {revision}"), html);
    html.markup("<ul>\n");
    for change in &gone {
        html.element("<li><code>", &change.address, "</code> ");
        html.element("<span class=\"dim\">", change.words, "</span></li>\n");
    }
    html.markup("</ul>\n</section>\n");
}

fn write_outputs(view: &PlanView<'_>, secrets: &Secrets, html: &mut Html) {
    let lines = diff::output_lines(view, &STYLE);
    if !lines.is_empty() {
        begin("outputs", "Outputs", html);
        write_lines(&secrets.removed_from(&lines), "", html);
        html.markup("</section>\n");
    }
}

fn write_drift(page: &PlanPage<'_>, secrets: &Secrets, html: &mut Html) {
    let objects = drifted_objects(&page.view, &STYLE);
    if objects.is_empty() {
        return;
    }
    begin("drift", "Changed outside of OpenTofu", html);
    html.markup(
        "<p>These objects differ from the state. The changes may have affected this plan.</p>\n",
    );
    let shown = |DriftedObject { change, body }| ShownChange {
        change,
        section: Section::Drift,
        causes: None,
        body: Some(secrets.removed_from(&body)),
        is_open: false,
    };
    let shown: Vec<ShownChange<'_>> = objects.into_iter().map(shown).collect();
    Tree::of(&shown).write(html);
    html.markup("</section>\n");
}

fn write_checks(plan: &Plan, secrets: &Secrets, html: &mut Html) {
    if plan.checks.is_empty() {
        return;
    }
    begin("checks", "Checks", html);
    html.markup("<ul class=\"checks\">\n");
    for check in &plan.checks {
        let (class, word) = match check.status {
            CheckStatus::Pass => ("pass", "passed"),
            CheckStatus::Fail => ("fail", "failed"),
            CheckStatus::Error => ("fail", "could not be evaluated"),
            CheckStatus::Unknown => ("unknown", "known after apply"),
        };
        html.markup("<li");
        html.attribute("class", class);
        html.element("><code>", &check.config_addr, "</code> ");
        html.text(word);
        let messages = check.objects.iter().flat_map(|it| &it.failure_messages);
        for message in messages {
            html.element("<p>", &secrets.removed_from(message), "</p>");
        }
        html.markup("</li>\n");
    }
    html.markup("</ul>\n</section>\n");
}

fn write_ephemerals(plan: &Plan, html: &mut Html) {
    if plan.ephemerals.is_empty() {
        return;
    }
    begin("ephemerals", "Opened during apply", html);
    html.markup("<ul>\n");
    for ephemeral in &plan.ephemerals {
        html.element("<li><code>", &ephemeral.addr.to_string(), "</code></li>\n");
    }
    html.markup("</ul>\n</section>\n");
}
