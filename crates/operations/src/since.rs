//! The configuration as it is at a git revision, planned against the same state: what was pending anyway.
//!
//! ```text
//!   REV ──git──► Revision ─► RevisionSystem ─► Project ─► Program ──┐
//!                                                                   ├─► one Planner ─► two plans
//!   working directory ───────────────────────► Project ─► Program ──┘   (providers are asked once)
//! ```
//!
//! **Invariant:** both plans have the same state, the same answers of providers, and the same values from the command
//! line, the environment and questions. They differ only in the files of the repository, variables files among them.
//! **Invariant:** nothing of the plan at the revision is shown, saved or applied.

mod git;
mod system;

use std::{path::PathBuf, sync::Arc};

use db::{Diagnostic, Summary, System};
use engine::{PlanOptions, PlanOutcome, Planner, ValueSource, VariableValues};
use packages::Git;
use project::Project;
use state::{Plan, State};

use self::{git::Repository, system::RevisionSystem};
use crate::{
    offline::Analysis,
    prepare::{self, Checked, Prepared, Purpose},
    session::{Failure, LockSource, LockedVersions, Session, loading::Loaded},
    temp::TempFiles,
    variables::{EphemeralInputs, flag::VarFlag},
    view::Run,
};

/// The plan of the configuration at a revision.
pub struct BasePlan {
    /// The revision as the user named it.
    pub revision: String,
    /// The identifier of its commit.
    pub commit: String,
    /// The plan.
    pub plan: Plan,
}

/// The checked configuration at a revision.
pub(crate) struct Base {
    revision: String,
    commit: String,
    system: Arc<RevisionSystem>,
    prepared: Prepared,
}

impl Base {
    /// Loads and checks the configuration at a revision. `now` is the configuration of the working directory, whose
    /// values of variables are used.
    ///
    /// # Errors
    /// A diagnostic with the reason why there is nothing to compare with, and the errors of that configuration.
    pub(crate) fn load(
        session: &Session,
        revision: &str,
        flags: &[VarFlag],
        now: &Prepared,
        state: &State,
    ) -> Result<Base, Failure> {
        let git =
            Git { program: "git".into(), withheld: session.child_environment.withheld_from_git() };
        let base = session.at(PathBuf::new());
        let base = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base };
        let impossible = |reason: String| impossible(revision, &reason);
        let repository = Repository::open(git, &base).map_err(impossible)?;
        let tree = repository.at(revision).map_err(impossible)?;
        let commit = tree.commit.clone();
        let system = Arc::new(RevisionSystem::new(session, tree));
        let prepared = prepared(session, &system, flags, now, state)
            .map_err(|failure| impossible_with(revision, failure))?;
        if let Some(problem) = system.problem() {
            return Err(impossible(problem));
        }
        Ok(Base { revision: revision.to_owned(), commit, system, prepared })
    }

    /// Plans the configuration with the answers that providers gave to the previous plan of `planner`.
    ///
    /// # Errors
    /// The errors of the plan.
    pub(crate) fn plan(
        self,
        session: &Session,
        planner: &mut Planner,
        prior: State,
        request: PlanOptions,
        files: &Arc<TempFiles>,
    ) -> Result<BasePlan, Failure> {
        let Base { revision, commit, system, prepared } = self;
        let events = session.view.run(Run::Quiet, &prepared.program.sources, &session.redactor);
        let acting = prepare::acting(session, &prepared.executables, events.clone(), files.clone());
        let environment =
            engine::Environment { system: Arc::clone(&system) as Arc<dyn System>, ..acting };
        planner.change_files();
        let values = prepared.values.clone();
        let plan = planner.plan(&prepared.program, prior, values, &environment, request);
        let PlanOutcome { plan, diagnostics, .. } = session.runtime.block_on(plan);
        events.end_log();
        if let Some(problem) = system.problem() {
            return Err(impossible(&revision, &problem));
        }
        if diagnostics.iter().any(Diagnostic::is_error) {
            let found = Failure::Diagnostics(diagnostics, prepared.program.sources.clone());
            return Err(impossible_with(&revision, found));
        }
        Ok(BasePlan { revision, commit, plan })
    }
}

