//! Instances: how they are told apart, and what they are made from: `each.value`, and the iterator of a `dynamic` block.
//!
//! An element that an index picks is one of many. An instance is made from *every* element, so what surely holds of one
//! of them surely holds of one instance.

use values::{Str, Type, convert};

use super::{
    env::ItemEnv,
    infer::{UNROLL, key_text},
    problem::ItemProblem,
    value::{Abstract, Ephemerality, Inside, Presence},
};
use crate::{
    expr::{At, Expr, Exprs, Ref},
    item::{Item, Repetition},
    names::{ItemName, Keys, keys_of, lookup},
};

/// Reports references to instances that lack a key, or have one too many. What else was said of such a reference is
/// dropped from `problems`.
pub(super) fn check_keys(env: &ItemEnv<'_>, item: &Item, problems: &mut Vec<ItemProblem>) {
    // Those that are wrong, and what goes on behind them.
    let mut wrong = Vec::new();
    for (id, expr) in item.exprs.iter() {
        let (base, found) = match expr {
            Expr::GetAttr { base, name } => (base, missing_key(env, &item.exprs[*base], name)),
            Expr::Index { base, key } => (base, unexpected_key(env, &item.exprs, *base, *key)),
            _ => continue,
        };
        if found.is_none() && !wrong.contains(base) {
            continue;
        }
        wrong.push(id);
        problems.retain(|it| it.at.expr() != Some(id));
        if let Some((problem, summary, detail)) = found {
            let at = At::of_problem(problem, id);
            problems.push(ItemProblem::error(at, problem, summary, detail));
        }
    }
}

type Found = Option<(&'static str, &'static str, String)>;

fn missing_key(env: &ItemEnv<'_>, base: &Expr, attribute: &Str) -> Found {
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
                "Because {resource} has \"{argument}\" set, its attributes must be accessed on specific instances.\n\nFor example, to correlate with \
                 indices of a referring resource, use:\n    {resource}[{example}]"
            );
            Some(("missing-instance-key", "Missing resource instance key", detail))
        }
        Expr::Ref(Ref::Module(call)) => {
            let detail = format!(
                "Because module.{call} has \"{argument}\" set, its outputs are those of specific instances, as in \
                 module.{call}[{example}].{attribute}, or of all of them, as in [for it in module.{call} : it.{attribute}]."
            );
            Some(("unsupported-attribute", "Unsupported attribute", detail))
        }
        _ => None,
    }
}

fn unexpected_key(
    env: &ItemEnv<'_>,
    exprs: &Exprs,
    base: crate::ExprId,
    key: crate::ExprId,
) -> Found {
    let (Expr::Ref(Ref::Resource(resource)), Expr::Literal(_)) = (&exprs[base], &exprs[key]) else {
        return None;
    };
    if keys(env, &exprs[base])?.are_needed() {
        return None;
    }
    let detail = format!(
        "Because {resource} does not have \"count\" or \"for_each\" set, references to it must not include an index key. Remove the bracketed \
         index to refer to the single instance of this resource."
    );
    Some(("unexpected-instance-key", "Unexpected resource instance key", detail))
}

/// `None` if the expression names nothing that is declared and can have instances.
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

/// All instances together, as a reference without a key means them. Where the source determines which there are, each
/// of them is surely there.
///
/// Where there are none, all that refers to one of them is most likely in something that has no instances either, and is
/// never evaluated: nothing is said of it.
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

fn known_count(argument: &Abstract) -> Option<usize> {
    let count = convert::convert(&argument.constant.as_ref()?.0, &Type::Number).ok()?;
    count.as_number()?.to_usize().filter(|count| (1..=UNROLL).contains(count))
}

fn known_names(argument: &Abstract) -> Option<Vec<Str>> {
    if argument.presence < Presence::Known {
        return None;
    }
    let is_set = matches!(argument.ty, Type::Set(_));
    let elements = argument.known_elements(UNROLL).filter(|elements| !elements.is_empty())?;
    elements.iter().map(|(key, value)| key_text(if is_set { value } else { key })).collect()
}

/// What `each.value` is in one of the instances.
pub(crate) fn each_value(for_each: &Abstract) -> Abstract {
    match &for_each.ty {
        Type::Set(_) => Abstract::of_type(Type::String),
        _ => instance(for_each),
    }
}

/// The element that one of the instances is made from: marks that one element surely has are sure.
pub(crate) fn instance(collection: &Abstract) -> Abstract {
    let any = collection.any_element();
    let elements: Vec<&Abstract> = match &collection.inside {
        Inside::Attrs(attrs) => attrs.values().collect(),
        Inside::Items(items) => items.iter().collect(),
        Inside::Each(_) | Inside::Opaque(_) => return any,
    };
    strengthened(&any, &elements)
}

/// `joined` with each mark as sure as it is in the element where it is surest.
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
