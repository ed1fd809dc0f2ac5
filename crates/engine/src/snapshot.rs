//! The values of single expressions for given objects of resources: those of a state, or those that a plan makes.
//!
//! The analysis of causes compares the snapshots before and after a plan. Providers are not called, so the results
//! of their functions are unknown.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use addr::{AbsResource, InstanceKey};
use db::System;
use hir::{ExprId, Item, Module, Program, Ref, Scope, item::Repetition};
use provider::{Schema, mark_by_schema};
use rustc_hash::FxHashMap;
use sorted::TreeMap;
use state::State;
use values::{Number, Str, Value};

use crate::{
    functions::Functions,
    offline::{Each, EachScope, ModuleScope, Offline},
    variables::VariableValues,
};

/// The objects of resources that expressions read.
pub trait Objects {
    /// The current objects of a resource by instance key, with their marks. `None` if they are unknown.
    fn of_resource(
        &self,
        address: &AbsResource,
        schema: &Schema,
    ) -> Option<TreeMap<InstanceKey, Value>>;
}

impl Objects for State {
    fn of_resource(
        &self,
        address: &AbsResource,
        schema: &Schema,
    ) -> Option<TreeMap<InstanceKey, Value>> {
        let stored = self.resource(address)?;
        let instances = stored.instances.iter().filter_map(|(key, it)| {
            let object = it.current.as_ref()?.decode(schema.implied_type()).ok()?;
            Some((key.clone(), mark_by_schema(&object, schema.block())))
        });
        Some(instances.collect())
    }
}

/// A configuration with given variables and given objects.
pub struct Snapshot<'a>(Offline<'a>);

/// The inputs of a [`Snapshot`] apart from its objects.
#[derive(Clone)]
pub struct SnapshotInputs<'a> {
    /// The configuration.
    pub program: &'a Program,
    /// The values of the root module's variables.
    pub values: &'a VariableValues,
    /// The name of the workspace.
    pub workspace: Str,
    /// The files that functions read.
    pub system: Arc<dyn System>,
}

/// An instance of a module in a [`Snapshot`]. Its values are computed on demand, and once.
pub struct ModuleSnapshot<'a> {
    scope: Rc<ModuleScope<'a>>,
    /// The values of `for_each`, by block.
    repetitions: RefCell<FxHashMap<*const Item, Value>>,
}

impl<'a> Snapshot<'a> {
    /// Creates a snapshot.
    pub fn new(inputs: &SnapshotInputs<'a>, objects: &'a dyn Objects) -> Snapshot<'a> {
        Snapshot(Offline {
            program: inputs.program,
            objects: Some(objects),
            values: Some(inputs.values),
            workspace: inputs.workspace.clone(),
            functions: Functions::new(&inputs.system, true).without_plan(),
            system: Arc::clone(&inputs.system),
            answers: None,
        })
    }

    /// The root module.
    pub fn root(&'a self) -> ModuleSnapshot<'a> {
        ModuleSnapshot::new(ModuleScope::root(&self.0))
    }
}

impl<'a> ModuleSnapshot<'a> {
    fn new(scope: Rc<ModuleScope<'a>>) -> ModuleSnapshot<'a> {
        ModuleSnapshot { scope, repetitions: RefCell::default() }
    }

    /// The module.
    pub fn module(&self) -> &'a Module {
        self.scope.module()
    }

    /// An instance of a module that this module calls. `None` if there is no such call.
    pub fn called(&self, call: &str, key: &InstanceKey) -> Option<ModuleSnapshot<'a>> {
        let (entry, _) = self.module().calls.get(call)?;
        let each = self.each(&entry.item, key);
        Some(ModuleSnapshot::new(self.scope.child(call, each)?))
    }

    /// The value of an expression of a block of this module, for one instance of the block. Unknown if the
    /// evaluation fails.
    pub fn evaluate(&self, item: &Item, expr: ExprId, key: &InstanceKey) -> Value {
        let each = self.each(item, key);
        let scope = EachScope { module: &self.scope, each: &each };
        let value = self.scope.evaluate_in(&scope, item, expr);
        value.unwrap_or_else(|_| Value::dynamic())
    }

    /// The value of a reference, for a resource or module with all its instances. Unknown if its evaluation fails.
    pub fn reference(&self, reference: &Ref) -> Value {
        self.scope.reference(reference).unwrap_or_else(|_| Value::dynamic())
    }

    /// Returns true if a block has this instance, or may have it because its repetition is not known.
    pub fn has_instance(&self, item: &Item, key: &InstanceKey) -> bool {
        let value = |expr| {
            let value = self.evaluate(item, expr, &InstanceKey::None).without_all_marks();
            value.is_known().then_some(value)
        };
        match (item.repetition(), key) {
            (Repetition::Single, key) => key.is_none(),
            (Repetition::Enabled(expr), InstanceKey::None) => {
                value(expr).is_none_or(|it| it.as_bool() != Some(false))
            }
            (Repetition::Count(expr), InstanceKey::Int(index)) => {
                let count = value(expr).map(|it| it.as_number().and_then(Number::to_i64));
                count.is_none_or(|it| it.is_some_and(|count| *index < count))
            }
            (Repetition::ForEach(expr), InstanceKey::String(key)) => {
                let is_it = |(own, it): (Value, &Value)| {
                    own.as_str().or(it.as_str()).is_some_and(|it| it == key.as_str())
                };
                value(expr).is_none_or(|it| it.elements().any(is_it))
            }
            _ => false,
        }
    }

    fn each(&self, item: &Item, key: &InstanceKey) -> Each {
        let value = match item.repetition() {
            Repetition::ForEach(expr) => element(&self.for_each(item, expr), key),
            _ => None,
        };
        Each { key: key.clone(), value }
    }

    fn for_each(&self, item: &Item, expr: ExprId) -> Value {
        let known = self.repetitions.borrow().get(&std::ptr::from_ref(item)).cloned();
        known.unwrap_or_else(|| {
            let value = self.scope.evaluate_in(&*self.scope, item, expr);
            let value = value.unwrap_or_else(|_| Value::dynamic());
            self.repetitions.borrow_mut().insert(std::ptr::from_ref(item), value.clone());
            value
        })
    }
}

/// The element of a `for_each` that an instance is made from. `None` if there is none, or if it is not known.
fn element(all: &Value, key: &InstanceKey) -> Option<Value> {
    let (_, marks) = all.unmark();
    let found = match (key, all.as_map(), all.as_slice()) {
        (InstanceKey::String(key), Some(entries), _) => entries.get(key.as_str()).cloned(),
        // The elements of a set are their own keys.
        (InstanceKey::String(key), _, Some(_)) => Some(Value::string(key.as_str())),
        (InstanceKey::Int(index), _, Some(items)) => {
            items.get(usize::try_from(*index).ok()?).cloned()
        }
        _ => None,
    };
    found.map(|it| it.with_marks(&marks))
}
