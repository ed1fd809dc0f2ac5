//! The inputs for the analysis of causes: of a plan that was just made, or of a plan file; and the record of the last
//! plan for editors.

pub mod record;

use std::sync::Arc;

use causes::Inputs;
use engine::{ValueSource, VariableValues};
use hir::Program;
use project::{Configure as _, UnsetProject};
use state::{PlanFile, State};

use crate::{
    plan::Planned,
    planned,
    session::{Failure, Session},
};

/// The inputs of the analysis of a plan that was just made. `previous` is the state before the plan.
pub fn of_planned<'a>(session: &Session, planned: &'a Planned, previous: &'a State) -> Inputs<'a> {
    Inputs {
        program: &planned.prepared.program,
        plan: &planned.outcome.plan,
        previous,
        refreshed: &planned.outcome.refreshed,
        values: &planned.prepared.values,
        system: Arc::clone(&session.system),
        workspace: session.workspace(),
    }
}

/// The inputs of the analysis of a plan file, whose configuration is `program`. `values` are those of
/// [`values_of_file`].
pub fn of_file<'a>(
    session: &Session,
    file: &'a PlanFile,
    program: &'a Arc<Program>,
    values: &'a VariableValues,
) -> Inputs<'a> {
    Inputs {
        program,
        plan: &file.plan,
        previous: &file.previous_state.state,
        refreshed: &file.prior_state.state,
        values,
        system: Arc::clone(&session.system),
        workspace: file.plan.backend.workspace.as_str().into(),
    }
}

/// The values of the variables that a plan file has.
pub fn values_of_file(file: &PlanFile) -> VariableValues {
    let mut values = VariableValues::new();
    for (name, value) in &file.plan.variables {
        values.set(name.clone(), value.clone(), ValueSource::Plan);
    }
    values
}

/// A plan file with its configuration.
pub struct OpenedPlan {
    /// The plan file.
    pub file: PlanFile,
    /// The configuration of the plan file, with the schemas of the installed providers.
    pub program: Arc<Program>,
    values: VariableValues,
}

impl OpenedPlan {
    /// Loads the configuration of a plan file. The session uses its variables from now on.
    ///
    /// # Errors
    /// The plan file is damaged, or its configuration cannot be loaded.
    pub fn new(session: &Session, file: PlanFile) -> Result<OpenedPlan, Failure> {
        let mut file = file;
        planned::take(session, &file.plan)?;
        let (mut project, locks) = (planned::project(session, &file)?, planned::locks(&file)?);
        let executables = session.providers_at_hand(&project, &mut file.prior_state.state, &locks);
        set_schemas(session, &mut project, &file, &executables);
        let program = Arc::new(project.finish().program());
        let values = values_of_file(&file);
        Ok(OpenedPlan { file, program, values })
    }

    /// The inputs of the analysis.
    pub fn inputs(&self, session: &Session) -> Inputs<'_> {
        of_file(session, &self.file, &self.program, &self.values)
    }
}

/// Adds the schemas of the providers that are installed. Without its schemas, the objects of a provider are unknown to
/// expressions.
fn set_schemas(
    session: &Session,
    project: &mut UnsetProject,
    file: &PlanFile,
    executables: &crate::located::ProviderExecutables,
) {
    let required = project.provider_requirements().into_keys();
    let stored = file.prior_state.state.resources().map(|(_, it)| it.provider.source.clone());
    let mut sources: Vec<_> = required.chain(stored).collect();
    sorted::sort(&mut sources);
    sources.dedup();
    for source in sources {
        if let Ok(schemas) = executables.schemas(session, &source) {
            project.set_schemas(source, schemas);
        }
    }
}
