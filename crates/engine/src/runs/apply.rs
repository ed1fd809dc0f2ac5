//! The run that carries out a plan.

use std::{
    cell::{OnceCell, RefCell},
    ops::Deref,
    rc::Rc,
};

use addr::{
    ConfigResource, InstanceKey, ModulePath, ProviderConfigRef, ResourceInstance, ResourceMode,
};
use hir::{Entry, item::Repetition};
use rustc_hash::{FxHashMap, FxHashSet};
use sorted::{TreeMap, TreeSet};
use state::Action;
use values::{Str, Value};

use crate::{
    graph::{
        EdgeKind, NodeIx, NodeKind, Status,
        retained::{Retained, reads_through},
        template::Declared,
        tree::ConfigNode,
    },
    resource::subject::has_conditions,
    runs::applying::{ApplyPart, Applying},
    schedule::{Failed, Step},
    targeting::Selection,
    walk::{
        context::Walk,
        instances::{Each, Keys},
        modules::ModuleRun,
        output::{output_value, stored_output},
        purpose::Purpose,
        rules::GraphRules,
    },
};

/// The context of an apply.
pub(crate) struct ApplyRun<'a> {
    applying: Applying<'a>,
    /// The nodes that the targets of the plan keep; `None` if it has none.
    selection: Option<Selection>,
    /// The nodes that the apply evaluates, computed on demand.
    retained: OnceCell<Retained>,
    /// The cached results of [`ApplyRun::reads_through`].
    through_calls: RefCell<FxHashMap<(ModulePath, Str), Rc<Through>>>,
    /// The cached dependencies of provider configurations of destroyed objects.
    provider_needs: RefCell<FxHashMap<ProviderConfigRef, FxHashSet<ConfigResource>>>,
}

/// For each output of a call, the nodes of the calling module that it is derived from.
type Through = TreeMap<Str, Vec<u32>>;

impl<'a> Deref for ApplyRun<'a> {
    type Target = Applying<'a>;

    fn deref(&self) -> &Applying<'a> {
        &self.applying
    }
}

impl GraphRules for ApplyRun<'_> {
    /// Values that no change needs do not run.
    fn demands(&self, module: &ModuleRun, local: u32) -> bool {
        let is_idle = self.is_value(module, local) && !self.is_retained(module, local);
        let declared = &module.template.nodes[local as usize];
        // The plan has imported already.
        let is_idle = is_idle || matches!(declared, Declared::Import(_));
        !is_idle && (!module.template.lazy[local as usize] || module.is_root_variable(declared))
    }

    fn add_undeclared(&self, module: &ModuleRun) {
        self.connect_destruction(module);
    }

    /// With targets, only what the changes and the planned outputs need runs.
    fn is_selected(&self, module: &ModuleRun, local: u32) -> bool {
        self.selection.is_none() || self.is_retained(module, local)
    }

    /// Makes what depends on a module wait for the arguments of its call, and the dependents of a call without
    /// instances for the values that its outputs would be derived from.
    fn complete_call(&self, caller: &ModuleRun, call: &str, keys: &Keys) {
        let nodes = &caller.template.calls[call];
        let reads = nodes.inputs.iter().flat_map(|it| &it.reads).map(|it| caller.node(*it));
        for before in reads.filter(|it| self.opens_nothing(caller, *it)) {
            self.nodes.change(|graph| graph.add_order(before, caller.node(nodes.done)));
        }
        if !keys.instances.is_empty() {
            return;
        }
        let through = self.reads_through(caller, call);
        for (name, user) in &nodes.outputs {
            let reads = through.get(name).into_iter().flatten().map(|it| caller.node(*it));
            for before in reads.filter(|it| self.opens_nothing(caller, *it)) {
                self.nodes.change(|graph| graph.add_order(before, caller.node(*user)));
            }
        }
    }

    /// Nothing inside of the module is evaluated before the gate.
    fn gate_edge(&self) -> EdgeKind {
        EdgeKind::Order
    }
}

