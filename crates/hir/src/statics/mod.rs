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
mod early;
mod evaluate;
mod instances;
mod scope;
pub(crate) mod today;
mod trouble;

use std::collections::BTreeSet;

use db::Directory;
use values::Str;

pub use backend::{LOCAL_ARGUMENTS, LocalBackend, backend_kind, local_backend};
pub(crate) use backend::{backend_argument, local_argument};
pub(crate) use calls::wrong_version;
pub use calls::{Modules, ResolvedModule, Target, modules};
pub(crate) use early::early_value;
pub use evaluate::CallPath;
pub(crate) use evaluate::NOT_KNOWN;
pub(crate) use instances::{keys_of_resource, provider_keys, subject_of};
pub use trouble::{Doubt, Trouble};

use crate::{Db, names::item, workspace::Workspace};

/// Whether a configuration needs to know what its root module is given before anything is planned.
pub fn needs_given(db: &dyn Db, workspace: Workspace) -> bool {
    modules(db, workspace).is_some()
        || backend::is_dynamic_backend(db, workspace)
        || early::is_dynamic(db, workspace)
        || instances::are_dynamic(db, workspace)
}

/// The files that have to be read before more can be told.
pub fn wanted_files(db: &dyn Db, workspace: Workspace) -> BTreeSet<Str> {
    let modules = modules(db, workspace).as_ref();
    let mut wanted = modules.map(|it| it.wanted_files.clone()).unwrap_or_default();
    let others = backend::troubles(db, workspace).into_iter();
    let others = others.chain(instances::troubles(db, workspace));
    wanted.extend(others.filter_map(|it| it.wanted_file.clone()));
    wanted
}

/// The variables of the root module that have no value and have to have one before anything is planned.
pub fn unset_variables(db: &dyn Db, workspace: Workspace) -> BTreeSet<Str> {
    let of_calls = modules(db, workspace).iter().flat_map(Modules::troubles).cloned();
    let others = backend::troubles(db, workspace).into_iter();
    let troubles = of_calls.chain(others).chain(instances::troubles(db, workspace));
    let unset = troubles.filter(|it| it.doubt == Doubt::Unset).filter_map(|it| {
        // The way ends where the variable is declared.
        let (declared, _, _) = it.links.last()?;
        Some(item(db, *declared).kind.as_variable()?.name.clone())
    });
    unset.collect()
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
