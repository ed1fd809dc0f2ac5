//! Instances of resources and module calls: their keys, and the elements that they are made from (`each.value`, and
//! the iterator of a `dynamic` block).
//!
//! An element that an index selects is one of many. Instances are made from *every* element, so a fact that is
//! certain for one element is certain for one instance.

use std::cell::OnceCell;

use db::Summary;
use rustc_hash::FxHashSet;
use values::{Str, Type, convert};

use crate::{
    analysis::{
        env::ItemEnv,
        infer::{constructor::key_text, iterate::UNROLL},
        problem::ItemProblem,
        value::{
            Abstract,
            inside::{Inside, Presence},
            when::Ephemerality,
        },
    },
    content::keys_of,
    expr::{At, Expr, ExprId, Exprs, Ref},
    item::{Item, Repetition},
    item_name::{ItemName, Keys},
    names::lookup,
};

/// Reports references to instances that lack a key, or that have a key too many. Other problems at such a reference
/// are removed from `problems`.
pub(super) fn check_keys(env: &ItemEnv<'_>, item: &Item, problems: &mut Vec<ItemProblem>) {
    // The expressions that are wrong, and those that access their result.
    let mut wrong = Vec::new();
    let tried = OnceCell::new();
    for (id, expr) in item.exprs.iter() {
        let (base, found) = match expr {
            Expr::GetAttr { base, name } => {
                let found = missing_key(env, &item.exprs[*base], name);
                let is_tried = || tried.get_or_init(|| arguments_of_try(&item.exprs)).contains(&id);
                (base, found.filter(|it| !(it.may_be_tried && is_tried())))
            }
            Expr::Index { base, key } => (base, unexpected_key(env, &item.exprs, *base, *key)),
            _ => continue,
        };
        if found.is_none() && !wrong.contains(base) {
            continue;
        }
        wrong.push(id);
        problems.retain(|it| it.at.expr() != Some(id));
        if let Some(KeyProblem { summary, detail, .. }) = found {
            let at = At::of_problem(summary.rule(), id);
            problems.push(ItemProblem::new(at, summary, detail));
        }
    }
}

/// A reference without a key that it needs, or with a key that it must not have.
struct KeyProblem {
    summary: Summary,
    detail: String,
    /// True if OpenTofu finds it only by evaluation, so that `try` and `can` accept it.
    may_be_tried: bool,
}

/// The expressions in the arguments of `try` and `can`.
fn arguments_of_try(exprs: &Exprs) -> FxHashSet<ExprId> {
    let calls = exprs.iter().filter_map(|(_, expr)| match expr {
        Expr::Call(call) if ["try", "can"].contains(&&*call.name) => Some(&call.args),
        _ => None,
    });
    let mut open: Vec<ExprId> = calls.flatten().copied().collect();
    let mut found = FxHashSet::default();
    while let Some(id) = open.pop() {
        if found.insert(id) {
            exprs[id].for_each_child(&mut |child| open.push(child));
        }
    }
    found
}

fn missing_key(env: &ItemEnv<'_>, base: &Expr, attribute: &Str) -> Option<KeyProblem> {
    let key = match keys(env, base)? {
        Keys::None | Keys::Optional => return None,
        keys => keys,
    };
    let (argument, example) = match key {
        Keys::Texts => ("for_each", "each.key"),
        _ => ("count", "count.index"),
    };
    match base {
        Expr::Ref(Ref::Resource(resource)) => {
            let detail = format!(
                "Because {resource} has \"{argument}\" set, its attributes must be accessed on \
                 specific instances.\n\nFor example, to correlate with indices of a referring \
                 resource, use:\n    {resource}[{example}]"
            );
            Some(KeyProblem { summary: Summary::MISSING_INSTANCE_KEY, detail, may_be_tried: false })
        }
        Expr::Ref(Ref::Module(call)) => {
            let detail = format!(
                "Because module.{call} has \"{argument}\" set, its outputs are those of specific \
                 instances, as in module.{call}[{example}].{attribute}, or of all of them, as in \
                 [for it in module.{call} : it.{attribute}]."
            );
            Some(KeyProblem { summary: Summary::UNSUPPORTED_ATTRIBUTE, detail, may_be_tried: true })
        }
        _ => None,
    }
}

fn unexpected_key(
    env: &ItemEnv<'_>,
    exprs: &Exprs,
    base: ExprId,
    key: ExprId,
) -> Option<KeyProblem> {
    let (Expr::Ref(Ref::Resource(resource)), Expr::Literal(_)) = (&exprs[base], &exprs[key]) else {
        return None;
    };
    if keys(env, &exprs[base])?.are_needed() {
        return None;
    }
    let detail = format!(
        "Because {resource} does not have \"count\" or \"for_each\" set, references to it must not \
         include an index key. Remove the bracketed index to refer to the single instance of this resource."
    );
    Some(KeyProblem { summary: Summary::UNEXPECTED_INSTANCE_KEY, detail, may_be_tried: false })
}

