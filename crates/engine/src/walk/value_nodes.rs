//! Nodes whose result is a value and needs no provider: variables, locals, outputs, and the nodes that gather the
//! outputs of module calls.

use std::{rc::Rc, sync::Arc};

use hir::{Entry, Item};
use sorted::TreeMap;
use state::CheckKind;
use values::{MarkKind, Str, Type, Value, ValueMap};

use crate::{
    graph::{ModuleIx, NodeIx, template::Declared},
    memo::{Inputs, NodeKey, NodeName, Version},
    schedule::{Failed, Step},
    walk::{
        checks::{Checked, ConditionKind},
        context::Walk,
        instances::{Each, Repeated},
        modules::ModuleRun,
        outcome::Outcome,
        rules::GraphRules,
        scope::EngineScope,
        turn::Turn,
    },
};

impl<W> From<Turn> for Step<W> {
    fn from(turn: Turn) -> Step<W> {
        match turn {
            Turn::Done { keeps } => Step::Done { keeps },
            Turn::Failed => Step::Failed,
            Turn::Again => Step::Again,
        }
    }
}

impl From<Result<(), Failed>> for Turn {
    fn from(result: Result<(), Failed>) -> Turn {
        match result {
            Ok(()) => Turn::Done { keeps: false },
            Err(Failed) => Turn::Failed,
        }
    }
}

