//! The value of every expression of one item, for an editor that shows the item at the cursor.
//!
//! The database memoizes none of it: the item is inferred once more, with a [`Recorder`] that observes the
//! inference.

use std::cell::RefCell;

use db::Directory;
use rustc_hash::FxHashSet;

use crate::{
    Db,
    analysis::{
        AnalyzedItem, env::ItemEnv, infer::Infer, instances::each_value, item_value, items,
        value::Abstract,
    },
    expr::{ExprId, SymbolId},
    item::{Item, ItemKind, RefTarget, Repetition},
    names::{ItemKey, ItemName, called_directory, item, lookup},
    symbols::{NameKind, names_of_kind},
    workspace::Workspace,
};

/// An item with the module that it belongs to.
type Mentioned = (Directory, ItemKey);

/// The values that the inference of an item found for each expression and for each name that the item binds.
///
/// An expression that is inferred several times, such as the body of a loop, has one value that joins all rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExprValues {
    exprs: Vec<Option<Abstract>>,
    symbols: Vec<Option<Abstract>>,
}

impl ExprValues {
    /// Returns the value of an expression, or `None` if it was not inferred.
    pub fn expr(&self, id: ExprId) -> Option<&Abstract> {
        self.exprs.get(id.0 as usize)?.as_ref()
    }

    /// Returns the value of a name that a `for`, a `dynamic` block or a splat binds, or `None` if it was not bound.
    pub fn symbol(&self, id: SymbolId) -> Option<&Abstract> {
        self.symbols.get(id.0 as usize)?.as_ref()
    }
}

/// An observer that collects the values of an inference.
#[derive(Debug, Default)]
pub struct Recorder {
    values: RefCell<ExprValues>,
    /// The argument of `for_each`, if the item has one.
    for_each: Option<ExprId>,
}

impl Recorder {
    fn of(item: &Item) -> Recorder {
        let exprs = vec![None; item.exprs.len()];
        let symbols = vec![None; item.exprs.symbol_count()];
        let for_each = match repetition(item) {
            Repetition::ForEach(expr) => Some(expr),
            _ => None,
        };
        Recorder { values: RefCell::new(ExprValues { exprs, symbols }), for_each }
    }

    /// Returns the value of an element of `for_each` with the marks of the whole collection, so that an editor does
    /// not show the elements of a marked collection.
    pub(super) fn element(&self, element: Abstract) -> Abstract {
        let values = self.values.borrow();
        match self.for_each.and_then(|it| values.expr(it)) {
            Some(whole) => element.with_marks(&whole.marks).with_origin(whole.origin.clone()),
            None => element,
        }
    }

    pub(super) fn note(&self, id: ExprId, value: &Abstract) {
        join(self.values.borrow_mut().exprs.get_mut(id.0 as usize), value);
    }

    pub(super) fn note_symbol(&self, symbol: SymbolId, value: &Abstract) {
        join(self.values.borrow_mut().symbols.get_mut(symbol.0 as usize), value);
    }

    pub(super) fn knows(&self, id: ExprId) -> bool {
        self.values.borrow().expr(id).is_some()
    }

    pub(super) fn symbol(&self, symbol: SymbolId) -> Option<Abstract> {
        self.values.borrow().symbol(symbol).cloned()
    }
}

fn join(known: Option<&mut Option<Abstract>>, value: &Abstract) {
    let Some(known) = known else { return };
    *known = Some(match known.take() {
        Some(before) if before == *value => before,
        Some(before) => before.either(value),
        None => value.clone(),
    });
}

/// Infers an item and returns the value of each of its expressions; see [`ItemValues::exprs`].
pub fn expr_values(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    key: ItemKey,
) -> ExprValues {
    ItemValues::new(db, workspace).exprs(directory, key)
}

fn repetition(item: &Item) -> Repetition {
    match &item.kind {
        ItemKind::Resource(it) => it.repetition,
        ItemKind::ModuleCall(it) => it.repetition,
        ItemKind::Provider(it) => it.for_each.map_or(Repetition::Single, Repetition::ForEach),
        _ => Repetition::Single,
    }
}

