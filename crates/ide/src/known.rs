//! Values that are known only after apply.
//!
//! The search is syntactic: it follows a value through locals, module outputs and resource arguments to an
//! attribute that a provider computes. Before the first apply that attribute is unknown. Later the state has its
//! value, until the object is replaced.

use std::sync::Arc;

use addr::ResourceMode;
use hir::{
    Expr, ExprId, Item, Ref,
    module_calls::called_directory,
    names::{ItemKey, ItemName, item, lookup, provider_local_name, required_providers},
    workspace::{SchemaLookup, resource_schema},
};
use rustc_hash::FxHashSet;
use values::Str;

use crate::Module;

/// The maximal number of expressions that one search visits; beyond it the search returns `None`.
const MAX_STEPS: usize = 2_000;

/// Returns the first computed attribute that a value depends on, as a reference. `None` if there is none or the
/// search exceeds `MAX_STEPS`.
pub(crate) fn computed_attribute(
    module: Module<'_>,
    item: &Arc<Item>,
    value: ExprId,
) -> Option<String> {
    let mut search = Search { open: Vec::new(), visited: FxHashSet::default() };
    search.open.push(Place { module, item: Arc::clone(item), expr: value });
    for _ in 0..MAX_STEPS {
        let place = search.open.pop()?;
        if let Some(found) = search.visit(&place) {
            return Some(found);
        }
    }
    None
}

/// An expression of an item of a module.
struct Place<'db> {
    module: Module<'db>,
    item: Arc<Item>,
    expr: ExprId,
}

/// An item that the search has visited.
#[derive(PartialEq, Eq, Hash)]
struct Visited {
    key: ItemKey,
    /// For a resource, the attribute.
    attribute: Option<Str>,
}

struct Search<'db> {
    open: Vec<Place<'db>>,
    visited: FxHashSet<Visited>,
}

impl<'db> Search<'db> {
    fn visit(&mut self, place: &Place<'db>) -> Option<String> {
        let Place { module, item, expr } = place;
        let (module, expr) = (*module, *expr);
        let exprs = &item.exprs;
        let other = |expr| Place { module, item: Arc::clone(item), expr };
        match &exprs[expr] {
            Expr::GetAttr { .. } | Expr::Index { .. } => {
                let Traversal { root, names, keys } = traversal(item, expr);
                self.open.extend(keys.into_iter().map(other));
                match &exprs[root] {
                    Expr::Ref(Ref::Resource(resource)) => {
                        return self.resource(module, resource, names.first()?);
                    }
                    Expr::Ref(Ref::Module(call)) => self.output(module, call, names.first()?),
                    _ => self.open.push(other(root)),
                }
            }
            Expr::Ref(Ref::Local(name)) => {
                let key = lookup(module.db, module.directory, &ItemName::Local(name.clone()))?;
                let local = hir::names::item(module.db, key);
                let value = local.kind.as_local()?.value;
                self.follow(module, key, None, value);
            }
            it => it.for_each_child(&mut |child| self.open.push(other(child))),
        }
        None
    }

    /// Follows a reference to a resource attribute. An attribute that the configuration sets has the value of its
    /// argument; otherwise returns the attribute if the schema declares it as computed.
    fn resource(
        &mut self,
        module: Module<'db>,
        resource: &addr::Resource,
        attribute: &Str,
    ) -> Option<String> {
        if resource.mode != ResourceMode::Managed {
            return None;
        }
        let key = lookup(module.db, module.directory, &ItemName::Resource(resource.clone()))?;
        let declared = item(module.db, key).kind.as_resource()?;
        if let Some(set) = declared.body.attrs.iter().find(|it| it.name == *attribute) {
            self.follow(module, key, Some(attribute.clone()), set.value);
            return None;
        }
        let required = required_providers(module.db, module.directory);
        let source = required.source(provider_local_name(declared));
        let type_name = &resource.type_name;
        let found = resource_schema(module.db, module.workspace, &source, resource.mode, type_name);
        let SchemaLookup::Found(schema) = found else { return None };
        let is_computed = schema.block().attributes().get(attribute).is_some_and(|it| it.computed);
        is_computed.then(|| format!("{resource}.{attribute}"))
    }

    fn output(&mut self, module: Module<'db>, call: &Str, output: &Str) {
        let called = || {
            let key = lookup(module.db, module.directory, &ItemName::Module(call.clone()))?;
            let call = item(module.db, key).kind.as_module_call()?;
            let child = called_directory(module.db, module.workspace, module.directory, call)?;
            let key = lookup(module.db, child, &ItemName::Output(output.clone()))?;
            let value = item(module.db, key).kind.as_output()?.value?;
            Some((module.with_directory(child), key, value))
        };
        if let Some((child, key, value)) = called() {
            self.follow(child, key, None, value);
        }
    }

    fn follow(&mut self, module: Module<'db>, key: ItemKey, attribute: Option<Str>, value: ExprId) {
        if self.visited.insert(Visited { key, attribute }) {
            let item = Arc::clone(item(module.db, key));
            self.open.push(Place { module, item, expr: value });
        }
    }
}

/// The parts of a traversal.
struct Traversal {
    root: ExprId,
    /// The attribute names in order.
    names: Vec<Str>,
    /// The index expressions.
    keys: Vec<ExprId>,
}

fn traversal(item: &Item, expr: ExprId) -> Traversal {
    let (mut at, mut names, mut keys) = (expr, Vec::new(), Vec::new());
    loop {
        match &item.exprs[at] {
            Expr::GetAttr { base, name } => {
                names.push(name.clone());
                at = *base;
            }
            Expr::Index { base, key } => {
                keys.push(*key);
                at = *base;
            }
            _ => break,
        }
    }
    names.reverse();
    Traversal { root: at, names, keys }
}
