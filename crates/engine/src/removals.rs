//! Removals: what `removed` blocks say about objects that the configuration no longer declares.
//!
//! A block in a module holds in each of its instances, for all instances of the resource or module that it names.

use addr::{ConfigResource, ModulePath, SmolStr, Target};
use db::{Diagnostic, Summary};
use hir::{Entry, Program, item::Removed};
use sorted::TreeMap;

use crate::walk::context::Walk;

/// The `removed` blocks of a configuration.
#[derive(Default)]
pub struct Removals {
    resources: TreeMap<ConfigResource, Entry>,
    modules: TreeMap<ModulePath, Entry>,
}

impl Removals {
    /// Collects the `removed` blocks of a configuration.
    pub fn of(program: &Program) -> Removals {
        let mut removals = Removals::default();
        for block in program.others() {
            removals.add(block.module.names(), block.entry);
        }
        removals
    }

    fn add(&mut self, outer: &[SmolStr], entry: &Entry) {
        let Some(removed) = entry.item.kind.as_removed() else { return };
        let inner = removed.from.module().steps().iter().map(|it| it.name.clone());
        let module = ModulePath::new(outer.iter().cloned().chain(inner));
        let resource = match &removed.from {
            Target::Module(_) => {
                self.modules.insert(module, entry.clone());
                return;
            }
            Target::Resource(it) => it.resource.clone(),
            Target::Instance(it) => it.resource.clone(),
        };
        self.resources.insert(ConfigResource { module, resource }, entry.clone());
    }

    /// The block about a resource: about the resource itself, or about the innermost module around it. `None` if there
    /// is none.
    pub fn block(&self, resource: &ConfigResource) -> Option<&Entry> {
        if let Some(block) = self.resources.get(resource) {
            return Some(block);
        }
        let names = resource.module.names();
        let modules =
            (1..=names.len()).rev().map(|it| ModulePath::new(names[..it].iter().cloned()));
        modules.filter(|_| !self.modules.is_empty()).find_map(|it| self.modules.get(&it))
    }

    /// The value of `destroy` in the block about a resource, or false if the block has none. `None` without a block.
    pub fn destroys(&self, resource: &ConfigResource) -> Option<bool> {
        let removed = self.block(resource)?.item.kind.as_removed()?;
        Some(removed.destroy.unwrap_or(false))
    }

    /// Reports blocks about what the configuration still declares. The analysis does it only for the block's own
    /// module.
    pub(crate) fn validate(&self, walk: &Walk<'_>) {
        let program = walk.config.program;
        for (resource, entry) in &self.resources {
            let module = program.module_at(names(&resource.module));
            if module.is_some_and(|it| it.resources.contains_key(&resource.resource)) {
                report(walk, entry, Summary::REMOVED_RESOURCE_EXISTS);
            }
        }
        for (module, entry) in &self.modules {
            if program.module_at(names(module)).is_some() {
                report(walk, entry, Summary::REMOVED_MODULE_EXISTS);
            }
        }
    }
}

fn report(walk: &Walk<'_>, entry: &Entry, summary: Summary) {
    let Some(Removed { from, .. }) = entry.item.kind.as_removed() else { return };
    let detail = format!(
        "This statement declares that {from} was removed, but it is still declared. Remove its block, or this one."
    );
    walk.report_at(entry, entry.item.header.into(), None, Diagnostic::new(summary, detail));
}

fn names(path: &ModulePath) -> impl Iterator<Item = &str> {
    path.names().iter().map(SmolStr::as_str)
}
