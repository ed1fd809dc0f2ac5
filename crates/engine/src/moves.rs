//! Moves: gives objects of the prior state new addresses before anything is planned.
//!
//! ```text
//!   configuration, state ──► implied ──┐
//!                                      ├─► Vec<Move> ──► execute ──► State with new addresses, and the old ones
//!   `moved` blocks (not run yet) ──────┘
//! ```
//!
//! An implied move keeps the object of a block that gains or loses `count` or `enabled`: `x` and `x[0]` are the
//! same object.
//!
//! **Invariant:** a move never takes an address that has an object. Such a move is blocked, and a warning reports
//! it.

use std::collections::{BTreeMap, BTreeSet};

use addr::{AbsResource, InstanceKey, ModuleInstance, ModuleStep, ResourceInstance};
use db::{Diagnostic, Summary};
use hir::{Program, item::Repetition};
use state::{InstanceEntry, State};

/// A move of objects in the state to a new address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Move {
    /// A move of a resource instance.
    Instance { from: ResourceInstance, to: ResourceInstance },
    /// A move of a module instance with everything inside.
    Module { from: ModuleInstance, to: ModuleInstance },
}

/// The result of executing moves.
#[derive(Default)]
pub(crate) struct Moved {
    /// The former addresses of the moved objects, by their new addresses.
    pub(crate) previous: BTreeMap<ResourceInstance, ResourceInstance>,
    /// The moves that were blocked: pairs of the current address and the intended address.
    blocked: BTreeSet<(String, String)>,
}

/// Returns the moves that follow from `count` and `enabled` of resources and module calls. Resources and inner
/// modules come first, because a move of a module includes the objects inside. As in OpenTofu, a module without
/// resources of its own does not move.
pub(crate) fn implied(program: &Program, state: &State) -> Vec<Move> {
    let mut modules: BTreeSet<&ModuleInstance> = BTreeSet::new();
    let mut moves = Vec::new();
    for (address, resource) in state.resources() {
        if !address.module.is_root() {
            modules.insert(&address.module);
        }
        let keys = [InstanceKey::None, InstanceKey::Int(0)];
        for from in keys.into_iter().filter(|key| resource.instances.contains_key(key)) {
            moves.extend(implied_instance(program, address, from));
        }
    }
    moves.extend(modules.into_iter().rev().filter_map(|module| implied_module(program, module)));
    moves
}

/// Returns the move of one instance, if its block now has the other form of address.
fn implied_instance(program: &Program, address: &AbsResource, from: InstanceKey) -> Option<Move> {
    let entry = find_module(program, &address.module)?.resources.get(&address.resource)?;
    let to = key_of_first(entry.resource().repetition)?;
    let (from, to) = (address.instance(from), address.instance(to));
    (from != to).then_some(Move::Instance { from, to })
}

fn implied_module(program: &Program, module: &ModuleInstance) -> Option<Move> {
    let (caller, step) = module.split_last()?;
    let (call, _) = find_module(program, &caller)?.calls.get(step.name.as_str())?;
    let key = key_of_first(call.module_call().repetition)?;
    let is_first = matches!(step.key, InstanceKey::None | InstanceKey::Int(0));
    let to = caller.child(step.name.clone(), key);
    (is_first && to != *module).then(|| Move::Module { from: module.clone(), to })
}

/// Returns the key of the first instance of a block; `None` for `for_each`, whose instances have no order.
fn key_of_first(repetition: Repetition) -> Option<InstanceKey> {
    match repetition {
        Repetition::Single | Repetition::Enabled(_) => Some(InstanceKey::None),
        Repetition::Count(_) => Some(InstanceKey::Int(0)),
        Repetition::ForEach(_) => None,
    }
}

fn find_module<'p>(
    program: &'p Program,
    instance: &ModuleInstance,
) -> Option<&'p hir::program::Module> {
    instance.steps().iter().try_fold(program.root(), |module, step| {
        let (_, callee) = module.calls.get(step.name.as_str())?;
        Some(program.module(*callee))
    })
}

/// Executes moves one after the other.
pub(crate) fn execute(moves: &[Move], state: &mut State) -> Moved {
    let mut moved = Moved::default();
    let mut by_module = None;
    for it in moves {
        match it {
            Move::Instance { from, to } => {
                by_module = None;
                match state.move_instance(from, to) {
                    true => moved.record(from, to),
                    false if state.instance(from).is_some() => moved.block(from, to),
                    false => {}
                }
            }
            Move::Module { from, to } => {
                let by_module = by_module.get_or_insert_with(|| by_module_of(state));
                moved.execute_module(from, to, state, by_module);
            }
        }
    }
    moved
}

/// The instances of a state by the steps of their modules. In this order, a module comes directly before the
/// modules inside it.
type ByModule = BTreeMap<Vec<ModuleStep>, Vec<ResourceInstance>>;

fn by_module_of(state: &State) -> ByModule {
    let mut found = ByModule::new();
    for InstanceEntry { address, .. } in state.instances() {
        found.entry(address.module.steps().to_vec()).or_default().push(address);
    }
    found
}

impl Moved {
    /// Moves `from` and the modules inside it one by one, because each of them can be blocked independently.
    fn execute_module(
        &mut self,
        from: &ModuleInstance,
        to: &ModuleInstance,
        state: &mut State,
        by_module: &mut ByModule,
    ) {
        let (from, to) = (from.steps(), to.steps());
        let inside = by_module.range(from.to_vec()..).map(|(module, _)| module);
        let inside: Vec<_> = inside.take_while(|it| it.starts_with(from)).cloned().collect();
        for module in inside {
            let target = [to, &module[from.len()..]].concat();
            let address = ModuleInstance::new(target.iter().cloned());
            if by_module.contains_key(&target) {
                self.block(&ModuleInstance::new(module), &address);
                continue;
            }
            let Some(instances) = by_module.remove(&module) else { continue };
            let move_one = |old: ResourceInstance| {
                let new = ResourceInstance { module: address.clone(), ..old.clone() };
                state.move_instance(&old, &new);
                self.record(&old, &new);
                new
            };
            let instances = instances.into_iter().map(move_one).collect();
            by_module.insert(target, instances);
        }
    }

    /// Records a move. If the object has moved before, its original address is kept.
    fn record(&mut self, from: &ResourceInstance, to: &ResourceInstance) {
        let first = self.previous.remove(from).unwrap_or_else(|| from.clone());
        self.previous.insert(to.clone(), first);
    }

    fn block(&mut self, from: &impl ToString, to: &impl ToString) {
        self.blocked.insert((from.to_string(), to.to_string()));
    }

    /// Returns a warning that lists the blocked moves; `None` if there are none.
    pub(crate) fn warning(&self) -> Option<Diagnostic> {
        if self.blocked.is_empty() {
            return None;
        }
        let lines =
            self.blocked.iter().map(|(from, to)| format!("\n  - {from} could not move to {to}"));
        let detail = format!(
            "The configuration implies other addresses for objects of the prior state, and at \
             these addresses there are other objects already:{}\n\nThe plan destroys the objects \
             that could not move. If that is not intended, take one of the two objects out of the \
             state or give it another address, then plan again.",
            lines.collect::<String>()
        );
        Some(Diagnostic::new(Summary::UNRESOLVED_MOVE, detail))
    }
}
