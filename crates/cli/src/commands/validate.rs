//! `validate`.

use std::sync::Arc;

use db::{Diagnostic, Severity};

use crate::{
    args::ValidateArgs,
    exit::Exit,
    operation,
    session::{Failure, Session},
    variables::{self, VarFlag},
};

pub(crate) fn run(
    session: &Session,
    args: &ValidateArgs,
    flags: &[VarFlag],
) -> Result<Exit, Failure> {
    let (diagnostics, sources) = match session.load_with_values(None, flags) {
        Ok(mut loaded) => {
            let (mut diagnostics, mut program) = loaded.project.checked();
            let is_doubt = |it: &Diagnostic| it.id == db::diagnostic::POSSIBLY_EPHEMERAL;
            if diagnostics.iter().any(is_doubt) && session.give_values(&mut loaded.project) {
                // What today's values make of the conditions is told as well.
                (diagnostics, program) = loaded.project.checked();
            }
            let of_files = variables::unreadable(session, program.root(), flags);
            if !of_files.is_empty() {
                diagnostics.extend(of_files);
                let mut files = program.sources.files.to_vec();
                files.extend(variables::file_sources(session, flags));
                program.sources.files = files.into();
            }
            let program = Arc::new(program);
            if !diagnostics.iter().any(Diagnostic::is_error) {
                diagnostics.extend(operation::validate_with_providers(session, &loaded, &program));
            }
            let sources = program.sources.clone();
            // The process is about to end, and takes its memory along faster than anyone could give it back.
            std::mem::forget((loaded, program));
            (diagnostics, sources)
        }
        Err(Failure::Diagnostics(diagnostics, sources)) => (diagnostics, sources),
    };
    let shown: Vec<Diagnostic> =
        diagnostics.into_iter().filter(|it| it.severity != Severity::Hint).collect();
    let failed = shown.iter().any(Diagnostic::is_error);
    if args.json {
        session.ui.line(&render::validate_json(&shown, &sources));
    } else {
        session.ui.diagnostics(&shown, &sources);
        if !failed {
            session.ui.line(&success(shown.is_empty()));
        }
    }
    Ok(if failed { Exit::Failure } else { Exit::Success })
}

fn success(without_warnings: bool) -> String {
    match without_warnings {
        true => "Success! The configuration is valid.\n".to_owned(),
        false => "Success! The configuration is valid, but there were some validation warnings as shown above.\n".to_owned(),
    }
}
