//! Selects instances of a state by addresses.

use addr::{AbsResource, AddrError, ResourceInstance, Target};
use db::{Diagnostic, Sources, Summary};
use state::State;

use crate::session::Failure;

/// The instances that the addresses select, in the order of the addresses.
///
/// # Errors
/// One diagnostic for each address that selects nothing.
pub fn selected(state: &State, addresses: &[String]) -> Result<Vec<ResourceInstance>, Failure> {
    gathered(addresses, |target| selected_by(state, target))
}

/// The instances that the addresses select, in the order of the addresses. An address may select nothing.
///
/// # Errors
/// One diagnostic for each address that cannot be parsed.
pub(super) fn found(state: &State, addresses: &[String]) -> Result<Vec<ResourceInstance>, Failure> {
    gathered(addresses, |target| Ok(covered(state, target)))
}

fn gathered(
    addresses: &[String],
    select: impl Fn(&Target) -> Result<Vec<ResourceInstance>, Box<Diagnostic>>,
) -> Result<Vec<ResourceInstance>, Failure> {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for text in addresses {
        match addr::parse_target(text).map_err(|error| address_fault(text, error)) {
            Ok(target) => match select(&target) {
                Ok(instances) => found.extend(instances),
                Err(unknown) => problems.push(*unknown),
            },
            Err(fault) => problems.push(fault),
        }
    }
    match problems.is_empty() {
        true => Ok(found),
        false => Err(Failure::Diagnostics(problems, Sources::default())),
    }
}

/// The error for an address that cannot be parsed.
pub(super) fn address_fault(text: &str, error: AddrError) -> Diagnostic {
    let detail = format!("{text:?}: {}", error.detail);
    Diagnostic::new(Summary::address_fault(error.summary), detail)
}

/// The instances of a state that a target selects, in the order of their addresses.
fn covered(state: &State, target: &Target) -> Vec<ResourceInstance> {
    match target {
        Target::Module(_) => {
            state.instances().map(|it| it.address).filter(|it| target.covers(it)).collect()
        }
        Target::Resource(resource) => instances_of(state, resource),
        Target::Instance(address) => {
            state.instance(address).map(|_| address.clone()).into_iter().collect()
        }
    }
}

fn instances_of(state: &State, resource: &AbsResource) -> Vec<ResourceInstance> {
    let found = state.resource(resource).into_iter().flat_map(|it| it.instances.keys());
    found.map(|key| resource.instance(key.clone())).collect()
}

fn selected_by(state: &State, target: &Target) -> Result<Vec<ResourceInstance>, Box<Diagnostic>> {
    let found = covered(state, target);
    if !found.is_empty() {
        return Ok(found);
    }
    let (summary, detail) = match target {
        Target::Module(module) => (
            Summary::UNKNOWN_MODULE,
            format!(
                "The current state contains no module at {module}. If you've just added this module \
                 to the configuration, you must run \"mayfly apply\" first to create the module's \
                 entry in the state."
            ),
        ),
        Target::Resource(resource) => (
            Summary::UNKNOWN_RESOURCE,
            format!(
                "The current state contains no resource {resource}. If you've just added this \
                 resource to the configuration, you must run \"mayfly apply\" first to create the \
                 resource's entry in the state."
            ),
        ),
        Target::Instance(address) => (
            Summary::UNKNOWN_INSTANCE,
            format!(
                "The current state contains no resource instance {address}. If you've just added \
                 its resource to the configuration or have changed the count or for_each arguments, \
                 you must run \"mayfly apply\" first to update the resource's entry in the state."
            ),
        ),
    };
    Err(Box::new(Diagnostic::new(summary, detail)))
}
