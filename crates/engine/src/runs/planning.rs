//! The part that both kinds of plans share: the decisions, orphans, and whether objects are refreshed.

use std::{ops::Deref, rc::Rc, sync::Arc};

use addr::{
    AbsResource, ConfigResource, InstanceKey, ModuleInstance, ResourceInstance, ResourceMode,
};
use hir::{Entry, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use state::{EphemeralPlan, ObjectAddress, OutputChange, Reason, journal::Intent};
use values::{Type, Value};

use crate::{
    event::DeferReason,
    graph::{EdgeKind, NodeIx, NodeKind},
    imports::Imports,
    memo::{Memo, Planned},
    request::Environment,
    resource::{objects::find_entry, subject::has_conditions},
    runs::{
        decisions::Decisions,
        destroy_targets::DestroyTargets,
        orphans::{GoneObject, Orphan, Orphans},
    },
    schedule::{Failed, Step},
    targeting::{Selection, Targeting},
    walk::{
        context::{Walk, WalkInput},
        instances::{Each, Keys},
        modules::{FoundProvider, ModuleRun},
        outcome::{Facts, Outcome, ResourceValue},
    },
};

/// The part of the context that both kinds of plans have.
pub(crate) struct Planning<'a> {
    walk: Walk<'a>,
    pub(crate) decisions: Decisions,
    pub(crate) orphans: Orphans,
    pub(crate) imports: Imports,
    pub(crate) options: PlanningOptions,
    /// The part of the configuration that the plan is limited to; `None` if it is not limited.
    pub(crate) selection: Option<Selection>,
    /// The limits of a destroy plan; `None` for any other plan, or if it is not limited.
    pub(crate) destroy_targets: Option<DestroyTargets>,
}

/// The options of a plan.
#[derive(Default)]
pub(crate) struct PlanningOptions {
    /// True if providers are asked for the current objects.
    pub(crate) refresh: bool,
    /// The instances that are replaced even if nothing forces it.
    pub(crate) replace: FxHashSet<ResourceInstance>,
    /// The instances to replace that are named without an instance key, by their resource.
    pub(crate) replace_unkeyed: FxHashMap<ConfigResource, Vec<ResourceInstance>>,
    /// The journaled creations of an interrupted run whose outcome is unknown, by object. Such an object may
    /// exist although the state does not have it.
    pub(crate) uncertain: FxHashMap<ObjectAddress, Intent>,
    /// True for a destroy plan.
    pub(crate) destroys: bool,
    /// True for a refresh-only plan: objects are read, and nothing is planned for them.
    pub(crate) refresh_only: bool,
    /// The addresses that limit the plan; `None` if it is not limited.
    pub(crate) targeting: Option<Targeting>,
    /// The former addresses of the objects that `moved` blocks move, by their new addresses.
    pub(crate) moved: FxHashMap<ResourceInstance, ResourceInstance>,
    /// The addresses of all objects that have a new address.
    pub(crate) relocated: FxHashSet<ResourceInstance>,
}

/// Work on one object of a plan.
pub(crate) enum PlanPart {
    /// Plans, reads or opens one declared instance.
    Instance(Each),
    /// Plans the deletion of an object that the configuration does not have.
    Gone(GoneObject),
    /// Imports the object of an `import` block, and generates the configuration of its resource.
    Generated,
}

impl PlanPart {
    /// The declared instance; `None` for other work.
    pub(crate) fn instance(&self) -> Option<&Each> {
        match self {
            PlanPart::Instance(each) => Some(each),
            PlanPart::Gone(_) | PlanPart::Generated => None,
        }
    }
}

/// Instances whose plans of the last run still hold, and the work on the others.
#[derive(Default)]
pub(crate) struct Instances<'k> {
    pub(crate) before: Vec<PlannedBefore<'k>>,
    pub(crate) parts: Vec<PlanPart>,
}

/// An object with its plan of the last run.
pub(crate) struct PlannedBefore<'k> {
    pub(crate) object: ObjectAddress,
    /// `None` if the plan is a deletion, after which references see no value.
    pub(crate) each: Option<&'k Each>,
    pub(crate) planned: Rc<Planned>,
}

impl<'a> Deref for Planning<'a> {
    type Target = Walk<'a>;

    fn deref(&self) -> &Walk<'a> {
        &self.walk
    }
}

