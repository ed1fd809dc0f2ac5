//! The dependencies of an item: the items, and arguments of module calls, that its references lead to.

use db::Directory;
use rustc_hash::{FxHashMap, FxHashSet};
use sorted::TreeSet;
use values::Str;

use crate::{
    Db,
    analysis::analyzed::{AnalyzedItem, AnalyzedPlace},
    content::item,
    expr::{At, ExprId},
    item::{Attr, Item, ItemKind, ModuleCall, RefPlace, RefTarget, StaticRef},
    item_name::{ItemKey, ItemName, provider_local_name},
    module_calls::called_directories,
    names::{lookup, required_providers},
    provider_function::{self, Name, is_of_configuration},
    workspace::Workspace,
};

/// A node of the graph: an item, or one argument of a module call. Arguments are nodes of their own because an
/// output of a module depends only on the arguments that reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Item(ItemKey),
    /// The call, and the index of the argument.
    Input(ItemKey, u32),
}

impl Node {
    /// The index of the argument, if the node is an argument of a call.
    pub(super) fn argument(self) -> Option<u32> {
        match self {
            Node::Item(_) => None,
            Node::Input(_, argument) => Some(argument),
        }
    }

    /// The key of the item, or of the call that the argument belongs to.
    pub(super) fn key(self) -> ItemKey {
        match self {
            Node::Item(key) | Node::Input(key, _) => key,
        }
    }
}

/// An edge of the dependency graph, as seen from its source.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    /// The node that the reference leads to.
    pub(super) target: Node,
    /// The place of the reference.
    pub(super) reference: At,
}

/// The target of a dependency: an item, or an argument of a module call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, salsa::SalsaValue)]
pub(super) struct DependencyTarget<'db> {
    /// The item, or the call.
    pub(super) item: AnalyzedItem<'db>,
    pub(super) argument: Option<u32>,
}

/// A dependency of an item or of an argument of a module call.
#[derive(Clone, Copy, PartialEq, Eq, salsa::SalsaValue)]
pub(super) struct Dependency<'db> {
    /// The index of the argument of a module call that has the dependency; `None` if the item has it.
    argument: Option<u32>,
    pub(super) target: DependencyTarget<'db>,
    /// The index among the references of the item. It is `u32::MAX`, which is out of range, for the provider
    /// configuration of a resource or of a function, which needs no reference.
    reference: u32,
}

/// The dependencies of an item and, for a module call, of each of its arguments.
#[derive(Clone, Default, PartialEq, Eq, salsa::SalsaValue)]
pub struct Dependencies<'db> {
    /// The dependencies, sorted by the argument that has them.
    edges: Box<[Dependency<'db>]>,
    /// The number of arguments of a module call, otherwise zero.
    pub(super) arguments: u32,
}

impl<'db> Dependencies<'db> {
    /// Returns true if the item has no dependencies at all.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The dependencies of the item itself, or of an argument of the call.
    pub(super) fn of(&self, argument: Option<u32>) -> &[Dependency<'db>] {
        let start = self.edges.partition_point(|it| it.argument < argument);
        let end = self.edges.partition_point(|it| it.argument <= argument);
        &self.edges[start..end]
    }
}

/// The dependencies of an item and, for a module call, of each of its arguments.
///
/// **Stability:** an edit that does not change the references of the item leaves the result equal.
#[salsa::tracked(returns(ref), cycle_result = no_dependencies)]
pub fn dependencies<'db>(db: &'db dyn Db, analyzed: AnalyzedItem<'db>) -> Dependencies<'db> {
    let AnalyzedPlace { workspace, directory, key } = analyzed.place(db);
    let references = References { db, workspace, directory };
    let mut edges = Vec::new();
    let declared = item(db, key);
    references.for_each(key, declared, |reference, node, edge| {
        let item = AnalyzedItem::of(db, workspace, directory, edge.target.key());
        let target = DependencyTarget { item, argument: edge.target.argument() };
        edges.push(Dependency { argument: node.argument(), target, reference });
    });
    sorted::sort_by_key(&mut edges, |it| it.argument);
    let arguments = declared.kind.as_module_call().map_or(0, |call| call.inputs.len() as u32);
    Dependencies { edges: edges.into(), arguments }
}

