//! Arguments of variables with `const = true`: their values must follow from the variables of the root module
//! alone.

use db::Summary;
use sorted::TreeSet;

use crate::{
    analysis::{env::ItemEnv, problem::ItemProblem},
    content::item as item_of,
    expr::Ref,
    item::{Attr, Item, ItemKind, RefPlace, RefTarget, Repetition, StaticRef},
    item_name::ItemName,
    names::lookup,
};

/// Returns the reference that makes an argument of a call unknown before anything runs, or `None` if there is none.
/// A variable of the calling module is accepted here; the calls of that module are checked in turn.
pub(super) fn dynamic_part(env: &ItemEnv<'_>, item: &Item, input: &Attr) -> Option<String> {
    let mut work: Vec<&StaticRef> = refs_of_input(item, input);
    let mut seen = TreeSet::new();
    while let Some(reference) = work.pop() {
        match &reference.target {
            RefTarget::Variable(_) => {}
            RefTarget::Local(name) => {
                let key = lookup(env.db, env.directory, &ItemName::Local(name.clone()));
                if let Some(key) = key.filter(|_| seen.insert(name)) {
                    work.extend(item_of(env.db, key).refs.iter());
                }
            }
            RefTarget::Resource(resource) => return Some(resource.to_string()),
            RefTarget::Module(call) | RefTarget::ModuleOutput(call, _) => {
                return Some(format!("module.{call}"));
            }
            RefTarget::Ambient(Ref::PathModule | Ref::PathRoot | Ref::PathCwd | Ref::Workspace) => {
            }
            RefTarget::Ambient(reference) => return Some(reference.to_string()),
        }
    }
    None
}

/// The references in one argument. Expressions are numbered from the inside out, one argument after the other, so
/// an argument's expressions are contiguous.
fn refs_of_input<'i>(item: &'i Item, input: &Attr) -> Vec<&'i StaticRef> {
    let ItemKind::ModuleCall(call) = &item.kind else { return Vec::new() };
    let repetition = match call.repetition {
        Repetition::Single => None,
        Repetition::Count(it) | Repetition::ForEach(it) | Repetition::Enabled(it) => Some(it),
    };
    let others = [repetition, call.source_expr, call.version].into_iter().flatten();
    let before = call.inputs.iter().map(|it| it.value).chain(others);
    let before = before.filter(|it| *it < input.value).max();
    let is_inside = |it: &&StaticRef| {
        it.place == RefPlace::Config
            && it.expr <= input.value
            && before.is_none_or(|before| it.expr > before)
    };
    item.refs.iter().filter(is_inside).collect()
}

pub(super) fn problem(input: &Attr, dynamic: &str) -> ItemProblem {
    let detail = format!(
        "The variable \"{}\" is declared with const = true, so its value must be known before \
         anything runs, but {dynamic} is not. Values, variables and locals that are made from those can be used here.",
        input.name
    );
    ItemProblem::new(input.value.into(), Summary::DYNAMIC_CONST, detail)
}
