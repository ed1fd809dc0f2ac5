//! Keeps the changes of a run: each one in a journal at once, and the whole state from time to time and at the end.
//!
//! Start reading at [`Keeper`], then [`Writer`] (the journal), `folder.rs` (the state) and [`recovery`].
//!
//! ```text
//!   engine ─► Keeper ─┬─ intents, answers, openings ─► thread "journal": one entry, one sync ─► JournalStore
//!                     └─ sometimes the state ────────► thread "state": encode, announce, write ─► StateStore
//! ```
//!
//! The engine only queues. It waits for the journal ([`engine::Journal::durable`]) and never for the state: a store
//! that takes seconds delays neither answers of providers nor renewals of ephemeral resources.
//!
//! **Invariant:** the intent to change an object is durable before the provider is called, and its answer is durable
//! before anything that depends on it starts.
//! **Invariant:** the journal announces a state before that state is written, and repeats after the announcement the
//! changes that the state lacks.
//! **Invariant:** one task owns the store and the lock. The lock is released after the last write has ended.
//! **Invariant:** a journal stays if the last write of the state failed.
//! **Absent on purpose:** where state and journal lie (`backend`), configuration, how anything is shown.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge crate: measures how long the storage takes, and looks at files to say why it failed"
)]

mod failpoint;
mod faults;
mod folder;
mod keeper;
pub mod recovery;
mod writer;

use db::System;
use sha2::{Digest as _, Sha256};

pub use failpoint::Failpoints;
pub use faults::{file_fault, forbidden, in_full, journal_unwritable, state_unwritable};
pub use keeper::{EphemeralJournal, Keeper, OpenedState, next_serial, refuse_last_serial};
pub use writer::{Writer, head};

/// The SHA-256 of a state's bytes in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

/// The current time in RFC 3339, UTC, rounded down to seconds.
pub fn timestamp(system: &dyn System) -> String {
    let whole = jiff::TimestampRound::new().smallest(jiff::Unit::Second);
    let now = jiff::Timestamp::try_from(system.now()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    now.round(whole.mode(jiff::RoundMode::Floor)).unwrap_or(now).to_string()
}
