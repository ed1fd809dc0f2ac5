//! The root variables that are or may be secret, by their declarations.

use db::{Directory, Severity};
use hir::{
    Entry, Origin, names,
    program::Named,
    symbols::{NameKind, all_of_kind, names_of_kind},
};
use project::Project;
use sorted::TreeSet;
use values::Str;

use super::flag::VarFlag;

/// The variables of a module that are not secret.
pub(crate) fn plain_variables(db: &dyn hir::Db, root: Directory) -> Named<Str> {
    let variables = names_of_kind(db, root, NameKind::Variable).into_iter();
    variables.filter_map(|(_, key)| plain_variable(db, key)).collect()
}

/// The name and the declaration of a variable that is not secret. `None` if it is secret, or no variable.
pub(crate) fn plain_variable(db: &dyn hir::Db, key: names::ItemKey) -> Option<(Str, Entry)> {
    let item = names::item(db, key);
    let variable = item.kind.as_variable()?;
    let is_secret = variable.sensitive || variable.ephemeral || variable.may_be_secret;
    // The origin is not used.
    let origin = Origin { file: 0, block: 0, item: key.index };
    (!is_secret).then(|| (variable.name.clone(), Entry { item: item.clone(), origin }))
}

/// Returns true if a module has a variable of this name that is not secret.
pub fn is_plain(db: &dyn hir::Db, root: Directory, name: &Str) -> bool {
    let name = names::ItemName::Variable(name.clone());
    names::lookup(db, root, &name).is_some_and(|key| plain_variable(db, key).is_some())
}

/// The names of root variables that are or may be secret. If a name is declared twice, one secret declaration is
/// enough. `None` if a file or a block of the module cannot be read, because it may declare any name as a secret.
pub fn secret_names(project: &Project) -> Option<TreeSet<Str>> {
    let (db, root) = (project.db(), project.root());
    let declarations = all_of_kind(db, root, NameKind::Variable).into_iter();
    // An override file changes the declaration that it overrides, so it is no declaration of its own.
    let declarations = declarations.filter(|key| names::base_of(db, root, *key).is_none());
    let is_secret = |key: &names::ItemKey| plain_variable(db, *key).is_none();
    let name = |key| Some(names::item(db, key).kind.as_variable()?.name.clone());
    is_readable(project).then(|| declarations.filter(is_secret).filter_map(name).collect())
}

/// Returns true if every block of the root module could be read.
fn is_readable(project: &Project) -> bool {
    let (db, root) = (project.db(), project.root());
    let is_sound = |block: &db::Block| {
        names::block_problems(db, *block).iter().all(|it| it.severity() != Severity::Error)
    };
    project.tree().unloadable_in(root.path(db)).is_empty()
        && root
            .files(db)
            .iter()
            .all(|file| file.decode_error(db).is_none() && file.blocks(db).iter().all(is_sound))
}

/// Removes the flags that set secret variables. Keeps the others and all files.
pub fn plain_flags(db: &dyn hir::Db, root: Directory, flags: Vec<VarFlag>) -> Vec<VarFlag> {
    let variables = plain_variables(db, root);
    let is_plain = |flag: &VarFlag| match flag {
        VarFlag::Value(text) => {
            text.split_once('=').is_some_and(|(name, _)| variables.contains_key(name.trim()))
        }
        VarFlag::File(_) => true,
    };
    flags.into_iter().filter(is_plain).collect()
}
