//! The objects of a test: whether there are any, and their addresses as messages show them.

use addr::ResourceMode;
use state::{Action, ObjectAddress, Plan, State};

/// The addresses of all objects of a state.
pub(super) fn addresses(state: &State) -> Vec<String> {
    let objects = state.instances().flat_map(|it| {
        let current = it.instance.current.is_some().then_some(None);
        let deposed = it.instance.deposed.keys().copied().map(Some);
        let address = it.address.clone();
        current
            .into_iter()
            .chain(deposed)
            .map(move |deposed| ObjectAddress { instance: address.clone(), deposed })
            .collect::<Vec<_>>()
    });
    objects.map(|it| shown(&it)).collect()
}

/// The address of an object as the report of left objects shows it.
fn shown(object: &ObjectAddress) -> String {
    match &object.deposed {
        Some(key) => format!("{} ({})", object.instance, key.as_str()),
        None => object.instance.to_string(),
    }
}

/// The objects that a plan creates.
pub(super) fn created(plan: &Plan) -> Vec<String> {
    let created = plan.resource_changes.iter().filter(|it| it.change.action == Action::Create);
    created.map(|it| it.addr.to_string()).collect()
}

/// Returns true if a state has an object of a managed resource.
pub(super) fn has_managed_objects(state: &State) -> bool {
    state
        .instances()
        .any(|it| it.address.resource.mode == ResourceMode::Managed && !it.instance.is_empty())
}
