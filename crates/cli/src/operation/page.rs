//! The HTML page of `plan -html` and `show -html`.

use std::path::Path;

use db::Diagnostic;
use operations::{
    plan::{self, Planned},
    session::Failure,
};
use render::{PlanPage, PlanView};

use crate::session::CommandSession;

/// Writes a plan that was just made as a page, with its diagnostics.
pub(super) fn write_planned(
    session: &CommandSession,
    path: &Path,
    planned: &Planned,
) -> Result<(), Failure> {
    let Planned { prepared, outcome, .. } = planned;
    let schemas =
        |source: &addr::ProviderSource| prepared.executables.schemas(session, source).ok();
    let news = outcome.diagnostics.iter().filter(|it| !prepared.was_shown(it));
    let diagnostics: Vec<Diagnostic> = prepared.shown.iter().chain(news).cloned().collect();
    let page = PlanPage {
        view: PlanView { plan: &outcome.plan, schemas: &schemas, show_sensitive: false },
        program: Some(&prepared.program),
        diagnostics: &render::without_repeated_deprecations(diagnostics),
        sources: &prepared.program.sources,
    };
    write_page(session, path, &page)
}

/// Writes a plan as a page, and prints where and how large it is.
pub(crate) fn write_page(
    session: &CommandSession,
    path: &Path,
    page: &PlanPage<'_>,
) -> Result<(), Failure> {
    let html = render::plan_page(page);
    plan::write_page(path, &html)?;
    let kibibytes = html.len().div_ceil(1024);
    let message =
        format!("Wrote the plan as an HTML page to {} ({kibibytes} KiB).", path.display());
    let message = render::visible(&message);
    session.ui.message(&format!("\n{message}"), &message);
    Ok(())
}
