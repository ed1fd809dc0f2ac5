//! The operation `validate`.

use std::{mem::ManuallyDrop, path::Path, sync::Arc};

use db::{Diagnostic, Rule, Sources};

use crate::{
    offline::{self, Analysis},
    session::{Failure, Session, loading::Loaded},
    test,
    variables::{self, flag::VarFlag},
};

/// Checks the configuration, and the test files in the working directory and in `tests` unless it is `None`. Returns
/// what was found with the source texts.
pub fn validate(
    session: &Session,
    flags: &[VarFlag],
    tests: Option<&Path>,
) -> (Vec<Diagnostic>, Sources) {
    let (mut diagnostics, sources) = configuration(session, flags);
    let Some(directory) = tests else { return (diagnostics, sources) };
    let (of_tests, texts) = test::problems(session, directory);
    diagnostics.extend(of_tests);
    let files = sources.files.iter().chain(texts.files.iter()).cloned();
    (diagnostics, Sources { files: files.collect() })
}

fn configuration(session: &Session, flags: &[VarFlag]) -> (Vec<Diagnostic>, Sources) {
    let mut loaded = match session.load_with_values(None, flags) {
        Ok(loaded) => loaded,
        Err(Failure::Diagnostics(diagnostics, sources)) => return (diagnostics, sources),
    };
    let (mut diagnostics, mut program) = loaded.project.checked();
    if diagnostics.iter().any(|it| it.id() == Rule::PossiblyEphemeral) {
        let mut project = ManuallyDrop::into_inner(loaded.project).unset();
        let is_other = session.set_plain_values(&mut project);
        loaded.project = ManuallyDrop::new(project.finish());
        if is_other {
            // Check again with the values of variables, which decide some of the uncertain conditions.
            (diagnostics, program) = loaded.project.checked();
        }
    }
    let analysis = Analysis { diagnostics, program };
    let analysis = offline::with_known_conditions(session, &loaded, analysis);
    let Analysis { mut diagnostics, mut program } = analysis;
    let of_files = variables::unreadable(session, program.root(), flags);
    if !of_files.is_empty() {
        diagnostics.extend(of_files);
        let mut files = program.sources.files.to_vec();
        files.extend(variables::file_sources(&*session.system, flags));
        program.sources.files = files.into();
    }
    let program = Arc::new(program);
    if !diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(beyond_analysis(session, &loaded, &program, &diagnostics));
        without_repeated_sizes(&mut diagnostics);
    }
    let sources = program.sources.clone();
    // Leak the memory on purpose: the process ends now, and freeing it piece by piece takes longer.
    std::mem::forget((loaded, program));
    (diagnostics, sources)
}

/// Problems that need more than static analysis: conditions of providers, and values that are too large.
fn beyond_analysis(
    session: &Session,
    loaded: &Loaded,
    program: &Arc<hir::Program>,
    found: &[Diagnostic],
) -> Vec<Diagnostic> {
    if found.iter().any(|it| it.id() == hir::eval::TOO_LARGE) {
        let too_large = offline::too_large(session, loaded, program);
        if !too_large.is_empty() {
            return too_large;
        }
    }
    offline::validate_with_providers(session, loaded, program)
}

/// Drops the warnings that a value may be too large if there is an error about a value that is.
fn without_repeated_sizes(diagnostics: &mut Vec<Diagnostic>) {
    let is_refused = |it: &Diagnostic| it.id() == hir::eval::TOO_LARGE && it.is_error();
    if diagnostics.iter().any(is_refused) {
        diagnostics.retain(|it| it.id() != hir::eval::TOO_LARGE || it.is_error());
    }
}
