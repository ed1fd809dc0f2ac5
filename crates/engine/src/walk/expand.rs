//! Expansion: the instances of resources and module calls, from `count`, `for_each` and `enabled`.

use std::{collections::BTreeMap, rc::Rc};

use ::values::{Kind, MarkKind, Str, Type, Value, convert};
use addr::InstanceKey;
use db::Diagnostic;
use hir::{
    At, Entry, ExprId,
    item::{Repetition, Resource},
    repetition::{NULL_IN_SET, wrong_type},
};

use super::{
    EngineScope, Failed, GraphRules, ModuleRun, Outcome, Walk,
    modules::{Caller, Children, Placement, provider_name},
};
use crate::{
    graph::{Declared, EdgeKind, ModuleIx, NodeIx},
    memo::Version,
};

/// The most instances of one run: of resources, and of everything else that module instances declare. A typing
/// error in a `count` must not exhaust the memory.
const MOST_INSTANCES: usize = 1_000_000;

/// The number of module instances that are added between two checks for an interruption.
const INSTANCES_AT_ONCE: usize = 1024;

/// The form of repetition of a resource or module call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repeated {
    /// No repetition: exactly one instance.
    Single,
    /// `enabled`: one instance or none.
    Enabled,
    /// `count`: instances with numbers as keys.
    Count,
    /// `for_each`: instances with strings as keys.
    ForEach,
}

/// The instances of a resource or module call.
pub(crate) struct Keys {
    pub(crate) repeated: Repeated,
    /// The instances in the order of their keys.
    pub(crate) instances: Vec<Each>,
}

/// The repetition data of one instance: the values of `each` and `count`.
#[derive(Clone)]
pub(crate) struct Each {
    pub(crate) key: InstanceKey,
    /// The value of `each.value`; `None` without `for_each`.
    pub(crate) value: Option<Value>,
}

impl Each {
    /// The data of the only instance of a block without a key.
    pub(crate) fn single() -> Each {
        Each { key: InstanceKey::None, value: None }
    }
}

impl Keys {
    /// The keys of a block without repetition: exactly one instance.
    pub(crate) fn single() -> Keys {
        Keys { repeated: Repeated::Single, instances: vec![Each::single()] }
    }

    pub(crate) fn contains(&self, key: &InstanceKey) -> bool {
        match (self.repeated, key) {
            (Repeated::Single, InstanceKey::None) => true,
            (Repeated::Count, InstanceKey::Int(index)) => {
                usize::try_from(*index).is_ok_and(|it| it < self.instances.len())
            }
            _ => self.instances.binary_search_by(|it| it.key.cmp(key)).is_ok(),
        }
    }

    /// Combines the values of all instances into one value.
    pub(crate) fn shape(&self, instances: &BTreeMap<InstanceKey, Value>) -> Value {
        match self.repeated {
            Repeated::Single | Repeated::Enabled => instances
                .get(&InstanceKey::None)
                .cloned()
                .unwrap_or_else(|| Value::null(Type::Dynamic)),
            Repeated::Count => Value::tuple(instances.values().cloned().collect()),
            Repeated::ForEach => Value::object(
                instances
                    .iter()
                    .filter_map(|(key, value)| match key {
                        InstanceKey::String(key) => Some((Str::from(key.as_str()), value.clone())),
                        _ => None,
                    })
                    .collect(),
            ),
        }
    }
}

