//! Nodes whose result is a value and needs no provider: variables, locals, outputs and what gathers them.

use std::{collections::BTreeMap, rc::Rc, sync::Arc};

use ::values::{MarkKind, Str, Type, Value};
use hir::{Entry, Item};
use state::CheckKind;

use super::{
    EngineScope, Failed, ModuleRun, Outcome, Walk,
    checks::{Checked, ConditionKind},
    expand::Repeated,
};
use crate::{
    graph::{Declared, ModuleIx, NodeIx},
    memo::{Inputs, NodeKey, NodeName, Version},
};

/// How a node's turn ended.
pub(crate) enum Turn {
    /// It has its result. If it `keeps`, what it was made from must stay open as long as somebody reads it.
    Done { keeps: bool },
    /// It has none, and that was reported.
    Failed,
    /// It waits for more.
    Again,
    /// It ends when these end.
    Tasks(Vec<super::Work>),
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
    /// Gives a node's value: what the memo has if nothing that it reads changed, else what `compute` gives.
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

    /// The versions of what a node reads.
    pub(crate) fn inputs(&self, node: NodeIx, also: &[Version]) -> Inputs {
        self.nodes.versions_read(node, |read| {
            self.reuse.memo(|memo| memo.inputs(read.chain(also.iter().copied())))
        })
    }

    /// Computes what the node reads and the memo did not keep; true if it has to wait for that.
    pub(crate) fn wait_for_values(&self, node: NodeIx) -> bool {
        let absent = self.nodes.without_values(node);
        for dependency in &absent {
            self.nodes.facts(*dependency, |it| it.forced = true);
            self.nodes.change(|graph| graph.redo(*dependency, node));
        }
        !absent.is_empty()
    }

    /// Sets what is known of a node beside its value.
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

    /// Remembers a value that was made from nothing that has a version.
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

    /// A version for repetition data: new whenever it differs.
    pub(crate) fn each_version(&self, each: &super::Each) -> Version {
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
            self.evaluate_source(&EngineScope::new(self, index, None), entry, local.value)
        })
    }

    /// One output of all instances of a call.
    pub(crate) fn run_module_output(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        call: &Entry,
        output: &Str,
    ) -> Turn {
        self.gathered(node, || {
            let children = module.children.borrow();
            let children = children.get(&call.module_call().name)?;
            let mut values = BTreeMap::new();
            for (key, child) in &children.instances {
                let child = self.module(*child);
                let local = *child.template.outputs.get(output)?;
                values.insert(key.clone(), self.nodes.value(child.node(local))?);
            }
            Some(children.keys.shape(&values))
        })
    }

    /// The object of all outputs, or the collection of such objects.
    pub(crate) fn run_module_object(&self, node: NodeIx, module: &ModuleRun, call: &Entry) -> Turn {
        self.gathered(node, || {
            let children = module.children.borrow();
            let children = children.get(&call.module_call().name)?;
            let mut objects = BTreeMap::new();
            for (key, child) in &children.instances {
                let child = self.module(*child);
                let mut object = BTreeMap::new();
                for (name, local) in &child.template.outputs {
                    object.insert(name.clone(), self.nodes.value(child.node(*local))?);
                }
                objects.insert(key.clone(), Value::object(object));
            }
            if children.keys.repeated == Repeated::Enabled && objects.is_empty() {
                return Some(Value::null(Type::Dynamic));
            }
            Some(children.keys.shape(&objects))
        })
    }

    /// A node that only puts together what others have computed.
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

    /// Asserts of a `check` block: they warn, and never fail anything. A check whose data source could not be read has
    /// failed already.
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

    /// How many instances `declared` has, or making the instances of a call.
    pub(crate) fn run_expansion(
        &self,
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
            Declared::Call(entry, _) => self.expand_call(index, entry, local).into(),
            _ => Turn::Done { keeps: false },
        }
    }
}

/// `module.a.output.b`, or without a module.
pub(crate) fn prefixed(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") }
}
