//! The static graph of a module: the order in which items depend on each other, and the cycles among them.

use std::collections::{BTreeMap, BTreeSet};

use db::{Db, Directory};
use rustc_hash::FxHashMap;
use values::Str;

use super::{LocatedProblem, module_items, problem::ItemProblem};
use crate::{
    expr::ExprId,
    item::{Item, ItemKind, RefPlace, RefTarget},
    names::{ItemKey, ItemName, called_directory, item, module_scope},
    workspace::Workspace,
};

/// The items of a module, each after what it depends on, and the cycles that keep some from having such an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Every item once.
    pub order: Vec<ItemKey>,
    /// A problem on each member of each cycle.
    pub cycles: Vec<LocatedProblem>,
}

/// One edge: what is mentioned, and by which expression.
type Edge = (ItemKey, ExprId);

/// Orders a module's items.
pub(super) fn item_order(db: &dyn Db, workspace: Workspace, directory: Directory) -> Dependencies {
    let keys: Vec<ItemKey> = module_items(db, directory).collect();
    let index: FxHashMap<ItemKey, usize> = keys.iter().enumerate().map(|(index, key)| (*key, index)).collect();
    let edges: Vec<Vec<(usize, ExprId)>> = keys
        .iter()
        .map(|&key| {
            let edges = item_edges(db, workspace, directory, item(db, key));
            edges.into_iter().filter_map(|(target, expr)| Some((*index.get(&target)?, expr))).collect()
        })
        .collect();
    let mut result = Dependencies::default();
    for component in components(&edges) {
        let is_cycle = component.len() > 1 || edges[component[0]].iter().any(|(target, _)| *target == component[0]);
        if is_cycle {
            report_cycle(db, &keys, &edges, &component, &mut result.cycles);
        }
        result.order.extend(component.iter().map(|&member| keys[member]));
    }
    result
}

/// What an item waits for, within its module.
fn item_edges(db: &dyn Db, workspace: Workspace, directory: Directory, item: &Item) -> Vec<Edge> {
    let scope = module_scope(db, directory);
    let mut edges = Vec::new();
    for reference in &item.refs {
        // A provisioner runs when its resource exists.
        if matches!(reference.place, RefPlace::CreateProvisioner | RefPlace::DestroyProvisioner) {
            continue;
        }
        if matches!(item.kind, ItemKind::ModuleCall(_)) && reference.place == RefPlace::Config {
            // What an input is given matters to the outputs that use it, which have edges of their own.
            continue;
        }
        if is_itself(item, &reference.target) {
            continue;
        }
        target_edges(db, workspace, directory, scope, &reference.target, reference.expr, &mut edges);
    }
    edges
}

/// Whether a variable's validation mentions the variable, which has its value by then.
fn is_itself(item: &Item, target: &RefTarget) -> bool {
    matches!((&item.kind, target), (ItemKind::Variable(variable), RefTarget::Variable(name)) if variable.name == *name)
}

fn target_edges(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    scope: &crate::names::ModuleScope,
    target: &RefTarget,
    expr: ExprId,
    edges: &mut Vec<Edge>,
) {
    let find = |name: ItemName| scope.names.get(&name).copied();
    let key = match target {
        RefTarget::Variable(name) => find(ItemName::Variable(name.clone())),
        RefTarget::Local(name) => find(ItemName::Local(name.clone())),
        RefTarget::Resource(resource) => find(ItemName::Resource(resource.clone())),
        RefTarget::Module(call) | RefTarget::ModuleOutput(call, _) => find(ItemName::Module(call.clone())),
        RefTarget::Ambient(_) => None,
    };
    let Some(key) = key else { return };
    edges.push((key, expr));
    let Some(call) = item(db, key).kind.as_module_call() else { return };
    let used = called_directory(db, workspace, directory, call).map(|child| output_inputs(db, workspace, child));
    let needed: Option<BTreeSet<Str>> = match (target, used) {
        (RefTarget::ModuleOutput(_, output), Some(used)) => used.get(output).cloned(),
        _ => None,
    };
    for reference in &item(db, key).refs {
        let input = call.inputs.iter().find(|input| owns(item(db, key), input.value, reference.expr));
        let counts = match (&needed, input) {
            (Some(needed), Some(input)) => needed.contains(&input.name),
            _ => true,
        };
        if counts && reference.place == RefPlace::Config {
            input_edges(db, workspace, directory, scope, &reference.target, expr, edges);
        }
    }
}

/// The items that a module call's argument mentions, seen from whoever uses the output that the argument reaches.
fn input_edges(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    scope: &crate::names::ModuleScope,
    target: &RefTarget,
    expr: ExprId,
    edges: &mut Vec<Edge>,
) {
    match target {
        // Another call's output in this call's argument: its own edges are found when it is visited; the call is enough.
        RefTarget::Module(call) | RefTarget::ModuleOutput(call, _) => {
            edges.extend(scope.names.get(&ItemName::Module(call.clone())).map(|&key| (key, expr)));
        }
        target => target_edges(db, workspace, directory, scope, target, expr, edges),
    }
}

