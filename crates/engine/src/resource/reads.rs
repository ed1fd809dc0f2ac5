//! The attributes of resources that the expressions of a module read.

use hir::{Expr, ExprId, Item, Module, Ref};
use rustc_hash::{FxHashMap, FxHashSet};
use values::Str;

/// The attributes of resources that the expressions of a module read.
#[derive(Default)]
pub(crate) struct ReadAttributes(FxHashSet<(addr::Resource, Option<Str>)>);

impl ReadAttributes {
    /// Collects the attributes that a module reads of its own resources.
    pub(crate) fn of(module: &Module) -> ReadAttributes {
        let mut reads = ReadAttributes::default();
        module.entries().for_each(|entry| reads.add(&entry.item));
        reads
    }

    fn add(&mut self, item: &Item) {
        // Resources and instances that are read as a whole, unless a later expression selects a part. Children
        // come before parents.
        let mut whole: FxHashMap<ExprId, &addr::Resource> = FxHashMap::default();
        for (id, expr) in item.exprs.iter() {
            match expr {
                Expr::Ref(Ref::Resource(resource)) => {
                    whole.insert(id, resource);
                }
                Expr::Index { base, .. } => {
                    let of = whole.remove(base);
                    whole.extend(of.map(|resource| (id, resource)));
                }
                Expr::GetAttr { base, name } => {
                    let of = whole.remove(base);
                    self.0.extend(of.map(|resource| (resource.clone(), Some(name.clone()))));
                }
                _ => {}
            }
        }
        self.0.extend(whole.into_values().map(|resource| (resource.clone(), None)));
    }

    /// Returns true if an expression may read this attribute.
    pub(crate) fn reach(&self, resource: &addr::Resource, attribute: &Str) -> bool {
        self.0.contains(&(resource.clone(), None))
            || self.0.contains(&(resource.clone(), Some(attribute.clone())))
    }
}
