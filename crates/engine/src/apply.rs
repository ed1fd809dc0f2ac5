//! Applying: carries out the changes of a plan.

use std::{
    cell::{OnceCell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::Arc,
};

use addr::{ConfigResource, ModulePath, ProviderConfigRef, ResourceInstance, ResourceMode};
use db::Diagnostic;
use hir::Program;
use rustc_hash::{FxHashMap, FxHashSet};
use state::{Action, CheckStatus, OutputChange, Plan, PlanMode, ResourceChange, State};
use values::{Str, Value};

use crate::{
    event::{Event, Operation},
    graph::{Declared, EdgeKind, NodeIx, NodeKind, Retained, Template, reads_through},
    memo::Memo,
    place::{RunPhase, enter_phase},
    request::{ApplyOptions, ApplyOutcome, Environment},
    resource::has_conditions,
    temp::TempRoot,
    variables::VariableValues,
    walk::{
        self, FoundProvider, ModuleRun, Phase, Settings, StateIndex, Walk, WalkInput,
        checks::Checks,
    },
};

/// Applies a plan. `refreshed` is the state that came with the plan.
///
/// For a plan that was read from a file, the caller first prepares the variables with
/// [`variables_for_saved_plan`](crate::variables_for_saved_plan).
///
/// The future is not `Send`: all changing state has one owner, and provider calls run beside it.
pub async fn apply(
    program: &Arc<Program>,
    plan: &Plan,
    refreshed: State,
    variables: VariableValues,
    environment: &Environment,
    options: ApplyOptions,
) -> ApplyOutcome {
    enter_phase(RunPhase::Applying);
    if let Err(problem) = check_plan_is_complete(plan) {
        return ApplyOutcome { state: refreshed, diagnostics: vec![*problem] };
    }
    let destroys = plan.mode == PlanMode::Destroy;
    let settings = Settings {
        phase: if destroys { Phase::ApplyDestroy } else { Phase::Apply },
        refresh: false,
        parallelism: options.parallelism,
        applying: true,
        workspace: options.workspace,
        replace: FxHashSet::default(),
        uncertain: FxHashMap::default(),
        temp: TempRoot::new(plan.data_dir.as_str(), plan.id.as_str()),
        plan_time: plan.timestamp.as_str().into(),
    };
    let planned_actions = PlannedActions::new(plan);
    let mut memo = Memo::new();
    let previous = Arc::new(refreshed);
    let input = WalkInput {
        settings,
        variables,
        planned_actions: Some(&planned_actions),
        import: None,
        kept: None,
        templates: Template::all(program),
        state_index: Rc::new(StateIndex::new(&previous)),
        previous,
    };
    let walk = Walk::new(program, environment, &mut memo, input);
    walk.checks.restore(Checks::expected(&plan.checks));
    walk.add_root();
    walk.add_destruction(&planned_actions);
    walk::run(&walk).await;
    finish(&walk, destroys)
}

/// Refuses a plan that ended with errors.
///
/// # Errors
/// If the plan is incomplete.
pub fn check_plan_is_complete(plan: &Plan) -> Result<(), Box<Diagnostic>> {
    if !plan.has_errors {
        return Ok(());
    }
    let detail = "The plan ended with errors, so it can be shown, but not applied. Correct the \
                  errors, then make a new plan.";
    Err(Box::new(Diagnostic::error("errored-plan", "Cannot apply incomplete plan", detail)))
}

fn finish(walk: &Walk<'_>, destroys: bool) -> ApplyOutcome {
    let diagnostics = walk.report.take();
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    let mut state = walk.state.take();
    state.checks = walk.checks.results(walk.config.program, CheckStatus::Unknown);
    if destroys {
        clear(&mut state);
    } else {
        state.outputs.retain(|name, _| walk.config.program.root().outputs.contains_key(name));
    }
    let counts = walk.report.counts();
    if !failed {
        walk.emit(Event::Summary { operation: Operation::Apply, counts });
    }
    ApplyOutcome { state, diagnostics }
}

/// Removes all outputs from the state after a destruction, and the data sources that no remaining object depends
/// on.
fn clear(state: &mut State) {
    state.outputs.clear();
    let remaining = state.instances().filter(|(it, ..)| it.resource.mode == ResourceMode::Managed);
    let objects = remaining.flat_map(|(_, _, it)| it.current.iter().chain(it.deposed.values()));
    let needed: FxHashSet<&ConfigResource> =
        objects.flat_map(|it| it.dependencies.iter()).collect();
    let data: Vec<ResourceInstance> = state
        .instances()
        .map(|(address, ..)| address)
        .filter(|address| address.resource.mode == ResourceMode::Data)
        .filter(|address| !needed.contains(&address.containing_resource().config()))
        .collect();
    for address in data {
        state.remove_current(&address);
    }
}

/// The changes of a plan, by address.
pub(crate) struct PlannedActions<'p> {
    changes: FxHashMap<&'p ResourceInstance, &'p ResourceChange>,
    outputs: &'p BTreeMap<Str, OutputChange>,
    destroyed: Vec<&'p ResourceChange>,
    destroy_nodes: RefCell<FxHashMap<&'p ResourceInstance, NodeIx>>,
    destruction: RefCell<Destruction>,
    /// The nodes that the apply evaluates, computed on demand.
    retained: OnceCell<Retained>,
    /// The cached results of [`Walk::reads_through`].
    through_calls: RefCell<FxHashMap<(ModulePath, Str), Rc<Through>>>,
}

