//! The result of a node: its value, and facts besides it.

use std::{cell::RefCell, rc::Rc};

use addr::InstanceKey;
use sorted::TreeMap;
use values::Value;

use crate::{ephemeral::OpenIx, graph::NodeIx, memo::Version, pool::SlotIx, walk::instances::Keys};

/// The result of a node.
#[derive(Default)]
pub(crate) enum Outcome {
    /// No result so far, or a node without a readable result.
    #[default]
    None,
    /// The value of a variable, a local or an output, or the combined outputs of a module call.
    Value(Value),
    /// The instances of a resource.
    Keys(Rc<Keys>),
    /// The values of all instances of a resource.
    Resource(Box<ResourceValue>),
    /// A provider configuration: the process slot of each of its instances.
    Provider(Rc<ProviderSlots>),
    /// Unchanged since the last run. The value is ephemeral and so not kept; it is computed again if a dependent
    /// reads it.
    Unchanged,
}

/// One instance of a provider configuration.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct ProviderInstance {
    /// The node of the configuration.
    pub(crate) node: NodeIx,
    /// The key of the instance; [`InstanceKey::None`] without `for_each`.
    pub(crate) key: InstanceKey,
}

impl ProviderInstance {
    /// The only instance of a configuration without `for_each`.
    pub(crate) fn without_key(node: NodeIx) -> ProviderInstance {
        ProviderInstance { node, key: InstanceKey::None }
    }
}

/// The process slots of the instances of a provider configuration. One without `for_each` has a single instance,
/// without a key.
pub(crate) type ProviderSlots = TreeMap<InstanceKey, SlotIx>;

/// The value of a resource as references see it.
pub(crate) struct ResourceValue {
    pub(crate) keys: Rc<Keys>,
    pub(crate) instances: TreeMap<InstanceKey, Value>,
    /// The value of an instance that neither runs nor has an object; `None` if all instances run.
    pub(crate) absent: Option<Value>,
    /// All instances as one value, cached by the first read.
    whole: RefCell<Option<Value>>,
}

/// Facts about a node besides its value.
#[derive(Clone, Default)]
pub(crate) struct Facts {
    /// The open ephemeral resources that the value was derived from.
    pub(crate) opened: Rc<[OpenIx]>,
    /// True if a change is pending for this node or for one of its dependencies, direct or not.
    pub(crate) pending: bool,
    /// True if this node itself has a pending change.
    pub(crate) changes: bool,
    /// True if the data source or ephemeral resource must wait for a pending change, and so is deferred to apply.
    pub(crate) waits: bool,
    /// The version of the value.
    pub(crate) version: Version,
    /// True after the first turn of a resource's node, which activates its edges.
    pub(crate) prepared: bool,
    /// True if the value must be computed even if none of its inputs changed.
    pub(crate) forced: bool,
}

impl ResourceValue {
    pub(crate) fn new(keys: Rc<Keys>) -> ResourceValue {
        ResourceValue { keys, instances: TreeMap::new(), absent: None, whole: RefCell::new(None) }
    }

    /// Drops the cached value of all instances, after one of them changed.
    pub(crate) fn forget_whole(&mut self) {
        self.whole.take();
    }

    /// All instances as references see them: one object, a tuple for `count`, or an object for `for_each`.
    pub(crate) fn whole(&self) -> Value {
        if let Some(value) = &*self.whole.borrow() {
            return value.clone();
        }
        let value = self.keys.shape_with(&self.instances, self.absent.as_ref());
        *self.whole.borrow_mut() = Some(value.clone());
        value
    }
}