/// The kind of keys that the instances of a declared resource or module call have. `None` if the expression names
/// neither.
fn keys(env: &ItemEnv<'_>, base: &Expr) -> Option<Keys> {
    let key = match base {
        Expr::Ref(Ref::Resource(resource)) => env.find_resource(resource)?.key(env.db),
        Expr::Ref(Ref::Module(call)) => {
            lookup(env.db, env.directory, &ItemName::Module(call.clone()))?
        }
        _ => return None,
    };
    Some(keys_of(env.db, key))
}

/// The value of a reference to all instances. If the source determines the instances, each of them certainly
/// exists.
///
/// If the source determines that there are none, the result is a collection of unknown length: an item that refers
/// to one of the instances most likely has no instances itself and is never evaluated, so no error is reported for
/// it.
pub(crate) fn all_instances(
    repetition: Repetition,
    argument: Option<&Abstract>,
    object: Abstract,
) -> Abstract {
    let known = match repetition {
        Repetition::Single | Repetition::Enabled(_) => return object,
        Repetition::Count(_) => {
            argument.and_then(known_count).map(|count| Abstract::tuple(vec![object.clone(); count]))
        }
        Repetition::ForEach(_) => argument.and_then(known_names).map(|names| {
            let instance = |name| (name, object.clone());
            Abstract::object(names.into_iter().map(instance).collect())
        }),
    };
    let is_sequence = matches!(repetition, Repetition::Count(_));
    let any = || Abstract { is_sequence, ..Abstract::each(Type::Dynamic, object) };
    known.unwrap_or_else(any)
}

/// The number of instances of a constant `count`, or `None` if it is not between 1 and `UNROLL`.
fn known_count(argument: &Abstract) -> Option<usize> {
    let count = convert::convert(&argument.constant.as_ref()?.0, &Type::Number).ok()?;
    count.as_number()?.to_usize().filter(|count| (1..=UNROLL).contains(count))
}

/// The keys of the instances of a `for_each`, or `None` if they are not all known, or are none or too many.
fn known_names(argument: &Abstract) -> Option<Vec<Str>> {
    if argument.presence < Presence::Known {
        return None;
    }
    let is_set = matches!(argument.ty, Type::Set(_));
    let elements = argument.known_elements(UNROLL).filter(|elements| !elements.is_empty())?;
    elements.iter().map(|(key, value)| key_text(if is_set { value } else { key })).collect()
}

/// The value of `each.value` in one of the instances.
pub(crate) fn each_value(for_each: &Abstract) -> Abstract {
    match &for_each.ty {
        Type::Set(_) => Abstract::of_type(Type::String),
        _ => instance(for_each),
    }
}

/// The element that one of the instances is made from. A mark that is certain for one element is certain here.
pub(crate) fn instance(collection: &Abstract) -> Abstract {
    let any = collection.any_element();
    let elements: Vec<&Abstract> = match &collection.inside {
        Inside::Attrs(attrs) => attrs.values().collect(),
        Inside::Items(items) => items.iter().collect(),
        Inside::Each(_) | Inside::Opaque(_) => return any,
    };
    strengthened(&any, &elements)
}

/// Returns `joined` with each mark as certain as in the element where it is most certain.
fn strengthened(joined: &Abstract, elements: &[&Abstract]) -> Abstract {
    let marks = elements.iter().fold(joined.marks, |marks, element| marks.union(&element.marks));
    let inside = match &joined.inside {
        Inside::Attrs(parts) => {
            let part = |(name, part): (&Str, &Abstract)| {
                let same: Vec<Abstract> =
                    elements.iter().filter_map(|element| element.attr(name)).collect();
                (name.clone(), strengthened(part, &same.iter().collect::<Vec<_>>()))
            };
            Inside::attrs(parts.iter().map(part).collect())
        }
        Inside::Opaque(marks) => {
            Inside::Opaque(elements.iter().fold(*marks, |all, it| all.union(&it.inner_marks())))
        }
        other => other.clone(),
    };
    let ephemeral = elements.iter().fold(Ephemerality::NEVER, |all, element| {
        let (here, within) = (element.ephemeral.here(), element.ephemeral.inside());
        Ephemerality::new(all.here().or(here), all.inside().or(within))
    });
    Abstract { marks, inside, ephemeral, ..joined.clone() }
}
