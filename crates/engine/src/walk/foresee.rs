//! Requests the evaluations that a run will come to from [`Ahead`](crate::ahead::Ahead).
//!
//! **Invariant:** a request captures values of nodes that have ended, which do not change any more.

use std::sync::Arc;

use addr::InstanceKey;
use hir::{Entry, Expr, Exprs, Ref, Scope};
use rustc_hash::FxHashSet;
use values::functions::FunctionEnv;

use crate::{
    ahead::{Captured, Foreseen, Request},
    graph::{ModuleIx, NodeIx, template::Declared},
    walk::{context::Walk, instances::Each, scope::EngineScope},
};

/// The least number of expressions in an item whose evaluation costs more than to hand it over.
const WORTHWHILE: usize = 4;

/// The most references of an item that are captured. To capture more costs about as much as to evaluate the item.
const MOST_REFERENCES: usize = 64;

/// The least number of evaluations that are worth waking another thread for.
const SMALLEST_PART: usize = 4;

impl Walk<'_> {
    /// Requests the configurations of instances of a managed resource, in this order.
    pub(crate) fn foresee_bodies<'e>(
        &self,
        node: NodeIx,
        entry: &Entry,
        instances: impl Iterator<Item = &'e Each>,
    ) {
        if parallel::processors() == 1 {
            return;
        }
        let schema = self.provider_node(node).and_then(|provider| {
            let schemas = self.schemas(&self.provider_ref(provider).source)?;
            schemas.managed(&entry.resource().resource.type_name)
        });
        let captured = self.declared(node).and_then(|(module, ..)| self.captured(module, entry));
        let (Some(schema), Some(captured)) = (schema, captured) else { return };
        let request = |each| Request::body(node, entry, &schema, each, &captured);
        let requests = instances.filter_map(request);
        self.calls.ahead.request(requests.collect());
    }

    /// Requests the values of nodes that will have their turns soon.
    pub(crate) fn foresee_values(&self, nodes: &[NodeIx]) {
        // Values that a memo remembers are not evaluated.
        if parallel::processors() == 1 || !self.reuse.is_first_run() {
            return;
        }
        let requests = nodes.iter().filter_map(|node| self.value_request(*node));
        let requests: Vec<Request> = requests.collect();
        if requests.len() >= SMALLEST_PART {
            self.calls.ahead.request(requests);
        }
    }

    fn value_request(&self, node: NodeIx) -> Option<Request> {
        let (index, module, local) = self.declared(node)?;
        let (entry, expr) = match &module.template.nodes[local as usize] {
            Declared::Local(entry) => (entry, entry.item.kind.as_local()?.value),
            Declared::Output(entry) => (entry, entry.output().value?),
            _ => return None,
        };
        let captured = self.captured(index, entry)?;
        Some(Request::value(node, entry, expr, captured))
    }

    /// Takes a value that was evaluated ahead, and charges the budget of the run for it. `None` if the caller must
    /// evaluate it.
    pub(crate) fn foreseen(&self, node: NodeIx, key: &InstanceKey) -> Option<Foreseen> {
        let foreseen = self.calls.ahead.take(node, key)?;
        let Some(budget) = self.calls.functions.budget() else { return Some(foreseen) };
        budget.reserve(foreseen.peak).and_then(|()| budget.charge(foreseen.charge)).ok()?;
        Some(foreseen)
    }

    /// The values of the references in an item. `None` if it is not worth an evaluation ahead, or if the evaluation
    /// would need more, or an ephemeral value.
    fn captured(&self, module: ModuleIx, entry: &Entry) -> Option<Arc<Captured>> {
        let exprs: &Exprs = &entry.item.exprs;
        if exprs.len() < WORTHWHILE || exprs.calls_providers() {
            return None;
        }
        let scope = EngineScope::new(self, module, None);
        let indexed = indexed_references(exprs);
        let mut captured = Captured::new(self.calls.functions.plan_time());
        for (_, expr) in exprs.iter() {
            let Expr::Ref(reference) = expr else { continue };
            match origin(&scope, reference, &indexed) {
                Origin::Instance => continue,
                Origin::Captured if captured.get(reference).is_some() => continue,
                Origin::Captured => {}
                Origin::Run => return None,
            }
            if captured.len() == MOST_REFERENCES
                || !captured.add(reference, scope.reference(reference).ok()?)
            {
                return None;
            }
        }
        Some(Arc::new(captured))
    }
}

/// The origin of a reference's value in an evaluation ahead.
enum Origin {
    /// The request: the value belongs to one instance of the item.
    Instance,
    /// The run, which captures the value.
    Captured,
    /// The run, in which the evaluation must happen.
    Run,
}

fn origin(scope: &EngineScope<'_, '_>, reference: &Ref, indexed: &FxHashSet<&Ref>) -> Origin {
    match reference {
        Ref::EachKey | Ref::EachValue | Ref::CountIndex | Ref::SelfObject => Origin::Instance,
        Ref::Variable(_) | Ref::Local(_) => Origin::Captured,
        Ref::PathModule | Ref::PathRoot | Ref::PathCwd | Ref::Workspace => Origin::Captured,
        // An index reads one instance of a resource, for which the collection of all would be too much.
        Ref::Resource(resource) => match scope.is_repeated(resource) {
            Some(is_repeated) if !is_repeated || !indexed.contains(reference) => Origin::Captured,
            _ => Origin::Run,
        },
        // A path of a temporary directory makes the directory, and outputs of modules are read one by one.
        Ref::PathTemp | Ref::Module(_) => Origin::Run,
        Ref::Applying | Ref::Output(_) | Ref::Run(_) => Origin::Run,
    }
}

/// The references of whose values an expression reads an element.
fn indexed_references(exprs: &Exprs) -> FxHashSet<&Ref> {
    let indexed = exprs.iter().filter_map(|(_, expr)| match expr {
        Expr::Index { base, .. } => match &exprs[*base] {
            Expr::Ref(reference) => Some(reference),
            _ => None,
        },
        _ => None,
    });
    indexed.collect()
}