/// Returns true if the item itself shows that it has no [`dependencies`] and is no module call. A caller that is no
/// query can then do without that query.
pub fn is_independent(db: &dyn Db, key: ItemKey) -> bool {
    let item = item(db, key);
    let is_plain = !matches!(item.kind, ItemKind::Resource(_) | ItemKind::ModuleCall(_));
    is_plain && item.refs.is_empty() && provider_function::calls(&item.exprs).next().is_none()
}

/// The largest number of dependencies that [`Resolved::find`] searches, so that an item with many references does
/// not cost time quadratic in their number.
const MAX_SEARCHED: usize = 16;

/// The targets of the references of an item, as [`dependencies`] resolved them.
#[derive(Clone, Copy)]
pub(super) struct Resolved<'db> {
    dependencies: &'db Dependencies<'db>,
    refs: &'db [StaticRef],
}

impl<'db> Resolved<'db> {
    /// Returns the targets of an item's references, or `None` if the item has no references.
    pub(super) fn of(
        db: &'db dyn Db,
        analyzed: AnalyzedItem<'db>,
        item: &'db Item,
    ) -> Option<Resolved<'db>> {
        let refs = &item.refs;
        (!refs.is_empty()).then(|| Resolved { dependencies: dependencies(db, analyzed), refs })
    }

    /// Returns the item that a reference leads to. `None` if none of the first `MAX_SEARCHED` dependencies
    /// matches; the caller must then look the name up.
    pub(super) fn find(self, is_it: impl Fn(&RefTarget) -> bool) -> Option<AnalyzedItem<'db>> {
        let mut edges = self.dependencies.edges.iter().take(MAX_SEARCHED);
        let target =
            |it: &Dependency<'_>| self.refs.get(it.reference as usize).map(|it| &it.target);
        edges.find(|it| target(it).is_some_and(&is_it)).map(|it| it.target.item)
    }
}

/// Returns true if only a configuration of its provider answers a function that is called in a module. False if the
/// functions of the provider are not known.
pub(super) fn needs_configuration(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    name: Name<'_>,
) -> bool {
    let source = required_providers(db, directory).source(name.provider);
    let schemas = workspace.providers(db).get(&source);
    schemas.is_some_and(|it| is_of_configuration(name, &it.schemas(db).0.functions))
}

/// Cycle fallback for a module that calls itself; the `module-cycle` error of the call reports that.
fn no_dependencies<'db>(_: &'db dyn Db, _: salsa::Id, _: AnalyzedItem<'db>) -> Dependencies<'db> {
    Dependencies::default()
}

/// The resolver of the references in the expressions of a module's items.
pub(super) struct References<'db> {
    pub(super) db: &'db dyn Db,
    pub(super) workspace: Workspace,
    pub(super) directory: Directory,
}

impl<'db> References<'db> {
    /// Visits every edge of an item and, if it is a module call, of its arguments. The first parameter of `visit`
    /// is the index of the reference, or `u32::MAX` for the provider configuration.
    pub(super) fn for_each(
        &self,
        key: ItemKey,
        item: &Item,
        mut visit: impl FnMut(u32, Node, Edge),
    ) {
        let inputs =
            item.kind.as_module_call().map(|call| arguments(item, call)).unwrap_or_default();
        for (index, reference) in (0u32..).zip(&item.refs) {
            // A provisioner runs when its resource exists, so its references are no dependencies.
            let runs_later = matches!(
                reference.place,
                RefPlace::CreateProvisioner | RefPlace::DestroyProvisioner
            );
            if runs_later || is_itself(item, &reference.target) {
                continue;
            }
            let node = inputs
                .get(&reference.expr)
                .map_or(Node::Item(key), |&index| Node::Input(key, index));
            let reference_at = At::from(reference.expr);
            self.targets(&reference.target, |target| {
                visit(index, node, Edge { target, reference: reference_at });
            });
        }
        if let Some(edge) = self.provider(item) {
            visit(u32::MAX, Node::Item(key), edge);
        }
        for (call, target) in self.function_providers(item) {
            let node = inputs.get(&call).map_or(Node::Item(key), |&index| Node::Input(key, index));
            visit(u32::MAX, node, Edge { target: Node::Item(target), reference: call.into() });
        }
    }

    /// The provider configurations of this module that answer calls of functions, each with the call.
    fn function_providers(&self, item: &Item) -> Vec<(ExprId, ItemKey)> {
        let configured = |(call, name): (ExprId, Name<'_>)| {
            if !needs_configuration(self.db, self.workspace, self.directory, name) {
                return None;
            }
            let provider = ItemName::Provider(name.provider.into(), name.alias.map(Str::from));
            Some((call, lookup(self.db, self.directory, &provider)?))
        };
        provider_function::calls(&item.exprs).filter_map(configured).collect()
    }

