//! The objects and outputs that `-target` and `-exclude` leave out of a plan.

use addr::{InstanceKey, ModuleInstance, ResourceInstance, ResourceMode, Target};

use crate::{
    analysis::Analysis,
    finding::{Fact, Finding, Limit},
    search::Site,
};

/// The most addresses of the options in one sentence.
const MOST_ADDRESSES: usize = 3;

impl Analysis<'_> {
    /// Explains why a plan leaves an object out. `None` if it does not.
    pub(crate) fn left_out(&self, instance: &ResourceInstance) -> Option<Finding> {
        let kept = self.kept()?;
        let is_kept = match instance.resource.mode {
            // The plan has a change of each managed object that it keeps, if only one that does nothing.
            ResourceMode::Managed => self.change(instance).is_some(),
            _ => kept.contains(&instance.config().to_string()),
        };
        (!is_kept).then(|| self.limit(instance.to_string(), |it| it.covers(instance)))
    }

    /// Explains why a plan leaves out what a block declares: all of it, or the instance that the address names.
    pub(crate) fn left_out_block(&self, target: &Target, site: &Site<'_>) -> Option<Finding> {
        let kept = self.kept()?;
        let block = site.module.instance.path();
        let resource = site.entry.resource().resource.clone();
        let name = addr::ConfigResource { module: block, resource }.to_string();
        let is_declared = || site.module.after.has_instance(&site.entry.item, &site.key);
        let is_left_out = !kept.contains(&name) || is_declared();
        let is_excluded = |it: &Target| match target {
            Target::Instance(instance) => it.covers(instance),
            Target::Resource(resource) => it.covers(&resource.instance(InstanceKey::None)),
            Target::Module(_) => false,
        };
        is_left_out.then(|| self.limit(target.to_string(), is_excluded))
    }

    /// Explains why a plan leaves out a whole module.
    pub(crate) fn left_out_module(&self, module: &ModuleInstance) -> Option<Finding> {
        self.kept()?;
        let has_any = self.inputs.plan.changes().any(|it| module.contains(&it.addr.module));
        let is_around = |it: &Target| matches!(it, Target::Module(outer) if outer.contains(module));
        (!has_any).then(|| self.limit(module.to_string(), is_around))
    }

    /// Explains why a plan leaves out an output of the root module.
    pub(crate) fn left_out_output(&self, name: &str) -> Option<Finding> {
        let subject = format!("output.{name}");
        let is_kept = self.kept()?.contains(&subject);
        (!is_kept).then(|| self.limit(subject, |_| false))
    }

    fn limit(&self, subject: String, is_excluded: impl Fn(&Target) -> bool) -> Finding {
        let plan = self.inputs.plan;
        // As in OpenTofu, targets come first if there are both.
        let excluding = plan.excludes.iter().find(|it| plan.targets.is_empty() && is_excluded(it));
        let (by, addresses) = match (excluding, plan.targets.is_empty()) {
            (Some(it), _) => (Limit::Excluded, std::slice::from_ref(it)),
            (None, true) => (Limit::DependsOnExcluded, plan.excludes.as_slice()),
            (None, false) => (Limit::NoTarget, plan.targets.as_slice()),
        };
        Finding::root(subject, Fact::LeftOut { by, addresses: shortened(addresses) }, None)
    }
}

fn shortened(addresses: &[Target]) -> String {
    let shown = addresses.iter().take(MOST_ADDRESSES).map(ToString::to_string);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match addresses.len().saturating_sub(MOST_ADDRESSES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
