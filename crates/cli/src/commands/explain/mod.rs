//! The `explain` command: explains a plan, or prints the documentation page of an error or warning.

mod page;
mod plan;

use db::{Diagnostic, Summary};
use operations::{session::Failure, variables::flag::VarFlag};

use crate::{args::ExplainArgs, exit::Exit, session::CommandSession, signals};

/// Runs `explain`. An argument with a dot is an address, because an ID has none.
pub(crate) fn run(
    session: &CommandSession,
    args: &ExplainArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    let is_plan = match &args.subject {
        Some(subject) => subject.contains('.'),
        None => args.plan.is_some() || has_configuration(session),
    };
    if args.ids || !is_plan {
        signals::end_at_once(session);
        return page::run(session, args.subject.as_deref().filter(|_| !args.ids));
    }
    let Some(file) = &args.plan else { return plan::of_directory(session, args, flags) };
    signals::end_at_once(session);
    if args.has_plan_options() || !flags.is_empty() {
        let detail =
            "A saved plan contains its variables and options, so they cannot be given too.";
        return Err(Diagnostic::new(Summary::CONTRADICTING_OPTIONS, detail).into());
    }
    plan::of_file(session, args, file)
}

fn has_configuration(session: &CommandSession) -> bool {
    !project::configuration_files(&*session.system, std::path::Path::new(".")).is_empty()
}