    /// The edge to the provider configuration of a resource, if that is in this module. A resource without a
    /// `provider` argument uses the default configuration of the provider that its type name begins with.
    fn provider(&self, item: &Item) -> Option<Edge> {
        let resource = item.kind.as_resource()?;
        let alias = resource.provider.as_ref().and_then(|provider| provider.alias.clone());
        let name = ItemName::Provider(provider_local_name(resource).into(), alias);
        let at = resource.provider.as_ref().map_or(item.header, |provider| provider.node);
        lookup(self.db, self.directory, &name)
            .map(|key| Edge { target: Node::Item(key), reference: at.into() })
    }

    fn targets(&self, target: &RefTarget, mut visit: impl FnMut(Node)) {
        let name = match target {
            RefTarget::Variable(name) => ItemName::Variable(name.clone()),
            RefTarget::Local(name) => ItemName::Local(name.clone()),
            RefTarget::Resource(resource) => ItemName::Resource(resource.clone()),
            RefTarget::Module(call) => return self.module(call, None, visit),
            RefTarget::ModuleOutput(call, output) => return self.module(call, Some(output), visit),
            RefTarget::Ambient(_) => return,
        };
        if let Some(key) = lookup(self.db, self.directory, &name) {
            visit(Node::Item(key));
        }
    }

    /// Visits the call, and those of its arguments that the output needs; all arguments if that is not known.
    fn module(&self, name: &Str, output: Option<&Str>, mut visit: impl FnMut(Node)) {
        let key = lookup(self.db, self.directory, &ItemName::Module(name.clone()));
        let Some(key) = key else { return };
        let Some(call) = item(self.db, key).kind.as_module_call() else { return };
        let children = called_directories(self.db, self.workspace, self.directory, call);
        let needed = match (output, children.as_slice()) {
            (Some(output), &[child]) => lookup(self.db, child, &ItemName::Output(output.clone()))
                .map(|key| {
                    let output = AnalyzedItem::of(self.db, self.workspace, child, key);
                    inputs_of_output(self.db, output)
                }),
            _ => None,
        };
        visit(Node::Item(key));
        let is_needed = |input: &Attr| needed.is_none_or(|needed| needed.contains(&input.name));
        let inputs = (0u32..).zip(&call.inputs).filter(|(_, input)| is_needed(input));
        inputs.for_each(|(index, _)| visit(Node::Input(key, index)));
    }
}

/// Maps each expression within the arguments of a call to the index of its argument.
fn arguments(item: &Item, call: &ModuleCall) -> FxHashMap<ExprId, u32> {
    let mut found = FxHashMap::default();
    for (index, input) in (0u32..).zip(&call.inputs) {
        let mut open = vec![input.value];
        while let Some(expr) = open.pop() {
            found.insert(expr, index);
            item.exprs[expr].for_each_child(&mut |child| open.push(child));
        }
    }
    found
}

/// Returns true if the reference is to the variable that contains it. Its validation may read it, because the
/// variable has its value by then.
fn is_itself(item: &Item, target: &RefTarget) -> bool {
    matches!((&item.kind, target), (ItemKind::Variable(variable), RefTarget::Variable(name)) if variable.name == *name)
}

/// The names of the input variables that an output of a module can depend on.
///
/// **Stability:** reads the items that the output reaches; an edit that does not change references leaves the
/// result equal.
#[salsa::tracked(returns(ref), cycle_result = no_inputs)]
pub(super) fn inputs_of_output<'db>(db: &'db dyn Db, output: AnalyzedItem<'db>) -> TreeSet<Str> {
    let mut inputs = TreeSet::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![DependencyTarget { item: output, argument: None }];
    while let Some(node) = open.pop() {
        if !seen.insert(node) {
            continue;
        }
        if let ItemKind::Variable(variable) = &item(db, node.item.key(db)).kind {
            inputs.insert(variable.name.clone());
        }
        open.extend(dependencies(db, node.item).of(node.argument).iter().map(|it| it.target));
    }
    inputs
}

/// Cycle fallback of [`inputs_of_output`].
fn no_inputs(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> TreeSet<Str> {
    TreeSet::new()
}
