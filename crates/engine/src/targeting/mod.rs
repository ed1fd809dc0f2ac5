//! Targeting: `-target` and `-exclude` limit a run to a part of the configuration and of the state.
//!
//! ```text
//!   addresses ──► resources that are chosen ──► all that they depend on ──► outputs that depend on nothing else
//!                        │                              │
//!                        └─► only covered instances     └─► all instances
//! ```
//!
//! A target is kept with all that it depends on; an excluded object is left out with all that depends on it. The
//! choice is made for whole resources, because it comes before the expansion of `count` and `for_each`. Only a resource
//! that is itself addressed then runs a part of its instances. In a destruction, the order is the reverse one: a target
//! is destroyed with all that depends on it (`runs/destroy_targets.rs`).
//!
//! **Invariant:** the edges of a node are followed once, whatever the number of addresses.

mod addresses;
mod moves;
mod selection;

use std::sync::Arc;

use addr::{ResourceInstance, Target};
use db::{Diagnostic, Summary};
use hir::Program;
use rustc_hash::FxHashSet;
use state::{Plan, State};

use self::addresses::Addresses;
pub(crate) use self::{moves::uncovered_moves, selection::Selection};
use crate::graph::{template::Template, tree::ConfigTree};

/// The addresses that limit a run.
#[derive(Clone)]
pub(crate) struct Targeting {
    kind: Kind,
    addresses: Addresses,
}

/// The meaning of the addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Only they and their dependencies run (`-target`).
    Target,
    /// Everything except them and their dependents runs (`-exclude`).
    Exclude,
}

impl Targeting {
    /// The limits of a run; `None` if it has none. As in OpenTofu, targets come first if there are both.
    pub(crate) fn of(targets: &[Target], excludes: &[Target]) -> Option<Targeting> {
        let (kind, list) = match (targets, excludes) {
            ([], []) => return None,
            ([], excludes) => (Kind::Exclude, excludes),
            (targets, _) => (Kind::Target, targets),
        };
        Some(Targeting { kind, addresses: Addresses::new(list) })
    }

    /// Returns true if an instance is itself addressed by a target, or not excluded.
    pub(crate) fn selects(&self, instance: &ResourceInstance) -> bool {
        self.addresses.cover(instance) == (self.kind == Kind::Target)
    }

    /// Returns true for `-exclude`.
    pub(crate) fn is_exclusion(&self) -> bool {
        self.kind == Kind::Exclude
    }
}

/// The addresses of the resources and outputs that a plan with targets or exclusions keeps, without keys of instances.
/// `None` for a plan that keeps everything. `stored` is the state before the plan.
pub fn kept_addresses(
    program: &Arc<Program>,
    plan: &Plan,
    stored: &State,
) -> Option<FxHashSet<String>> {
    let targeting = Targeting::of(&plan.targets, &plan.excludes)?;
    let tree = ConfigTree::new(program, &Template::all(program));
    let stored = stored.resources().map(|(address, _)| address);
    Some(Selection::new(targeting, &tree, stored).kept_addresses(&tree))
}

/// The warning of a plan with targets.
pub(crate) fn in_effect() -> Diagnostic {
    let detail = "You are creating a plan with either the -target option or the -exclude option, which means that the \
                  result of this plan may not represent all of the changes requested by the current \
                  configuration.\n\nThe -target and -exclude options are not for routine use, and are provided only \
                  for exceptional situations such as recovering from errors or mistakes, or when Mayfly \
                  specifically suggests to use it as part of an error message.";
    Diagnostic::new(Summary::TARGETING_IN_EFFECT, detail)
}

/// The warning of the apply of such a plan.
pub(crate) fn may_be_incomplete() -> Diagnostic {
    let detail = "The plan was created with the -target or the -exclude option in effect, so some changes requested in \
                  the configuration may have been ignored and the output values may not be fully updated. Run the \
                  following command to verify that no other changes are pending:\n    mayfly plan\n\nNote that the \
                  -target and -exclude options are not suitable for routine use, and are provided only for \
                  exceptional situations such as recovering from errors or mistakes, or when Mayfly specifically \
                  suggests to use it as part of an error message.";
    Diagnostic::new(Summary::TARGETED_APPLY, detail)
}
