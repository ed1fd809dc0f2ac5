//! Expansion: the nodes of resources and module calls that evaluate `count`, `for_each` and `enabled`.

use std::{fmt::Write as _, rc::Rc};

use db::{Diagnostic, Summary};
use hir::{
    At, Entry, ExprId,
    item::{Repetition, Resource},
};
use sorted::TreeMap;
use values::{MarkKind, Str, Value};

use crate::{
    graph::{EdgeKind, ModuleIx, NodeIx, provider_name::provider_name, template::Declared},
    memo::Version,
    schedule::Failed,
    walk::{
        context::Walk,
        instances::{
            Keys, MAX_INSTANCES, Refused, Repeated, count_keys, enabled_keys, for_each_keys,
            too_many,
        },
        modules::{Caller, Children, ModuleRun, Placement},
        outcome::Outcome,
        rules::GraphRules,
        scope::EngineScope,
    },
};

/// The number of module instances that are added between two checks for an interruption.
const INSTANCES_AT_ONCE: usize = 1024;

impl Walk<'_> {
    /// Evaluates a repetition in a module instance. Each instance counts `weight` times towards
    /// [`MAX_INSTANCES`].
    pub(crate) fn keys(
        &self,
        module: ModuleIx,
        entry: &Entry,
        repetition: Repetition,
        weight: usize,
    ) -> Result<Keys, Failed> {
        let (expr, check): (ExprId, KeysOf) = match repetition {
            Repetition::Single => {
                let keys = self.with_room(Keys::single(), weight, "module");
                return keys
                    .map_err(|refused| self.refuse_keys(entry, entry.item.header.into(), refused));
            }
            Repetition::Count(expr) => (expr, count_keys),
            Repetition::ForEach(expr) => (expr, for_each_keys),
            Repetition::Enabled(expr) => (expr, enabled_keys),
        };
        let subject = match repetition {
            Repetition::ForEach(_) => "for_each",
            Repetition::Enabled(_) => "enabled",
            _ => "count",
        };
        let scope = EngineScope::new(self, module, None);
        let value = self.evaluate(&scope, entry, expr, None)?;
        let keys = check(&value).map_err(Some);
        let keys = keys.and_then(|keys| self.with_room(keys, weight, subject));
        // A `for_each` map may have ephemeral values, which its instances then hold.
        if value.has_deep(MarkKind::Ephemeral) {
            self.reuse.note_ephemeral_instances();
        }
        keys.map_err(|refused| self.refuse_keys(entry, expr.into(), refused))
    }

    pub(crate) fn refuse_keys(&self, entry: &Entry, at: At, refused: Option<Refused>) -> Failed {
        let Some(Refused { detail, subject }) = refused else { return Failed };
        let summary = match subject {
            "module" => Summary::TOO_MANY_INSTANCES,
            argument => Summary::invalid_repetition_value(argument),
        };
        self.report_at(entry, at, None, Diagnostic::new(summary, detail));
        Failed
    }

    /// Returns the keys if the run may have that many more instances. The first expansion beyond the limit returns
    /// an error with a message, all later ones an error without.
    fn with_room(
        &self,
        keys: Keys,
        weight: usize,
        subject: &'static str,
    ) -> Result<Keys, Option<Refused>> {
        let before = self.modules.instances();
        let total = before.saturating_add(keys.instances.len().saturating_mul(weight));
        if total <= MAX_INSTANCES {
            self.modules.set_instances(total);
            return Ok(keys);
        }
        self.modules.set_instances(usize::MAX);
        match before {
            usize::MAX => Err(None),
            _ => {
                let detail = too_many(subject, "together with the others of this run");
                Err(Some(Refused { detail, subject }))
            }
        }
    }

    /// Runs the expansion of a resource.
    pub(crate) fn expand_resource(
        &self,
        node: NodeIx,
        module: ModuleIx,
        entry: &Entry,
    ) -> Result<(), Failed> {
        let resource: &Resource = entry.resource();
        let mut keys = self.keys(module, entry, resource.repetition, 1)?;
        keys.provider_keys = self.choose_providers(module, entry, &keys)?;
        let pending = self.nodes.inherited(node).pending;
        self.nodes.facts(node, |it| it.pending = pending);
        let version = self.version_of_keys(&keys);
        self.nodes.facts(node, |it| it.version = version);
        self.set_outcome(node, Outcome::Keys(Rc::new(keys)));
        Ok(())
    }

    fn version_of_keys(&self, keys: &Keys) -> Version {
        if keys.repeated == Repeated::Single && keys.provider_keys.is_empty() {
            return Version::ONE;
        }
        let (mut names, mut providers) = (String::new(), String::new());
        keys.instances.iter().for_each(|it| _ = write!(names, "{}", it.key));
        keys.provider_keys.values().for_each(|it| _ = write!(providers, "{it}"));
        let names = [names, providers].map(Value::string).into_iter().collect();
        let names = self.reuse.memo(|memo| memo.version_of_value(&Value::tuple(names)));
        let values = keys.instances.iter().map(|it| self.each_version(it));
        self.reuse.memo(|memo| memo.version_of_inputs(memo.inputs(values.chain([names]))))
    }

    /// Runs a module call: adds its module instances to the graph.
    pub(crate) fn expand_call(
        &self,
        rules: &dyn GraphRules,
        module: ModuleIx,
        entry: &Entry,
        local: u32,
    ) -> Result<(), Failed> {
        let call = entry.module_call();
        let caller = self.module(module);
        let pending = self.nodes.inherited(caller.node(local)).pending;
        self.nodes.facts(caller.node(local), |it| it.pending = pending);
        let Declared::Call(_, callee) = &caller.template.nodes[local as usize] else {
            return Ok(());
        };
        // Resources are counted when they are expanded themselves.
        let declared = &self.config.templates[callee.0 as usize].nodes;
        let weight = declared.iter().filter(|it| !matches!(it, Declared::Resource(_))).count();
        let keys = Rc::new(self.keys(module, entry, call.repetition, weight)?);
        let nodes = &caller.template.calls[&call.name];
        let gate = nodes.gate.map(|it| caller.node(it)).or(caller.gate);
        let mut instances = TreeMap::new();
        for (position, each) in keys.instances.iter().enumerate() {
            if position % INSTANCES_AT_ONCE == 0 && self.is_stopping() {
                return Err(Failed);
            }
            let address = caller.address.child(&*call.name, each.key.clone());
            let how = Caller { module, call: entry.clone(), each: each.clone() };
            let passed = self.passed_providers(module, &caller, entry, each)?;
            let place = Placement { address, caller: Some(how), gate, passed };
            let child = self.add_module(rules, *callee, place);
            self.gather(rules, &caller, &call.name, child);
            instances.insert(each.key.clone(), child);
        }
        self.wake_gathering(&caller, &call.name);
        rules.complete_call(&caller, &call.name, &keys);
        caller.set_children(call.name.clone(), Children { keys, instances });
        Ok(())
    }

    /// Makes the nodes that stand for all instances of a call wait for one of the instances.
    fn gather(&self, rules: &dyn GraphRules, caller: &ModuleRun, call: &Str, child: ModuleIx) {
        let child = self.module(child);
        let nodes = &caller.template.calls[call];
        for (name, local) in &child.template.outputs {
            if let Some(gather) = nodes.outputs.get(name) {
                let (dependency, user) = (child.node(*local), caller.node(*gather));
                self.nodes.change(|graph| graph.add_edge(dependency, user, EdgeKind::Value));
            }
        }
        let done = caller.node(nodes.done);
        for (local, declared) in child.template.nodes.iter().enumerate() {
            let is_part = match declared {
                // A data source of a `check` block may run after the module is done, so the call does not wait for
                // it.
                Declared::Resource(entry) => entry.resource().in_check.is_none(),
                // A failed precondition of an output ends what depends on the module.
                Declared::Output(_) => rules.demands(&child, local as u32),
                declared => matches!(declared, Declared::CallDone(_)),
            };
            if is_part && !child.template.lazy[local] {
                let part = child.node(local as u32);
                self.nodes.change(|graph| graph.add_edge(part, done, EdgeKind::DependsOn));
            }
        }
    }

    /// Activates the edges to the instances of a call. The nodes that gather the instances may have been activated
    /// before these edges existed.
    fn wake_gathering(&self, caller: &ModuleRun, call: &Str) {
        let nodes = &caller.template.calls[call];
        for user in nodes.outputs.values().copied().chain([nodes.done]) {
            let user = caller.node(user);
            self.nodes.change(|graph| {
                if graph.status(user) != crate::graph::Status::Idle {
                    graph.activate(user, |_| true);
                }
            });
        }
    }

    /// Reports that the provider configuration of a resource does not exist.
    pub(crate) fn report_missing_provider(&self, entry: &Entry, address: &str) {
        let (name, alias) = provider_name(entry.resource());
        let alias = alias.map(|it| format!(".{it}")).unwrap_or_default();
        let detail = format!(
            "{address} needs the provider configuration {name}{alias}, which this module neither declares nor receives \
             from its caller. Pass it in the \"providers\" argument of the module call."
        );
        let diagnostic = Diagnostic::new(Summary::MISSING_PROVIDER_CONFIGURATION, detail);
        let location = self.config.program.locate(entry.origin, entry.item.header.into());
        self.report(diagnostic.at(location).with_address(address));
    }
}

/// Derives the instances from the value of one form of repetition.
type KeysOf = fn(&Value) -> Result<Keys, Refused>;
