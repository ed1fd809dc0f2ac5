//! Storage of state: stores of opaque bytes with a generation, their locks, and workspaces.
//!
//! Start reading at [`StateStore`], then [`JournalStore`], [`LockInfo`], [`LocalStore`] and [`LocalWorkspaces`].
//!
//! ```text
//!   engine ──► cli ──► StateStore            read · write(expected generation) · lock
//!                │       ├─ (encryption)     a decorator: a `StateStore` over another `StateStore`
//!                │       ├─ LocalStore       a file, its backup, its lock
//!                │       └─ MemoryStore      tests
//!                └───► JournalStore          read · start · append · remove
//!                        ├─ (encryption)     a decorator: a `JournalStore` over another `JournalStore`
//!                        ├─ LocalJournal     a file beside the state
//!                        └─ MemoryJournal    tests
//! ```
//!
//! Encryption belongs between the caller and a store. Because a store takes opaque bytes, encryption is one type that
//! implements [`StateStore`] over another one and needs no other change. The same holds for the entries of a
//! [`JournalStore`]: a file beside a local state, or a file in the data directory if the state is remote.
//!
//! **Invariant:** a write that is interrupted at any point leaves either the old bytes or the new bytes in place.
//! **Invariant:** a write names the generation that it replaces; a store never overwrites what its caller has not seen.
//! **Invariant:** an entry of a journal is durable when its call returns, and the one before it when it begins.
//! **Invariant:** files are created with mode 0600, from their first byte on.
//! **Absent on purpose:** the meaning of the bytes (`state`), configuration syntax, prompts, clocks and host names.
#![expect(
    clippy::disallowed_methods,
    reason = "storages are an edge: they are the ones that touch files"
)]

pub mod fuzz;
mod journal;
mod local;
mod lock;
mod memory;
mod store;
mod workspace;

pub use journal::{JournalStore, LocalJournal, MemoryJournal};
pub use local::{LocalPaths, LocalStore, existing_directory};
pub use lock::{LockInfo, acquire};
pub use memory::MemoryStore;
pub use store::{BoxFuture, Expected, Generation, HeldLock, Snapshot, StateStore, StoreError};
pub use workspace::{DEFAULT_WORKSPACE, LocalWorkspaces, WorkspaceError, is_valid_workspace_name};