impl Walk<'_> {
    /// Sets the value of a node: the memoized value if its item and its inputs are unchanged, else the result of
    /// `compute`. `also` are input versions besides those of its dependencies.
    pub(crate) fn remembered(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        name: NodeName,
        item: &Arc<Item>,
        also: &[Version],
        compute: impl FnOnce() -> Result<Value, Failed>,
    ) -> Turn {
        let key = NodeKey { module: module.address.clone(), node: name };
        let inputs = self.inputs(node, also);
        let forced = self.nodes.facts(node, |it| it.forced);
        let known =
            if forced { None } else { self.reuse.memo(|memo| memo.unchanged(&key, item, inputs)) };
        if let Some((version, value)) = known {
            let keeps = value.is_none();
            self.set_outcome(node, value.map_or(Outcome::Unchanged, Outcome::Value));
            self.settle_facts(node, version, keeps);
            return Turn::Done { keeps };
        }
        if self.wait_for_values(node) {
            return Turn::Again;
        }
        let Ok(value) = compute() else { return Turn::Failed };
        let keeps = value.has_deep(MarkKind::Ephemeral);
        let version = self.reuse.change(|memo| memo.remember(key, item, inputs, &value));
        self.set_outcome(node, Outcome::Value(value));
        self.settle_facts(node, version, keeps);
        Turn::Done { keeps }
    }

    /// The hash of the versions of a node's active dependencies and of `also`.
    pub(crate) fn inputs(&self, node: NodeIx, also: &[Version]) -> Inputs {
        self.nodes.versions_read(node, |read| {
            self.reuse.memo(|memo| memo.inputs(read.chain(also.iter().copied())))
        })
    }

    /// Requests the values of active dependencies that the memo did not keep. Returns true if the node must wait
    /// for them.
    pub(crate) fn wait_for_values(&self, node: NodeIx) -> bool {
        let absent = self.nodes.without_values(node);
        for dependency in &absent {
            self.nodes.facts(*dependency, |it| it.forced = true);
            self.nodes.change(|graph| graph.redo(*dependency, node));
        }
        !absent.is_empty()
    }

    /// Sets the facts of a node after its turn: its version, and what its dependents inherit.
    pub(crate) fn settle_facts(&self, node: NodeIx, version: Version, keeps: bool) {
        if !self.nodes.graph(|graph| graph.has_users(node)) {
            self.nodes.facts(node, |it| it.version = version);
            return;
        }
        let inherited = self.nodes.inherited(node);
        self.nodes.facts(node, |it| {
            it.opened = if keeps { inherited.opened } else { Rc::default() };
            it.pending = inherited.pending;
            it.version = version;
        });
    }

    /// Sets and memoizes a value that was not derived from other nodes.
    pub(super) fn remember_plain(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        name: NodeName,
        item: &Arc<Item>,
        value: Value,
    ) -> Turn {
        let key = NodeKey { module: module.address.clone(), node: name };
        let inputs = self.inputs(node, &[]);
        let version = self.reuse.change(|memo| memo.remember(key, item, inputs, &value));
        let keeps = value.has_deep(MarkKind::Ephemeral);
        self.set_outcome(node, Outcome::Value(value));
        self.settle_facts(node, version, keeps);
        Turn::Done { keeps }
    }

    /// The version of repetition data: different data has different versions.
    pub(crate) fn each_version(&self, each: &Each) -> Version {
        match &each.value {
            None => Version::default(),
            Some(value) => self.reuse.memo(|memo| memo.version_of_value(value)),
        }
    }

    pub(crate) fn run_local(
        &self,
        node: NodeIx,
        index: ModuleIx,
        module: &ModuleRun,
        entry: &Entry,
    ) -> Turn {
        let Some(local) = entry.item.kind.as_local() else { return Turn::Failed };
        self.remembered(node, module, NodeName::Local(local.name.clone()), &entry.item, &[], || {
            self.evaluate_node(node, &EngineScope::new(self, index, None), entry, local.value)
        })
    }

    /// Runs the node of one output of all instances of a call.
    pub(crate) fn run_module_output(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        call: &Entry,
        output: &Str,
    ) -> Turn {
        self.gathered(node, || {
            let children = module.children_of(&call.module_call().name)?;
            let mut values = TreeMap::new();
            for (key, child) in &children.instances {
                let child = self.module(*child);
                let local = *child.template.outputs.get(output)?;
                values.insert(key.clone(), self.nodes.value(child.node(local))?);
            }
            Some(children.keys.shape(&values))
        })
    }

    /// Runs the node of all outputs of a call: an object for a single instance, else a collection of objects.
    pub(crate) fn run_module_object(&self, node: NodeIx, module: &ModuleRun, call: &Entry) -> Turn {
        self.gathered(node, || {
            let children = module.children_of(&call.module_call().name)?;
            let mut objects = TreeMap::new();
            for (key, child) in &children.instances {
                let child = self.module(*child);
                let outputs = child.template.outputs.iter();
                let outputs = outputs.map(|(name, local)| {
                    Some((name.clone(), self.nodes.value(child.node(*local))?))
                });
                objects.insert(key.clone(), Value::object(outputs.collect::<Option<ValueMap>>()?));
            }
            if children.keys.repeated == Repeated::Enabled && objects.is_empty() {
                return Some(Value::null(Type::Dynamic));
            }
            Some(children.keys.shape(&objects))
        })
    }

    /// Runs a node that only combines the values of other nodes.
    fn gathered(&self, node: NodeIx, shape: impl FnOnce() -> Option<Value>) -> Turn {
        let forced = self.nodes.facts(node, |it| it.forced);
        let absent = !self.nodes.without_values(node).is_empty();
        let inputs = self.inputs(node, &[]);
        let version = self.reuse.memo(|memo| memo.version_of_inputs(inputs));
        if absent && !forced {
            self.set_outcome(node, Outcome::Unchanged);
            self.settle_facts(node, version, true);
            return Turn::Done { keeps: true };
        }
        if absent && self.wait_for_values(node) {
            return Turn::Again;
        }
        let Some(value) = shape() else { return Turn::Failed };
        let keeps = value.has_deep(MarkKind::Ephemeral);
        self.set_outcome(node, Outcome::Value(value));
        self.settle_facts(node, version, keeps);
        Turn::Done { keeps }
    }

    /// Evaluates the assertions of a `check` block. They warn, and never make the node fail. If a data source of
    /// the block could not be read, the check has failed already, and nothing is evaluated.
    pub(crate) fn run_check(&self, index: ModuleIx, module: &ModuleRun, entry: &Entry) -> Turn {
        let check = entry.check();
        self.with_check(module, &check.name, |checked| {
            if self.checks.is_failing(checked) {
                return;
            }
            let scope = EngineScope::new(self, index, None);
            let (asserts, kind) = (&check.asserts, ConditionKind::Assertion);
            let _ = self.check_conditions(&scope, entry, asserts, kind, checked);
        });
        Turn::Done { keeps: false }
    }

    /// Calls `body` with the addresses of a `check` block.
    pub(crate) fn with_check(
        &self,
        module: &ModuleRun,
        name: &str,
        body: impl FnOnce(Checked<'_>),
    ) {
        let name = format!("check.{name}");
        let config_addr = prefixed(&module.path.to_string(), &name);
        let addr = prefixed(&module.address.to_string(), &name);
        body(Checked { kind: CheckKind::Check, config_addr: &config_addr, addr: &addr });
    }

    /// Runs the expansion of a resource, or makes the instances of a module call.
    pub(crate) fn run_expansion(
        &self,
        rules: &dyn GraphRules,
        node: NodeIx,
        index: ModuleIx,
        local: u32,
        declared: &Declared,
    ) -> Turn {
        if self.wait_for_values(node) {
            return Turn::Again;
        }
        match declared {
            Declared::Expand(entry) => self.expand_resource(node, index, entry).into(),
            Declared::Call(entry, _) => self.expand_call(rules, index, entry, local).into(),
            _ => Turn::Done { keeps: false },
        }
    }
}

/// The address of a name in a module, such as `module.a.output.b`; the name alone in the root module.
pub(crate) fn prefixed(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") }
}
