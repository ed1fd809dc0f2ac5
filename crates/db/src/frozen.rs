//! A frozen database: every text is read once and never changes. Commands use it to check a configuration and
//! exit.
//!
//! Inputs have `NEVER_CHANGE` durability, so salsa records no dependencies on them. Queries that exist only to
//! stop an invalidation from spreading are skipped.
//!
//! **Invariant:** a frozen database and an edited one give the same results; a test compares them.

use std::sync::OnceLock;

use salsa::{Database, Durability, Revision, plumbing::current_revision};

use crate::Db;

/// Facts about a configuration that nothing edits. All handles of a frozen database share it.
#[derive(Default)]
pub struct Frozen {
    acyclic: OnceLock<Revision>,
}

impl Frozen {
    /// Records that the configuration has no dependency cycle.
    pub fn set_acyclic(&self, db: &dyn Database) {
        // The revision is stored too: modules that are loaded later form a new configuration, which may have
        // cycles.
        let _ = self.acyclic.set(current_revision(db));
    }

    /// Returns true if the configuration is known to have no dependency cycle. If not, the caller must check each
    /// item.
    pub fn is_acyclic(&self, db: &dyn Database) -> bool {
        self.acyclic.get().is_some_and(|it| *it == current_revision(db))
    }
}

/// Returns the durability of an input derived from a text: `NEVER_CHANGE` in a frozen database, otherwise
/// `edited`.
pub fn durability(db: &(impl Db + ?Sized), edited: Durability) -> Durability {
    if db.frozen().is_some() { Durability::NEVER_CHANGE } else { edited }
}
