//! Instances: why `count`, `for_each` and `enabled` declare an instance, or do not.

use std::rc::Rc;

use addr::{InstanceKey, ModuleInstance, ResourceInstance, ResourceMode, Target};
use hir::{
    Entry, ExprId,
    item::{RefTarget, Repetition},
};
use values::Value;

use crate::{
    analysis::ModulePair,
    finding::{Fact, Finding, Switch},
    search::{Collected, Interest, Search, Site},
};

impl<'a> Search<'_, 'a> {
    /// The arguments that declare an instance, those of the resource first, then those of the calls around it. Empty
    /// if none of them has such an argument.
    pub(crate) fn of_existence(&mut self, address: &ResourceInstance) -> Collected {
        let mut causes = Collected::default();
        if let Some(site) = self.site(address) {
            let subject = site.module.name(&address.resource);
            causes.list.extend(self.of_instance(&site, &subject, true));
        }
        causes.add(self.of_module_existence(&address.module));
        causes
    }

    /// The arguments that declare an instance of a module.
    pub(crate) fn of_module_existence(&mut self, module: &ModuleInstance) -> Collected {
        let mut causes = Collected::default();
        let mut module = module.clone();
        while let Some((caller, step)) = module.split_last() {
            if let Some(pair) = self.analysis.module(&caller)
                && let Some((call, _)) = pair.module().calls.get(step.name.as_str())
            {
                let subject = pair.name(format_args!("module.{}", step.name));
                let site = Site { module: Rc::clone(&pair), entry: call, key: step.key.clone() };
                causes.list.extend(self.of_instance(&site, &subject, true));
            }
            module = caller;
        }
        causes
    }

    /// The argument that declares an instance of a block, or no longer does. `None` if the block has none.
    pub(crate) fn of_instance(
        &mut self,
        site: &Site<'a>,
        block: &str,
        includes: bool,
    ) -> Option<Finding> {
        let (by, expr) = switch(site.entry)?;
        let all = Site { key: InstanceKey::None, ..site.clone() };
        let value = self.pair(&all, expr).after;
        let key = match &site.key {
            InstanceKey::None => String::new(),
            InstanceKey::Int(index) => index.to_string(),
            InstanceKey::String(key) => addr::quote(key),
        };
        let value = self.shown(&keys_only(&value, by));
        let subject = format!("{} of {block}", by.name());
        let finding = Finding::root(
            &*subject,
            Fact::Instances { by, value, includes, key },
            self.place(site, expr),
        );
        if !self.begins(&subject, Interest::Made) {
            return Some(finding);
        }
        let outer = self.visibility;
        let pair = self.pair(&all, expr);
        self.hide(&pair);
        let causes = self.of_switch(&all, expr);
        self.visibility = outer;
        Some(finding.because_of(causes))
    }

    /// The block of a resource, with the key of the instance that an address names.
    pub(crate) fn declared(&self, target: &Target) -> Option<Site<'a>> {
        match target {
            Target::Module(_) => None,
            Target::Resource(it) => self.site(&it.instance(InstanceKey::None)),
            Target::Instance(it) => self.site(it),
        }
    }

    /// Explains why a block has no object.
    pub(crate) fn of_absent(&mut self, target: &Target) -> Option<Finding> {
        let site = self.declared(target)?;
        let place = self.header(site.entry);
        let subject = target.to_string();
        if site.entry.resource().resource.mode == ResourceMode::Ephemeral {
            return Some(Finding::root(subject, Fact::DeclaredEphemeral, place));
        }
        if let Some(cause) = self.analysis.left_out_block(target, &site) {
            return Some(Finding::root(subject, Fact::NotPlanned, place).because([cause]));
        }
        let block = site.module.name(&site.entry.resource().resource);
        let cause = self.of_instance(&site, &block, false);
        Some(Finding::root(subject, Fact::NoInstance, place).because(cause))
    }

    /// The references that changed the value of an argument, or else all that it is made from.
    fn of_switch(&mut self, site: &Site<'a>, expr: ExprId) -> Collected {
        let changed = self.of_expr(site, expr, &[], Interest::Changed);
        match changed.list.is_empty() {
            true => self.of_expr(site, expr, &[], Interest::Made),
            false => changed,
        }
    }

    /// The entries of `depends_on`, of the block and of the calls around it, that have pending changes.
    pub(crate) fn of_dependencies(&mut self, site: &Site<'a>) -> Collected {
        let mut causes = Collected::default();
        let own = site.entry.resource().depends_on.iter();
        let own: Vec<RefTarget> = own.map(|it| it.target.clone()).collect();
        let mut module = Rc::clone(&site.module);
        causes.add(self.of_targets(&module, own));
        while let Some((caller, step)) = module.instance.split_last() {
            let Some(pair) = self.analysis.module(&caller) else { break };
            if let Some((call, _)) = pair.module().calls.get(step.name.as_str()) {
                let targets = call.module_call().depends_on.iter();
                let targets: Vec<RefTarget> = targets.map(|it| it.target.clone()).collect();
                causes.add(self.of_targets(&pair, targets));
            }
            module = pair;
        }
        causes
    }

    fn of_targets(&mut self, module: &Rc<ModulePair<'a>>, targets: Vec<RefTarget>) -> Collected {
        let changes = targets.iter().flat_map(|it| self.pending(module, it)).collect();
        self.collect(changes, |search, it| Some(search.of_change(it)))
    }

    /// The planned changes of a dependency.
    fn pending(
        &self,
        module: &ModulePair<'a>,
        target: &RefTarget,
    ) -> Vec<&'a state::ResourceChange> {
        let is_pending = |it: &&state::ResourceChange| crate::analysis::is_change(it);
        match target {
            RefTarget::Resource(resource) => {
                let address = resource.clone().in_module(module.instance.clone());
                let changes = self.analysis.after.changes_of(&address).iter().copied();
                changes.filter(is_pending).collect()
            }
            RefTarget::Module(call) | RefTarget::ModuleOutput(call, _) => {
                let depth = module.instance.steps().len();
                let is_inside = |it: &&state::ResourceChange| {
                    let step = it.addr.module.steps().get(depth);
                    module.instance.contains(&it.addr.module)
                        && step.is_some_and(|step| *step.name == **call)
                };
                let all = self.analysis.inputs.plan.changes();
                all.filter(is_inside).filter(is_pending).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The argument of a block that makes its instances.
fn switch(entry: &Entry) -> Option<(Switch, ExprId)> {
    match entry.item.repetition() {
        Repetition::Single => None,
        Repetition::Count(expr) => Some((Switch::Count, expr)),
        Repetition::ForEach(expr) => Some((Switch::ForEach, expr)),
        Repetition::Enabled(expr) => Some((Switch::Enabled, expr)),
    }
}

/// The keys of a `for_each` as a list. Other values stay.
fn keys_only(value: &Value, by: Switch) -> Value {
    match value.as_map() {
        Some(map) if by == Switch::ForEach && !value.has_deep_secret() => {
            Value::tuple(map.keys().map(|it| Value::string(it.clone())).collect())
        }
        _ => value.clone(),
    }
}
