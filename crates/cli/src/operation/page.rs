//! The HTML page of `plan -html` and `show -html`.

use std::{path::Path, sync::Arc};

use db::Diagnostic;
use hir::Program;
use operations::{
    causes::{of_file, of_planned, values_of_file},
    plan::{self, Planned},
    session::Failure,
    store::OpenState,
};
use render::{PlanDifference, PlanPage, PlanView};
use state::{PlanFile, ResourceChange};

use crate::session::CommandSession;

/// Writes a plan that was just made as a page, with its causes and its diagnostics.
pub(super) fn write_planned(
    session: &CommandSession,
    path: &Path,
    planned: &Planned,
    difference: Option<&PlanDifference>,
    open: &OpenState,
) -> Result<(), Failure> {
    let Planned { prepared, outcome, .. } = planned;
    let schemas =
        |source: &addr::ProviderSource| prepared.executables.schemas(session, source).ok();
    let news = outcome.diagnostics.iter().filter(|it| !prepared.was_shown(it));
    let diagnostics: Vec<Diagnostic> = prepared.shown.iter().chain(news).cloned().collect();
    let diagnostics = render::without_repeated_deprecations(diagnostics);
    let inputs = of_planned(session, planned, &open.file.state);
    causes::analyze(&inputs, |analysis| {
        let explain = |change: &ResourceChange| analysis.explain_change(change);
        let page = PlanPage {
            view: PlanView { plan: &outcome.plan, schemas: &schemas, show_sensitive: false },
            program: Some(&prepared.program),
            causes: Some(&explain),
            difference,
            diagnostics: &diagnostics,
            sources: &prepared.program.sources,
        };
        write_page(session, path, &page)
    })
}

/// Writes a saved plan as a page, with its causes.
pub(crate) fn write_saved(
    session: &CommandSession,
    path: &Path,
    file: &PlanFile,
    view: PlanView<'_>,
    program: &Arc<Program>,
) -> Result<(), Failure> {
    let values = values_of_file(file);
    let inputs = of_file(session, file, program, &values);
    causes::analyze(&inputs, |analysis| {
        let explain = |change: &ResourceChange| analysis.explain_change(change);
        let page = PlanPage {
            view,
            program: Some(program),
            causes: Some(&explain),
            difference: None,
            diagnostics: &[],
            sources: &program.sources,
        };
        write_page(session, path, &page)
    })
}

/// Writes a plan as a page, and prints where and how large it is.
fn write_page(session: &CommandSession, path: &Path, page: &PlanPage<'_>) -> Result<(), Failure> {
    let html = render::plan_page(page);
    plan::write_page(path, &html)?;
    let kibibytes = html.len().div_ceil(1024);
    let message =
        format!("Wrote the plan as an HTML page to {} ({kibibytes} KiB).", path.display());
    let message = render::visible(&message);
    session.ui.message(&format!("\n{message}"), &message);
    Ok(())
}