/// For each output of a call, the nodes of the calling module that it is derived from.
pub(crate) type Through = BTreeMap<Str, Vec<u32>>;

/// The order of destructions, for changes that must wait for some of them.
#[derive(Default)]
struct Destruction {
    /// The gates of each resource with destroyed objects.
    gates: BTreeMap<ConfigResource, Gates>,
    /// For each resource, the resources whose destroyed objects depend on it.
    dependents: FxHashMap<ConfigResource, BTreeSet<ConfigResource>>,
    needs: ProviderNeeds,
}

/// For each provider configuration of destroyed objects, the resources that it depends on.
type ProviderNeeds = FxHashMap<ProviderConfigRef, FxHashSet<ConfigResource>>;

impl<'p> PlannedActions<'p> {
    fn new(plan: &'p Plan) -> PlannedActions<'p> {
        let current = || plan.resource_changes.iter().filter(|it| it.deposed.is_none());
        let destroys = |it: &&ResourceChange| {
            matches!(it.change.action, Action::Delete | Action::DeleteThenCreate)
        };
        PlannedActions {
            changes: current().map(|it| (&it.addr, it)).collect(),
            outputs: &plan.output_changes,
            destroyed: current().filter(destroys).collect(),
            destroy_nodes: RefCell::default(),
            destruction: RefCell::default(),
            retained: OnceCell::new(),
            through_calls: RefCell::default(),
        }
    }

    /// The planned change of an instance; `None` if the plan has none.
    pub(crate) fn change(&self, address: &ResourceInstance) -> Option<&'p ResourceChange> {
        self.changes.get(address).copied()
    }

    /// The value of a root output, if the plan knew it wholly. An apply keeps this value, whatever providers
    /// return meanwhile.
    pub(crate) fn known_output(&self, name: &str) -> Option<&'p Value> {
        self.outputs.get(name).map(|it| &it.after).filter(|it| it.is_wholly_known())
    }

    /// The planned change that a destroy node carries out.
    pub(crate) fn destroyed(&self, index: u32) -> &'p ResourceChange {
        self.destroyed[index as usize]
    }

    /// The node that destroys the current object of an instance; `None` if the plan does not destroy it.
    pub(crate) fn destroy_node(&self, address: &ResourceInstance) -> Option<NodeIx> {
        self.destroy_nodes.borrow().get(address).copied()
    }
}

/// The nodes that order the destruction of one resource's instances.
struct Gates {
    ready: NodeIx,
    done: NodeIx,
    /// The provider configuration of the destroyed objects.
    provider: ProviderConfigRef,
}

