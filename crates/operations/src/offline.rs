//! Checks that need no run: the validation of blocks by providers, and conditions over known values.

use std::{collections::HashSet, sync::Arc};

use db::{Diagnostic, Location, Rule};
use engine::{Environment, NoTempDirectories, PlanOutcome};
use hir::{Program, item::Provisioner};

use crate::{
    located::ProviderExecutables,
    prepare::{Prepared, acting},
    session::{Session, loading::Loaded},
    verdicts::VerdictCache,
    view::Run,
};

/// An environment that shows no events and has no temporary directories.
fn quiet(
    session: &Session,
    executables: &Arc<ProviderExecutables>,
    program: &Program,
) -> Environment {
    let events = session.view.run(Run::Quiet, &program.sources, &session.redactor);
    acting(session, executables, events, Arc::new(NoTempDirectories))
}

/// Validates all blocks with the providers, for `validate`.
pub fn validate_with_providers(
    session: &Session,
    loaded: &Loaded,
    program: &Arc<Program>,
) -> Vec<Diagnostic> {
    let environment = quiet(session, &loaded.executables, program);
    let verdicts = VerdictCache::new(session, loaded.executables.clone());
    let workspace = session.workspace();
    let instances = loaded.project.provider_instances();
    let found = engine::validate(program, &environment, &workspace, &verdicts, &instances);
    let mut found = session.runtime.block_on(found);
    found.extend(validate_provisioners(session, &loaded.executables, program, |_| true));
    found
}

/// Lets provisioner plugins validate the `provisioner` blocks that `counts` accepts.
pub fn validate_provisioners(
    session: &Session,
    executables: &Arc<ProviderExecutables>,
    program: &Arc<Program>,
    counts: fn(&Provisioner) -> bool,
) -> Vec<Diagnostic> {
    if program.provisioners.is_empty() {
        return Vec::new();
    }
    let view = session.view.run(Run::Quiet, &program.sources, &session.redactor);
    let environment = acting(session, executables, view.clone(), Arc::new(NoTempDirectories));
    let verdicts = VerdictCache::new(session, executables.clone());
    let workspace = session.workspace();
    let found = engine::validate_provisioners(program, &environment, &workspace, &verdicts, counts);
    let found = session.runtime.block_on(found);
    view.end_log();
    found
}

/// The result of the analysis of a configuration.
pub struct Analysis {
    pub diagnostics: Vec<Diagnostic>,
    pub program: Program,
}

/// Adds conditions that fail regardless of any run to the errors of the analysis. After such errors there is no
/// run that would find them.
pub fn with_known_conditions(session: &Session, loaded: &Loaded, analysis: Analysis) -> Analysis {
    let Analysis { mut diagnostics, program } = analysis;
    const CYCLES: [Rule; 2] = [Rule::DependencyCycle, Rule::ModuleCycle];
    let mut errors = diagnostics.iter().filter(|it| it.is_error()).peekable();
    if errors.peek().is_none() || errors.any(|it| CYCLES.contains(&it.id())) {
        return Analysis { diagnostics, program };
    }
    let program = Arc::new(program);
    diagnostics.extend(known_conditions(session, &loaded.executables, &program));
    Analysis { diagnostics, program: Arc::unwrap_or_clone(program) }
}

fn known_conditions(
    session: &Session,
    executables: &Arc<ProviderExecutables>,
    program: &Arc<Program>,
) -> Vec<Diagnostic> {
    let environment = quiet(session, executables, program);
    engine::known_conditions(program, &environment, &session.workspace())
}

/// Conditions that fail regardless of any run and that the plan did not report. A plan does not reach modules
/// without instances, nor dependents of a failed node.
pub(crate) fn unplanned_conditions(
    session: &Session,
    prepared: &Prepared,
    outcome: &PlanOutcome,
) -> Vec<Diagnostic> {
    let mut known = known_conditions(session, &prepared.executables, &prepared.program);
    fn sign(it: &Diagnostic) -> (Option<&Location>, &str) {
        (it.location.as_ref(), &it.summary)
    }
    let errors = outcome.diagnostics.iter().filter(|it| it.is_error());
    let reported: HashSet<_> = errors.map(sign).collect();
    known.retain(|it| !reported.contains(&sign(it)));
    known
}

/// Validates the resource blocks without instances in the plan with their providers.
pub(crate) fn validate_unplanned(
    session: &Session,
    prepared: &Prepared,
    environment: &Environment,
    outcome: &PlanOutcome,
) -> Vec<Diagnostic> {
    let verdicts = VerdictCache::new(session, prepared.executables.clone());
    let (program, workspace) = (&prepared.program, session.workspace());
    let found = engine::validate_unplanned(program, environment, &workspace, &verdicts, outcome);
    session.runtime.block_on(found)
}

/// Errors for values that a plan would refuse to compute because of their size.
pub fn too_large(session: &Session, loaded: &Loaded, program: &Arc<Program>) -> Vec<Diagnostic> {
    let environment = quiet(session, &loaded.executables, program);
    engine::too_large(program, &environment, &session.workspace())
}