impl<'a> Planning<'a> {
    pub(crate) fn new(
        program: &'a Arc<Program>,
        environment: &'a Environment,
        memo: &'a mut Memo,
        input: WalkInput,
        options: PlanningOptions,
    ) -> Planning<'a> {
        let walk = Walk::new(program, environment, memo, input);
        let targeting = options.targeting.clone();
        let (normal, destroy) = match options.destroys {
            true => (None, targeting),
            false => (targeting, None),
        };
        let selection = normal.map(|targeting| {
            let stored = walk.state.previous().resources().map(|(address, _)| address);
            Selection::new(targeting, &walk.config.tree, stored)
        });
        if let Some(selection) = &selection {
            walk.config.create_first.limit_to(selection.kept().clone());
        }
        let refresh = options.refresh;
        let destroy_targets = destroy.map(|it| DestroyTargets::new(it, &walk, refresh));
        Planning {
            walk,
            decisions: Decisions::default(),
            orphans: Orphans::default(),
            imports: Imports::default(),
            options,
            selection,
            destroy_targets,
        }
    }

    pub(crate) fn into_walk(self) -> Walk<'a> {
        self.walk
    }

    /// Returns true if the plan asks providers for objects of the state. It then also checks the given values of
    /// root variables that nothing refers to.
    pub(crate) fn refreshes_objects(&self) -> bool {
        self.options.refresh && !self.state.previous().is_empty()
    }

    /// Returns true if the plan asks the provider for the current state of an object.
    pub(crate) fn refreshes(&self, object: &ObjectAddress) -> bool {
        let targets = self.destroy_targets.as_ref();
        self.options.refresh && targets.is_none_or(|it| it.reads(&self.config.tree, object))
    }

    /// Adds orphans for all resources of a module instance that no longer exists, because its call has other
    /// instances or is no longer in the configuration.
    pub(crate) fn add_orphans_within(&self, module: &ModuleInstance, reason: Reason) {
        let mut gone = Vec::new();
        self.state.index().all_within(module, &mut gone);
        for address in gone {
            if self.keeps_block_of(&address) == Some(false) {
                continue;
            }
            // A missing block is the reason, even if the module instance is gone too.
            let has_block = find_entry(self, &address.instance(InstanceKey::None)).is_some();
            let own = Reason::DeleteBecauseNoResourceConfig;
            self.add_orphan(&address, Some(if has_block { reason } else { own }));
        }
    }

    /// Adds an orphan for a resource of the state. Does nothing if the state does not have it.
    pub(crate) fn add_orphan(&self, address: &AbsResource, reason: Option<Reason>) {
        let Some(resource) = self.state.previous().resource(address) else { return };
        let mut objects = GoneObject::all_of(resource, |_| false, |_| reason);
        let keeps_block = self.keeps_block_of(address) == Some(true);
        // With its block, all instances of a resource are kept.
        objects.retain(|it| {
            let instance = address.instance(it.key.clone());
            let object = ObjectAddress { instance, deposed: it.deposed };
            match &self.destroy_targets {
                Some(targets) => {
                    targets.ends(&object)
                        || (self.options.refresh && targets.reads(&self.config.tree, &object))
                }
                None => (keeps_block && it.deposed.is_none()) || self.selects(&object.instance),
            }
        });
        if objects.is_empty() && !resource.instances.is_empty() {
            return;
        }
        let (address, provider) = (address.clone(), resource.provider.clone());
        let orphan = Orphan { address, provider, objects };
        let add = |index| self.nodes.add(NodeKind::Orphan { index });
        let node = self.orphans.add(orphan, add);
        if let FoundProvider::Node(provider) = self.find_provider_ref(&resource.provider) {
            self.nodes.change(|graph| graph.add_edge(provider, node, EdgeKind::Hold));
        }
        self.nodes.change(|graph| graph.demand(node));
    }

    /// Plans the removal of the outputs in the state whose names `removed` accepts.
    pub(crate) fn plan_output_removal(&self, removed: impl Fn(&str) -> bool) {
        let gone = self.state.previous().outputs.iter().filter(|(name, _)| removed(name));
        for (name, output) in gone {
            let change = OutputChange {
                action: state::Action::Delete,
                before: output.value.clone(),
                after: Value::null(Type::Dynamic),
                sensitive: output.sensitive,
            };
            self.decisions.set_output(name.clone(), change);
        }
    }

    /// Runs the first turn of a resource: waits for the dependencies that its instances need. `any_gone` is true
    /// if the state has objects that the configuration does not have.
    pub(crate) fn prepare_resource(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
        any_gone: bool,
    ) -> Step<PlanPart> {
        if self.refuse_provisioners(module, entry, |_| true) {
            return Step::Failed;
        }
        let Some(keys) = self.expanded(node) else { return Step::Failed };
        let any_runs = self.any_runs(node, module, entry, &keys);
        self.nodes.change(|graph| match !any_runs {
            false => graph.activate(node, |kind| kind != EdgeKind::Provisioner),
            true => graph.activate_some(node, |dependency, kind| match kind {
                EdgeKind::Provider => any_gone,
                EdgeKind::Value | EdgeKind::DependsOn => self.opens_nothing(module, dependency),
                _ => false,
            }),
        });
        self.set_outcome(node, Outcome::Resource(Box::new(ResourceValue::new(keys))));
        Step::Again
    }

    /// The instances of a resource in its second turn. A dependent may need a value that the memo did not keep:
    /// then only the expansion has the instances.
    pub(crate) fn instances_of(&self, node: NodeIx) -> Option<Rc<Keys>> {
        self.nodes.keys(node).or_else(|| self.expanded(node))
    }

    /// Begins the second turn of a resource: finds the instances whose plans of the last run still hold.
    pub(crate) fn begin_instances<'k>(
        &self,
        node: NodeIx,
        module: &Rc<ModuleRun>,
        entry: &Entry,
        keys: &'k Keys,
    ) -> Instances<'k> {
        let mode = entry.resource().resource.mode;
        let mut inherited = self.nodes.inherited(node);
        inherited.pending |= self.is_call_pending(module);
        inherited.waits = mode != ResourceMode::Managed && self.waits(node, entry, &inherited);
        self.nodes.facts(node, |it| {
            *it = Facts { version: it.version, prepared: true, forced: it.forced, ..inherited };
        });
        let mut instances = Instances::default();
        for each in self.leave_out_instances(node, module, entry, keys) {
            let planned = match mode {
                ResourceMode::Ephemeral => None,
                _ => self.planned_before(node, module, entry, each),
            };
            match planned {
                Some((object, planned)) => {
                    instances.before.push(PlannedBefore { object, each: Some(each), planned });
                }
                None => instances.parts.push(PlanPart::Instance(each.clone())),
            }
        }
        instances
    }

    /// Takes over the plans of the last run that still hold, and starts the work on the other instances.
    pub(crate) fn start_instances(&self, node: NodeIx, instances: Instances<'_>) -> Step<PlanPart> {
        let Instances { before, parts } = instances;
        if !parts.is_empty() && self.wait_for_values(node) {
            return Step::Again;
        }
        for PlannedBefore { object, each, planned } in before {
            self.take_change(node, &object, &planned);
            if let Some(each) = each {
                self.set_instance(node, each, planned.value.clone());
            }
        }
        Step::Tasks(parts)
    }

    /// Skips an ephemeral resource whose inputs are the same as in the last run, unless a dependent needs its
    /// value. `None` if the resource must be opened.
    pub(crate) fn unchanged_ephemeral(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
        keys: &Rc<Keys>,
    ) -> Option<Step<PlanPart>> {
        if entry.resource().resource.mode != ResourceMode::Ephemeral {
            return None;
        }
        let forced = self.nodes.facts(node, |it| it.forced);
        if forced || has_conditions(entry) {
            self.set_outcome(
                node,
                Outcome::Resource(Box::new(ResourceValue::new(Rc::clone(keys)))),
            );
            return None;
        }
        let key = self.resource_key(module, entry);
        let (version, _) =
            self.reuse.memo(|memo| memo.unchanged(&key, &entry.item, self.inputs(node, &[])))?;
        self.set_outcome(node, Outcome::Unchanged);
        self.settle_facts(node, version, true);
        Some(Step::Done { keeps: true })
    }

    /// Opens an instance of an ephemeral resource, or defers that to the apply.
    pub(crate) async fn plan_ephemeral(
        &self,
        node: NodeIx,
        entry: &Entry,
        each: &Each,
    ) -> Result<(), Failed> {
        self.open_instance(node, entry, each, |address, config| {
            self.decisions.add_ephemeral(EphemeralPlan { addr: address.clone() });
            if !config.is_wholly_known() || !self.provider_is_known(node, entry, address) {
                return Some(DeferReason::ConfigUnknown);
            }
            self.nodes.facts(node, |it| it.waits).then_some(DeferReason::DependencyPending)
        })
        .await
    }
}
