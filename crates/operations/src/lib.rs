//! The operations on a root module: load, initialise, validate, plan, apply, import, test and edit its state, for one
//! root or for many in one process.
//!
//! Start reading at [`session::Session`] (the environment of the operations on one root), then [`session::loading`]
//! (its configuration), [`plan`], [`apply`] and [`store`] (the state of a run). [`causes`](mod@causes) and [`since`]
//! are about a plan that was made. [`view`] is the border to the caller.
//!
//! ```text
//!   cli ─┐                    ┌─ init      modules ─► providers ─► lock file
//!   …   ─┴─► Session ─► ──────┼─ validate
//!               │             ├─ plan      store::open ─► prepare ─► engine ─► plan file
//!               ▼             ├─ apply     store::open ─► prepare ─► engine ─► state
//!             View            ├─ import
//!                             ├─ test      for each run: prepare ─► engine ─► a state in memory
//!                             └─ edit      store::open ─► state
//! ```
//!
//! **Invariant:** an operation prints nothing, ends no process and handles no signal. It reports through [`view::View`]
//! and through what it returns.
//! **Invariant:** nothing here is global: directory, environment variables, child processes, failpoints, cancellation
//! and runtime are values of a [`session::Session`], so several roots may run at once, each on its own thread
//! (`tests/two_roots.rs`). Only the environment that `git` inherits when modules are downloaded is the process's.
//! **Invariant:** log lines contain only names and numbers.
//! **Absent on purpose:** the command line, terminals, words for people (`cli`, `render`).
#![expect(
    clippy::disallowed_methods,
    reason = "an edge crate: installs packages, starts processes and keeps caches"
)]

pub mod apply;
mod backend_config;
pub mod causes;
pub mod child_environment;
pub mod edit;
pub(crate) mod generated_config;
pub mod goal;
pub mod import;
pub mod init;
mod local_exec;
pub mod located;
pub mod login;
pub mod modules;
pub mod offline;
mod place;
pub mod plan;
pub mod planned;
pub mod prepare;
mod private_file;
pub mod provider_packages;
pub mod provisioner_plugins;
pub mod requirements;
pub mod root_system;
pub mod runtime;
pub mod sandboxes;
mod schema_cache;
pub mod session;
pub mod since;
pub mod store;
pub mod temp;
pub mod test;
pub mod validate;
pub mod variables;
mod verdicts;
pub mod view;
pub mod workspaces;

/// The program version in plan files and journals. A plan of another version is refused.
pub const PROGRAM: &str = concat!("mayfly ", env!("CARGO_PKG_VERSION"));
