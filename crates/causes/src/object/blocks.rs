//! The `moved`, `removed` and `import` blocks of a configuration, by the objects that they are about.

use std::collections::BTreeMap;

use addr::{ConfigResource, InstanceKey, ModuleInstance, ModulePath, ResourceInstance};
use engine::Removals;
use hir::{Entry, Expr, ExprId, Exprs, Program, expr::Literal, item::Moved};

/// The blocks of a configuration about objects of the state.
pub(crate) struct OtherBlocks<'a> {
    pub(crate) removals: Removals,
    moved: Vec<(ModulePath, &'a Entry)>,
    imports: BTreeMap<ConfigResource, Imports<'a>>,
}

/// The `import` blocks for the instances of a resource.
#[derive(Default)]
struct Imports<'a> {
    /// The blocks with a literal key or without one, by key.
    by_key: BTreeMap<InstanceKey, Vec<&'a Entry>>,
    computed: Vec<&'a Entry>,
}

impl<'a> OtherBlocks<'a> {
    pub(crate) fn of(program: &'a Program) -> OtherBlocks<'a> {
        let mut blocks = OtherBlocks {
            removals: Removals::of(program),
            moved: Vec::new(),
            imports: BTreeMap::new(),
        };
        for block in program.others() {
            if block.entry.item.kind.as_moved().is_some() {
                blocks.moved.push((block.module.clone(), block.entry));
            }
            if let Some(import) = block.entry.item.kind.as_import() {
                let inner = import.to.config();
                let names = block.module.names().iter().chain(inner.module.names()).cloned();
                let module = ModulePath::new(names);
                let target = ConfigResource { module, ..inner };
                let imports = blocks.imports.entry(target).or_default();
                match literal_key(&block.entry.item.exprs, import.to.key) {
                    Some(key) => imports.by_key.entry(key).or_default().push(block.entry),
                    None => imports.computed.push(block.entry),
                }
            }
        }
        blocks
    }

    /// The `import` blocks that may import to an address.
    pub(crate) fn imports(&self, address: &ResourceInstance) -> impl Iterator<Item = &'a Entry> {
        let found = self.imports.get(&address.config()).into_iter();
        found
            .flat_map(|it| it.by_key.get(&address.key).into_iter().flatten().chain(&it.computed))
            .copied()
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

/// The key that an expression gives without an evaluation; `None` if it has to be evaluated.
fn literal_key(exprs: &Exprs, key: Option<ExprId>) -> Option<InstanceKey> {
    let Some(key) = key else { return Some(InstanceKey::None) };
    match &exprs[key] {
        Expr::Literal(Literal::String(text)) => Some(InstanceKey::string(&**text)),
        Expr::Literal(Literal::Number(index)) => index.to_i64().map(InstanceKey::Int),
        _ => None,
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