impl<'a> Purpose<'a> for ApplyRun<'a> {
    type Part = ApplyPart;

    fn walk(&self) -> &Walk<'a> {
        self
    }

    fn run_resource(&self, node: NodeIx, module: &Rc<ModuleRun>, entry: &Entry) -> Step<ApplyPart> {
        if self.nodes.facts(node, |it| std::mem::replace(&mut it.prepared, true)) {
            if self.planned.is_partial() {
                self.show_left_objects(node, module, entry);
            }
            return self.begin_apply(node, module, entry);
        }
        if self.refuse_provisioners(module, entry, |_| true) {
            return Step::Failed;
        }
        self.prepare_resource(node, module, entry)
    }

    fn run_own(&self, node: NodeIx, kind: NodeKind) -> Step<ApplyPart> {
        self.run_destroy(node, kind)
    }

    fn root_output(&self, entry: &Entry, value: &Value) {
        let name = &entry.output().name;
        let value = self.planned.known_output(name).unwrap_or(value);
        if value.is_wholly_known() {
            return self.keep_output(name, stored_output(entry, value));
        }
        // Only instances that the plan left out have no value. As in OpenTofu, the state has null for them.
        self.keep_output(name, Some(output_value(entry, &value.with_unknown_as_null())));
    }

    async fn run_part(&self, node: NodeIx, part: &ApplyPart) -> Result<(), Failed> {
        let ApplyPart::Instance(each) = part else { return self.destroy_instance(node).await };
        let entry = self.resource_entry(node)?;
        match entry.resource().resource.mode {
            ResourceMode::Ephemeral => self.open_instance(node, &entry, each, |_, _| None).await,
            ResourceMode::Managed => {
                let subject = self.subject(node, &entry, &each.key)?;
                if self.is_left_out(subject.address()) {
                    return self.keep_as_is(&subject, each);
                }
                let has_failed =
                    |it: &NodeIx| self.nodes.graph(|graph| graph.status(*it)) == Status::Failed;
                if self.destructions_before(subject.address()).iter().any(has_failed) {
                    return Err(Failed);
                }
                self.apply_instance(subject, &entry, each).await
            }
            ResourceMode::Data => {
                let subject = self.subject(node, &entry, &each.key)?;
                match self.is_left_out(subject.address()) {
                    true => self.keep_as_is(&subject, each),
                    false => self.apply_data(node, &entry, each).await,
                }
            }
        }
    }
}

