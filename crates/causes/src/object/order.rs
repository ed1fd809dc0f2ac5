//! The order of a replacement: `create_before_destroy` of the block or of a dependent, and `destroy = false`.

use addr::{ConfigResource, ResourceInstance};
use state::{Action, ResourceChange};

use crate::{
    finding::{Fact, Finding},
    search::{Search, Site},
};

/// The most dependents between an object and the block that has the setting.
const MOST_DEPENDENTS: usize = 4;

impl<'a> Search<'_, 'a> {
    /// Explains the order of a replacement, and why it keeps the old object. `None` for the usual order.
    pub(super) fn of_order(&self, site: &Site<'a>, change: &ResourceChange) -> Option<Finding> {
        match change.change.action {
            Action::CreateThenDelete => Some(self.created_first(site, &change.addr)),
            Action::ForgetThenCreate => {
                let fact = Fact::KeptByLifecycle { in_state: false };
                Some(Finding::root(change.addr.to_string(), fact, self.header(site.entry)))
            }
            _ => None,
        }
    }

    /// Explains why the new object is created before the old one is destroyed.
    fn created_first(&self, site: &Site<'a>, address: &ResourceInstance) -> Finding {
        let mut dependents = self.dependents(&address.config());
        let fact = Fact::CreatedFirst { for_dependent: !dependents.is_empty() };
        let finding = Finding::root(address.to_string(), fact, self.header(site.entry));
        let Some(last) = dependents.pop() else { return finding };
        let omitted = dependents.len().saturating_sub(MOST_DEPENDENTS);
        dependents.truncate(MOST_DEPENDENTS);
        let to = dependents.last().map_or(address.config(), |it| it.clone());
        let cause = Finding { more: omitted, ..self.spread(&last, &to, true) };
        let chain = dependents.iter().enumerate().rev().fold(cause, |cause, (index, it)| {
            let to = index.checked_sub(1).map_or(address.config(), |it| dependents[it].clone());
            self.spread(it, &to, false).because([cause])
        });
        finding.because([chain])
    }

    /// The dependents that spread the setting to a resource, from its own one to the one that has the setting.
    fn dependents(&self, resource: &ConfigResource) -> Vec<ConfigResource> {
        let order = self.analysis.created_first();
        let next = |it: &ConfigResource| order.spread_by(it).cloned();
        std::iter::successors(next(resource), next).collect()
    }

    fn spread(&self, from: &ConfigResource, to: &ConfigResource, has_setting: bool) -> Finding {
        let names = from.module.names().iter().map(|it| it.as_str());
        let module = self.analysis.inputs.program.module_at(names);
        let entry = module.and_then(|it| it.resources.get(&from.resource));
        let place = entry.and_then(|it| self.header(it));
        let fact = Fact::SpreadsOrder { to: to.to_string(), has_setting };
        Finding::root(from.to_string(), fact, place)
    }
}
