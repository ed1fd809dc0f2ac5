//! The threads of the process and the sizes of their stacks.
//!
//! Start reading at [`map`], [`share_parts`] and [`join`], which divide work among the processors with the help of one
//! [`pool`], then at [`on_deep_stack`]. [`spawn`] uses the pool for work whose end the caller does not wait for, and a
//! [`Task`] is such work that the caller may take back. [`Workers`] answer requests in order; [`thread`] starts a
//! thread that owns a resource for its life. Each module has its tests.
//!
//! **Invariant:** results and their order are those of a single thread. If no thread can be started, the calling
//! thread does the work.
//! **Invariant:** nothing else in the workspace chooses the size of a stack. Threads have the default size;
//! recursion whose depth depends on the configuration runs in [`on_deep_stack`].
//! **Absent on purpose:** the database, its handles, and cancellation; `project` adds them.

mod pool;
mod stack;
mod task;
mod workers;

pub use crate::{
    pool::{TakenParts, join, map, map_on, processors, run, share_parts, spawn},
    stack::on_deep_stack,
    task::{Ended, Task},
    workers::{Workers, thread},
};
