//! The `graph` command: prints the graph of an operation in the DOT language.

use std::{path::Path, sync::Arc};

use db::{Diagnostic, Rule};
use engine::Outline;
use hir::Program;
use operations::{
    apply, planned,
    session::{Failure, broken},
    store,
};
use state::State;

use crate::{
    args::{GraphArgs, GraphType},
    exit::Exit,
    session::CommandSession,
};

/// Runs `graph`. Neither starts providers nor needs them to be installed.
pub(crate) fn run(session: &CommandSession, args: &GraphArgs) -> Result<Exit, Failure> {
    let outline = match &args.plan {
        Some(path) => of_plan(session, args, path)?,
        None => of_directory(session, args)?,
    };
    let style = render::GraphStyle { verbose: args.verbose, draws_cycles: args.draw_cycles };
    session.ui.line(&render::graph(&outline, style));
    Ok(Exit::Success)
}

/// The graph for the configuration in the working directory.
fn of_directory(session: &CommandSession, args: &GraphArgs) -> Result<Outline, Failure> {
    let project = session.project()?;
    if let Some(failure) = broken(&project) {
        return Err(failure);
    }
    let program = Arc::new(project.program());
    let mut cycles = project.diagnostics();
    cycles.retain(|it: &Diagnostic| it.id() == Rule::DependencyCycle);
    if !cycles.is_empty() && !args.draw_cycles {
        return Err(Failure::Diagnostics(cycles, program.sources.clone()));
    }
    let kind = args.kind.unwrap_or(GraphType::Plan);
    let state = match kind {
        GraphType::PlanDestroy => store::open_unlocked(session, None)?.file.state,
        _ => State::default(),
    };
    Ok(of_configuration(&program, kind, &state))
}

/// The graph for the configuration and the changes in a saved plan.
fn of_plan(session: &CommandSession, args: &GraphArgs, path: &Path) -> Result<Outline, Failure> {
    let file = apply::read_plan(session, path)?;
    planned::take(session, &file.plan)?;
    let project = planned::project(session, &file)?;
    let (program, state) = (Arc::new(project.program()), &file.prior_state.state);
    Ok(match args.kind.unwrap_or(GraphType::Apply) {
        GraphType::Apply => Outline::of_apply(&program, &file.plan, state),
        kind => of_configuration(&program, kind, state),
    })
}

/// Without a plan, an apply has the nodes of the plan that it makes first.
fn of_configuration(program: &Arc<Program>, kind: GraphType, state: &State) -> Outline {
    match kind {
        GraphType::PlanDestroy => Outline::of_destroy_plan(program, state),
        GraphType::Plan | GraphType::PlanRefreshOnly | GraphType::Apply => {
            Outline::of_plan(program)
        }
    }
}
