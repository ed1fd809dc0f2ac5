//! The causes of the end of an object: its destruction, or its release from management.

use std::rc::Rc;

use addr::{InstanceKey, ModuleInstance, ResourceInstance};
use hir::item::Repetition;
use state::{Reason, ResourceChange};

use crate::{
    finding::{Fact, Finding},
    search::{Collected, Search, Site},
};

impl<'a> Search<'_, 'a> {
    pub(crate) fn of_end(&mut self, change: &ResourceChange) -> Collected {
        let address = &change.addr;
        if let Some(mode) = self.of_mode(address) {
            return Collected::of(mode);
        }
        let site = self.site(address);
        match change.reason {
            Some(
                Reason::DeleteBecauseCountIndex
                | Reason::DeleteBecauseEachKey
                | Reason::DeleteBecauseEnabledFalse
                | Reason::DeleteBecauseWrongRepetition,
            ) => match site {
                Some(site) => self.of_lost_instance(site, address),
                None => Collected::default(),
            },
            Some(Reason::DeleteBecauseNoModule) => self.of_lost_module(&address.module),
            Some(Reason::DeleteBecauseNoMoveTarget) => {
                let block = self.analysis.blocks().moved_to(address);
                let place = block.and_then(|it| self.header(it));
                Collected::of(Finding::root(address.to_string(), Fact::NoMoveTarget, place))
            }
            Some(
                reason @ (Reason::ForgotBecauseLifecycleDestroyInConfig
                | Reason::ForgotBecauseLifecycleDestroyInState),
            ) => self.of_kept(address, reason),
            _ => self.of_lost_block(address),
        }
    }

    /// The causes of an instance that its block does not declare: the value of its argument, or another argument.
    fn of_lost_instance(&mut self, site: Site<'a>, address: &ResourceInstance) -> Collected {
        let block = site.module.name(&address.resource);
        let fits = matches!(
            (site.entry.item.repetition(), &address.key),
            (Repetition::Count(_), InstanceKey::Int(_))
                | (Repetition::ForEach(_), InstanceKey::String(_))
                | (Repetition::Enabled(_), InstanceKey::None)
        );
        let found = fits.then(|| self.of_instance(&site, &block, false)).flatten();
        Collected::of(found.unwrap_or_else(|| {
            let place = self.header(site.entry);
            Finding::root(address.to_string(), Fact::WrongRepetition, place)
        }))
    }

    fn of_kept(&mut self, address: &ResourceInstance, reason: Reason) -> Collected {
        let in_state = reason == Reason::ForgotBecauseLifecycleDestroyInState;
        let place = self.site(address).and_then(|it| self.header(it.entry));
        let fact = Fact::KeptByLifecycle { in_state };
        let kept = Finding::root(address.to_string(), fact, place);
        let mut causes = match self.site(address) {
            Some(site) if self.is_declared(&address.module) => self.of_lost_instance(site, address),
            Some(_) => self.of_lost_module(&address.module),
            None => self.of_lost_block(address),
        };
        causes.list.push(kept);
        causes
    }

    /// The causes of an object without a block: a `removed` block, a missing call, or nothing else.
    fn of_lost_block(&mut self, address: &ResourceInstance) -> Collected {
        let subject = address.to_string();
        let removals = &self.analysis.blocks().removals;
        if let Some(block) = removals.block(&address.config()) {
            let destroy = removals.destroys(&address.config()).unwrap_or(false);
            let place = self.analysis.places.of(block, block.item.header);
            return Collected::of(Finding::root(subject, Fact::RemovedBlock { destroy }, place));
        }
        match self.analysis.module(&address.module) {
            Some(_) => Collected::of(Finding::root(subject, Fact::NoBlock, None)),
            None => self.of_lost_module(&address.module),
        }
    }

    /// Returns true if calls declare an instance of a module.
    pub(crate) fn is_declared(&self, module: &ModuleInstance) -> bool {
        let Some((caller, step)) = module.split_last() else { return true };
        let has_instance = || {
            let pair = self.analysis.module(&caller)?;
            let (call, _) = pair.module().calls.get(step.name.as_str())?;
            Some(pair.after.has_instance(&call.item, &step.key))
        };
        self.is_declared(&caller) && has_instance() == Some(true)
    }

    /// The outermost call that does not lead to a module instance any more.
    pub(crate) fn of_lost_module(&mut self, module: &ModuleInstance) -> Collected {
        let mut around = ModuleInstance::root();
        for step in module.steps() {
            let Some(pair) = self.analysis.module(&around) else { break };
            let inner = around.child(step.name.clone(), step.key.clone());
            let Some((call, _)) = pair.module().calls.get(step.name.as_str()) else {
                return Collected::of(Finding::root(inner.to_string(), Fact::NoModule, None));
            };
            let site = Site { module: Rc::clone(&pair), entry: call, key: step.key.clone() };
            if !pair.after.has_instance(&call.item, &step.key) {
                let block = pair.name(format_args!("module.{}", step.name));
                let place = self.header(call);
                let found = self.of_instance(&site, &block, false);
                return Collected::of(found.unwrap_or_else(|| {
                    Finding::root(inner.to_string(), Fact::WrongRepetition, place)
                }));
            }
            around = inner;
        }
        let address = module.to_string();
        Collected::of(Finding::root(address, Fact::NoModule, None))
    }
}
