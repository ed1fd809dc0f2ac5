//! Instance keys that are known before planning: the keys of providers with `for_each`, and the keys of resources,
//! which are compared with them.

use std::sync::Arc;

use db::{Block, Directory, Summary};
use sorted::{TreeMap, TreeSet};
use values::{Kind, MarkKind, Str, Text, Type, Value};

use crate::{
    Db,
    build::reachable,
    content::item,
    expr::{Expr, ExprId},
    item::{ProviderConfig, Repetition},
    item_name::{ItemKey, ItemName, NameKind},
    place::ItemPlace,
    statics::{
        evaluate::{CallPath, Messages, NOT_KNOWN, evaluate, secret},
        static_error::{NoValue, StaticError},
    },
    symbols::names_of_kind,
    workspace::Workspace,
};

/// The keys. `None` if they are unknown.
type Keys = Option<TreeSet<Str>>;

/// The keys of a provider configuration with `for_each`. `None` if they depend on how the module is called.
///
/// **Stability:** depends on `for_each` and on the values of its references.
#[salsa::tracked(returns(ref))]
pub(crate) fn provider_keys(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    block: Block,
    index: u32,
) -> Result<Keys, NoValue> {
    let key = ItemKey { block, index };
    let config = item(db, key).kind.as_provider().ok_or(None)?;
    let for_each = config.for_each.ok_or(None)?;
    let subject = subject_of(config);
    let path = CallPath::without_caller(db, workspace, directory);
    let value = evaluate(db, path, key, item(db, key), for_each, &subject)?;
    let of = Messages {
        subject: &subject,
        detail: SECRET,
        ephemeral: Summary::EPHEMERAL_STATIC_VALUE,
        sensitive: Summary::SENSITIVE_STATIC_VALUE,
    };
    if let Some(kind) = secret_of(&value) {
        return Err(Some(Arc::new(secret(db, path, key, for_each, &of, kind))));
    }
    let unsuitable = |why: &str| {
        let detail = format!("Unsuitable value of {subject}: {why}.");
        let here = format!("{subject} is here");
        Some(Arc::new(StaticError::at(
            ItemPlace::new(key, for_each),
            Summary::invalid_repetition_value("for_each"),
            detail,
            here,
        )))
    };
    match keys(&value) {
        // Without a path of calls, a called module may have unknown keys. The values of the root module are final.
        Ok(None) if directory == workspace.root(db) => Err(unsuitable(NOT_KNOWN)),
        Ok(keys) => Ok(keys),
        Err(why) => Err(unsuitable(&why)),
    }
}

const SECRET: &str = "{A} values, or values derived from {} values, cannot be used as for_each \
                      arguments of a provider: its keys are shown, and kept in the state.";

/// A `provider` block with `for_each`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RepeatedProvider {
    /// The directory of its module.
    pub directory: Str,
    /// The module's local name of the provider.
    pub local_name: Str,
    /// The alias.
    pub alias: Option<Str>,
}

/// The instances of `provider` blocks that are known before planning: the values of `each.value`, by `each.key`.
pub type ProviderInstances = TreeMap<RepeatedProvider, TreeMap<Str, Value>>;

/// The known instances of all `provider` blocks of a configuration. A block is missing if its instances depend on how
/// its module is called, or if its `for_each` is invalid.
pub fn provider_instances(db: &dyn Db, workspace: Workspace) -> ProviderInstances {
    let mut instances = ProviderInstances::new();
    for directory in reachable(db, workspace) {
        for (name, key) in names_of_kind(db, directory, NameKind::Provider) {
            let ItemName::Provider(local_name, alias) = name else { continue };
            let known = elements(db, workspace, directory, key);
            let directory = Str::from(&**directory.path(db));
            let block = RepeatedProvider { directory, local_name, alias };
            instances.extend(known.map(|it| (block, it)));
        }
    }
    instances
}

fn elements(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    key: ItemKey,
) -> Option<TreeMap<Str, Value>> {
    let for_each = item(db, key).kind.as_provider()?.for_each?;
    let keys = provider_keys(db, workspace, directory, key.block, key.index);
    let keys = keys.as_ref().ok()?.as_ref()?;
    let path = CallPath::without_caller(db, workspace, directory);
    let value = evaluate(db, path, key, item(db, key), for_each, "for_each").ok()?;
    let element = |key: &Str| match value.kind() {
        Kind::Map(elements) | Kind::Object(elements) => elements.get(key).cloned(),
        _ => None,
    };
    // The elements of a set are their own keys.
    let with_value =
        |key: &Str| (key.clone(), element(key).unwrap_or_else(|| Value::string(key.clone())));
    Some(keys.iter().map(with_value).collect())
}

