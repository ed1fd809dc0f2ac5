//! The `moved`, `removed` and `import` blocks of a configuration, by the objects that they are about.

use addr::{ModuleInstance, ModulePath, ResourceInstance};
use engine::Removals;
use hir::{Entry, Program, item::Moved};

/// The blocks of a configuration about objects of the state.
pub(crate) struct OtherBlocks<'a> {
    pub(crate) removals: Removals,
    moved: Vec<(ModulePath, &'a Entry)>,
    imports: Vec<&'a Entry>,
}

impl<'a> OtherBlocks<'a> {
    pub(crate) fn of(program: &'a Program) -> OtherBlocks<'a> {
        let mut blocks =
            OtherBlocks { removals: Removals::of(program), moved: Vec::new(), imports: Vec::new() };
        for block in program.others() {
            if block.entry.item.kind.as_moved().is_some() {
                blocks.moved.push((block.module.clone(), block.entry));
            }
            if block.entry.item.kind.as_import().is_some() {
                blocks.imports.push(block.entry);
            }
        }
        blocks
    }

    /// The `import` blocks. Only the root module may have any.
    pub(crate) fn imports(&self) -> &[&'a Entry] {
        &self.imports
    }

    /// The `moved` block that leads from one address to another. `None` if several blocks do, or none.
    pub(crate) fn moved(
        &self,
        from: &ResourceInstance,
        to: &ResourceInstance,
    ) -> Option<&'a Entry> {
        let is_it = |(module, entry): &&(ModulePath, &'a Entry)| {
            let Some(Moved { from: old, to: new }) = entry.item.kind.as_moved() else {
                return false;
            };
            let covers = |target: &addr::Target, it: &ResourceInstance| {
                within(it, module).is_some_and(|it| target.covers(&it))
            };
            covers(old, from) && covers(new, to)
        };
        self.moved.iter().find(is_it).map(|(_, entry)| *entry)
    }

    /// The `moved` block whose target covers an address.
    pub(crate) fn moved_to(&self, to: &ResourceInstance) -> Option<&'a Entry> {
        let is_it = |(module, entry): &&(ModulePath, &'a Entry)| {
            let target = entry.item.kind.as_moved().map(|it| &it.to);
            let inner = within(to, module);
            target.zip(inner).is_some_and(|(target, it)| target.covers(&it))
        };
        self.moved.iter().find(is_it).map(|(_, entry)| *entry)
    }
}

/// An address relative to a module. `None` if it is elsewhere.
fn within(address: &ResourceInstance, module: &ModulePath) -> Option<ResourceInstance> {
    if !module.contains(&address.module.path()) {
        return None;
    }
    let inner = address.module.steps().iter().skip(module.names().len()).cloned();
    Some(ResourceInstance { module: ModuleInstance::new(inner), ..address.clone() })
}
