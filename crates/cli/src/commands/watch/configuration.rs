//! The current configuration of a watch session, with its state and its providers.

use std::{mem::ManuallyDrop, path::PathBuf, sync::Arc};

use addr::{ProviderSource, VersionConstraint};
use project::EditableProject;
use sorted::TreeMap;
use state::{State, StateIdentity};

use super::files::OtherFiles;
use operations::{
    located::ProviderExecutables,
    session::{Failure, loading},
    store::{self, OpenState, StateOptions},
    variables::{EphemeralInputs, flag::VarFlag},
};

use crate::session::CommandSession;

/// The loaded configuration, and flags for the files that changed since it was loaded.
pub(super) struct Configuration {
    loaded: Option<Loaded>,
    other_files: OtherFiles,
    is_setup_outdated: bool,
    is_state_outdated: bool,
    /// The providers that were located last. They stay available while no configuration is loaded.
    executables: Option<Arc<ProviderExecutables>>,
}

/// A configuration with its state and its providers.
pub(super) struct Loaded {
    pub(super) project: EditableProject,
    pub(super) state: OpenState,
    pub(super) ephemeral_inputs: EphemeralInputs,
    pub(super) executables: Arc<ProviderExecutables>,
    requirements: TreeMap<ProviderSource, VersionConstraint>,
}

impl Loaded {
    /// The lineage and serial of the state, which a plan records.
    pub(super) fn identity(&self) -> StateIdentity {
        if self.state.exists() { self.state.identity() } else { StateIdentity::default() }
    }

    /// Reads the state file again.
    fn read_state(
        &mut self,
        session: &CommandSession,
        options: &StateOptions,
    ) -> Result<(), Failure> {
        let mut state = store::read_unlocked(session, options)?;
        let required = self.project.provider_requirements();
        state.file.state.adopt_other_registry(&|source| required.contains_key(source));
        self.state = state;
        Ok(())
    }

    /// Returns true if the required providers differ from the located ones.
    fn needs_other_providers(&mut self, session: &CommandSession) -> bool {
        let needed = session.requirements(&self.project, Some(&self.state.file.state));
        needed != self.requirements
    }
}

impl Configuration {
    /// Creates a configuration that is not loaded yet.
    pub(super) fn new(
        session: &CommandSession,
        options: &StateOptions,
        flags: &[VarFlag],
    ) -> Result<Configuration, Failure> {
        Ok(Configuration {
            loaded: None,
            other_files: OtherFiles::new(session, options, flags)?,
            is_setup_outdated: false,
            is_state_outdated: false,
            executables: None,
        })
    }

    /// Checks the files for changes. Returns true if the result of a plan may differ.
    pub(super) fn follow(&mut self, session: &CommandSession) -> bool {
        let changed = self.other_files.follow(session);
        self.is_setup_outdated |= changed.setup;
        self.is_state_outdated |= changed.state;
        let is_changed = changed.setup || changed.state || changed.variables;
        let Some(loaded) = &mut self.loaded else { return true };
        loaded.project.tree_mut().reload_all() || is_changed
    }

    /// Returns true if the required providers differ from the located ones. The configuration is then discarded,
    /// and the next [`Configuration::load`] loads all of it again.
    pub(super) fn needs_other_providers(&mut self, session: &CommandSession) -> bool {
        let needs =
            self.loaded.as_mut().is_some_and(|loaded| loaded.needs_other_providers(session));
        if needs {
            self.loaded = None;
        }
        needs
    }

    /// Returns true if modules or providers were installed again since the configuration was loaded.
    pub(super) fn is_setup_outdated(&self) -> bool {
        self.is_setup_outdated
            || self.loaded.as_ref().is_some_and(|it| it.executables.is_outdated())
    }

    /// Loads or updates the configuration, with its state and its providers.
    pub(super) fn load(
        &mut self,
        session: &CommandSession,
        options: &StateOptions,
        flags: &[VarFlag],
    ) -> Result<&mut Loaded, Failure> {
        let is_state_outdated = std::mem::take(&mut self.is_state_outdated);
        if self.is_setup_outdated() {
            self.is_setup_outdated = false;
            self.loaded = None;
        }
        if let Some(loaded) = &mut self.loaded {
            // A changed value in a variables file may lead to other modules.
            session.set_static_inputs(&mut loaded.project);
            if is_state_outdated {
                loaded.read_state(session, options)?;
            }
            if options.state.is_none() {
                session.check_backend(&loaded.project)?;
            }
        }
        let loaded = match self.loaded.take() {
            Some(loaded) => loaded,
            None => load(session, options, flags)?,
        };
        self.executables = Some(loaded.executables.clone());
        Ok(self.loaded.insert(loaded))
    }

    /// The providers that were located last. Empty before the first successful load.
    pub(super) fn executables(&self, session: &CommandSession) -> Arc<ProviderExecutables> {
        match &self.executables {
            Some(executables) => executables.clone(),
            None => Arc::new(ProviderExecutables::none(session)),
        }
    }

    /// The state before the last plan.
    pub(super) fn state(&self) -> State {
        self.loaded.as_ref().map(|it| it.state.file.state.clone()).unwrap_or_default()
    }

    /// The texts given for ephemeral variables outside of files.
    pub(super) fn ephemeral_inputs(&self) -> EphemeralInputs {
        self.loaded.as_ref().map(|loaded| loaded.ephemeral_inputs.clone()).unwrap_or_default()
    }

    /// The directories to watch for changes.
    pub(super) fn directories(&self) -> Vec<PathBuf> {
        let mut directories: Vec<PathBuf> = self.other_files.directories().collect();
        directories.push(PathBuf::from("."));
        if let Some(loaded) = &self.loaded {
            directories.extend(loaded.project.tree().directories_to_watch());
        }
        directories
    }
}

fn load(
    session: &CommandSession,
    options: &StateOptions,
    flags: &[VarFlag],
) -> Result<Loaded, Failure> {
    let project = session.editable_project()?;
    if options.state.is_none() {
        session.check_backend(&project)?;
    }
    let mut state = store::read_unlocked(session, options)?;
    let loaded = session.load_editable(project, &mut state.file.state, flags)?;
    let loading::Loaded { project, executables, ephemeral_inputs } = loaded;
    let project = ManuallyDrop::into_inner(project);
    let requirements = session.requirements(&project, Some(&state.file.state));
    Ok(Loaded { project, state, ephemeral_inputs, executables, requirements })
}