impl Walk<'_> {
    /// Returns true if the apply evaluates a node of a module. Without a plan to apply, and for the destruction of
    /// everything, returns true for all nodes.
    pub(crate) fn is_retained(&self, module: &ModuleRun, local: u32) -> bool {
        let Some(planned_actions) = self.planned_actions.filter(|_| self.phase() == Phase::Apply)
        else {
            return true;
        };
        let retained = planned_actions.retained.get_or_init(|| {
            let changes = planned_actions.changes.values().filter_map(|it| {
                let node = self.config.tree.resource(&it.addr.config())?;
                let is_checked = || match &self.config.tree.template(node.0).nodes[node.1 as usize]
                {
                    Declared::Resource(entry) => has_conditions(entry),
                    _ => false,
                };
                let changes = match it.change.action {
                    Action::Delete => false,
                    Action::NoOp => is_checked(),
                    _ => true,
                };
                changes.then_some(node)
            });
            Retained::new(&self.config.tree, changes)
        });
        self.config.tree.find(&module.path).is_some_and(|it| retained.has((it, local)))
    }

    /// For each output of a call, the nodes of the calling module that it is derived from, through the arguments
    /// of the call. Cached; empty if no plan is applied.
    pub(crate) fn reads_through(&self, caller: &ModuleRun, call: &Str) -> Rc<Through> {
        let (Some(planned_actions), Some(module)) =
            (self.planned_actions, self.config.tree.find(&caller.path))
        else {
            return Rc::default();
        };
        let key = (caller.path.clone(), call.clone());
        let mut known = planned_actions.through_calls.borrow_mut();
        let found = known.entry(key);
        Rc::clone(found.or_insert_with(|| Rc::new(reads_through(&self.config.tree, module, call))))
    }

    /// Adds a node for every object that the plan destroys, after the destruction of all its dependents.
    ///
    /// ```text
    ///   destroy b[0] ──► done b ──► ready a ──► destroy a[0]        (b depends on a)
    ///   destroy b[1] ──┘                   └──► destroy a[1]
    /// ```
    /// The instances of a resource meet in one node, so that the number of edges grows with instances and
    /// dependencies, not with pairs of instances.
    fn add_destruction(&self, planned_actions: &PlannedActions<'_>) {
        let mut gates: BTreeMap<ConfigResource, Gates> = BTreeMap::new();
        for (index, change) in planned_actions.destroyed.iter().enumerate() {
            let node = self.nodes.add(NodeKind::Destroy { index: index as u32 });
            let gate = gates.entry(change.addr.config()).or_insert_with(|| Gates {
                ready: self.nodes.add(NodeKind::DestroyReady { index: index as u32 }),
                done: self.nodes.add(NodeKind::DestroyDone { index: index as u32 }),
                provider: change.provider.clone(),
            });
            self.nodes.change(|graph| {
                graph.add_edge(gate.ready, node, EdgeKind::Order);
                graph.add_edge(node, gate.done, EdgeKind::Order);
            });
            if let FoundProvider::Node(provider) = self.find_provider_ref(&change.provider) {
                self.nodes.change(|graph| graph.add_edge(provider, node, EdgeKind::Hold));
            }
            self.destroy_nodes_of(planned_actions).insert(&change.addr, node);
            self.nodes.change(|graph| graph.demand(node));
        }
        self.order_destruction(planned_actions, gates);
    }

    fn destroy_nodes_of<'o, 'p>(
        &self,
        planned_actions: &'o PlannedActions<'p>,
    ) -> std::cell::RefMut<'o, FxHashMap<&'p ResourceInstance, NodeIx>> {
        planned_actions.destroy_nodes.borrow_mut()
    }

    fn order_destruction(
        &self,
        planned_actions: &PlannedActions<'_>,
        gates: BTreeMap<ConfigResource, Gates>,
    ) {
        let mut needs = ProviderNeeds::default();
        let dependents = self.stored_dependents(planned_actions, &gates, &mut needs);
        for (dependent, dependency) in without_cycles(&gates, &dependents) {
            let (dependent, dependency) = (&gates[dependent], &gates[dependency]);
            let (before, after) = (dependent.done, dependency.ready);
            self.nodes.change(|graph| graph.add_edge(before, after, EdgeKind::Order));
        }
        planned_actions.destruction.replace(Destruction { gates, dependents, needs });
    }

    /// For each resource, the resources with destroyed objects that depend on it according to the state.
    fn stored_dependents(
        &self,
        planned_actions: &PlannedActions<'_>,
        gates: &BTreeMap<ConfigResource, Gates>,
        needs: &mut ProviderNeeds,
    ) -> FxHashMap<ConfigResource, BTreeSet<ConfigResource>> {
        let mut dependents: FxHashMap<ConfigResource, BTreeSet<ConfigResource>> =
            FxHashMap::default();
        for change in &planned_actions.destroyed {
            let Some(object) = self.state.previous().current(&change.addr) else { continue };
            let config = change.addr.config();
            let Some((config, gate)) = gates.get_key_value(&config) else { continue };
            for dependency in object.dependencies.iter().filter(|it| *it != config) {
                let known = dependents.get(dependency).is_some_and(|it| it.contains(config));
                if !known && !self.provider_needs(&gate.provider, dependency, needs) {
                    dependents.entry(dependency.clone()).or_default().insert(config.clone());
                }
            }
        }
        dependents
    }

    /// The nodes of the destructions that come before a change of an instance: of objects that depended on it, and
    /// of objects that it depended on, since its block no longer refers to them.
    pub(crate) fn destroyed_before(&self, instance: &ResourceInstance) -> Vec<NodeIx> {
        let Some(planned_actions) = self.planned_actions else { return Vec::new() };
        let mut destruction = planned_actions.destruction.borrow_mut();
        let Destruction { gates, dependents, needs } = &mut *destruction;
        let config = instance.config();
        let dependents = dependents.get(&config).into_iter().flatten();
        let object = self.state.previous().current(instance);
        let dependencies = object.iter().flat_map(|it| it.dependencies.iter());
        let dependencies = dependencies.filter(|it| {
            let gate = gates.get(it);
            gate.is_some_and(|gate| !self.provider_needs(&gate.provider, &config, needs))
        });
        let before = dependents.chain(dependencies).filter(|it| **it != config);
        before.filter_map(|it| Some(gates.get(it)?.done)).collect()
    }

    /// Returns true if the provider of a destroyed object is configured from a resource that is itself replaced.
    /// The destruction must then wait for the new object of that resource, so the replacement cannot wait for the
    /// destruction.
    fn provider_needs(
        &self,
        provider: &ProviderConfigRef,
        resource: &ConfigResource,
        needs: &mut ProviderNeeds,
    ) -> bool {
        if self.phase() == Phase::ApplyDestroy {
            return false;
        }
        let needed = needs
            .entry(provider.clone())
            .or_insert_with(|| self.dependencies_of_provider(provider).iter().cloned().collect());
        needed.contains(resource)
    }
}

