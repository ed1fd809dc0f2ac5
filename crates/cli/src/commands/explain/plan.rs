//! Answers about a plan.

use std::path::Path;

use causes::{Analysis, Finding, Inputs, UnknownAddress, analyze};
use db::{Diagnostic, Summary};
use operations::{
    apply,
    causes::{OpenedPlan, of_planned},
    plan::{self, PlanOptions, end_temp},
    session::Failure,
    store,
    temp::TempFiles,
    variables::flag::VarFlag,
};

use crate::{args::ExplainArgs, exit::Exit, session::CommandSession, signals};

/// Explains a saved plan.
pub(super) fn of_file(
    session: &CommandSession,
    args: &ExplainArgs,
    file: &Path,
) -> Result<Exit, Failure> {
    let opened = OpenedPlan::new(session, apply::read_plan(session, file)?)?;
    show(session, args, &opened.inputs(session))?;
    Ok(Exit::Success)
}

/// Plans the working directory as `plan` does, and explains the plan.
pub(super) fn of_directory(
    session: &CommandSession,
    args: &ExplainArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    let operation = args.operation();
    let goal = operation.goal(session, false)?;
    signals::listen(session);
    let open = store::open(session, &args.state_options(), store::Purpose::Plan)?;
    let files = TempFiles::new(session);
    let options = PlanOptions { is_quiet: true, ..operation.plan(goal, false, false) };
    let planned = plan::plan(session, &options, flags, &open, &files);
    let exit = planned.and_then(|planned| {
        let sources = &planned.prepared.program.sources;
        if planned.outcome.has_errors() {
            session.ui.diagnostics(&planned.outcome.diagnostics, sources);
            return Ok(Exit::Failure);
        }
        show(session, args, &of_planned(session, &planned, &open.file.state))?;
        Ok(Exit::Success)
    });
    end_temp(session, &files, !matches!(exit, Ok(Exit::Success)));
    open.close(session)?;
    exit
}

/// Prints the answer.
fn show(session: &CommandSession, args: &ExplainArgs, inputs: &Inputs<'_>) -> Result<(), Failure> {
    let subject = args.subject.as_deref();
    let findings = analyze(inputs, |analysis| answer(analysis, subject))?;
    session.ui.document(&args.json, || render::causes_json(subject, &findings));
    if args.json.json {
        return Ok(());
    }
    let style = &session.ui.out;
    let text = match subject {
        Some(_) => render::causes(&findings, style),
        None if findings.is_empty() => "No changes. There is nothing to explain.\n".to_owned(),
        None => render::causes_overview(&findings, style),
    };
    session.ui.print(&text);
    Ok(())
}

fn answer(analysis: &Analysis<'_>, subject: Option<&str>) -> Result<Vec<Finding>, Failure> {
    match subject {
        Some(subject) => analysis.explain(subject).map_err(|it| unknown(&it).into()),
        None => Ok(analysis.explain_changes()),
    }
}

/// Does not quote the input: it may be anything, even a secret.
fn unknown(address: &UnknownAddress) -> Diagnostic {
    let problem = match &address.invalid {
        Some(_) => "The argument is neither an address nor the ID of an error or warning.",
        None => "The plan and its configuration have nothing at this address.",
    };
    let near = match address.near.as_slice() {
        [] => " Without an address, \"mayfly explain\" explains each change.".to_owned(),
        near => format!(" Similar addresses:\n  - {}", near.join("\n  - ")),
    };
    Diagnostic::new(Summary::UNKNOWN_DIAGNOSTIC, format!("{problem}{near}"))
}
