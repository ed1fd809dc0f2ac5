//! `provider = name.alias["key"]`: checks that the configuration exists and has an instance with the key.

use addr::ResourceMode;
use db::Summary;
use sorted::TreeSet;
use values::{Kind, Str, Type, convert};

use crate::{
    analysis::{
        env::ItemEnv, infer::Infer, items::resource::missing_provider_config, problem::ItemProblem,
        value::marks::Tri,
    },
    content::item as item_of,
    expr::{Expr, ExprId, Ref},
    expr_equality::WithExprs,
    fix::Fix,
    item::{Item, ItemKind, ProviderConfig, ProviderRef, Repetition},
    item_name::ItemName,
    names::{lookup, required_providers},
    statics, suggest,
};

/// The item that refers to a configuration. `repetition` determines the values of `each.key` in the key.
pub(super) struct Referrer<'i> {
    pub(super) item: &'i Item,
    pub(super) repetition: Repetition,
}

/// Checks one reference.
pub(super) fn check(
    infer: &mut Infer<'_>,
    env: &ItemEnv<'_>,
    referrer: &Referrer<'_>,
    provider: &ProviderRef,
) {
    let before = infer.problems.len();
    provider.key.into_iter().for_each(|key| check_key(infer, key));
    let is_sound = infer.problems.len() == before;
    let Some(alias) = &provider.alias else { return };
    let name = ItemName::Provider(provider.local_name.clone(), Some(alias.clone()));
    let declared = lookup(env.db, env.directory, &name);
    let Some(config) = declared.and_then(|key| item_of(env.db, key).kind.as_provider()) else {
        let required = required_providers(env.db, env.directory);
        let entry = required.declared.get(&provider.local_name);
        if !entry.is_some_and(|(entry, _)| entry.configuration_aliases.contains(alias)) {
            let (name, node) = (&provider.local_name, provider.node);
            infer.problems.push(missing_provider_config(name, alias, node));
        }
        return;
    };
    let keys = declared.and_then(|it| {
        let found =
            statics::provider_keys(env.db, env.workspace, env.directory, it.block, it.index);
        found.as_ref().ok()?.as_ref()
    });
    let found = match (config.for_each, provider.key) {
        (None, None) => None,
        (None, Some(key)) => is_sound.then(|| without_instances(config, alias, key)),
        (Some(_), None) => Some(without_key(config, alias, keys, provider)),
        (Some(_), Some(key)) => keys
            .filter(|_| is_sound && !infer.is_faulty(key, &infer.faults()))
            .and_then(|keys| missing_instance(env, referrer, config, alias, keys, key)),
    };
    infer.problems.extend(found);
    let keyed = provider.key.and(config.for_each);
    let declared = declared.map(|it| item_of(env.db, it));
    infer.problems.extend(declared.zip(keyed).and_then(|(declared, for_each)| {
        let provider = WithExprs { exprs: &declared.exprs, expr: for_each };
        same_for_each(referrer, provider)
    }));
}

/// Warns if objects and their provider instances come from the same collection: once an element is removed, the
/// instance that must destroy the object is gone too. As in OpenTofu, literals are not compared.
fn same_for_each(referrer: &Referrer<'_>, provider: WithExprs<'_>) -> Option<ItemProblem> {
    let (summary, what) = match &referrer.item.kind {
        ItemKind::ModuleCall(_) => (Summary::PROVIDER_FOR_EACH_MATCHES_MODULE, "module call"),
        ItemKind::Resource(it) if it.resource.mode == ResourceMode::Managed => {
            (Summary::PROVIDER_FOR_EACH_MATCHES_RESOURCE, "resource")
        }
        _ => return None,
    };
    let Repetition::ForEach(for_each) = referrer.repetition else { return None };
    let own = WithExprs { exprs: &referrer.item.exprs, expr: for_each };
    if !own.has_reference() || !own.is_written_like(provider) {
        return None;
    }
    let detail = format!(
        "The provider configuration has the same for_each as this {what}. If an element is removed from the \
         collection, the provider instance that must destroy its objects is removed at the same time, and the plan \
         fails. Give the provider a collection that keeps an element until the apply after its objects are destroyed, \
         for example one that also has the elements to remove."
    );
    Some(ItemProblem::new(for_each.into(), summary, detail))
}

