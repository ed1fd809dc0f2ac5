//! The operation `state mv`: moves modules, resources and instances to other addresses, also in another state.

use std::path::PathBuf;

use addr::{
    AbsResource, InstanceKey, ModuleInstance, ResourceInstance, ResourceMode, Target, parse_target,
};
use db::{Diagnostic, Summary};
use state::{Instance, State};

use super::{Editing, Execution, no_state, select::address_fault, with_own_backup};
use crate::{
    session::{Failure, Session},
    store::{Purpose, StateOptions, state_path},
};

/// A move, as requested.
pub struct Request<'a> {
    /// The address to move.
    pub from: &'a str,
    /// The new address.
    pub to: &'a str,
    /// The state file that gets the objects. `None` for the state that they are in.
    pub state_out: Option<PathBuf>,
    /// The backup of that file.
    pub backup_out: Option<String>,
    /// The treatment of the request.
    pub execution: Execution,
}

/// A move of one module, resource or instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    /// The old address.
    pub from: String,
    /// The new address.
    pub to: String,
}

/// Moves the objects at an address. `options` name the state that they are in.
///
/// # Errors
/// A diagnostic if there is no state, if nothing is at the address, or if the new address is in use or does not fit.
pub fn move_objects(
    session: &Session,
    options: &StateOptions,
    request: &Request<'_>,
) -> Result<Vec<Moved>, Failure> {
    let source = StateOptions { state_out: None, ..options.clone() };
    let source = with_own_backup(session, &source)?;
    let out = out_options(session, &source, request)?;
    let editing = Editing::begin(session, &source, Purpose::Move, request.execution)?;
    if !editing.has_state() {
        return editing.fail(session, no_state());
    }
    let out = match out.map(|it| Editing::begin(session, &it, Purpose::Move, request.execution)) {
        None => None,
        Some(Ok(out)) => Some(out),
        Some(Err(failure)) => return editing.fail(session, failure),
    };
    let mut states =
        States { from: editing.state().clone(), to: out.as_ref().map(|it| it.state().clone()) };
    match states.carry_out(request) {
        Ok(moved) if request.execution == Execution::Real => {
            // Written first: if the second write fails, both states have the objects, and none is lost.
            if let (Some(out), Some(state)) = (out, &states.to)
                && let Err(failure) = out.save(session, state)
            {
                return editing.fail(session, failure);
            }
            editing.save(session, &states.from)?;
            Ok(moved)
        }
        outcome => {
            if let Some(out) = out {
                out.leave(session)?;
            }
            editing.leave(session)?;
            outcome
        }
    }
}

/// The options of the state that gets the objects. `None` if it is the one that they are in.
fn out_options(
    session: &Session,
    source: &StateOptions,
    request: &Request<'_>,
) -> Result<Option<StateOptions>, Failure> {
    let Some(path) = &request.state_out else { return Ok(None) };
    if session.at(path) == state_path(session, source)? {
        return Ok(None);
    }
    let backup = request.backup_out.clone();
    let out = StateOptions { state: Some(path.clone()), backup, ..source.clone() };
    with_own_backup(session, &out).map(Some)
}

/// The states of a move.
struct States {
    from: State,
    /// The state that gets the objects. `None` if it is `from`.
    to: Option<State>,
}

impl States {
    fn destination(&self) -> &State {
        self.to.as_ref().unwrap_or(&self.from)
    }

    fn destination_mut(&mut self) -> &mut State {
        self.to.as_mut().unwrap_or(&mut self.from)
    }

    /// Makes the requested moves in memory.
    fn carry_out(&mut self, request: &Request<'_>) -> Result<Vec<Moved>, Failure> {
        let (from, to) = addresses(request)?;
        let sources = self.sources(&from);
        if sources.is_empty() {
            let detail =
                format!("Cannot move {from}: does not match anything in the current state.");
            return Err(Diagnostic::new(Summary::MOVE_SOURCE, detail).into());
        }
        let mut moved = Vec::new();
        for source in sources {
            let made = match &source {
                Target::Module(module) => self.move_module(module, &from, &to),
                Target::Resource(resource) => self.move_resource(resource, &to),
                Target::Instance(instance) => self.move_instance(instance, &to, request.to),
            };
            moved.push(made?);
            self.forget_dependencies(&source);
        }
        Ok(moved)
    }

    /// The modules, or the resource or instance, that the address selects.
    fn sources(&self, from: &Target) -> Vec<Target> {
        let resources = || self.from.resources().map(|(address, _)| address);
        match from {
            Target::Module(module) => {
                let mut modules: Vec<&ModuleInstance> =
                    resources().map(|it| &it.module).filter(|it| module.contains(it)).collect();
                modules.dedup();
                modules.into_iter().cloned().map(Target::Module).collect()
            }
            // A resource without `count` and `for_each` has one instance, which may get any key.
            Target::Resource(resource) => match self.from.resource(resource) {
                Some(found) if found.instances.contains_key(&InstanceKey::None) => {
                    vec![Target::Instance(resource.instance(InstanceKey::None))]
                }
                Some(_) => vec![from.clone()],
                None => Vec::new(),
            },
            Target::Instance(instance) => match self.from.instance(instance) {
                Some(_) => vec![from.clone()],
                None => Vec::new(),
            },
        }
    }

