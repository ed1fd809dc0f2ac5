//! The limits of a plan with targets, for nodes and for single objects.

use std::rc::Rc;

use addr::{InstanceKey, ResourceInstance};
use db::{Diagnostic, Summary};
use hir::Entry;
use state::{CheckKind, CheckStatus};
use values::Value;

use crate::{
    graph::{NodeIx, tree::ConfigNode},
    relevance::CalledOutputs,
    resource::subject::has_conditions,
    runs::{orphans::GoneObject, planning::Planning},
    targeting::Targeting,
    walk::{
        checks::Checked,
        instances::{Each, Keys},
        modules::ModuleRun,
    },
};

impl Planning<'_> {
    /// Returns true if a node of a module instance runs even if no other node needs it, as far as the limits of the
    /// plan decide that.
    pub(crate) fn is_within_limits(&self, module: &ModuleRun, local: u32) -> bool {
        let tree = &self.config.tree;
        self.selection.as_ref().is_none_or(|selection| {
            tree.find(&module.path)
                .is_some_and(|module| selection.demands(tree, ConfigNode { module, local }))
        })
    }

    /// Returns true if the plan keeps the block of an orphan in a module instance that no longer exists; `None` if the
    /// configuration has no such block.
    pub(crate) fn keeps_block_of(&self, address: &addr::AbsResource) -> Option<bool> {
        let node = self.config.tree.resource(&address.config())?;
        Some(self.selection.as_ref().is_none_or(|it| it.keeps(node)))
    }

    /// Returns true if an object that no block plans is within the limits of the plan.
    pub(crate) fn selects(&self, instance: &ResourceInstance) -> bool {
        self.selection.as_ref().is_none_or(|it| it.targeting().selects(instance))
    }

    /// The limits that hold for the instances of a resource; `None` if all of them run.
    pub(crate) fn limits_of(&self, node: NodeIx, module: &ModuleRun) -> Option<&Targeting> {
        let selection = self.selection.as_ref()?;
        let local = node.0 - module.base;
        let module = self.config.tree.find(&module.path)?;
        selection.is_chosen(ConfigNode { module, local }).then(|| selection.targeting())
    }

    /// Returns true if an instance of a resource runs.
    pub(crate) fn any_runs(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
        keys: &Keys,
    ) -> bool {
        let Some(limits) = self.limits_of(node, module) else { return !keys.instances.is_empty() };
        let address = entry.resource().resource.clone().in_module(module.address.clone());
        keys.instances.iter().any(|each| limits.selects(&address.instance(each.key.clone())))
    }

    /// Gives the instances that the limits of the plan leave out the values of their objects, and returns the others.
    pub(crate) fn leave_out_instances<'k>(
        &self,
        node: NodeIx,
        module: &Rc<ModuleRun>,
        entry: &Entry,
        keys: &'k Keys,
    ) -> Vec<&'k Each> {
        let Some(limits) = self.limits_of(node, module) else {
            return keys.instances.iter().collect();
        };
        let address = entry.resource().resource.clone().in_module(module.address.clone());
        let (selected, others): (Vec<&Each>, Vec<&Each>) = keys
            .instances
            .iter()
            .partition(|each| limits.selects(&address.instance(each.key.clone())));
        for each in others {
            let Ok(subject) = self.subject(node, entry, &each.key) else { continue };
            if has_conditions(entry) {
                self.expect_conditions(subject.address());
            }
            let absent = Value::unknown(subject.ty().clone());
            self.nodes.change_resource(node, |it| it.absent = Some(absent));
            // An object that cannot be decoded is reported, and its value is unknown.
            let _ = self.keep_as_is(&subject, each);
        }
        selected
    }

    /// Records that the conditions of an instance are not evaluated.
    fn expect_conditions(&self, address: &ResourceInstance) {
        let (config_addr, addr) = (address.config().to_string(), address.to_string());
        let checked = Checked { kind: CheckKind::Resource, config_addr: &config_addr, addr: &addr };
        self.checks.record(checked, CheckStatus::Unknown, None);
    }

    /// Warns about requests for replacement that match no instance, because they have no instance key.
    pub(crate) fn warn_unmatched_replace(&self, module: &ModuleRun, entry: &Entry, keys: &Keys) {
        let address = entry.resource().resource.clone().in_module(module.address.clone());
        let Some(requests) = self.options.replace_unkeyed.get(&address.config()) else { return };
        let options: String = keys
            .instances
            .iter()
            .map(|each| {
                let instance = address.instance(each.key.clone()).to_string();
                format!("\n  -replace={instance:?}")
            })
            .collect();
        let how = match keys.instances.as_slice() {
            [only] if only.key.is_none() => return,
            [] => "because this resource doesn't have any instances.".to_owned(),
            [_] => format!(
                "because it lacks an instance key.\n\nTo force replacement of the single declared instance, use the \
                 following option instead:{options}"
            ),
            _ => format!(
                "because it lacks an instance key.\n\nTo force replacement of particular instances, use one or more \
                 of the following options instead:{options}"
            ),
        };
        for request in requests {
            let detail = format!(
                "Your force-replace request for {request} doesn't match any resource instances {how}"
            );
            self.report(Diagnostic::new(Summary::UNMATCHED_REPLACE, detail));
        }
    }

    /// The outputs of called modules that the plan computed and that are not null.
    pub(crate) fn called_outputs(&self) -> CalledOutputs {
        let mut found = CalledOutputs::new();
        for module in self.modules.all().iter().filter(|it| it.caller.is_some()) {
            for (name, local) in &module.template.outputs {
                let value = self.nodes.value(module.node(*local));
                if value.is_some_and(|it| !it.is_null()) {
                    found.push((module.address.clone(), name.clone()));
                }
            }
        }
        found
    }

    /// Drops the objects without an instance that the limits of the plan leave out.
    pub(crate) fn limit_gone(
        &self,
        node: NodeIx,
        module: &ModuleRun,
        entry: &Entry,
        gone: &mut Vec<GoneObject>,
    ) {
        if self.selection.is_none() || gone.is_empty() {
            return;
        }
        let limits = self.limits_of(node, module);
        let address = entry.resource().resource.clone().in_module(module.address.clone());
        let stay = |key: &InstanceKey| {
            let Ok(subject) = self.subject(node, entry, key) else { return };
            let _ = self.keep_as_is(&subject, &Each { key: key.clone(), value: None });
        };
        gone.retain(|it| {
            let instance = address.instance(it.key.clone());
            match it.deposed {
                // No node depends on a deposed object, so it is planned only if it is addressed itself.
                Some(_) => self.selects(&instance),
                None if limits.is_none_or(|limits| limits.selects(&instance)) => true,
                // The object stays, so references see it.
                None => {
                    stay(&it.key);
                    false
                }
            }
        });
    }
}
