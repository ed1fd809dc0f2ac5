//! The two kinds of database: one whose texts change, and a frozen one.
//!
//! **Invariant:** both give the same answers; tests compare them.

use std::sync::{Arc, OnceLock};

use hir::{
    Projections, Symbols,
    projections::{CONTAINED, SEPARATE},
    symbols::TableLifetime,
};
use salsa::{Durability, Revision, plumbing::current_revision};

/// A handle of a database of either kind. The handles of one database share its contents.
pub trait Handle: hir::Db + Send {
    /// Returns another handle, for another thread.
    fn handle(&self) -> Box<dyn Handle>;

    /// Returns the lifetime of the tables of names that are declared here.
    fn table_lifetime(&self) -> TableLifetime;

    /// Records that no item of the current revision depends on itself.
    fn set_acyclic(&self) {}
}

/// A database whose texts change.
#[salsa::db]
#[derive(Clone, Default)]
pub struct Database {
    symbols: Symbols,
    // Last, because dropping the storage may read the other fields.
    storage: salsa::Storage<Self>,
}

impl Database {
    /// Creates a database that reports executed queries to `callback`, for tests of incrementality.
    pub fn with_events(callback: impl Fn(salsa::Event) + Send + Sync + 'static) -> Database {
        Database { storage: salsa::Storage::new(Some(Box::new(callback))), ..Database::default() }
    }
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl db::Db for Database {}

#[salsa::db]
impl hir::Db for Database {
    fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    fn symbols_mut(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    fn projections(&self) -> &'static Projections {
        &SEPARATE
    }
}

impl Handle for Database {
    fn handle(&self) -> Box<dyn Handle> {
        Box::new(self.clone())
    }

    fn table_lifetime(&self) -> TableLifetime {
        TableLifetime::UntilEdit
    }
}

/// A frozen database: each text is read once and never changes. Commands use it to check a configuration and exit.
///
/// Inputs made from texts have `NEVER_CHANGE` durability, so salsa records no dependencies on them. Queries that
/// exist only to stop an invalidation from spreading are never asked. Only this crate sets inputs of it, while it
/// loads a configuration.
#[salsa::db]
#[derive(Clone, Default)]
pub(crate) struct FrozenDatabase {
    symbols: Symbols,
    /// The revision in which the configuration is known to have no dependency cycle. Modules that are loaded
    /// later form a new configuration, which may have cycles.
    acyclic: Arc<OnceLock<Revision>>,
    // Last, because dropping the storage may read the other fields.
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for FrozenDatabase {}

#[salsa::db]
impl db::Db for FrozenDatabase {
    fn durability(&self, _: Durability) -> Durability {
        Durability::NEVER_CHANGE
    }
}

#[salsa::db]
impl hir::Db for FrozenDatabase {
    fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    fn symbols_mut(&mut self) -> &mut Symbols {
        &mut self.symbols
    }

    fn projections(&self) -> &'static Projections {
        &CONTAINED
    }

    fn is_acyclic(&self) -> bool {
        self.acyclic.get().is_some_and(|it| *it == current_revision(self))
    }
}

impl Handle for FrozenDatabase {
    fn handle(&self) -> Box<dyn Handle> {
        Box::new(self.clone())
    }

    fn table_lifetime(&self) -> TableLifetime {
        TableLifetime::Final
    }

    fn set_acyclic(&self) {
        // Only the first revision counts: later revisions check each item.
        let _ = self.acyclic.set(current_revision(self));
    }
}
