//! The `validate` command.

use db::{Diagnostic, Severity};
use operations::{session::Failure, validate, variables::flag::VarFlag};

use crate::{args::ValidateArgs, exit::Exit, session::CommandSession};

/// Runs `validate`: checks the configuration and prints its diagnostics.
pub(crate) fn run(
    session: &CommandSession,
    args: &ValidateArgs,
    flags: &[VarFlag],
) -> Result<Exit, Failure> {
    let tests = (!args.no_tests).then_some(&*args.test_directory);
    let (diagnostics, sources) = validate::validate(session, flags, tests);
    let shown: Vec<Diagnostic> =
        diagnostics.into_iter().filter(|it| it.severity() != Severity::Hint).collect();
    let failed = shown.iter().any(Diagnostic::is_error);
    let document = || render::validate_json(&shown, &sources);
    session.ui.document(&args.json, document);
    if !args.json.json {
        session.ui.diagnostics(&shown, &sources);
        if !failed {
            session.ui.print(&render::valid(shown.is_empty(), &session.ui.out));
        }
    }
    Ok(if failed { Exit::Failure } else { Exit::Success })
}
