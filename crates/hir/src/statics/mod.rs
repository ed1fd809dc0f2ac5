//! Static evaluation: the values of expressions that are needed before anything can be planned, as the sources of modules
//! are (`reference`: surface 2.5).
//!
//! ```text
//!  Given (input) ──► variables of the root ──► locals ──► source of a call ──► which module is called
//!                                   │                                             │
//!                                   └────────► inputs of a call ──► variables of that module ──► …
//! ```
//!
//! Start at [`modules`], which follows all paths of calls, then [`evaluate`]. Values differ from one path of calls to the
//! next, so these questions have a [`CallPath`] as key, unlike all others of the analysis. A configuration whose sources are
//! all literals asks none of them.
//!
//! **Invariant:** secrets are not known here: a variable that is sensitive or ephemeral has a marked, unknown value.
//! **Invariant:** no I/O: a file that a function asks for is an input, and [`wanted_files`] names those to read.

mod backend;
mod calls;
mod evaluate;
mod scope;
mod trouble;

use std::collections::BTreeSet;

use db::Directory;
use values::Str;

pub use backend::{LOCAL_ARGUMENTS, LocalBackend, backend_kind, local_backend};
pub(crate) use backend::{backend_argument, local_argument};
pub(crate) use calls::wrong_version;
pub use calls::{Modules, ResolvedModule, Target, modules};
pub use evaluate::CallPath;
pub use trouble::Trouble;

use crate::{Db, workspace::Workspace};

/// Whether a configuration needs to know what its root module is given before anything is planned.
pub fn needs_given(db: &dyn Db, workspace: Workspace) -> bool {
    modules(db, workspace).is_some() || backend::is_dynamic_backend(db, workspace)
}

/// The files that have to be read before more can be told.
pub fn wanted_files(db: &dyn Db, workspace: Workspace) -> BTreeSet<Str> {
    let modules = modules(db, workspace).as_ref();
    let mut wanted = modules.map(|it| it.wanted_files.clone()).unwrap_or_default();
    wanted.extend(backend::wanted_by_backend(db, workspace));
    wanted
}

/// What is known of a call whose source or version is no literal.
pub(crate) fn resolved_call<'db>(
    db: &'db dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &Str,
) -> Option<&'db calls::ResolvedCall> {
    modules(db, workspace).as_ref().and_then(|it| it.call(caller.path(db), call))
}

/// The sources that a call has on all paths that lead to its module, in the order of the paths; for calls whose source is no
/// literal.
pub fn sources_of<'db>(
    db: &'db dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &Str,
) -> &'db [Str] {
    let call = resolved_call(db, workspace, caller, call);
    call.map(|it| it.sources.as_slice()).unwrap_or_default()
}
