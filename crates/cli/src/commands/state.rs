//! The commands `state list` and `state show`.

use addr::{AbsResource, ResourceInstance, Target};
use db::{Diagnostic, Sources, Summary};
use state::{Instance, State};
use values::json::Json;

use operations::{
    session::Failure,
    store::{self, OpenState},
};

use crate::{
    args::{StateListArgs, StateShowArgs},
    exit::Exit,
    session::CommandSession,
};

/// Runs `state list`: prints the addresses of the selected instances.
pub(crate) fn list(session: &CommandSession, args: &StateListArgs) -> Result<Exit, Failure> {
    let open = existing(session, args.state.as_deref())?;
    let state = &open.file.state;
    let found = match args.addresses.as_slice() {
        [] => state.instances().map(|it| (it.address, it.instance)).collect(),
        addresses => selected(state, addresses)?,
    };
    let wanted = args.id.as_deref().filter(|id| !id.is_empty());
    for (address, instance) in found {
        if wanted.is_none_or(|id| has_id(instance, id)) {
            session.ui.line(&address.to_string());
        }
    }
    Ok(Exit::Success)
}

/// The instances that the addresses select, in the order of the addresses.
///
/// # Errors
/// One diagnostic for each address that selects nothing.
fn selected<'s>(
    state: &'s State,
    addresses: &[String],
) -> Result<Vec<(ResourceInstance, &'s Instance)>, Failure> {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for text in addresses {
        match addr::parse_target(text) {
            Ok(target) => match selected_by(state, &target) {
                Ok(instances) => found.extend(instances),
                Err(unknown) => problems.push(*unknown),
            },
            Err(error) => {
                let detail = format!("{text:?}: {}", error.detail);
                problems.push(Diagnostic::new(Summary::address_fault(error.summary), detail));
            }
        }
    }
    match problems.is_empty() {
        true => Ok(found),
        false => Err(Failure::Diagnostics(problems, Sources::default())),
    }
}

fn selected_by<'s>(
    state: &'s State,
    target: &Target,
) -> Result<Vec<(ResourceInstance, &'s Instance)>, Box<Diagnostic>> {
    match target {
        Target::Module(module) => {
            let within = state.instances().filter(|it| target.covers(&it.address));
            let found: Vec<_> = within.map(|it| (it.address, it.instance)).collect();
            match found.is_empty() {
                false => Ok(found),
                true => Err(unknown(
                    Summary::UNKNOWN_MODULE,
                    format!(
                        "The current state contains no module at {module}. If you've just added \
                         this module to the configuration, you must run \"mayfly apply\" first to \
                         create the module's entry in the state."
                    ),
                )),
            }
        }
        Target::Resource(resource) => instances_of(state, resource),
        Target::Instance(address) => match state.instance(address) {
            Some(instance) => Ok(vec![(address.clone(), instance)]),
            None => Err(unknown(
                Summary::UNKNOWN_INSTANCE,
                format!(
                    "The current state contains no resource instance {address}. If you've just \
                     added its resource to the configuration or have changed the count or for_each \
                     arguments, you must run \"mayfly apply\" first to update the resource's entry in the state."
                ),
            )),
        },
    }
}

fn instances_of<'s>(
    state: &'s State,
    resource: &AbsResource,
) -> Result<Vec<(ResourceInstance, &'s Instance)>, Box<Diagnostic>> {
    let Some(found) = state.resource(resource) else {
        return Err(unknown(
            Summary::UNKNOWN_RESOURCE,
            format!(
                "The current state contains no resource {resource}. If you've just added this \
                 resource to the configuration, you must run \"mayfly apply\" first to create the \
                 resource's entry in the state."
            ),
        ));
    };
    let instances = found.instances.iter();
    Ok(instances.map(|(key, instance)| (resource.instance(key.clone()), instance)).collect())
}

fn unknown(summary: Summary, detail: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::new(summary, detail))
}

fn has_id(instance: &Instance, id: &str) -> bool {
    let Some(object) = &instance.current else { return false };
    let state::Attributes::Json(json) = &object.attributes else { return false };
    let Ok(Json::Object(attributes)) = values::json::parse(json.as_bytes()) else { return false };
    let found = attributes.iter().rfind(|(name, _)| name == "id");
    found.is_some_and(|(_, it)| matches!(it, Json::String(text) if text == id))
}

/// The detail of both errors about the address of `state show`.
const ONE_INSTANCE: &str = "This command requires that the address references one specific \
                            instance. To view the available instances, use \"mayfly state list\". \
                            Please modify the address to reference a specific instance.";

/// Runs `state show`: prints the attributes of one instance.
pub(crate) fn show(session: &CommandSession, args: &StateShowArgs) -> Result<Exit, Failure> {
    // Check the address before the state, as OpenTofu does: with an invalid address there is no error about the
    // state.
    let address = addr::parse_resource_instance(&args.address).map_err(|_| {
        let summary = Summary::invalid_instance_address(format!("{:?}", args.address));
        Diagnostic::new(summary, ONE_INSTANCE)
    })?;
    let mut open = existing(session, args.state.as_deref())?;
    let loaded = session.load(Some(&mut open.file.state))?;
    let schemas = |source: &addr::ProviderSource| loaded.executables.schemas(session, source).ok();
    let shown = render::resource_instance(
        &open.file.state,
        &address,
        &schemas,
        args.show_sensitive,
        &session.ui.out,
    );
    match shown {
        Some(text) => session.ui.print(&text),
        None => {
            return Err(Diagnostic::new(Summary::NO_SUCH_INSTANCE, ONE_INSTANCE).into());
        }
    }
    Ok(Exit::Success)
}

fn existing(
    session: &CommandSession,
    path: Option<&std::path::Path>,
) -> Result<OpenState, Failure> {
    let open = store::open_unlocked(session, path)?;
    // A journal may have changes for a state that was never written.
    if !open.exists() && open.file.state.is_empty() {
        let detail = "State management commands require a state file. Run this command in a \
                      directory where Mayfly has been run or use the -state flag to point the \
                      command to a specific state location.";
        return Err(Diagnostic::new(Summary::NO_STATE, detail).into());
    }
    Ok(open)
}
