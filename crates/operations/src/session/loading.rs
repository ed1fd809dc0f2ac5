//! Loads the configuration of a session: files, installed modules, settings that decide sources, schemas.

use std::{
    mem::ManuallyDrop,
    path::{Path, PathBuf},
    sync::{Arc, MutexGuard, PoisonError},
};

use addr::{ProviderSource, VersionConstraint};
use db::{Diagnostic, Summary, System};
use hir::{
    item::ConstValue,
    statics::{self, LocalBackend},
};
use packages::Locks;
use project::{Configure, EditableProject, Manifest, Project, UnsetProject};
use sorted::{TreeMap, TreeSet};
use values::Str;

use super::{Failure, LockSource, LockedVersions, Session, StaticValues, broken, place_of};
use crate::{
    located::ProviderExecutables,
    place,
    variables::{self, EphemeralInputs, flag::VarFlag, secrecy},
};

/// A configuration with the providers that it needs.
pub struct Loaded<P = Project> {
    /// Never dropped: the process ends soon after, and dropping a large database takes a considerable part of the
    /// time of `validate`.
    pub project: ManuallyDrop<P>,
    pub executables: Arc<ProviderExecutables>,
    /// The texts given for ephemeral variables outside of files.
    pub ephemeral_inputs: EphemeralInputs,
}

impl Session {
    /// The configuration in the working directory, without schemas.
    pub fn project(&self) -> Result<UnsetProject, Failure> {
        match self.lock_project().take() {
            Some(mut project) => {
                self.set_static_inputs(&mut project);
                Ok(project)
            }
            None => self.project_with(self.installed_modules()?),
        }
    }

    /// Takes the flags that set variables, for use in static evaluation.
    pub fn take_flags(&self, flags: &[VarFlag]) {
        self.lock_early().flags = flags.to_vec();
    }

    /// Makes the session read the configuration of another directory. State, variables files and installed providers
    /// stay those of the working directory.
    ///
    /// # Errors
    /// If the directory has no configuration files.
    pub fn take_config_directory(&self, directory: &Path) -> Result<(), Failure> {
        if project::configuration_files(&*self.system, directory).is_empty() {
            let detail = format!(
                "The directory {} does not contain any Mayfly configuration files (.tf or .tf.json). To \
                 specify a different configuration directory, use the -config=\"...\" command line option.",
                directory.display()
            );
            return Err(Diagnostic::new(Summary::NO_CONFIGURATION_FILES, detail).into());
        }
        self.look_into(directory);
        Ok(())
    }

    /// Makes the session read the configuration of another directory, which may have none.
    pub(crate) fn look_into(&self, directory: &Path) {
        self.lock_early().config = Some(directory.to_owned());
    }

    /// Takes the variable values and the place of the state from a saved plan, for use in static evaluation.
    pub fn take_planned(&self, values: TreeMap<Str, ConstValue>, place: LocalBackend) {
        let mut early = self.lock_early();
        early.planned = values;
        early.place = Some(place);
        early.is_place_planned = true;
    }

    pub(super) fn lock_early(&self) -> MutexGuard<'_, StaticValues> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a configuration the values for static evaluation, which decide its modules and the place of its
    /// state. Returns true if they changed. From now on, child processes inherit the environment variables that
    /// the declarations of this configuration allow.
    pub fn set_static_inputs(&self, project: &mut impl Configure) -> bool {
        self.child_environment.declare(project);
        let mut early = self.lock_early();
        if !early.flags.is_empty() {
            let flags = std::mem::take(&mut early.flags);
            early.flags = secrecy::plain_flags(project.db(), project.root(), flags);
        }
        if !project.tree().is_dynamic(project.workspace()) {
            return false;
        }
        drop(early);
        self.set_plain_values(project)
    }

    /// Gives a configuration the values of its variables that are not secret, even if static evaluation does not
    /// need them. Returns true if they changed.
    pub fn set_plain_values(&self, project: &mut impl Configure) -> bool {
        self.set_plain_values_of(&*self.system, project)
    }

