//! Implied moves: the object of a block that gains or loses `count` or `enabled` stays the same object.

use addr::{AbsResource, InstanceKey, ModuleInstance};
use hir::{Program, item::Repetition};
use sorted::TreeSet;
use state::State;

use crate::moves::{ends::Ends, statement::Statement};

/// Returns the moves that follow from `count` and `enabled` of resources and module calls, except of those that a
/// `moved` block names. As in OpenTofu, a module without resources of its own does not move.
pub(super) fn implied<'p>(program: &Program, state: &State, explicit: &Ends) -> Vec<Statement<'p>> {
    let mut modules: TreeSet<&ModuleInstance> = TreeSet::new();
    let mut moves = Vec::new();
    for (address, resource) in state.resources() {
        if !address.module.is_root() {
            modules.insert(&address.module);
        }
        let keys = [InstanceKey::None, InstanceKey::Int(0)];
        for from in keys.into_iter().filter(|key| resource.instances.contains_key(key)) {
            let implied = implied_instance(program, address, from);
            moves.extend(implied.filter(|_| !explicit.select_resource(address)));
        }
    }
    for module in modules {
        let implied = implied_module(program, module);
        moves.extend(implied.filter(|_| !explicit.select_module(module)));
    }
    moves
}

/// Returns the move of one instance, if its block now has the other form of address.
fn implied_instance<'p>(
    program: &Program,
    address: &AbsResource,
    from: InstanceKey,
) -> Option<Statement<'p>> {
    let entry = find_module(program, &address.module)?.resources.get(&address.resource)?;
    let to = key_of_first(entry.resource().repetition)?;
    let (from, to) = (address.instance(from), address.instance(to));
    (from != to).then(|| Statement::of_instance(from, to))
}

fn implied_module<'p>(program: &Program, module: &ModuleInstance) -> Option<Statement<'p>> {
    let (caller, step) = module.split_last()?;
    let (call, _) = find_module(program, &caller)?.calls.get(step.name.as_str())?;
    let key = key_of_first(call.module_call().repetition)?;
    let is_first = matches!(step.key, InstanceKey::None | InstanceKey::Int(0));
    let to = caller.child(step.name.clone(), key);
    (is_first && to != *module).then(|| Statement::of_module(module, &to))
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
    program.module_at(instance.steps().iter().map(|it| it.name.as_str()))
}
