//! The page around the sections: head, title, facts and script.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use engine::{ChangeCounts, Operation};
use sha2::{Digest, Sha256};
use state::{Plan, PlanMode};

use super::{content::PlanPage, sections, writer::Html};
use crate::{
    event::human::summary,
    plan::{difference::PlanDifference, human::shown_changes, overview::Overview, view::PlanView},
};

/// The style of the page.
pub(super) const CSS: &str = include_str!("page.css");

/// The script of the page, which only enhances it.
const SCRIPT: &str = include_str!("page.js");

/// Renders a plan as an HTML page. The time is linear in the size of the plan.
pub fn plan_page(page: &PlanPage<'_>) -> String {
    let page = &PlanPage { view: PlanView { show_sensitive: false, ..page.view }, ..*page };
    let plan = page.difference.map_or(page.view.plan, |it| &it.caused);
    let title = match page.difference {
        Some(difference) => format!("{} since {}", title(plan), difference.revision),
        None => title(plan),
    };
    let mut html = Html::default();
    write_head(&title, &mut html);
    html.markup("<body>\n<a class=\"skip\" href=\"#changes\">Skip to the changes</a>\n<header>\n");
    html.element("<h1>", &title, "</h1>\n");
    write_counts(plan, &mut html);
    write_facts(page, &mut html);
    html.markup("</header>\n<main>\n");
    sections::write(page, &mut html);
    html.markup("</main>\n<footer>\n<p>");
    html.text("Sensitive and ephemeral values are not in this file.");
    html.markup("</p>\n</footer>\n<script>");
    html.markup(SCRIPT);
    html.markup("</script>\n</body>\n</html>\n");
    html.into_text()
}

fn write_head(title: &str, html: &mut Html) {
    html.markup("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\"");
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(CSS),
        digest(SCRIPT)
    );
    html.attribute("content", &policy);
    html.markup(
        ">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n",
    );
    html.element("<title>", title, "</title>\n");
    html.markup("<style>");
    html.markup(CSS);
    html.markup("</style>\n</head>\n");
}

/// The digest of a style or a script in the form of a content security policy.
fn digest(text: &str) -> String {
    BASE64_STANDARD.encode(Sha256::digest(text))
}

/// The title: the counts of the plan as text.
fn title(plan: &Plan) -> String {
    let has_changes = !shown_changes(&plan.resource_changes).is_empty();
    match (plan.has_errors, has_changes) {
        (true, _) => "Plan: failed with errors".to_owned(),
        (false, true) => {
            let counts = summary(Operation::Plan, &ChangeCounts::of_plan(plan));
            counts.trim_end_matches('.').to_owned()
        }
        (false, false) if plan.is_applyable && plan.mode == PlanMode::RefreshOnly => {
            "Plan: objects have changed outside of OpenTofu".to_owned()
        }
        (false, false) if plan.is_applyable => "Plan: only outputs change".to_owned(),
        (false, false) => "Plan: no changes".to_owned(),
    }
}

fn write_counts(plan: &Plan, html: &mut Html) {
    let overview = Overview::of(&shown_changes(&plan.resource_changes));
    if overview.columns.is_empty() {
        return;
    }
    html.markup("<ul class=\"counts\">\n");
    for (column, total) in overview.columns.iter().zip(overview.totals()) {
        html.markup("<li");
        html.attribute("class", &format!("kind-{column}"));
        html.markup("><b>");
        html.number(total);
        html.markup("</b> ");
        html.text(column);
        html.markup("</li>\n");
    }
    html.markup("</ul>\n");
}

/// Writes what the plan was made for.
fn write_facts(page: &PlanPage<'_>, html: &mut Html) {
    let plan = page.view.plan;
    html.markup("<dl class=\"facts\">\n");
    let mut fact = |name: &str, value: &str| {
        html.element("<div><dt>", name, "</dt><dd>");
        html.text(value);
        html.markup("</dd></div>\n");
    };
    fact("Workspace", &plan.backend.workspace);
    fact("Planned", &plan.timestamp);
    if let Some(PlanDifference { revision, commit, .. }) = page.difference {
        fact("Since", &format!("{revision} ({})", commit.get(..12).unwrap_or(commit)));
    }
    match plan.mode {
        PlanMode::Normal => {}
        PlanMode::Destroy => fact("Mode", "destroy"),
        PlanMode::RefreshOnly => fact("Mode", "refresh only"),
    }
    let list = |it: Vec<String>| (!it.is_empty()).then(|| it.join(", "));
    let texts = |targets: &[addr::Target]| list(targets.iter().map(ToString::to_string).collect());
    let replaced = list(plan.force_replace.iter().map(ToString::to_string).collect());
    let limits =
        [("Only", texts(&plan.targets)), ("Without", texts(&plan.excludes)), ("Replace", replaced)];
    for (name, value) in limits {
        if let Some(value) = value {
            fact(name, &value);
        }
    }
    if !plan.made_by.is_empty() {
        fact("Made by", &plan.made_by);
    }
    html.markup("</dl>\n");
}
