//! The objects that `import` blocks name, as soon as the expressions of the blocks are evaluated.

use std::{cell::RefCell, rc::Rc};

use addr::ResourceInstance;
use hir::Entry;
use provider::ImportTarget;
use sorted::TreeMap;
use state::Importing;
use values::Str;

use crate::{event::ObjectId, resource::subject::object_id};

/// An object to import, with its address.
pub(crate) struct WantedImport {
    pub(crate) address: ResourceInstance,
    pub(crate) importing: Importing,
    /// The `import` block.
    pub(crate) block: Entry,
}

impl WantedImport {
    /// The object in a request to the provider.
    pub(crate) fn target(&self) -> ImportTarget {
        match &self.importing {
            Importing::Id(id) => ImportTarget::Id(Str::from(id.as_str())),
            Importing::Identity(identity) => ImportTarget::Identity(identity.clone()),
        }
    }
}

/// The attribute of an import by which progress lines name the object: the ID, or a part of the identity. `None` if the
/// identity has neither an `id` nor a `name`.
pub(crate) fn import_id(importing: &Importing) -> Option<ObjectId> {
    match importing {
        Importing::Id(id) => Some(ObjectId { key: "id".to_owned(), value: id.clone() }),
        Importing::Identity(identity) => object_id(identity),
    }
}

/// The imports of a plan, by address.
#[derive(Default)]
pub(crate) struct Imports {
    wanted: RefCell<TreeMap<ResourceInstance, Rc<WantedImport>>>,
}

impl Imports {
    /// Adds an import.
    ///
    /// # Errors
    /// The import to the same address that was added before.
    pub(crate) fn add(&self, import: WantedImport) -> Result<(), Rc<WantedImport>> {
        let mut wanted = self.wanted.borrow_mut();
        if let Some(first) = wanted.get(&import.address) {
            return Err(Rc::clone(first));
        }
        wanted.insert(import.address.clone(), Rc::new(import));
        Ok(())
    }

    /// The import to an address; `None` if there is none.
    pub(crate) fn get(&self, address: &ResourceInstance) -> Option<Rc<WantedImport>> {
        self.wanted.borrow().get(address).cloned()
    }

    /// All imports, in the order of their addresses.
    pub(crate) fn all(&self) -> Vec<Rc<WantedImport>> {
        self.wanted.borrow().values().cloned().collect()
    }
}