/// The name of a provider's `for_each` in messages.
pub(crate) fn subject_of(config: &ProviderConfig) -> String {
    let alias = config.alias.as_ref().map(|alias| format!(".{alias}")).unwrap_or_default();
    format!("provider.{}{alias}.for_each", config.local_name)
}

/// The keys of a resource's `for_each`, if they do not depend on how the module is called. `None` otherwise, and
/// if the argument is invalid, which another check reports.
pub(crate) fn keys_of_resource(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    key: ItemKey,
    repetition: Repetition,
) -> Keys {
    let Repetition::ForEach(for_each) = repetition else { return None };
    let path = CallPath::without_caller(db, workspace, directory);
    let value = evaluate(db, path, key, item(db, key), for_each, "for_each").ok()?;
    match secret_of(&value) {
        Some(_) => None,
        None => keys(&value).ok()?,
    }
}

/// The mark that makes the keys of a collection secret. The marks of a map's elements do not matter, only its own.
fn secret_of(value: &Value) -> Option<MarkKind> {
    let is_set = matches!(value.ty(), Type::Set(_));
    let marks = if is_set { value.deep_marks() } else { value.marks().clone() };
    [MarkKind::Ephemeral, MarkKind::Sensitive].into_iter().find(|kind| marks.has(*kind))
}

/// The keys of a collection. `None` if a part of it is unknown.
///
/// # Errors
/// The reason why values of this kind have no keys.
fn keys(value: &Value) -> Result<Keys, String> {
    let plain = value.without_all_marks();
    match plain.kind() {
        Kind::Null => Err("it is null".to_owned()),
        Kind::Map(elements) | Kind::Object(elements) => {
            Ok(Some(elements.keys().cloned().collect()))
        }
        Kind::Set(elements) => {
            let keys: Vec<Kind<'_>> = elements.iter().map(Value::kind).collect();
            if keys.iter().any(|it| matches!(it, Kind::Null)) {
                return Err("a set that has null in it gives no keys".to_owned());
            }
            let text = |it: &Kind<'_>| match it {
                Kind::String(text) => Some(Str::from(Text::clone(text))),
                _ => None,
            };
            match elements.is_empty() || plain.ty() == Type::set(Type::String) {
                true => Ok(keys.iter().map(text).collect()),
                false => Err(unsuitable(&plain.ty())),
            }
        }
        _ => match plain.ty() {
            Type::Dynamic | Type::Map(_) | Type::Object(_) | Type::Set(_) => Ok(None),
            ty => Err(unsuitable(&ty)),
        },
    }
}

fn unsuitable(ty: &Type) -> String {
    format!("it must be a map, or a set of strings, and is {}", ty.friendly_name())
}

/// The `for_each` arguments of the root module's providers.
fn of_root(db: &dyn Db, workspace: Workspace) -> Vec<(ItemKey, ExprId)> {
    let providers = names_of_kind(db, workspace.root(db), NameKind::Provider).into_iter();
    providers
        .filter_map(|(_, key)| Some((key, item(db, key).kind.as_provider()?.for_each?)))
        .collect()
}

/// Returns true if the `for_each` of a provider of the root module is not a literal.
pub(super) fn are_dynamic(db: &dyn Db, workspace: Workspace) -> bool {
    let is_literal = |key, expr: ExprId| matches!(item(db, key).exprs[expr], Expr::Literal(_));
    of_root(db, workspace).into_iter().any(|(key, for_each)| !is_literal(key, for_each))
}

/// The problems of the `for_each` arguments of the root module's providers.
pub(super) fn errors(db: &dyn Db, workspace: Workspace) -> Vec<Arc<StaticError>> {
    let root = workspace.root(db);
    let of = |(key, _): (ItemKey, ExprId)| {
        let keys = provider_keys(db, workspace, root, key.block, key.index);
        keys.as_ref().err()?.clone()
    };
    of_root(db, workspace).into_iter().filter_map(of).collect()
}
