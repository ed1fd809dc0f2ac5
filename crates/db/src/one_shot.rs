//! A database whose texts are read once and never change: that of a command, which looks at a configuration and ends.
//!
//! What an answer depends on is written down for the day on which it changes, and some questions are there only so that
//! others need not be asked again on that day. For who reads once that day never comes: inputs are as durable as can be,
//! nothing is written down of them, and such questions are not asked.
//!
//! **Invariant:** the answers are those of a database that is edited; a test holds them against each other.

use std::sync::OnceLock;

use salsa::{Database, Durability, Revision, plumbing::current_revision};

use crate::Db;

/// What is known of a configuration that nobody edits. The handles of its database share it.
#[derive(Default)]
pub struct OneShot {
    acyclic: OnceLock<Revision>,
}

impl OneShot {
    /// Takes over that nothing in the whole configuration depends on itself.
    pub fn set_acyclic(&self, db: &dyn Database) {
        // Modules that come later are another configuration: of that it was not found out.
        let _ = self.acyclic.set(current_revision(db));
    }

    /// Whether it is known that nothing depends on itself; where it is not, each can be asked.
    pub fn is_acyclic(&self, db: &dyn Database) -> bool {
        self.acyclic.get().is_some_and(|it| *it == current_revision(db))
    }
}

/// How durable what a text says is: as durable as it can be where nobody changes it, and otherwise as it is given.
pub fn durability(db: &(impl Db + ?Sized), edited: Durability) -> Durability {
    if db.one_shot().is_some() { Durability::NEVER_CHANGE } else { edited }
}
