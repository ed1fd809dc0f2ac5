//! The outline of the apply of a plan: the objects that it changes, between the declarations.

use std::sync::Arc;

use addr::ConfigResource;
use hir::Program;
use rustc_hash::{FxHashMap, FxHashSet};
use sorted::TreeMap;
use state::{Action, Plan, PlanMode, ResourceChange, State};

use super::{
    Draft, OutlineEdge, OutlineKind, configuration,
    destruction::{self, Destroyed},
};

/// The outline of the changes of a plan.
pub(super) fn outline(program: &Arc<Program>, plan: &Plan, state: &State) -> Draft {
    let changes = || plan.changes().filter(|it| it.change.action != Action::NoOp);
    let destroyed = changes().filter(|it| destroys(it.change.action));
    let destroyed: Vec<Destroyed<'_>> = destroyed.map(|it| destroyed_object(it, state)).collect();
    if plan.mode == PlanMode::Destroy {
        return destruction::of_objects(program, &destroyed);
    }
    let mut draft = configuration::outline(program);
    destruction::add(&mut draft, &destroyed);
    let mut instances: TreeMap<ConfigResource, Vec<u32>> = TreeMap::new();
    for change in changes().filter(|it| stays(it.change.action)) {
        let node = add(&mut draft, change);
        instances.entry(change.addr.config()).or_default().push(node);
    }
    wait_for_instances(&mut draft, &instances);
    order_destructions(&mut draft, &destroyed, &instances);
    let left_out = left_out(&draft);
    draft.without(|node| left_out.contains(&node))
}

/// The nodes that an apply does not have: resources and providers that no change depends on, and the reports of
/// checks.
fn left_out(draft: &Draft) -> FxHashSet<u32> {
    let kind = |node: u32| &draft.nodes[node as usize].kind;
    let is_start =
        |node: &u32| matches!(kind(*node), OutlineKind::Object(_) | OutlineKind::Ephemeral(_));
    let mut open: Vec<u32> = (0..draft.nodes.len() as u32).filter(is_start).collect();
    let mut needed = FxHashSet::default();
    while let Some(node) = open.pop() {
        if needed.insert(node) {
            open.extend(draft.dependencies(node));
        }
    }
    let is_left_out = |node: &u32| match kind(*node) {
        OutlineKind::Resource(_) | OutlineKind::Provider => !needed.contains(node),
        OutlineKind::ProviderClose => !draft.dependencies(*node).any(|it| needed.contains(&it)),
        OutlineKind::CheckReport => true,
        _ => false,
    };
    (0..draft.nodes.len() as u32).filter(is_left_out).collect()
}

/// Orders the destructions of objects and the changes of what they depended on. An object is changed when its
/// former dependents are destroyed. An object that is replaced before its destruction is destroyed when its dependents
/// are changed.
fn order_destructions(
    draft: &mut Draft,
    destroyed: &[Destroyed<'_>],
    instances: &TreeMap<ConfigResource, Vec<u32>>,
) {
    let mut late: TreeMap<ConfigResource, Vec<u32>> = TreeMap::new();
    for it in destroyed {
        let Some(object) = it.object else { continue };
        let node = draft.plain(it.name());
        if object.create_before_destroy {
            late.entry(it.address.config()).or_default().push(node);
            continue;
        }
        for changed in object.dependencies.iter().filter_map(|it| instances.get(it)).flatten() {
            draft.depend(*changed, node);
        }
    }
    let by_dependent =
        |it: &Destroyed<'_>| Some((it.address.config(), it.object?.dependencies.clone()));
    for (config, dependencies) in destroyed.iter().filter_map(by_dependent) {
        let changed = instances.get(&config).into_iter().flatten();
        let late = || dependencies.iter().filter_map(|it| late.get(it)).flatten();
        for user in changed {
            late().for_each(|it| draft.depend(*it, *user));
        }
    }
}

fn destroys(action: Action) -> bool {
    matches!(action, Action::Delete | Action::DeleteThenCreate | Action::CreateThenDelete)
}

/// Returns true if the instance has an object after the action, or if its object is forgotten.
fn stays(action: Action) -> bool {
    !matches!(action, Action::NoOp | Action::Delete)
}

fn destroyed_object<'a>(change: &ResourceChange, state: &'a State) -> Destroyed<'a> {
    let instance = state.instance(&change.addr);
    let object = instance.and_then(|it| match change.deposed {
        Some(key) => it.deposed.get(&key),
        None => it.current.as_ref(),
    });
    Destroyed {
        address: change.addr.clone(),
        deposed: change.deposed,
        provider: change.provider.without_key(),
        object: object.map(Arc::as_ref),
    }
}

/// Adds the object that an instance has after its change.
fn add(draft: &mut Draft, change: &ResourceChange) -> u32 {
    let address = change.addr.to_string();
    let config = change.addr.config().to_string();
    let expand = format!("{config} (expand)");
    let name = match change.change.action {
        Action::Forget => format!("{address} (forget)"),
        _ => address.clone(),
    };
    let node = draft.node(name, OutlineKind::Object(config));
    if let Some(&expand) = draft.by_name.get(&expand) {
        draft.depend(node, expand);
    }
    draft.use_provider(node, &change.provider.without_key().to_string());
    if let Some(&destroy) = draft.by_name.get(&format!("{address} (destroy)")) {
        match change.change.action {
            Action::CreateThenDelete => draft.depend(destroy, node),
            _ => draft.depend(node, destroy),
        }
    }
    node
}

/// Makes the dependents of changed resources depend on their instances.
fn wait_for_instances(draft: &mut Draft, instances: &TreeMap<ConfigResource, Vec<u32>>) {
    let mut users: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for edge in &draft.edges {
        // Of the objects, only the instances themselves depend on the resource.
        if !matches!(draft.nodes[edge.user as usize].kind, OutlineKind::Object(_)) {
            users.entry(edge.dependency).or_default().push(edge.user);
        }
    }
    for (config, instances) in instances {
        let Some(&expand) = draft.by_name.get(&format!("{config} (expand)")) else { continue };
        for &user in users.get(&expand).into_iter().flatten() {
            draft.edges.remove(&OutlineEdge { user, dependency: expand });
            instances.iter().for_each(|it| draft.depend(user, *it));
        }
    }
}
