//! Destructions that wait for creations: those of objects that `create_before_destroy` replaces, and of what such
//! objects depend on.
//!
//! ```text
//!   create the new a ──► update b ──► destroy the old a        (b depends on a)
//! ```
//! An object is destroyed late if its own replacement must exist first, or if an object changes that depended on it, or
//! that depends on the replacement, and the state says `create_before_destroy`. A late destruction makes the deletions
//! of its dependencies late too.
//!
//! **Invariant:** only late destructions wait for creations, and nothing but late destructions waits for late ones, so
//! they close no cycle. The price: an object that is destroyed before its replacement, although an object that is
//! destroyed late still depends on it, does not wait for that object. A configuration only brings this about by
//! removing a reference and `create_before_destroy` in the same edit.

use std::sync::Arc;

use addr::{ConfigResource, ResourceInstance};
use rustc_hash::{FxHashMap, FxHashSet};
use sorted::{TreeMap, TreeSet};
use state::{Action, ResourceChange, State};

use crate::runs::planned_actions::PlannedActions;

/// The late destructions of an apply.
#[derive(Default)]
pub(crate) struct LateDestructions {
    /// True for each change of [`PlannedActions::destroyed`] that is carried out late.
    is_late: Vec<bool>,
    waits: TreeMap<ConfigResource, Waits>,
}

/// The creations and updates that the late destructions of one resource wait for.
#[derive(Default)]
pub(crate) struct Waits {
    /// True if they wait for the instances of the resource itself.
    pub(crate) own: bool,
    /// The resources that depended on the destroyed objects.
    pub(crate) dependents: TreeSet<ConfigResource>,
}

impl LateDestructions {
    /// Finds the late destructions. `declared` gives the dependencies of an instance in the configuration.
    pub(crate) fn of(
        planned: &PlannedActions<'_>,
        previous: &State,
        declared: impl Fn(&ResourceInstance) -> Arc<[ConfigResource]>,
    ) -> LateDestructions {
        let destroyed = planned.destroyed();
        let mut late = LateDestructions::default();
        let candidates: FxHashSet<ConfigResource> = destroyed
            .iter()
            .filter(|it| follows_dependents(it, previous))
            .map(|it| it.addr.config())
            .collect();
        let dependents = renewed_dependents(planned, previous, &candidates, &declared);
        for change in destroyed {
            let config = change.addr.config();
            let own = follows_own(change, planned);
            let of_it = dependents.get(&config).filter(|_| follows_dependents(change, previous));
            late.is_late.push(own || of_it.is_some());
            if own || of_it.is_some() {
                let waits = late.waits.entry(config).or_default();
                waits.own |= own;
                waits.dependents.extend(of_it.into_iter().flatten().cloned());
            }
        }
        late.spread(destroyed, previous);
        late
    }

    /// Returns true if the change at this index of the destroyed objects is carried out late.
    pub(crate) fn is_late(&self, index: usize) -> bool {
        self.is_late[index]
    }

    /// The resources with late destructions that wait for creations or updates.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (&ConfigResource, &Waits)> {
        self.waits.iter()
    }

    /// Makes the deletions of the dependencies of late destructions late too.
    fn spread(&mut self, destroyed: &[&ResourceChange], previous: &State) {
        let mut deletions: FxHashMap<ConfigResource, Vec<usize>> = FxHashMap::default();
        for (index, change) in destroyed.iter().enumerate() {
            if change.change.action == Action::Delete && !self.is_late[index] {
                deletions.entry(change.addr.config()).or_default().push(index);
            }
        }
        let mut open: Vec<usize> = (0..destroyed.len()).filter(|it| self.is_late[*it]).collect();
        while let Some(index) = open.pop() {
            let Some(object) = previous.object(&destroyed[index].object()) else { continue };
            for dependency in object.dependencies.iter() {
                for index in deletions.remove(dependency).unwrap_or_default() {
                    self.is_late[index] = true;
                    open.push(index);
                }
            }
        }
    }
}

/// Returns true if the replacement of the object must exist before the object is destroyed.
fn follows_own(change: &ResourceChange, planned: &PlannedActions<'_>) -> bool {
    match change.change.action {
        Action::CreateThenDelete => true,
        // The replacement of a deposed object may still be missing.
        Action::Delete if change.deposed.is_some() => {
            planned.change(&change.addr).is_some_and(|it| it.change.action.is_creation())
        }
        _ => false,
    }
}

/// Returns true if objects that depended on the object change before it is destroyed.
fn follows_dependents(change: &ResourceChange, previous: &State) -> bool {
    match change.change.action {
        Action::CreateThenDelete => true,
        Action::Delete => {
            let object = previous.object(&change.object());
            change.deposed.is_some() || object.is_some_and(|it| it.create_before_destroy)
        }
        _ => false,
    }
}

/// For each of these resources, the resources with creations or updates that depend on it, or whose objects did. What
/// will use the new object must be there before the old one goes.
fn renewed_dependents(
    planned: &PlannedActions<'_>,
    previous: &State,
    candidates: &FxHashSet<ConfigResource>,
    declared: &dyn Fn(&ResourceInstance) -> Arc<[ConfigResource]>,
) -> FxHashMap<ConfigResource, TreeSet<ConfigResource>> {
    let mut dependents: FxHashMap<ConfigResource, TreeSet<ConfigResource>> = FxHashMap::default();
    if candidates.is_empty() {
        return dependents;
    }
    // The instances of a resource share their list of dependencies.
    let mut visited = FxHashSet::default();
    for change in planned.changes().filter(|it| it.change.action.renews()) {
        let stored = previous.current(&change.addr).map(|it| Arc::clone(&it.dependencies));
        let config = change.addr.config();
        for list in stored.into_iter().chain([declared(&change.addr)]) {
            if !visited.insert((list.as_ptr(), config.clone())) {
                continue;
            }
            let of = list.iter().filter(|it| **it != config && candidates.contains(it));
            for dependency in of {
                dependents.entry(dependency.clone()).or_default().insert(config.clone());
            }
        }
    }
    dependents
}
