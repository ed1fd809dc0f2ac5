//! The key of an item in the queries of the analysis, and the result of its inference.

use db::Directory;
use salsa::plumbing::{AsId, FromId};

use crate::{
    Db,
    analysis::{problem::ItemProblem, value::Abstract},
    item_name::ItemKey,
    workspace::Workspace,
};

/// An item of a module of a configuration. All queries about an item take this one key: each further argument would
/// cost one more lookup per query. Keys are never collected, as blocks are not either, so looking one up records no
/// dependency on its existence.
#[salsa::interned(revisions = usize::MAX)]
pub struct AnalyzedItem<'db> {
    /// The location of the item. It is a single field because salsa looks up each field on its own.
    #[returns(copy)]
    pub place: AnalyzedPlace,
}

/// The location of an [`AnalyzedItem`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnalyzedPlace {
    /// The configuration.
    pub workspace: Workspace,
    /// The directory of the module.
    pub directory: Directory,
    /// The key of the item within the module.
    pub key: ItemKey,
}

/// A handle-independent id of an [`AnalyzedItem`]. It is valid on every handle of the database as long as the
/// revision does not change.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnalyzedId(salsa::Id);

impl<'db> AnalyzedItem<'db> {
    /// Interns the item with the given key.
    pub fn of(
        db: &'db dyn Db,
        workspace: Workspace,
        directory: Directory,
        key: ItemKey,
    ) -> AnalyzedItem<'db> {
        AnalyzedItem::new(db, AnalyzedPlace { workspace, directory, key })
    }

    /// The key of the item within its module.
    pub fn key(self, db: &'db dyn Db) -> ItemKey {
        self.place(db).key
    }

    /// Returns the id that identifies the item on another handle of the same database.
    pub fn id(self) -> AnalyzedId {
        AnalyzedId(self.as_id())
    }

    /// Returns the item that [`AnalyzedItem::id`] returned `id` for. Both must be of the same database.
    pub fn of_id(_: &'db dyn Db, id: AnalyzedId) -> AnalyzedItem<'db> {
        FromId::from_id(id.0)
    }
}

/// The result of the inference of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inference {
    /// The value of a reference to the item.
    pub value: Abstract,
    /// The problems that inference found in the item.
    pub problems: Box<[ItemProblem]>,
}

/// Returns the value of a reference to an item, the part of its inference that other items read. It is
/// [`Abstract::any`] for a member of a dependency cycle.
pub fn item_value<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> &'db Abstract {
    (db.projections().value)(db, item)
}