    /// Like [`Session::set_plain_values`], with the variables files of another system.
    pub(crate) fn set_plain_values_of(
        &self,
        system: &dyn System,
        project: &mut impl Configure,
    ) -> bool {
        let early = self.lock_early();
        let (db, root) = (project.db(), project.root());
        let mut inputs = variables::static_inputs(self, system, db, root, &early.flags);
        let is_plain = |name: &Str| secrecy::is_plain(project.db(), project.root(), name);
        let planned = early.planned.iter().filter(|(name, _)| is_plain(name));
        inputs.variables.extend(planned.map(|(name, value)| (name.clone(), value.clone())));
        project.set_static_inputs(inputs)
    }

    /// Asks for the variables that static evaluation needs and that have no value, if stdin is a terminal. The
    /// answers count as flags.
    pub fn ask_early(&self, project: &mut UnsetProject) -> Result<(), Failure> {
        let mut asked = TreeSet::new();
        // An answer may lead to a module whose source needs another variable.
        while self.view.is_interactive() {
            let unset = statics::unset_variables(project.db(), project.workspace());
            let Some(name) = unset.into_iter().find(|it| !asked.contains(it)) else { break };
            let flag = variables::ask_early(self, project.db(), project.root(), &name)?;
            self.lock_early().flags.extend(flag);
            asked.insert(name);
            self.set_static_inputs(project);
        }
        Ok(())
    }

    pub(super) fn lock_project(&self) -> MutexGuard<'_, Option<UnsetProject>> {
        self.project.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a configuration with an unsupported backend, before the state of the working directory is opened.
    /// The state is elsewhere, and continuing would create a second one. Keeps the loaded configuration for the
    /// next [`Session::project`].
    pub fn refuse_other_backends(&self) -> Result<(), Failure> {
        if self.lock_early().is_place_planned {
            return Ok(());
        }
        let project = self.project()?;
        let checked = self.check_backend(&project);
        *self.lock_project() = Some(project);
        checked
    }

    /// Like [`Session::refuse_other_backends`], for a configuration that is already loaded.
    pub fn check_backend(&self, project: &Project) -> Result<(), Failure> {
        let place = place::check(self, place_of(project)?)?;
        self.lock_early().place = Some(place);
        Ok(())
    }

    /// The place of the working directory's state.
    pub fn place(&self) -> Result<LocalBackend, Failure> {
        if let Some(known) = self.lock_early().place.clone() {
            return Ok(known);
        }
        self.refuse_other_backends()?;
        Ok(self.lock_early().place.clone().unwrap_or_default())
    }

    /// Like [`Session::project`], but ignores a damaged module manifest, because `init` writes a new one.
    pub fn project_to_init(&self) -> Result<UnsetProject, Failure> {
        self.project_with(self.installed_modules().unwrap_or_default())
    }

    /// Like [`Session::project`], with the given module manifest.
    pub fn project_with(&self, manifest: Manifest) -> Result<UnsetProject, Failure> {
        self.loaded_by(Project::load, manifest)
    }

    /// The configuration in the working directory, without schemas, for a command that edits it.
    pub fn editable_project(&self) -> Result<EditableProject, Failure> {
        self.loaded_by(EditableProject::load, self.installed_modules()?)
    }

    fn loaded_by<P: Configure>(
        &self,
        load: fn(Arc<dyn System>, PathBuf, Manifest) -> std::io::Result<P>,
        manifest: Manifest,
    ) -> Result<P, Failure> {
        engine::enter_phase(engine::RunPhase::Reading);
        let directory = self.lock_early().config.clone().unwrap_or_else(|| PathBuf::from("."));
        let loaded = load(self.system.clone(), directory, manifest);
        let mut project = loaded.map_err(|error| {
            let detail = format!("The working directory cannot be read: {error}.");
            Diagnostic::new(Summary::UNREADABLE_DIRECTORY, detail)
        })?;
        self.set_static_inputs(&mut project);
        Ok(project)
    }

    /// The providers of a planned configuration and state, located without an error: if one of them is missing,
    /// the result is empty.
    pub fn providers_at_hand(
        &self,
        project: &Project,
        state: &mut state::State,
        locks: &Locks,
    ) -> ProviderExecutables {
        let required = project.provider_requirements();
        state.adopt_other_registry(&|source| required.contains_key(source));
        let requirements = self.requirements(project, Some(state));
        let locks = LockedVersions { locks, source: LockSource::Plan };
        ProviderExecutables::locate_locked(self, &requirements, locks)
            .unwrap_or_else(|_| ProviderExecutables::none(self))
    }