/// Whether `inner` is `outer` or inside of it; children come before their parents in the arena.
fn owns(item: &Item, outer: ExprId, inner: ExprId) -> bool {
    if inner == outer {
        return true;
    }
    if inner > outer {
        return false;
    }
    let mut found = false;
    super::infer::for_each_child(&item.exprs[outer], &mut |child| found |= owns(item, child, inner));
    found
}

/// Which input variables each output of a module can depend on.
#[salsa::tracked(returns(ref), cycle_result = no_inputs)]
pub fn output_inputs(db: &dyn Db, workspace: Workspace, directory: Directory) -> BTreeMap<Str, BTreeSet<Str>> {
    let keys: Vec<ItemKey> = module_items(db, directory).collect();
    let index: FxHashMap<ItemKey, usize> = keys.iter().enumerate().map(|(index, key)| (*key, index)).collect();
    let edges: Vec<Vec<(usize, ExprId)>> = keys
        .iter()
        .map(|&key| {
            let edges = item_edges(db, workspace, directory, item(db, key));
            edges.into_iter().filter_map(|(target, expr)| Some((*index.get(&target)?, expr))).collect()
        })
        .collect();
    let mut result = BTreeMap::new();
    for (start, &key) in keys.iter().enumerate() {
        let ItemKind::Output(output) = &item(db, key).kind else { continue };
        let mut seen = vec![false; keys.len()];
        let mut stack = vec![start];
        let mut inputs = BTreeSet::new();
        while let Some(at) = stack.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            if let ItemKind::Variable(variable) = &item(db, keys[at]).kind {
                inputs.insert(variable.name.clone());
            }
            stack.extend(edges[at].iter().map(|(target, _)| *target));
        }
        result.insert(output.name.clone(), inputs);
    }
    result
}

fn no_inputs(_: &dyn Db, _: salsa::Id, _: Workspace, _: Directory) -> BTreeMap<Str, BTreeSet<Str>> {
    BTreeMap::new()
}

/// Strongly connected components, each after those it depends on (Tarjan, without recursion).
fn components(edges: &[Vec<(usize, ExprId)>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; edges.len()];
    let mut low = vec![0; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let (mut stack, mut result, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        if number[root] != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, edge)) = work.pop() {
            if edge == 0 {
                number[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            match edges[node].get(edge) {
                Some(&(target, _)) => {
                    work.push((node, edge + 1));
                    if number[target] == UNSEEN {
                        work.push((target, 0));
                    } else if on_stack[target] {
                        low[node] = low[node].min(number[target]);
                    }
                }
                None => {
                    if low[node] == number[node] {
                        let from = stack.iter().rposition(|&it| it == node).expect("a root is on the stack");
                        let component = stack.split_off(from);
                        component.iter().for_each(|&member| on_stack[member] = false);
                        result.push(component);
                    }
                    if let Some((parent, _)) = work.last() {
                        low[*parent] = low[*parent].min(low[node]);
                    }
                }
            }
        }
    }
    result
}

fn report_cycle(
    db: &dyn Db,
    keys: &[ItemKey],
    edges: &[Vec<(usize, ExprId)>],
    component: &[usize],
    problems: &mut Vec<LocatedProblem>,
) {
    let names: Vec<String> = component.iter().map(|&member| address_of(item(db, keys[member]))).collect();
    for (position, &member) in component.iter().enumerate() {
        let inside = edges[member].iter().find(|(target, _)| component.contains(target));
        let Some(&(_, expr)) = inside else { continue };
        let name = &names[position];
        let problem = match component.len() {
            1 if matches!(item(db, keys[member]).kind, ItemKind::Resource(_)) => ItemProblem::error(
                expr.into(),
                "self-reference",
                "Self-referential block",
                format!("Configuration for {name} may not refer to itself."),
            ),
            1 => ItemProblem::error(expr.into(), "cycle", "Self-reference", format!("{name} may not refer to itself.")),
            _ => {
                let mut problem = ItemProblem::error(
                    expr.into(),
                    "cycle",
                    format!("Cycle: {}", sorted(&names).join(", ")),
                    format!("{name} depends on itself through the others. Remove one of the references."),
                );
                for &other in component.iter().filter(|&&other| other != member) {
                    let related = item(db, keys[other]);
                    problem.related.push((keys[other], related.header.into(), format!("{} is part of the cycle", address_of(related))));
                }
                problem
            }
        };
        problems.push((keys[member], problem));
    }
}

fn sorted(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort();
    names
}

/// How an item is called in messages.
pub(super) fn address_of(item: &Item) -> String {
    match &item.kind {
        ItemKind::Variable(it) => format!("var.{}", it.name),
        ItemKind::Local(it) => format!("local.{}", it.name),
        ItemKind::Output(it) => format!("output.{}", it.name),
        ItemKind::Resource(it) => it.resource.to_string(),
        ItemKind::ModuleCall(it) => format!("module.{}", it.name),
        ItemKind::Provider(it) => match &it.alias {
            Some(alias) => format!("provider.{}.{alias}", it.local_name),
            None => format!("provider.{}", it.local_name),
        },
        ItemKind::Check(it) => format!("check.{}", it.name),
        ItemKind::Terraform(_) => "terraform".to_owned(),
        ItemKind::Other(kind) => kind.to_string(),
    }
}
