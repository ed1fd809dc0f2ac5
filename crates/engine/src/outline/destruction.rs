//! The outline of a plan that destroys objects, in the reverse order of their dependencies.

use std::sync::Arc;

use addr::{ConfigResource, ProviderConfigRef};
use hir::Program;
use rustc_hash::FxHashSet;
use sorted::TreeMap;
use state::{DeposedKey, Object, State};

use super::{Draft, OutlineKind, configuration};

/// An object that is destroyed.
pub(super) struct Destroyed<'a> {
    pub(super) address: addr::ResourceInstance,
    pub(super) deposed: Option<DeposedKey>,
    pub(super) provider: ProviderConfigRef,
    /// The object in the state; `None` if the state has none.
    pub(super) object: Option<&'a Object>,
}

impl Destroyed<'_> {
    pub(super) fn name(&self) -> String {
        match self.deposed {
            Some(key) => format!("{} (destroy deposed {key})", self.address),
            None => format!("{} (destroy)", self.address),
        }
    }
}

/// The outline of the destruction of everything in a state.
pub(super) fn of_state(program: &Arc<Program>, state: &State) -> Draft {
    let mut objects = Vec::new();
    for entry in state.instances() {
        let current = entry.instance.current.as_ref().map(|it| (None, it));
        let deposed = entry.instance.deposed.iter().map(|(key, it)| (Some(*key), it));
        for (deposed, object) in current.into_iter().chain(deposed) {
            let provider = object.provider.as_ref().unwrap_or(&entry.resource.provider);
            let provider = provider.without_key();
            let address = entry.address.clone();
            objects.push(Destroyed { address, deposed, provider, object: Some(object) });
        }
    }
    of_objects(program, &objects)
}

/// The outline of the destruction of some objects.
pub(super) fn of_objects(program: &Arc<Program>, objects: &[Destroyed<'_>]) -> Draft {
    let mut draft = configuration::outline(program);
    draft.edges.retain(|it| !loses_dependencies(&draft.nodes[it.user as usize].kind));
    add(&mut draft, objects);
    let needed = needed(&draft);
    draft.without(|it| !needed.contains(&it))
}

/// Returns true for a node whose dependencies in a plan do not matter for a destruction.
fn loses_dependencies(kind: &OutlineKind) -> bool {
    matches!(kind, OutlineKind::Resource(_) | OutlineKind::Output | OutlineKind::ProviderClose)
}

/// Adds the objects, each after those that depend on it.
pub(super) fn add(draft: &mut Draft, objects: &[Destroyed<'_>]) {
    let mut by_resource: TreeMap<ConfigResource, Vec<u32>> = TreeMap::new();
    for it in objects {
        let config = it.address.config();
        let node = draft.node(it.name(), OutlineKind::Object(config.to_string()));
        by_resource.entry(config).or_default().push(node);
        draft.use_provider(node, &it.provider.to_string());
    }
    for it in objects {
        let dependencies = it.object.map(|it| &*it.dependencies).unwrap_or_default();
        let user = draft.plain(it.name());
        for dependency in dependencies.iter().filter_map(|it| by_resource.get(it)).flatten() {
            draft.depend(*dependency, user);
        }
    }
}

/// The nodes that a destruction has: the objects, the configurations of their providers with everything that these
/// refer to, and the ends of modules, outputs and variables that an operation always has.
fn needed(draft: &Draft) -> FxHashSet<u32> {
    let nodes =
        || (0..draft.nodes.len() as u32).map(|node| (node, &draft.nodes[node as usize].kind));
    let is_object = |kind: &OutlineKind| matches!(kind, OutlineKind::Object(_));
    let mut open: Vec<u32> =
        nodes().filter(|(_, it)| is_object(it)).map(|(node, _)| node).collect();
    let mut needed = FxHashSet::default();
    while let Some(node) = open.pop() {
        if needed.insert(node) {
            open.extend(draft.dependencies(node));
        }
    }
    let is_end = |node: u32, kind: &OutlineKind| match kind {
        OutlineKind::ProviderClose => {
            draft.dependencies(node).any(|it| is_object(&draft.nodes[it as usize].kind))
        }
        OutlineKind::Variable | OutlineKind::Output | OutlineKind::ModuleClose => true,
        _ => false,
    };
    needed.extend(nodes().filter(|(node, kind)| is_end(*node, kind)).map(|(node, _)| node));
    needed
}