/// Loads the configuration of a system with the installed modules and the locked providers of the working directory.
fn prepared(
    session: &Session,
    system: &Arc<RevisionSystem>,
    flags: &[VarFlag],
    now: &Prepared,
    state: &State,
) -> Result<Prepared, Failure> {
    let installed = session.installed_modules()?;
    let files = Arc::clone(system) as Arc<dyn System>;
    let mut project = Project::load(files, PathBuf::from("."), installed).map_err(|error| {
        let detail = format!("The files of the revision cannot be read: {error}.");
        Diagnostic::new(Summary::UNREADABLE_DIRECTORY, detail)
    })?;
    let flags = existing_files(system, flags);
    session.set_plain_values_of(&**system, &mut project);
    // Nothing is to be planned in a directory that the revision does not have: all of the configuration is new.
    let purpose = if project.is_empty() { Purpose::PlanDestroy } else { Purpose::Plan };
    let locks = LockedVersions { locks: &session.locks()?, source: LockSource::Directory };
    let mut state = state.clone();
    let loaded = session.finish(project, Some(&mut state), &flags, locks)?;
    let (diagnostics, program) = loaded.project.checked();
    let flags = declared_flags(&program, &flags);
    let analysis = Analysis { diagnostics, program };
    let checked = prepare::check(&**system, &loaded.project, analysis, &flags, &state, purpose)?;
    let Checked { program, mut values, warnings } = checked;
    take_values(&program, &mut values, &now.values);
    let Loaded { executables, .. } = loaded;
    Ok(Prepared {
        executables,
        ephemeral_inputs: EphemeralInputs::default(),
        program,
        values,
        shown: warnings,
        source_files: Vec::new(),
    })
}

/// The flags without those for variables files that the revision does not have.
fn existing_files(system: &RevisionSystem, flags: &[VarFlag]) -> Vec<VarFlag> {
    let exists = |flag: &&VarFlag| match flag {
        VarFlag::File(path) => !system.lacks(path),
        VarFlag::Value(_) => true,
    };
    flags.iter().filter(exists).cloned().collect()
}

/// The flags without those that set a variable which the configuration does not declare.
fn declared_flags(program: &hir::Program, flags: &[VarFlag]) -> Vec<VarFlag> {
    let is_declared = |flag: &&VarFlag| match flag {
        VarFlag::File(_) => true,
        VarFlag::Value(text) => {
            let name = text.split_once('=').map_or(&**text, |(name, _)| name).trim();
            program.root().variables.contains_key(name)
        }
    };
    flags.iter().filter(is_declared).cloned().collect()
}

/// Takes the values of the working directory's configuration for variables that both configurations declare, and that
/// have no value at the revision: the answers to questions. A value from a file of today counts only for a variable
/// without a default, which could not be planned otherwise.
fn take_values(program: &hir::Program, values: &mut VariableValues, now: &VariableValues) {
    for (name, given) in now.iter() {
        let Some(declared) = program.root().variables.get(name) else { continue };
        let has_default = declared.variable().default.is_some();
        let is_of_file = matches!(given.source, ValueSource::File(_));
        let is_taken = !has_default || !is_of_file;
        if is_taken && !values.contains(name) {
            values.set(name.clone(), given.value.clone(), given.source.clone());
        }
    }
}

/// The error that there is nothing to compare with.
fn impossible(revision: &str, reason: &str) -> Failure {
    let detail = format!(
        "The changes since {revision:?} cannot be told apart from those that were pending anyway: {reason}\n\nWithout \
         -since, the plan shows all changes."
    );
    Diagnostic::new(Summary::REVISION_COMPARISON, detail).into()
}

/// Like [`impossible`], followed by the errors of the configuration at the revision.
fn impossible_with(revision: &str, failure: Failure) -> Failure {
    let Failure::Diagnostics(found, sources) = failure;
    let errors = found.into_iter().filter(Diagnostic::is_error);
    let reason = "the configuration of that revision cannot be planned. Its errors follow, with its files as they are \
                  there. A module or provider of another version can only be installed in a checkout of the revision \
                  (\"git worktree add\"); or compare with a later revision.";
    let Failure::Diagnostics(first, _) = impossible(revision, reason);
    Failure::Diagnostics(first.into_iter().chain(errors).collect(), sources)
}
