//! Static evaluation: the values of expressions that are needed before planning, such as the sources of modules.
//!
//! ```text
//!  StaticInputs (input) ──► variables of the root ──► locals ──► source of a call ──► which module is called
//!                                          │                                             │
//!                                          └────────► inputs of a call ──► variables of that module ──► …
//! ```
//!
//! Start reading at [`modules`], which follows all paths of calls, then [`evaluate`]. Values depend on the path of
//! calls, so these queries have a [`CallPath`] as key, unlike all other queries of the analysis. A configuration
//! whose sources are all literals runs none of them.
//!
//! **Invariant:** the values of secrets are not available here: a sensitive or ephemeral variable has a marked,
//! unknown value.
//! **Invariant:** no I/O: a file that a function asks for is an input, and [`wanted_files`] lists the files to
//! read.

pub(crate) mod backend;
pub(crate) mod calls;
pub(crate) mod current_values;
pub(crate) mod early;
pub(crate) mod evaluate;
pub(crate) mod instances;
pub(crate) mod scope;
pub(crate) mod static_error;

use db::Directory;
use sorted::TreeSet;
use values::Str;

use crate::{Db, content::item, workspace::Workspace};

pub use backend::{LOCAL_ARGUMENTS, LocalBackend, backend_kind, local_backend};

pub(crate) use backend::{backend_argument, local_argument};

pub(crate) use calls::wrong_version;

pub use calls::{Modules, ResolvedModule, Target, modules};

pub(crate) use early::early_value;

pub use evaluate::CallPath;

pub(crate) use evaluate::NOT_KNOWN;

pub use instances::{ProviderInstances, RepeatedProvider, provider_instances};

pub(crate) use instances::{keys_of_resource, provider_keys, subject_of};

pub use static_error::{Deferral, StaticError};

/// Returns true if the configuration needs given values, such as variables of the root module, before planning.
pub fn needs_given(db: &dyn Db, workspace: Workspace) -> bool {
    modules(db, workspace).is_some()
        || backend::is_dynamic_backend(db, workspace)
        || early::is_dynamic(db, workspace)
        || instances::are_dynamic(db, workspace)
}

/// The files that must be read before static evaluation can continue.
pub fn wanted_files(db: &dyn Db, workspace: Workspace) -> TreeSet<Str> {
    let modules = modules(db, workspace).as_ref();
    let mut wanted = modules.map(|it| it.wanted_files.clone()).unwrap_or_default();
    let others = backend::errors(db, workspace).into_iter();
    let others = others.chain(instances::errors(db, workspace));
    wanted.extend(others.filter_map(|it| it.wanted_file.clone()));
    wanted
}

/// The variables of the root module that need a value before planning and have none.
pub fn unset_variables(db: &dyn Db, workspace: Workspace) -> TreeSet<Str> {
    let of_calls = modules(db, workspace).iter().flat_map(Modules::errors).cloned();
    let others = backend::errors(db, workspace).into_iter();
    let errors = of_calls.chain(others).chain(instances::errors(db, workspace));
    let unset = errors.filter(|it| it.deferral == Deferral::UnsetVariable).filter_map(|it| {
        // The chain ends at the declaration of the variable.
        let declared = it.links.last()?.place.item;
        Some(item(db, declared).kind.as_variable()?.name.clone())
    });
    unset.collect()
}

/// The results for a call whose source or version is not a literal. `None` for other calls.
pub(crate) fn resolved_call<'db>(
    db: &'db dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &Str,
) -> Option<&'db calls::ResolvedCall> {
    modules(db, workspace).as_ref().and_then(|it| it.call(caller.path(db), call))
}

/// The distinct version constraints of a call on all paths to its module. Empty if the source and the version are
/// literals.
pub(crate) fn versions_of<'db>(
    db: &'db dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &Str,
) -> &'db [Str] {
    let call = resolved_call(db, workspace, caller, call);
    call.map(|it| it.versions.as_slice()).unwrap_or_default()
}

/// The distinct sources of a call on all paths to its module, in the order of the paths. Empty if the source is a
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
