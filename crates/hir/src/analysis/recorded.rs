//! The value of every expression of one item, for an editor that shows the item at the cursor.
//!
//! The database memoizes none of it: the item is inferred once more, with a [`Recorder`] that observes the
//! inference.

use db::Directory;
use rustc_hash::FxHashSet;

use crate::{
    Db,
    analysis::{
        analyzed::{AnalyzedItem, item_value},
        env::ItemEnv,
        infer::Infer,
        instances::each_value,
        items,
        recorder::{ExprValues, Recorder},
        value::Abstract,
    },
    content::item,
    item::{RefTarget, Repetition},
    item_name::{ItemKey, ItemName, NameKind},
    module_calls::called_directory,
    names::lookup,
    symbols::names_of_kind,
    workspace::Workspace,
};

/// An item with the module that it belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ModuleItem {
    directory: Directory,
    key: ItemKey,
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

/// The values of many items. Infers each referenced item once, dependencies first, so that inference does not
/// recurse deeply.
pub struct ItemValues<'db> {
    db: &'db dyn Db,
    workspace: Workspace,
    seen: FxHashSet<ModuleItem>,
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
        let requested = ModuleItem { directory, key };
        if seen.insert(requested) {
            stack.push((requested, false));
        }
        while let Some((item, is_done)) = stack.pop() {
            if is_done {
                item_value(db, AnalyzedItem::of(db, workspace, item.directory, item.key));
                continue;
            }
            stack.push((item, true));
            for target in targets(db, workspace, item.directory, item.key) {
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
        match item.repetition() {
            Repetition::ForEach(expr) => {
                let argument = recorder.expr(expr);
                env.each = argument.as_ref().map(each_value);
            }
            Repetition::Count(_) => env.counted = true,
            Repetition::Single | Repetition::Enabled(_) => {}
        }
        let is_repeated = env.each.is_some() || env.counted;
        let object = if is_repeated { inference.value.any_element() } else { inference.value };
        *env.self_object.borrow_mut() = Some(object);
        Infer::new(&item.exprs, &env).infer_unfinished();
        recorder.into_values()
    }
}

fn targets(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    key: ItemKey,
) -> Vec<ModuleItem> {
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
            _ => found.push(ModuleItem { directory, key: target }),
        }
    }
    if let Some(call) = item.kind.as_module_call()
        && let Some(child) = called_directory(db, workspace, directory, call)
    {
        let outputs = names_of_kind(db, child, NameKind::Output).into_iter();
        found.extend(outputs.map(|(_, key)| ModuleItem { directory: child, key }));
    }
    found
}

fn output_of(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    call: ItemKey,
    output: &values::Str,
) -> Option<ModuleItem> {
    let call = item(db, call).kind.as_module_call()?;
    let child = called_directory(db, workspace, directory, call)?;
    let key = lookup(db, child, &ItemName::Output(output.clone()))?;
    Some(ModuleItem { directory: child, key })
}
