//! Where state lives: storages of opaque bytes with a generation, their locks, and workspaces.
//!
//! Start reading at [`StateStore`], then [`LockInfo`], then [`LocalStore`] and [`LocalWorkspaces`].
//!
//! ```text
//!   engine ──► cli ──► StateStore            read · write(expected generation) · lock
//!                        ├─ (encryption)     a decorator: a `StateStore` over another `StateStore`
//!                        ├─ LocalStore       a file, its backup, its lock
//!                        └─ MemoryStore      tests
//! ```
//!
//! Encryption belongs between the caller and a storage: because a store takes opaque bytes, it is one type that
//! implements [`StateStore`] around another one and touches nothing else. A journal will be a second trait beside
//! [`StateStore`] (append, sync, read all, remove), which the local storage implements on a file next to the state and
//! remote ones on a file in the data directory, so that the same decorator can wrap both.
//!
//! **Invariant:** a write that is interrupted at any point leaves either the old bytes or the new bytes in place.
//! **Invariant:** a write names the generation that it replaces; a store never overwrites what its caller has not seen.
//! **Invariant:** files are created with mode 0600, from their first byte on.
//! **Absent on purpose:** what the bytes mean (`state`), configuration syntax, prompts, clocks and host names.
#![expect(
    clippy::disallowed_methods,
    reason = "storages are an edge: they are the ones that touch files"
)]

mod local;
mod lock;
mod memory;
mod store;
mod workspace;

pub use local::{LocalPaths, LocalStore};
pub use lock::{LockInfo, acquire};
pub use memory::MemoryStore;
pub use store::{BoxFuture, Expected, Generation, HeldLock, Snapshot, StateStore, StoreError};
pub use workspace::{DEFAULT_WORKSPACE, LocalWorkspaces, WorkspaceError, is_valid_workspace_name};
