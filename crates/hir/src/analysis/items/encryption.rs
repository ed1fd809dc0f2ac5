//! The key providers and methods of `encryption` blocks: their arguments, and the keys that they take from one
//! another.
//!
//! Their values must be known before a plan and are never written to the state, so they may be ephemeral.

use db::{Severity, Summary};
use rustc_hash::{FxHashMap, FxHashSet};
use values::{Kind, Type, Value, convert};

use crate::{
    analysis::{
        body::{BodyInfer, Persistence, wrong_type},
        env::ItemEnv,
        infer::Infer,
        items::static_body::{for_each_argument, not_known, refuse_dynamic_blocks},
        problem::{ItemProblem, not_supported},
    },
    encryption as known,
    encryption::Constant,
    expr::{Expr, ExprId, Exprs, Ref},
    fix::Fix,
    item::{Attr, Block, Body, Encryption, Item},
    statics::{self, static_error::Deferral},
    suggest,
};

/// The labels of a key provider or method.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Labels<'i> {
    kind: &'i str,
    name: &'i str,
}

impl std::fmt::Display for Labels<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.kind, self.name)
    }
}

/// Checks one `encryption` block.
pub(super) fn check(
    infer: &mut Infer<'_>,
    env: &ItemEnv<'_>,
    item: &Item,
    encryption: &Encryption,
) {
    let declared: FxHashSet<Labels<'_>> =
        encryption.key_providers.iter().filter_map(labels).collect();
    let before = infer.problems.len();
    let parts = encryption.key_providers.iter().map(|it| (it, false));
    for (block, is_method) in parts.chain(encryption.methods.iter().map(|it| (it, true))) {
        Part { env, item, block, is_method, declared: &declared }.check(infer);
    }
    cycle(infer, encryption);
    // Report `encryption` as unsupported only if the block has no errors; those come first.
    let is_error = |it: &ItemProblem| it.severity() == Severity::Error;
    if encryption.is_sound && !infer.problems[before..].iter().any(is_error) {
        let what = "\"encryption\" in the terraform block";
        infer.problems.push(not_supported(encryption.node, what));
    }
}

fn labels(block: &Block) -> Option<Labels<'_>> {
    match &*block.labels {
        [kind, name, ..] => Some(Labels { kind, name }),
        _ => None,
    }
}

/// A key provider or a method.
struct Part<'i> {
    env: &'i ItemEnv<'i>,
    item: &'i Item,
    block: &'i Block,
    is_method: bool,
    declared: &'i FxHashSet<Labels<'i>>,
}