impl Walk<'_> {
    /// Evaluates a repetition in a module instance. Each instance counts `weight` times towards
    /// [`MOST_INSTANCES`].
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
        let what = match repetition {
            Repetition::ForEach(_) => "for_each",
            Repetition::Enabled(_) => "enabled",
            _ => "count",
        };
        let scope = EngineScope::new(self, module, None);
        let value = self.evaluate(&scope, entry, expr, None)?;
        let keys = check(&value).map_err(Some);
        let keys = keys.and_then(|keys| self.with_room(keys, weight, what));
        // A `for_each` map may have ephemeral values, which its instances then hold.
        if value.has_deep(MarkKind::Ephemeral) {
            self.reuse.note_ephemeral_instances();
        }
        keys.map_err(|refused| self.refuse_keys(entry, expr.into(), refused))
    }

    fn refuse_keys(&self, entry: &Entry, at: At, refused: Option<Refused>) -> Failed {
        let Some((detail, what)) = refused else { return Failed };
        let id = match what {
            "module" => "too-many-instances",
            _ => "invalid-repetition-value",
        };
        let summary = match what {
            "module" => "Too many instances".to_owned(),
            what => format!("Invalid {what} argument"),
        };
        self.report_at(entry, at, None, Diagnostic::error(id, summary, detail));
        Failed
    }

    /// Returns the keys if the run may have that many more instances. The first expansion beyond the limit returns
    /// an error with a message, all later ones an error without.
    fn with_room(
        &self,
        keys: Keys,
        weight: usize,
        what: &'static str,
    ) -> Result<Keys, Option<Refused>> {
        let before = self.modules.instances();
        let total = before.saturating_add(keys.instances.len().saturating_mul(weight));
        if total <= MOST_INSTANCES {
            self.modules.set_instances(total);
            return Ok(keys);
        }
        self.modules.set_instances(usize::MAX);
        match before {
            usize::MAX => Err(None),
            _ => Err(Some((too_many(what, "together with the others of this run"), what))),
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
        let keys = self.keys(module, entry, resource.repetition, 1)?;
        let pending = self.nodes.inherited(node).pending;
        self.nodes.facts(node, |it| it.pending = pending);
        if keys.repeated == Repeated::Single {
            self.nodes.facts(node, |it| it.version = Version::ONE);
            self.set_outcome(node, Outcome::Keys(Rc::new(keys)));
            return Ok(());
        }
        let names: String = keys.instances.iter().map(|it| it.key.to_string()).collect();
        let names = self.reuse.memo(|memo| memo.version_of_value(&Value::string(names)));
        let values = keys.instances.iter().map(|it| self.each_version(it));
        let version =
            self.reuse.memo(|memo| memo.version_of_inputs(memo.inputs(values.chain([names]))));
        self.nodes.facts(node, |it| it.version = version);
        self.set_outcome(node, Outcome::Keys(Rc::new(keys)));
        Ok(())
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
        let passed = self.passed_providers(&caller, entry)?;
        let mut instances = BTreeMap::new();
        for (position, each) in keys.instances.iter().enumerate() {
            if position % INSTANCES_AT_ONCE == 0 && self.is_stopping() {
                return Err(Failed);
            }
            let address = caller.address.child(&*call.name, each.key.clone());
            let how = Caller { module, call: entry.clone(), each: each.clone() };
            let place = Placement { address, caller: Some(how), gate, passed: passed.clone() };
            let child = self.add_module(rules, *callee, place);
            self.gather(&caller, &call.name, child);
            instances.insert(each.key.clone(), child);
        }
        self.wake_gathering(&caller, &call.name);
        rules.complete_call(&caller, &call.name, &keys);
        caller.children.borrow_mut().insert(call.name.clone(), Children { keys, instances });
        Ok(())
    }

    /// Makes the nodes that stand for all instances of a call wait for one of the instances.
    fn gather(&self, caller: &ModuleRun, call: &Str, child: ModuleIx) {
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

    fn passed_providers(
        &self,
        caller: &Rc<ModuleRun>,
        entry: &Entry,
    ) -> Result<BTreeMap<(Str, Option<Str>), NodeIx>, Failed> {
        let mut passed = BTreeMap::new();
        for it in entry.module_call().providers.iter().flatten() {
            if it.parent.key.is_some() {
                self.report_unsupported(
                    entry,
                    it.parent.node.into(),
                    "provider instances chosen by a key",
                );
                return Err(Failed);
            }
            if let Some(node) =
                self.find_provider(caller, &it.parent.local_name, it.parent.alias.as_ref())
            {
                passed.insert((it.child_name.clone(), it.child_alias.clone()), node);
            }
        }
        Ok(passed)
    }

    /// Reports that the provider configuration of a resource does not exist.
    pub(crate) fn report_missing_provider(&self, entry: &Entry, address: &str) {
        let (name, alias) = provider_name(entry.resource());
        let alias = alias.map(|it| format!(".{it}")).unwrap_or_default();
        let detail = format!(
            "{address} needs the provider configuration {name}{alias}, which this module neither declares nor receives \
             from its caller. Pass it in the \"providers\" argument of the module call."
        );
        let diagnostic = Diagnostic::error(
            "missing-provider-configuration",
            "Provider configuration not present",
            detail,
        );
        let location = self.config.program.locate(entry.origin, entry.item.header.into());
        self.report(diagnostic.at(location).with_address(address));
    }
}

type Refused = (String, &'static str);

/// Derives the instances from the value of one form of repetition.
type KeysOf = fn(&Value) -> Result<Keys, Refused>;

const EPHEMERAL: &str =
    "Ephemeral values, or values derived from ephemeral values, cannot be used as";
const SENSITIVE: &str =
    "Sensitive values, or values derived from sensitive values, cannot be used as";

fn count_keys(value: &Value) -> Result<Keys, Refused> {
    let refuse = |detail: String| Err((detail, "count"));
    if value.has_deep(MarkKind::Ephemeral) {
        return refuse(format!(
            "{EPHEMERAL} count arguments. If used, the ephemeral value could be exposed as a resource instance key."
        ));
    }
    // A sensitive `count` is accepted, as OpenTofu does: the keys are consecutive numbers, whatever the value was
    // derived from.
    let value = match convert::convert(&value.without_all_marks(), &Type::Number) {
        Ok(value) => value,
        Err(error) => {
            return refuse(format!("The given \"count\" argument value is unsuitable: {error}."));
        }
    };
    match value.kind() {
        Kind::Null => refuse(
            "The given \"count\" argument value is null. An integer is required.".to_owned(),
        ),
        Kind::Number(number) => match number.to_usize() {
            Some(count) if count > MOST_INSTANCES => refuse(too_many("count", "by itself")),
            Some(count) => Ok(Keys {
                repeated: Repeated::Count,
                instances: (0..count as i64)
                    .map(|index| Each { key: InstanceKey::Int(index), value: None })
                    .collect(),
            }),
            None => refuse(
                "The given \"count\" argument value is unsuitable: it must be a whole number, zero \
                 or greater.".to_owned(),
            ),
        },
        _ => refuse(unknown("count")),
    }
}

fn too_many(what: &str, how: &str) -> String {
    let subject = match what {
        "module" => "This module call is unsuitable".to_owned(),
        what => format!("The given \"{what}\" argument value is unsuitable"),
    };
    format!(
        "{subject}: {how} it makes more than {MOST_INSTANCES} instances of resources and of what \
         modules declare, which is the most that Mayfly keeps in one run. Divide the \
         configuration, or correct the value."
    )
}

fn for_each_keys(value: &Value) -> Result<Keys, Refused> {
    let refuse = |detail: String| Err((detail, "for_each"));
    let refuse_set = |detail: String| Err((detail, "for_each set"));
    let (bare, marks) = value.unmark();
    let is_set = matches!(bare.ty(), Type::Set(_));
    if marks.has(MarkKind::Ephemeral) || (is_set && value.has_deep(MarkKind::Ephemeral)) {
        return refuse(format!(
            "{EPHEMERAL} for_each arguments. If used, the ephemeral value could be exposed as a resource instance key."
        ));
    }
    if marks.has(MarkKind::Sensitive) {
        return refuse(format!(
            "{SENSITIVE} for_each arguments. If used, the sensitive value could be exposed as a resource instance key."
        ));
    }
    let each = |key: &str, value: &Value| Each {
        key: InstanceKey::string(key),
        value: Some(value.clone()),
    };
    let instances = match bare.kind() {
        Kind::Null => {
            return refuse(
                "The given \"for_each\" argument value is unsuitable: the given \"for_each\" \
                 argument value is null. A map, or set of strings is allowed."
                    .to_owned(),
            );
        }
        Kind::Unknown(_) => return refuse(unknown("for_each")),
        Kind::Map(entries) | Kind::Object(entries) => {
            entries.iter().map(|(key, value)| each(key, value)).collect()
        }
        Kind::Set(elements) if elements.iter().any(|it| !it.is_known()) => {
            return refuse(unknown("for_each"));
        }
        Kind::Set(elements) => {
            let mut instances = Vec::with_capacity(elements.len());
            for element in elements {
                match element.kind() {
                    Kind::String(key) => instances.push(each(key, element)),
                    Kind::Null => {
                        return refuse_set(unsuitable_for_each(NULL_IN_SET));
                    }
                    _ => return refuse_set(unsuitable_for_each(&wrong_type(&bare.ty()))),
                }
            }
            instances
        }
        _ => return refuse(unsuitable_for_each(&wrong_type(&bare.ty()))),
    };
    let mut instances: Vec<Each> = instances;
    instances.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(Keys { repeated: Repeated::ForEach, instances })
}

fn unsuitable_for_each(why: &str) -> String {
    format!("The given \"for_each\" argument value is unsuitable: {why}.")
}

fn enabled_keys(value: &Value) -> Result<Keys, Refused> {
    let refuse = |why: &str| {
        Err((format!("The given \"enabled\" argument value is unsuitable: {why}."), "enabled"))
    };
    if value.has_deep(MarkKind::Ephemeral) {
        return refuse("the given value is ephemeral");
    }
    if value.has_deep(MarkKind::Sensitive) {
        return refuse("the given value is sensitive");
    }
    let value = match convert::convert(&value.without_all_marks(), &Type::Bool) {
        Ok(value) => value,
        Err(_) => return refuse("a bool is required"),
    };
    match value.kind() {
        Kind::Bool(true) => {
            Ok(Keys { repeated: Repeated::Enabled, instances: vec![Each::single()] })
        }
        Kind::Bool(false) => Ok(Keys { repeated: Repeated::Enabled, instances: Vec::new() }),
        Kind::Null => refuse("the given value is null"),
        _ => refuse("the given value is derived from a value that is not known until apply"),
    }
}

fn unknown(what: &str) -> String {
    format!(
        "The \"{what}\" value depends on resource attributes that cannot be determined until apply, so Mayfly cannot \
         predict how many instances will be created. To work around this, let it depend on values that are \
         known, such as variables, or apply what it depends on first, from a configuration of its own."
    )
}
