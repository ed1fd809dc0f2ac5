//! Import: binds an existing object, or one whose creation had an unknown result, to an address.
//!
//! Only the nodes that the provider configuration depends on run, with the values in the state. Nothing is planned
//! or changed.

use std::{rc::Rc, sync::Arc};

use futures::future::LocalBoxFuture;
use hir::Program;
use state::State;

use crate::{
    functions::time_text,
    graph::template::Template,
    memo::Memo,
    request::{ApplyOutcome, Environment, ImportOptions},
    runs::import::{ImportOrder, ImportRun},
    variables::VariableValues,
    walk::{
        context::{Settings, Walk, WalkInput},
        purpose,
        state_index::StateIndex,
    },
};

/// Asks the provider of a resource for the object with an ID, and adds it to the state at the address of the
/// resource.
///
/// The future is not `Send`, like that of [`apply`](crate::apply()).
pub fn import<'r>(
    program: &'r Arc<Program>,
    prior: State,
    variables: VariableValues,
    environment: &'r Environment,
    options: ImportOptions,
) -> LocalBoxFuture<'r, ApplyOutcome> {
    Box::pin(import_object(program, prior, variables, environment, options))
}

async fn import_object(
    program: &Arc<Program>,
    prior: State,
    variables: VariableValues,
    environment: &Environment,
    options: ImportOptions,
) -> ApplyOutcome {
    let settings = Settings {
        parallelism: options.parallelism,
        applying: false,
        workspace: options.workspace,
        temp: options.temp,
        is_refresh_only: false,
        plan_time: time_text(&*environment.system).unwrap_or_default().into(),
    };
    let ImportOptions { address, id, answers, .. } = options;
    let previous = Arc::new(prior);
    let mut memo = Memo::for_one_run();
    let input = WalkInput {
        settings,
        variables,
        acts: true,
        observed: None,
        kept: None,
        templates: Template::all(program),
        state_index: Rc::new(StateIndex::new(&previous)),
        previous,
    };
    let walk = Walk::new(program, environment, &mut memo, input);
    let run = ImportRun::new(walk, ImportOrder { address, id, answers });
    purpose::run(&run).await;
    let diagnostics = run.report.take();
    ApplyOutcome { state: run.state.take(), diagnostics, assertions: 0 }
}