impl Part<'_> {
    fn check(&self, infer: &mut Infer<'_>) {
        let Some(Labels { kind, .. }) = labels(self.block) else { return };
        let schema = if self.is_method { known::method(kind) } else { known::key_provider(kind) };
        // The lowering has reported an unknown type already.
        let Some(schema) = schema else { return };
        let (of_keys, others): (Vec<&Attr>, Vec<&Attr>) = self
            .block
            .body
            .attrs
            .iter()
            .partition(|attr| !keys_in(&self.item.exprs, attr.value).is_empty());
        for attr in &of_keys {
            self.check_keys(infer, attr, schema);
        }
        let body = &self.block.body;
        let without_keys = Body {
            attrs: others.iter().map(|it| (*it).clone()).collect(),
            blocks: body.blocks.clone(),
            is_json: body.is_json,
        };
        // An argument that names key providers is left out of the body, so drop the errors that say it is missing.
        let before = infer.problems.len();
        BodyInfer { infer, persistence: Persistence::Ephemeral, enclosing: None }.block(
            &without_keys,
            schema,
            self.block.node,
        );
        let is_there = |it: &ItemProblem| {
            let Some(Fix::MissingArgument(name)) = &it.fix else { return false };
            of_keys.iter().any(|attr| attr.name == *name)
        };
        let found = infer.problems.split_off(before);
        infer.problems.extend(found.into_iter().filter(|it| !is_there(it)));
        refuse_dynamic_blocks(infer, &without_keys);
        self.values(infer, &without_keys, schema);
        self.check_whole(infer);
    }

    /// Checks the values that the arguments have before a plan, including those of nested blocks.
    fn values(&self, infer: &mut Infer<'_>, body: &Body, schema: &provider::Block) {
        for_each_argument(infer, body, schema, &mut |infer, attr, attribute| match self
            .value(attr, &attribute.decode_type())
        {
            Ok(Some(value)) => self.check_constant(infer, attr, &value),
            Ok(None) => {}
            Err(problem) => infer.problems.push(*problem),
        });
    }

    /// Returns the value of an argument. `None` if it is not known yet, or if another check reports the reason.
    ///
    /// A variable without a value is no error: passphrases are often given only to the commands that need them.
    fn value(&self, attr: &Attr, ty: &Type) -> Result<Option<Value>, Box<ItemProblem>> {
        let env = self.env;
        let (db, workspace, directory) = (env.db, env.workspace, env.directory);
        let found =
            statics::early_value(db, workspace, directory, env.key, attr.value, &self.subject());
        let value = match found {
            Ok(value) => value,
            Err(error) => {
                let sure = error.filter(|it| it.deferral == Deferral::None);
                return sure.and_then(|it| it.problem()).map_or(Ok(None), |it| Err(Box::new(it)));
            }
        };
        let is_root = directory == workspace.root(db);
        if is_root && !value.is_wholly_known() && !value.has_deep_secret() {
            return Err(Box::new(not_known(attr, &self.subject())));
        }
        let converted = convert::convert(&value, ty);
        converted.map(Some).map_err(|error| Box::new(wrong_type(attr, &error.to_string())))
    }

    /// The name of the block in the form that OpenTofu's messages use.
    fn subject(&self) -> String {
        format!("encryption.{}", self.address())
    }

    fn address(&self) -> String {
        let labels = labels(self.block).unwrap_or_default();
        let what = if self.is_method { "method" } else { "key_provider" };
        format!("{what}.{labels}")
    }

    /// Checks an argument that names key providers.
    fn check_keys(&self, infer: &mut Infer<'_>, attr: &Attr, schema: &provider::Block) {
        for key in keys_in(&self.item.exprs, attr.value) {
            let (at, found) = match key {
                Key::Whole { at, labels } if self.declared.contains(&labels) => (at, None),
                Key::Whole { at, labels } => (at, Some(self.undefined(at, labels))),
                Key::Incomplete(at) => {
                    let detail =
                        "Expected key_provider.<type>.<name>, as in key_provider.pbkdf2.main.";
                    let problem =
                        ItemProblem::new(at.into(), Summary::INVALID_ENCRYPTION_KEYS, detail);
                    (at, Some(problem))
                }
            };
            let wanted = schema.attributes().get(&attr.name).map(|it| it.implied_type());
            let found = found.or_else(|| match wanted {
                None => Some(unexpected(attr)),
                Some(Type::Dynamic) => None,
                Some(wanted) => {
                    let wanted = wanted.friendly_name();
                    let detail = format!(
                        "Inappropriate value for attribute \"{}\": {wanted} required, and a key provider is an object.",
                        attr.name
                    );
                    Some(ItemProblem::new(at.into(), Summary::INCORRECT_ATTRIBUTE_TYPE, detail))
                }
            });
            infer.problems.extend(found);
        }
    }

    fn undefined(&self, at: ExprId, labels: Labels<'_>) -> ItemProblem {
        let Labels { kind, name } = labels;
        let of_type = self.declared.iter().filter(|it| it.kind == kind).map(|it| it.name);
        let close = suggest::closest(name, of_type);
        let whole = close.map(|name| Labels { kind, name });
        let of_name = self.declared.iter().find(|it| it.name == name).copied();
        let meant = whole.or(of_name).map(|it| format!("key_provider.{it}"));
        let hint = suggest::question(meant.as_deref());
        let detail =
            format!("Key provider {labels} is missing from the encryption configuration.{hint}");
        ItemProblem::new(at.into(), Summary::UNDEFINED_KEY_PROVIDER, detail)
            .fixed_by(Fix::last(name, close))
    }

    fn check_constant(&self, infer: &mut Infer<'_>, attr: &Attr, value: &Value) {
        let Some(Labels { kind, .. }) = labels(self.block) else { return };
        let is_secret = value.has_deep_secret();
        let value = value.without_all_marks();
        let texts: Vec<&str>;
        let constant = match value.kind() {
            Kind::String(text) => Constant::Text(text),
            Kind::Number(number) => match number.to_i64() {
                Some(number) => Constant::Number(number),
                None => return,
            },
            Kind::List(elements) | Kind::Tuple(elements) => {
                let read: Option<Vec<&str>> = elements.iter().map(Value::as_str).collect();
                let Some(read) = read else { return };
                texts = read;
                Constant::Texts(&texts)
            }
            _ => return,
        };
        if let Some(problem) = known::argument_problem(kind, &attr.name, &constant) {
            // Some problems quote the value, so the text is replaced if the value is a secret.
            let problem = match is_secret {
                true => {
                    format!(
                        "{} is not usable; the reason is not shown, because the value is sensitive",
                        attr.name
                    )
                }
                false => problem,
            };
            let detail = format!("{} failed with error: {problem}.", self.address());
            infer.problems.push(unbuildable(attr.value.into(), detail));
        }
    }

    /// Checks arguments that require or exclude one another.
    fn check_whole(&self, infer: &mut Infer<'_>) {
        let Some(Labels { kind, .. }) = labels(self.block) else { return };
        let argument = |name: &str| self.block.body.attrs.iter().find(|it| &*it.name == name);
        let header = self.block.node.into();
        if let Some((keys, true)) = known::key_argument(self.is_method, kind)
            && argument(keys).is_none()
        {
            let detail =
                format!("The argument \"{keys}\" is required, but no definition was found.");
            let problem = ItemProblem::new(header, Summary::MISSING_ARGUMENT, detail);
            infer.problems.push(problem.fixed_by(Some(Fix::MissingArgument(keys.into()))));
        }
        let (first, second, none, both) = match (self.is_method, kind) {
            (false, "pbkdf2") => (
                "passphrase",
                "chain",
                Some("no passphrase provided and no chained provider defined"),
                "passphrase and chain are mutually exclusive",
            ),
            (false, "aws_kms") => (
                "allowed_account_ids",
                "forbidden_account_ids",
                None,
                "conflicting config attributes: only allowed_account_ids or forbidden_account_ids \
                 can be specified, not both",
            ),
            _ => return,
        };
        let (at, problem) = match (argument(first), argument(second), none) {
            (Some(_), Some(second), _) => (second.node.into(), both),
            (None, None, Some(none)) => (header, none),
            _ => return,
        };
        let detail = format!("{} failed with error: {problem}.", self.address());
        infer.problems.push(unbuildable(at, detail));
    }
}