    /// Loads the configuration with the schemas of all providers that it or the state needs.
    pub fn load(&self, state: Option<&mut state::State>) -> Result<Loaded, Failure> {
        self.load_with_values(state, &[])
    }

    /// Like [`Session::load`], where `flags` set variables.
    pub fn load_with_values(
        &self,
        state: Option<&mut state::State>,
        flags: &[VarFlag],
    ) -> Result<Loaded, Failure> {
        let locks = LockedVersions { locks: &self.locks()?, source: LockSource::Directory };
        self.finish(self.project()?, state, flags, locks)
    }

    /// Like [`Session::load_with_values`], for a configuration that the command edits.
    pub fn load_editable(
        &self,
        project: EditableProject,
        state: &mut state::State,
        flags: &[VarFlag],
    ) -> Result<Loaded<EditableProject>, Failure> {
        let locks = LockedVersions { locks: &self.locks()?, source: LockSource::Directory };
        self.equip(project, Some(state), flags, locks)
    }

    /// Locates the providers of a configuration, and returns the configuration with its final settings. See
    /// [`Session::equip`].
    pub fn finish(
        &self,
        project: UnsetProject,
        state: Option<&mut state::State>,
        flags: &[VarFlag],
        locks: LockedVersions<'_>,
    ) -> Result<Loaded, Failure> {
        let Loaded { project, executables, ephemeral_inputs } =
            self.equip(project, state, flags, locks)?;
        let project = ManuallyDrop::new(ManuallyDrop::into_inner(project).finish());
        Ok(Loaded { project, executables, ephemeral_inputs })
    }

    /// Locates the providers of a configuration in the versions that `locks` selects, and adds their schemas to
    /// the configuration.
    pub fn equip<P: Configure>(
        &self,
        mut project: P,
        state: Option<&mut state::State>,
        flags: &[VarFlag],
        locks: LockedVersions<'_>,
    ) -> Result<Loaded<P>, Failure> {
        // Teach the redactor first: schemas come from provider processes, whose output must not quote a secret.
        let ephemeral_inputs = EphemeralInputs::find(&*self.system, &project, flags);
        ephemeral_inputs.teach(&self.redactor);
        let mut state = state;
        if let Some(state) = state.as_deref_mut() {
            let required = project.provider_requirements();
            state.adopt_other_registry(&|source| required.contains_key(source));
        }
        let requirements = self.requirements(&project, state.as_deref());
        let located = ProviderExecutables::locate_locked(self, &requirements, locks);
        // A provider may be missing because the configuration is wrong, so report the errors of the configuration
        // first.
        let located = located.map_err(|failure| broken(&project).unwrap_or(failure));
        let executables = Arc::new(located?);
        for source in requirements.keys() {
            let schemas = executables.schemas(self, source)?;
            project.set_schemas(source.clone(), schemas);
        }
        if executables.has_provisioners() {
            let kinds = hir::provisioner_kinds(project.db(), project.workspace());
            project.set_provisioners(executables.provisioner_schemas(self, &kinds)?);
        }
        Ok(Loaded { project: ManuallyDrop::new(project), executables, ephemeral_inputs })
    }

    /// The providers that configuration and state need, with the combined constraints of all modules. An invalid
    /// constraint is ignored here, because the diagnostics of the configuration report it.
    pub fn requirements(
        &self,
        project: &Project,
        state: Option<&state::State>,
    ) -> TreeMap<ProviderSource, VersionConstraint> {
        let all = |constraints: Vec<Str>| {
            let understood =
                constraints.iter().filter_map(|text| VersionConstraint::parse_provider(text).ok());
            understood.fold(VersionConstraint::any(), |all, constraint| all.and(&constraint))
        };
        let configured = project.provider_requirements().into_iter();
        let mut requirements: TreeMap<_, _> =
            configured.map(|(source, constraints)| (source, all(constraints))).collect();
        for (_, resource) in state.into_iter().flat_map(state::State::resources) {
            requirements
                .entry(resource.provider.source.clone())
                .or_insert_with(VersionConstraint::any);
        }
        requirements
    }
}