    fn move_module(
        &mut self,
        module: &ModuleInstance,
        from: &Target,
        to: &Target,
    ) -> Result<Moved, Failure> {
        let Target::Module(to) = to else {
            return Err(unfit(module, to, "the target must also be a module"));
        };
        let inner = module.steps().iter().skip(from.module().steps().len()).cloned();
        let to = ModuleInstance::new(to.steps().iter().cloned().chain(inner));
        if self.destination().resources_in(&to).next().is_some() {
            let detail = "Please ensure your addresses and state paths are valid. No state was \
                          persisted. Your existing states are untouched.";
            return Err(Diagnostic::new(Summary::MOVE_MODULE_EXISTS, detail).into());
        }
        let resources: Vec<AbsResource> =
            self.from.resources_in(module).map(|(address, _)| address.clone()).collect();
        for resource in resources {
            let address = resource.resource.clone().in_module(to.clone());
            if let Some(found) = self.from.remove_resource(&resource) {
                self.destination_mut().insert(address, found);
            }
        }
        Ok(Moved { from: module.to_string(), to: to.to_string() })
    }

    fn move_resource(&mut self, from: &AbsResource, to: &Target) -> Result<Moved, Failure> {
        let Target::Resource(to) = to else {
            let why = "the source is a whole resource (not a resource instance) so the target must \
                       also be a whole resource";
            return Err(unfit(from, to, why));
        };
        check_kinds(from, to)?;
        if self.destination().resource(to).is_some() {
            return Err(occupied(to, "resource"));
        }
        if let Some(found) = self.from.remove_resource(from) {
            self.destination_mut().insert(to.clone(), found);
        }
        Ok(Moved { from: from.to_string(), to: to.to_string() })
    }

    fn move_instance(
        &mut self,
        from: &ResourceInstance,
        to: &Target,
        to_text: &str,
    ) -> Result<Moved, Failure> {
        let to = match to {
            Target::Instance(to) => to.clone(),
            Target::Resource(to) => to.instance(InstanceKey::None),
            Target::Module(_) => {
                return Err(unfit(from, to, "the target must also be a resource instance"));
            }
        };
        check_kinds(&from.containing_resource(), &to.containing_resource())?;
        if self.destination().instance(&to).is_some() {
            return Err(occupied(&to, "resource instance"));
        }
        let resource = self.from.resource(&from.containing_resource());
        let found =
            resource.and_then(|it| Some((it.provider.clone(), it.instances.get(&from.key)?)));
        let Some((provider, instance)) = found.map(|(provider, it)| (provider, it.clone())) else {
            return Err(unfit(from, &to, "it is not in the state"));
        };
        self.from.set_instance(from, None, Instance::default());
        let destination = self.destination_mut();
        // An instance that joins others gets their provider configuration.
        let joined = destination.resource(&to.containing_resource()).map(|it| it.provider.clone());
        destination.set_instance(&to, Some(&joined.unwrap_or(provider)), instance);
        Ok(Moved { from: from.to_string(), to: to_text.to_owned() })
    }

    /// Removes the recorded dependencies of objects that depend on what was moved.
    fn forget_dependencies(&mut self, moved: &Target) {
        // A module with a key is only a part of the module that dependencies name.
        let keyed = matches!(moved, Target::Module(module)
            if module.steps().iter().any(|it| !it.key.is_none()));
        if !keyed {
            self.destination_mut().forget_dependencies(&|block| moved.touches(block));
        }
    }
}

fn addresses(request: &Request<'_>) -> Result<(Target, Target), Failure> {
    match (parse_target(request.from), parse_target(request.to)) {
        (Ok(from), Ok(to)) => Ok((from, to)),
        (from, to) => {
            let faults = [(request.from, from.err()), (request.to, to.err())].into_iter();
            let faults = faults.filter_map(|(text, error)| Some(address_fault(text, error?)));
            Err(faults.collect::<Vec<_>>().into())
        }
    }
}

fn unfit(from: &dyn std::fmt::Display, to: &dyn std::fmt::Display, why: &str) -> Failure {
    let detail = format!("Cannot move {from} to {to}: {why}.");
    Diagnostic::new(Summary::MOVE_TARGET, detail).into()
}

fn occupied(to: &dyn std::fmt::Display, what: &str) -> Failure {
    let detail = format!(
        "Cannot move to {to}: there is already a {what} at that address in the current state."
    );
    Diagnostic::new(Summary::MOVE_TARGET, detail).into()
}

fn check_kinds(from: &AbsResource, to: &AbsResource) -> Result<(), Failure> {
    let mut problems = Vec::new();
    let mut refuse = |detail: String| problems.push(Diagnostic::new(Summary::MOVE_REQUEST, detail));
    let (mode, type_name) = (from.resource.mode, &from.resource.type_name);
    if [mode, to.resource.mode].contains(&ResourceMode::Ephemeral) {
        refuse(
            "Ephemeral resources cannot be used as sources or targets for the move action. Just \
             update your configuration accordingly."
                .to_owned(),
        );
        return Err(problems.into());
    }
    if mode != to.resource.mode {
        let noun = if mode == ResourceMode::Data { "data" } else { "managed" };
        refuse(format!(
            "Cannot move {from} to {to}: a {noun} resource can be moved only to another {noun} \
             resource address."
        ));
    }
    if *type_name != to.resource.type_name {
        refuse(format!("Cannot move {from} to {to}: resource types don't match."));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.into()) }
}