/// The values of many items. Infers each referenced item once, dependencies first, so that inference does not
/// recurse deeply.
pub struct ItemValues<'db> {
    db: &'db dyn Db,
    workspace: Workspace,
    seen: FxHashSet<Mentioned>,
}

impl<'db> ItemValues<'db> {
    /// Starts with no item inferred.
    pub fn new(db: &'db dyn Db, workspace: Workspace) -> ItemValues<'db> {
        ItemValues { db, workspace, seen: FxHashSet::default() }
    }

    /// Returns the value of a reference to an item, after inferring its dependencies.
    pub fn value(&mut self, directory: Directory, key: ItemKey) -> &'db Abstract {
        let ItemValues { db, workspace, ref mut seen } = *self;
        let mut stack = Vec::new();
        if seen.insert((directory, key)) {
            stack.push(((directory, key), false));
        }
        while let Some((mentioned, is_done)) = stack.pop() {
            let (directory, key) = mentioned;
            if is_done {
                item_value(db, AnalyzedItem::of(db, workspace, directory, key));
                continue;
            }
            stack.push((mentioned, true));
            for target in targets(db, workspace, mentioned) {
                if seen.insert(target) {
                    stack.push((target, false));
                }
            }
        }
        item_value(db, AnalyzedItem::of(db, workspace, directory, key))
    }

    /// Infers an item once more and returns the value of each of its expressions, including expressions that a
    /// syntax error leaves without effect.
    pub fn exprs(&mut self, directory: Directory, key: ItemKey) -> ExprValues {
        self.value(directory, key);
        let item = item(self.db, key);
        let recorder = Recorder::of(item);
        let environment = || {
            let mut env = ItemEnv::new(self.db, self.workspace, directory, key);
            env.recorder = Some(&recorder);
            env
        };
        let inference = items::infer_in(environment(), item);
        let mut env = environment();
        match repetition(item) {
            Repetition::ForEach(expr) => {
                let argument = recorder.values.borrow().expr(expr).cloned();
                env.each = argument.as_ref().map(each_value);
            }
            Repetition::Count(_) => env.counted = true,
            Repetition::Single | Repetition::Enabled(_) => {}
        }
        let is_repeated = env.each.is_some() || env.counted;
        let object = if is_repeated { inference.value.any_element() } else { inference.value };
        *env.self_object.borrow_mut() = Some(object);
        Infer::new(&item.exprs, &env).leftovers();
        recorder.values.into_inner()
    }
}

fn targets(db: &dyn Db, workspace: Workspace, (directory, key): Mentioned) -> Vec<Mentioned> {
    let mut found = Vec::new();
    let item = item(db, key);
    for reference in &item.refs {
        let name = match &reference.target {
            RefTarget::Variable(name) => ItemName::Variable(name.clone()),
            RefTarget::Local(name) => ItemName::Local(name.clone()),
            RefTarget::Resource(resource) => ItemName::Resource(resource.clone()),
            RefTarget::Module(call) | RefTarget::ModuleOutput(call, _) => {
                ItemName::Module(call.clone())
            }
            RefTarget::Ambient(_) => continue,
        };
        let Some(target) = lookup(db, directory, &name) else { continue };
        match &reference.target {
            RefTarget::ModuleOutput(_, output) => {
                found.extend(output_of(db, workspace, directory, target, output));
            }
            _ => found.push((directory, target)),
        }
    }
    if let Some(call) = item.kind.as_module_call()
        && let Some(child) = called_directory(db, workspace, directory, call)
    {
        let outputs = names_of_kind(db, child, NameKind::Output).into_iter();
        found.extend(outputs.map(|(_, key)| (child, key)));
    }
    found
}

fn output_of(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    call: ItemKey,
    output: &values::Str,
) -> Option<Mentioned> {
    let call = item(db, call).kind.as_module_call()?;
    let child = called_directory(db, workspace, directory, call)?;
    Some((child, lookup(db, child, &ItemName::Output(output.clone()))?))
}
