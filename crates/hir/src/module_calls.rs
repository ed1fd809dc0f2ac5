//! The module calls of a module, and the directories that they lead to.

use std::sync::Arc;

use db::Directory;
use values::Str;

use crate::{
    Db,
    content::item,
    expr::{Expr, Literal},
    item::{Item, ModuleCall},
    item_name::{ItemName, NameKind},
    place::ItemPlace,
    statics,
    symbols::names_of_kind,
    workspace::{Workspace, directory_of_source, installed_modules, path_of_source},
};

/// The calls of a module by name, each with a directory that it leads to. Directories that were not read are left
/// out. A call occurs several times if its source depends on how its module is called.
pub fn module_calls(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
) -> impl Iterator<Item = (Str, Directory)> {
    names_of_kind(db, caller, NameKind::Module).into_iter().flat_map(move |(name, key)| {
        let call = item(db, key).kind.as_module_call();
        let called = call.map(|call| called_directories(db, workspace, caller, call));
        let ItemName::Module(name) = name else { return Vec::new() };
        called.into_iter().flatten().map(|called| (name.clone(), called)).collect()
    })
}

/// The calls that a module declares, in the order of their names, whether or not their modules are installed.
pub fn declared_calls(db: &dyn Db, caller: Directory) -> Vec<Arc<Item>> {
    let calls = names_of_kind(db, caller, NameKind::Module).into_iter();
    calls.map(|(_, key)| Arc::clone(item(db, key))).collect()
}

/// The directory that a module call leads to, the first of several. `None` if it was not read.
pub fn called_directory(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &ModuleCall,
) -> Option<Directory> {
    match &call.source {
        Some(source) => directory_of_source(db, workspace, caller, &call.name, source),
        None => called_directories(db, workspace, caller, call).first().copied(),
    }
}

/// The directories that a module call leads to. There are several if its source depends on how its module is
/// called. Directories that were not read are left out.
pub fn called_directories(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &ModuleCall,
) -> Vec<Directory> {
    let directories = workspace.directories(db);
    let paths = called_paths(db, workspace, caller, call);
    paths.iter().filter_map(|path| directories.get(path).copied()).collect()
}

/// The paths of the directories that a module call leads to, including those that were not read. Empty if the
/// module is not installed.
pub fn called_paths(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &ModuleCall,
) -> Vec<Arc<str>> {
    let path = |source: &Str| path_of_source(db, workspace, caller, &call.name, source);
    if let Some(source) = &call.source {
        return path(source).into_iter().collect();
    }
    let mut paths: Vec<Arc<str>> = Vec::new();
    let sources = statics::sources_of(db, workspace, caller, &call.name);
    for path in sources.iter().filter_map(path) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    // While the source is unknown, the installed module is the best guess.
    if sources.is_empty() {
        let installed = installed_modules(db, workspace, caller, &call.name);
        paths.extend(installed.first().map(|it| it.dir.clone()));
    }
    paths
}

/// A module call with a known source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedCall {
    /// The name of the call.
    pub name: Str,
    /// The `source`.
    pub source: Str,
    /// The version constraints. Several if they depend on how the module of the call is called.
    pub versions: Vec<Str>,
    /// The call's item and the node of `source` in it.
    pub place: ItemPlace,
}

/// The module calls with known sources, by name. A call occurs several times if its source depends on how its
/// module is called.
pub fn sourced_calls(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
) -> impl Iterator<Item = SourcedCall> {
    names_of_kind(db, caller, NameKind::Module).into_iter().flat_map(move |(name, key)| {
        let ItemName::Module(name) = name else { return Vec::new() };
        let item = item(db, key);
        let Some(call) = item.kind.as_module_call() else { return Vec::new() };
        let sources = match &call.source {
            Some(source) => std::slice::from_ref(source),
            None => statics::sources_of(db, workspace, caller, &name),
        };
        let versions = match call.version.map(|it| &item.exprs[it]) {
            Some(Expr::Literal(Literal::String(version))) => vec![Str::from(version.clone())],
            _ => statics::versions_of(db, workspace, caller, &name).to_vec(),
        };
        let place = ItemPlace::new(key, call.source_node);
        let sourced = |source: &Str| {
            let (name, source, versions) = (name.clone(), source.clone(), versions.clone());
            SourcedCall { name, source, versions, place }
        };
        sources.iter().map(sourced).collect::<Vec<_>>()
    })
}