/// Pairs of a resource and its dependency, both with destroyed objects. Stored dependencies can form a cycle, for
/// example if a reference was reversed since the last apply. Pairs that would close a cycle are left out.
fn without_cycles<'d>(
    gates: &'d BTreeMap<ConfigResource, Gates>,
    dependents: &'d FxHashMap<ConfigResource, BTreeSet<ConfigResource>>,
) -> Vec<(&'d ConfigResource, &'d ConfigResource)> {
    let mut pairs = Vec::new();
    // False while the dependents of a resource are being visited.
    let mut is_visited: FxHashMap<&ConfigResource, bool> = FxHashMap::default();
    let of = |resource| dependents.get(resource).into_iter().flatten();
    for resource in gates.keys() {
        if is_visited.contains_key(resource) {
            continue;
        }
        is_visited.insert(resource, false);
        let mut path = vec![(resource, of(resource))];
        while let Some((dependency, rest)) = path.last_mut() {
            let dependency = *dependency;
            let Some(dependent) = rest.next() else {
                is_visited.insert(dependency, true);
                path.pop();
                continue;
            };
            match is_visited.get(dependent) {
                Some(false) => continue,
                Some(true) => {}
                None => {
                    is_visited.insert(dependent, false);
                    path.push((dependent, of(dependent)));
                }
            }
            pairs.push((dependent, dependency));
        }
    }
    pairs
}