fn unbuildable(at: crate::At, detail: String) -> ItemProblem {
    ItemProblem::new(at, Summary::INVALID_ENCRYPTION_ARGUMENT, detail)
}

fn unexpected(attr: &Attr) -> ItemProblem {
    let detail = format!("An argument named \"{}\" is not expected here.", attr.name);
    ItemProblem::new(attr.node.into(), Summary::UNSUPPORTED_ARGUMENT, detail)
}

/// A reference to a key provider: `key_provider.type.name`, which parses as an attribute of a resource.
enum Key<'i> {
    Whole { at: ExprId, labels: Labels<'i> },
    Incomplete(ExprId),
}

fn keys_in(exprs: &Exprs, root: ExprId) -> Vec<Key<'_>> {
    let (mut open, mut found) = (vec![root], Vec::new());
    while let Some(at) = open.pop() {
        match &exprs[at] {
            Expr::GetAttr { base, name } if let Some(kind) = key_type(exprs, *base) => {
                found.push(Key::Whole { at, labels: Labels { kind, name } });
            }
            _ if key_type(exprs, at).is_some() => found.push(Key::Incomplete(at)),
            expr => expr.for_each_child(&mut |child| open.push(child)),
        }
    }
    found
}

fn key_type(exprs: &Exprs, at: ExprId) -> Option<&str> {
    match &exprs[at] {
        Expr::Ref(Ref::Resource(it)) if it.type_name == "key_provider" => Some(&it.name),
        _ => None,
    }
}

/// Reports key providers that take their keys from each other in a cycle.
fn cycle(infer: &mut Infer<'_>, encryption: &Encryption) {
    let exprs = infer.exprs;
    let blocks: FxHashMap<Labels<'_>, &Block> =
        encryption.key_providers.iter().filter_map(|it| Some((labels(it)?, it))).collect();
    let chained = |at: Labels<'_>| -> Option<Labels<'_>> {
        let attrs = blocks.get(&at)?.body.attrs.iter();
        attrs.flat_map(|attr| keys_in(exprs, attr.value)).find_map(|key| match key {
            Key::Whole { labels, .. } => Some(labels),
            Key::Incomplete(_) => None,
        })
    };
    let mut done: FxHashSet<Labels<'_>> = FxHashSet::default();
    for start in encryption.key_providers.iter().filter_map(labels) {
        let mut path: Vec<Labels<'_>> = Vec::new();
        let mut at = Some(start);
        while let Some(name) = at.filter(|name| done.insert(*name)) {
            path.push(name);
            at = chained(name);
        }
        let cycle = at.and_then(|back| path.iter().position(|it| *it == back));
        let Some(cycle) = cycle.map(|first| &path[first..]) else { continue };
        let names = cycle.iter().chain(&cycle[..1]).map(|it| format!("key_provider.{it}"));
        let detail = format!(
            "Can not load key_provider.{} due to circular reference: {}. One of them must get \
             its passphrase from another source.",
            cycle[0],
            names.collect::<Vec<_>>().join(" → ")
        );
        let header = blocks[&cycle[0]].node.into();
        infer.problems.push(ItemProblem::new(header, Summary::CIRCULAR_KEY_PROVIDERS, detail));
    }
}