impl<'a> ApplyRun<'a> {
    /// Adds the root module and the destructions to the graph.
    pub(crate) fn new(applying: Applying<'a>) -> ApplyRun<'a> {
        let tree = &applying.config.tree;
        let targeting = applying.planned.targeting();
        let selection = targeting.map(|it| Selection::new(it.clone(), tree, std::iter::empty()));
        if let Some(selection) = &selection {
            applying.config.create_first.limit_to(selection.kept().clone());
        }
        let run = ApplyRun {
            applying,
            selection,
            retained: OnceCell::new(),
            through_calls: RefCell::default(),
            provider_needs: RefCell::default(),
        };
        run.add_root(&run);
        run.add_destruction(&|provider, resource| run.provider_needs(provider, resource));
        run
    }

    /// Returns true for an instance that the plan left as it is: its conditions do not hold in this apply.
    fn is_left_out(&self, instance: &ResourceInstance) -> bool {
        self.planned.is_partial() && self.planned.change(instance).is_none()
    }

    /// Gives references the objects that the plan left as they are, and an unknown value for an instance without one.
    /// As in OpenTofu, not even the type of a single instance is known if the plan left out its resource.
    fn show_left_objects(&self, node: NodeIx, module: &ModuleRun, entry: &Entry) {
        if entry.resource().resource.mode == ResourceMode::Ephemeral {
            return;
        }
        let address = entry.resource().resource.clone().in_module(module.address.clone());
        let Ok(subject) = self.subject(node, entry, &InstanceKey::None) else { return };
        let is_single = matches!(entry.resource().repetition, Repetition::Single);
        let absent = match is_single && !self.is_kept(module, node.0 - module.base) {
            true => Value::dynamic(),
            false => Value::unknown(subject.ty().clone()),
        };
        self.nodes.change_resource(node, |it| it.absent = Some(absent));
        for (key, _) in self.state.previous().objects_of(&address) {
            let is_left = self.action_on(&address.instance(key.clone())).is_none();
            if let (true, Ok(subject)) = (is_left, self.subject(node, entry, &key)) {
                // An object that cannot be decoded is reported, and its value is unknown.
                let _ = self.keep_as_is(&subject, &Each { key, value: None });
            }
        }
    }

    fn destructions_before(&self, instance: &ResourceInstance) -> TreeSet<NodeIx> {
        let needs = |provider: &_, resource: &_| self.provider_needs(provider, resource);
        self.applying.destructions_before(instance, &needs)
    }

    /// Returns true if the provider of a destroyed object is configured from a resource that is itself replaced.
    /// The destruction must then wait for the new object of that resource, so the replacement cannot wait for the
    /// destruction.
    fn provider_needs(&self, provider: &ProviderConfigRef, resource: &ConfigResource) -> bool {
        let mut known = self.provider_needs.borrow_mut();
        let needed = known
            .entry(provider.clone())
            .or_insert_with(|| self.dependencies_of_provider(provider).iter().cloned().collect());
        needed.contains(resource)
    }

    /// Runs the first turn of a resource: waits for the dependencies that its planned changes need, and for no
    /// others.
    fn prepare_resource(&self, node: NodeIx, module: &ModuleRun, entry: &Entry) -> Step<ApplyPart> {
        let Some(keys) = self.expanded(node) else { return Step::Failed };
        let needs = self.needs_of(node, module, entry);
        let address = entry.resource().resource.clone().in_module(module.address.clone());
        let instances = keys.instances.iter().map(|each| address.instance(each.key.clone()));
        let destroyed: TreeSet<NodeIx> =
            instances.flat_map(|instance| self.destructions_before(&instance)).collect();
        let nested = entry.resource().in_check.is_some() && needs.acts;
        let applied = nested.then(|| self.all_applied());
        self.nodes.change(|graph| {
            if let Some(applied) = applied {
                graph.add_active_edge(applied, node, EdgeKind::Order);
            }
            for destroy in destroyed {
                graph.add_active_edge(destroy, node, EdgeKind::Partial);
            }
        });
        // Dependents wait for the dependencies of this resource, even if the resource itself does not change.
        let keeps_order = !needs.acts && self.is_retained(module, node.0 - module.base);
        let counts = |dependency, kind| {
            needs.count(kind)
                || (keeps_order && kind.is_reference() && self.opens_nothing(module, dependency))
        };
        self.wait_for_needs(node, keys, counts);
        Step::Again
    }

    /// Returns true if a declaration has a value, or instances, and no other effect.
    fn is_value(&self, module: &ModuleRun, local: u32) -> bool {
        let template = &module.template;
        match &template.nodes[local as usize] {
            Declared::Local(_) | Declared::ModuleOutput { .. } | Declared::ModuleObject(_) => true,
            // Without a change, nothing becomes of the resource: only its dependents need its instances.
            Declared::Expand(entry) | Declared::Resource(entry) => {
                entry.resource().resource.mode == ResourceMode::Managed && !has_conditions(entry)
            }
            // An output that opens ephemeral resources is never idle: an apply opens these resources again.
            Declared::Output(_) => {
                let mut reads = template.dependencies(local);
                let opens_nothing = |it: u32| {
                    matches!(template.nodes[it as usize], Declared::Variable(_))
                        || self.opens_nothing(module, module.node(it))
                };
                module.caller.is_some() && reads.all(|(it, _)| opens_nothing(it))
            }
            Declared::Variable(_) => module.caller.is_some(),
            _ => false,
        }
    }

    /// Returns true if the plan kept a node of a module.
    fn is_kept(&self, module: &ModuleRun, local: u32) -> bool {
        let node = |module| ConfigNode { module, local };
        let found = self.config.tree.find(&module.path).map(node);
        self.selection.as_ref().is_none_or(|it| found.is_some_and(|node| it.keeps(node)))
    }

    /// Returns true if the apply evaluates a node of a module.
    fn is_retained(&self, module: &ModuleRun, local: u32) -> bool {
        let tree = &self.config.tree;
        let retained = self.retained.get_or_init(|| {
            let changes = self.planned.changes().filter_map(|it| {
                let node = tree.resource(&it.addr.config())?;
                let is_checked = || match tree.declared(node) {
                    Declared::Resource(entry) => has_conditions(entry),
                    _ => false,
                };
                let changes = match it.change.action {
                    Action::Delete | Action::Forget => false,
                    Action::NoOp => is_checked(),
                    _ => true,
                };
                changes.then_some(node)
            });
            match &self.selection {
                Some(selection) => {
                    let validated = selection.validated(tree).into_iter();
                    Retained::within(tree, changes, |it| self.planned.has_output(it), validated)
                }
                None => Retained::new(tree, changes),
            }
        });
        tree.find(&module.path).is_some_and(|module| retained.has(ConfigNode { module, local }))
    }

    /// For each output of a call, the nodes of the calling module that it is derived from, through the arguments
    /// of the call. Cached.
    fn reads_through(&self, caller: &ModuleRun, call: &str) -> Rc<Through> {
        let tree = &self.config.tree;
        let Some(module) = tree.find(&caller.path) else { return Rc::default() };
        let call = Str::from(call);
        let mut known = self.through_calls.borrow_mut();
        let found = known.entry((caller.path.clone(), call.clone()));
        Rc::clone(found.or_insert_with(|| Rc::new(reads_through(tree, module, &call))))
    }
}
