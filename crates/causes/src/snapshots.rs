//! The objects before and after a plan, as expressions read them.

use addr::{AbsResource, InstanceKey, ResourceInstance};
use engine::Objects;
use provider::{Schema, mark_by_schema};
use sorted::{TreeMap, TreeSet};
use state::{Action, Plan, ResourceChange, State};
use values::Value;

/// The objects as the last apply left them, at the addresses that they have after the moves of the plan.
pub(crate) struct Before<'a> {
    state: &'a State,
    /// The old addresses by the new ones.
    arrived: TreeMap<AbsResource, TreeMap<InstanceKey, &'a ResourceInstance>>,
    left: TreeSet<&'a ResourceInstance>,
}

/// The objects as the plan makes them.
pub(crate) struct After<'a> {
    refreshed: &'a State,
    changes: TreeMap<AbsResource, Vec<&'a ResourceChange>>,
}

impl<'a> Before<'a> {
    pub(crate) fn new(state: &'a State, plan: &'a Plan) -> Before<'a> {
        let mut before = Before { state, arrived: TreeMap::new(), left: TreeSet::new() };
        for change in plan.changes().chain(plan.drift()) {
            let Some(from) = change.previous_addr.as_ref() else { continue };
            before.left.insert(from);
            let arrived = before.arrived.entry(change.addr.containing_resource()).or_default();
            arrived.insert(change.addr.key.clone(), from);
        }
        before
    }
}

impl Objects for Before<'_> {
    fn of_resource(
        &self,
        address: &AbsResource,
        schema: &Schema,
    ) -> Option<TreeMap<InstanceKey, Value>> {
        let stayed = self.state.of_resource(address, schema).unwrap_or_default();
        let mut objects: TreeMap<_, _> = stayed
            .into_iter()
            .filter(|(key, _)| !self.left.contains(&address.instance(key.clone())))
            .collect();
        for (key, from) in self.arrived.get(address).into_iter().flatten() {
            let object =
                self.state.current(from).and_then(|it| it.decode(schema.implied_type()).ok());
            let object = object.map(|it| mark_by_schema(&it, schema.block()));
            objects.extend(object.map(|it| (key.clone(), it)));
        }
        Some(objects)
    }
}

impl<'a> After<'a> {
    pub(crate) fn new(refreshed: &'a State, plan: &'a Plan) -> After<'a> {
        let mut changes: TreeMap<AbsResource, Vec<&ResourceChange>> = TreeMap::new();
        for change in plan.changes().filter(|it| it.deposed.is_none()) {
            changes.entry(change.addr.containing_resource()).or_default().push(change);
        }
        After { refreshed, changes }
    }

    /// The planned changes of the current objects of a resource.
    pub(crate) fn changes_of(&self, address: &AbsResource) -> &[&'a ResourceChange] {
        self.changes.get(address).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Objects for After<'_> {
    fn of_resource(
        &self,
        address: &AbsResource,
        schema: &Schema,
    ) -> Option<TreeMap<InstanceKey, Value>> {
        let mut objects = self.refreshed.of_resource(address, schema).unwrap_or_default();
        for change in self.changes_of(address) {
            let key = change.addr.key.clone();
            match change.change.action {
                Action::Delete | Action::Forget => drop(objects.remove(&key)),
                _ => {
                    let after = mark_by_schema(&change.change.after, schema.block());
                    objects.insert(key, after);
                }
            }
        }
        Some(objects)
    }
}