/// Refuses a sensitive or ephemeral key: the configuration that manages an object is written to the state, and
/// shown.
fn check_key(infer: &mut Infer<'_>, key: ExprId) {
    let value = infer.expr(key);
    let marks = value.deep_marks();
    let (certainty, summary, word) = match marks.ephemeral {
        Tri::No => (marks.sensitive, Summary::INVALID_PROVIDER_KEY, "a sensitive"),
        certainty => (certainty, Summary::EPHEMERAL_PROVIDER_KEY, "an ephemeral"),
    };
    if certainty > Tri::No {
        let detail = format!("A provider instance key must not be derived from {word} value.");
        let problem = ItemProblem::new(key.into(), summary, detail);
        let when = value.ephemeral.somewhere();
        infer.problems.push(problem.if_ephemeral(certainty, &when, value.origin.as_ref()));
        return;
    }
    let constant = value.constant.as_ref().map(|it| &it.0);
    let detail = match constant {
        Some(constant) if constant.is_null() => {
            "A provider instance key must not be null.".to_owned()
        }
        Some(constant) => match convert::convert(constant, &Type::String) {
            Ok(_) => return,
            Err(error) => format!("The given instance key is unsuitable: {error}."),
        },
        None if value.ty == Type::Dynamic || convert::can_convert(&value.ty, &Type::String) => {
            return;
        }
        None => {
            let error = convert::mismatch(&value.ty, &Type::String);
            format!("The given instance key is unsuitable: {error}.")
        }
    };
    infer.problems.push(ItemProblem::new(key.into(), Summary::INVALID_PROVIDER_KEY, detail));
}

fn without_instances(config: &ProviderConfig, alias: &str, key: ExprId) -> ItemProblem {
    let name = &config.local_name;
    let detail = format!(
        "The provider configuration {name}.{alias} has no for_each, so it has no instances to \
         choose from. Take the key away, or add for_each to the provider block."
    );
    ItemProblem::new(key.into(), Summary::INVALID_PROVIDER_KEY, detail)
}

fn without_key(
    config: &ProviderConfig,
    alias: &str,
    keys: Option<&TreeSet<Str>>,
    provider: &ProviderRef,
) -> ItemProblem {
    let name = &config.local_name;
    let example =
        keys.and_then(TreeSet::first).map_or("each.key".to_owned(), |it| format!("{it:?}"));
    let detail = format!(
        "The provider configuration {name}.{alias} has for_each, so one of its instances has to be \
         chosen, as in {name}.{alias}[{example}]."
    );
    ItemProblem::new(provider.node.into(), Summary::INVALID_PROVIDER_KEY, detail)
}

/// The error for a key that no instance has, if both the key and the instances are known before a plan.
fn missing_instance(
    env: &ItemEnv<'_>,
    referrer: &Referrer<'_>,
    config: &ProviderConfig,
    alias: &str,
    keys: &TreeSet<Str>,
    key: ExprId,
) -> Option<ItemProblem> {
    let (missing, whose) = match &referrer.item.exprs[key] {
        Expr::Ref(Ref::EachKey) => {
            let (db, workspace) = (env.db, env.workspace);
            let repetition = referrer.repetition;
            let own = statics::keys_of_resource(db, workspace, env.directory, env.key, repetition);
            let missing = own?.into_iter().find(|it| !keys.contains(it))?;
            let whose = format!(", which the instance {missing:?} of this block asks for");
            (missing, whose)
        }
        _ => (text(env, key).filter(|it| !keys.contains(it))?, String::new()),
    };
    let name = &config.local_name;
    let close = suggest::closest(&missing, keys.iter().map(|it| &**it));
    let detail = format!(
        "The provider configuration {name}.{alias} has no instance {missing:?}{whose}. {}{}",
        shown(keys),
        suggest::question(close)
    );
    let problem = ItemProblem::new(key.into(), Summary::MISSING_PROVIDER_INSTANCE, detail);
    Some(match referrer.item.exprs[key] {
        Expr::Literal(_) => problem.fixed_by(Fix::last(&missing, close)),
        _ => problem,
    })
}

/// The key, if it is known before a plan and no secret. Other problems of the key are reported during the plan.
fn text(env: &ItemEnv<'_>, key: ExprId) -> Option<Str> {
    let (db, workspace, directory) = (env.db, env.workspace, env.directory);
    let value = statics::early_value(db, workspace, directory, env.key, key, "provider").ok()?;
    if value.has_deep_secret() {
        return None;
    }
    match convert::convert(&value, &Type::String).ok()?.kind() {
        Kind::String(text) => Some(Str::from(text.clone())),
        _ => None,
    }
}

/// The known instances as a sentence; of many, only the first few.
fn shown(keys: &TreeSet<Str>) -> String {
    const MAX_LISTED: usize = 8;
    let names: Vec<String> = keys.iter().take(MAX_LISTED).map(|it| format!("{it:?}")).collect();
    match keys.len() {
        0 => "Its for_each is empty.".to_owned(),
        1..=MAX_LISTED => format!("Its for_each has {}.", names.join(", ")),
        many => format!("Its for_each has {}, and {} more.", names.join(", "), many - MAX_LISTED),
    }
}
