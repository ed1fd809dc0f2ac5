//! The sandbox of provider processes: the files, ports and programs that a process may use, and how it restricts
//! itself.
//!
//! Start reading at [`Grants`] and [`Policy`], which are plain data; then [`restrict`], which a process calls for
//! itself before it runs a provider; then [`Confinement::explain`], which finds the refusals of a policy in the error
//! text of a provider.
//!
//! ```text
//!   bundled provider, CLI configuration ─► Grants ─┐
//!   directories of the run ─► always readable ─────┴─► Policy ─► arguments of the launcher ─► restrict ─► exec
//!                                                        └─► Confinement ─► explain ─► lines to add
//! ```
//!
//! A process is restricted by its launcher: this program, started again, which calls [`restrict`] and then executes
//! the provider. Code between `fork` and `exec` would need `unsafe`. A bundled provider is served by the launcher
//! itself, so it may not execute anything at all.
//!
//! Two mechanisms of the kernel do the work. Neither needs privileges:
//!
//! - Landlock limits files to directories, TCP to ports, and signals and abstract sockets to the sandbox.
//! - seccomp refuses system calls: new processes, other kinds of sockets, and the calls of administrators and
//!   debuggers. Without `connect` and `bind` in the policy it refuses every network, which Landlock cannot do for UDP.
//!
//! **Invariant:** a restriction is never lifted: the provider and its descendants only ever add to it.
//! **Invariant:** a policy that is *required* is applied as a whole, or the provider does not start. A policy that is
//! not required is applied as far as the kernel can.
//! **Invariant:** an explanation names only objects that the policy refuses and that the user may use, so the lines
//! that it suggests make a difference.
//! **Absent on purpose:** the CLI configuration, the choice of a policy for a provider, starting processes, printing.
//!
//! Its tests with restricted processes are in `tests/`; they fail, and do not skip, on a kernel with Landlock.

#![expect(
    clippy::disallowed_methods,
    reason = "an edge crate: it looks at files in order to permit or to name them"
)]

mod explain;
#[cfg(target_os = "linux")]
mod linux;
mod policy;
mod support;
mod system;
mod token;

pub use crate::{
    explain::Confinement,
    policy::{Grants, Policy, Ports},
    support::{RestrictError, Start, missing, restrict},
    system::contains_home,
};
