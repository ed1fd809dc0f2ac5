//! Completion after a dot: names of declared items and attributes of values.

use addr::ResourceMode;
use hir::{
    Ref,
    analysis::{Abstract, Tri, value::Inside},
    names::{ItemKey, ItemName, item},
    symbols::NameKind,
};
use provider::Attribute;
use sorted::{SortedMap, TreeMap};
use syntax::{
    AstNode, SyntaxNode, SyntaxToken, TextRange,
    ast::{self, Step},
};
use values::Type;

use super::{
    CompletionKind, Proposal, Proposals,
    body::one_line,
    context::Kind,
    expression::{self, Ephemeral, Expected},
    test_file,
};
use crate::{
    Module,
    hover::{Card, declared, value_of},
    language::{self, ValueForm},
    scheme::{called_by, schema_of_resource, takes},
    shown,
};

/// The part of a traversal before a dot.
pub(super) struct Before {
    pub(super) root: Option<SyntaxToken>,
    pub(super) steps: Vec<Step>,
    /// The range of that part, relative to the start of the block.
    range: TextRange,
}

impl Before {
    fn of(dot: &SyntaxToken) -> Option<Before> {
        let node: SyntaxNode =
            dot.parent_ancestors().find(|it| <ast::Traversal>::can_cast(it.kind()))?;
        let start = node.text_range().start();
        let traversal = ast::Traversal::cast(node)?;
        let end = dot.text_range().start();
        let steps: Vec<Step> =
            traversal.steps().filter(|it| it.syntax().text_range().end() <= end).collect();
        let mut base = traversal.base()?;
        let root = match &base {
            ast::Expr::Reference(it) => it.ident_token(),
            _ => None,
        };
        // The inferred values have no entry for parentheses, only for the expression inside.
        while let (ast::Expr::Paren(it), []) = (&base, &*steps) {
            base = it.expr()?;
        }
        let is_alone = root.is_none() && steps.is_empty();
        let range = if is_alone { base.syntax().text_range() } else { TextRange::new(start, end) };
        Some(Before { root, steps, range })
    }

    /// The names of the steps. `None` if one of the steps is not a plain attribute.
    fn names(&self) -> Option<Vec<String>> {
        let name = |step: &Step| match step {
            Step::AttrStep(it) => it.name().map(|it| it.to_string()),
            _ => None,
        };
        self.steps.iter().map(name).collect()
    }
}

/// Proposes the names that can follow the dot.
pub(super) fn complete(acc: &mut Proposals<'_, '_>) {
    let Kind::Step { dot } = &acc.place.kind else { return };
    let Some(before) = Before::of(dot) else { return };
    let bound = expression::symbols(acc, dot);
    let root = before.root.as_ref().map(|it| it.text().to_owned());
    let is_bound = root.as_ref().is_some_and(|root| bound.iter().any(|(name, _)| name == root));
    if let (Some(root), Some(names), false) = (&root, before.names(), is_bound) {
        let takes = takes(acc.cursor.document.module(), dot);
        if matches!(takes, Some(ValueForm::Provider | ValueForm::Providers)) {
            return aliases(acc, root);
        }
        if let Some(ValueForm::Addresses(addressed)) = takes {
            let typed: Vec<&str> =
                [&**root].into_iter().chain(names.iter().map(String::as_str)).collect();
            return test_file::addresses(acc, addressed, &typed);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if acc.cursor.document.is_test() && test_file::namespace(acc, root, &names) {
            return;
        }
        if namespace(acc, root, &names) {
            return;
        }
    }
    of_value(acc, &before);
}

/// Proposes the aliases of a provider's configurations.
fn aliases(acc: &mut Proposals<'_, '_>, local_name: &str) {
    let module = acc.cursor.document.module();
    for (name, key) in module.names(NameKind::Provider) {
        if let ItemName::Provider(provider, Some(alias)) = name
            && *provider == *local_name
        {
            let proposal = Proposal::new(&*alias, CompletionKind::Provider);
            acc.add(proposal.card(&declared(module, key)));
        }
    }
}

/// Proposes names of declared items. Returns false if the names before the dot are not a namespace of such items.
fn namespace(acc: &mut Proposals<'_, '_>, root: &str, names: &[&str]) -> bool {
    match (root, names) {
        ("var", []) => {
            each_name(acc, NameKind::Variable, CompletionKind::Variable, |it| match it {
                ItemName::Variable(name) => Some(&**name),
                _ => None,
            })
        }
        ("local", []) => each_name(acc, NameKind::Local, CompletionKind::Local, |it| match it {
            ItemName::Local(name) => Some(&**name),
            _ => None,
        }),
        ("module", []) => each_name(acc, NameKind::Module, CompletionKind::Module, |it| match it {
            ItemName::Module(name) => Some(&**name),
            _ => None,
        }),
        ("data", _) => return resources(acc, ResourceMode::Data, names),
        ("ephemeral", _) => return resources(acc, ResourceMode::Ephemeral, names),
        ("resource", _) => return resources(acc, ResourceMode::Managed, names),
        ("each" | "count" | "path" | "terraform" | "tofu", []) => ambient(acc, root),
        (
            "module" | "var" | "local" | "each" | "count" | "path" | "terraform" | "tofu" | "self",
            _,
        ) => {
            return false;
        }
        (type_name, []) => return resources(acc, ResourceMode::Managed, &[type_name]),
        _ => return false,
    }
    true
}

/// Proposes the declared items for which `pick` returns a name.
fn each_name(
    acc: &mut Proposals<'_, '_>,
    names: NameKind,
    kind: CompletionKind,
    pick: impl Fn(&ItemName) -> Option<&str>,
) {
    let module = acc.cursor.document.module();
    let own = acc.cursor.item().map(|it| it.key);
    let found: Vec<Named> = module
        .names(names)
        .into_iter()
        .filter(|(_, key)| Some(*key) != own)
        .filter_map(|(name, key)| Some(Named { name: pick(&name)?.to_owned(), key }))
        .collect();
    let is_few = found.len() <= DESCRIBED;
    let expected = expression::expected(acc);
    acc.add_names(found, |it| {
        let proposal = Proposal::new(&*it.name, kind);
        if is_few { described(module, it.key, proposal, expected.as_ref()) } else { proposal }
    });
}

/// The maximal length of a list of declarations with descriptions.
const DESCRIBED: usize = 300;

struct Named {
    name: String,
    key: ItemKey,
}

impl AsRef<str> for Named {
    fn as_ref(&self) -> &str {
        &self.name
    }
}

/// Adds the description, type and rank of a declaration to its proposal.
pub(super) fn described(
    module: Module<'_>,
    key: ItemKey,
    proposal: Proposal,
    expected: Option<&Expected>,
) -> Proposal {
    let kind = &item(module.db, key).kind;
    let is_deprecated = kind.as_variable().is_some_and(|it| it.deprecated.is_some());
    let proposal = proposal.card(&declared(module, key)).deprecated(is_deprecated);
    if kind.as_resource().is_some() || kind.as_module_call().is_some() {
        return proposal;
    }
    let value = value_of(module, key);
    proposal.detail(detail(&value)).rank(rank(&value, expected))
}

/// The marks and the type of a value, on one line.
fn detail(value: &Abstract) -> String {
    let marks = shown::all_marks(value);
    let words = marks.into_iter().map(ToOwned::to_owned).chain([one_line(&value.ty)]);
    words.collect::<Vec<_>>().join(", ")
}

/// The rank of a value: the better it fits the expected value, the lower the number.
pub(super) fn rank(value: &Abstract, expected: Option<&Expected>) -> u8 {
    let Some(expected) = expected else { return 5 };
    match (expected.ephemeral, value.deep_marks().ephemeral) {
        (Ephemeral::Refused, Tri::Yes) => return 8,
        // A place that accepts ephemeral values exists for them, so they come first.
        (Ephemeral::Welcome, Tri::Yes) => {
            return rank_of_type(&value.ty, &expected.ty).saturating_sub(1);
        }
        _ => {}
    }
    rank_of_type(&value.ty, &expected.ty)
}

/// The rank of a type against the expected one.
pub(super) fn rank_of_type(ty: &Type, expected: &Type) -> u8 {
    match ty {
        _ if *expected == Type::Dynamic => 5,
        Type::Dynamic => 5,
        ty if ty == expected => 3,
        ty if values::convert::can_convert(ty, expected) => 4,
        _ => 7,
    }
}

/// Proposes the resource types of a mode, or the resources of one type. Returns false if more than one name is
/// given.
fn resources(acc: &mut Proposals<'_, '_>, mode: ResourceMode, names: &[&str]) -> bool {
    match names {
        [] => {
            let types: Vec<(String, usize)> = types_in_use(acc, mode).into_iter().collect();
            for (name, count) in types {
                let detail =
                    if count == 1 { "1 resource".to_owned() } else { format!("{count} resources") };
                acc.add(Proposal::new(name, CompletionKind::Type).detail(detail));
            }
            true
        }
        [type_name] => {
            each_name(acc, NameKind::Resource, CompletionKind::Resource, |it| match it {
                ItemName::Resource(it) if it.mode == mode && *it.type_name == **type_name => {
                    Some(&it.name)
                }
                _ => None,
            });
            true
        }
        _ => false,
    }
}

/// The types of the resources that a module declares, with the number of resources of each.
pub(super) fn types_in_use(acc: &Proposals<'_, '_>, mode: ResourceMode) -> TreeMap<String, usize> {
    let module = acc.cursor.document.module();
    let mut types = TreeMap::new();
    for (name, _) in module.names(NameKind::Resource) {
        if let ItemName::Resource(it) = name
            && it.mode == mode
        {
            match types.get_mut(&*it.type_name) {
                Some(count) => *count += 1,
                None => {
                    types.insert(it.type_name.to_string(), 1);
                }
            }
        }
    }
    types
}

fn ambient(acc: &mut Proposals<'_, '_>, root: &str) {
    for (_, name, ty, doc) in language::ATTRIBUTES.iter().filter(|it| it.0 == root) {
        let marks = if *name == "applying" { "ephemeral, " } else { "" };
        acc.add(
            Proposal::new(*name, CompletionKind::Attribute).detail(format!("{marks}{ty}")).doc(doc),
        );
    }
}

/// Proposes the attributes of the value before the dot.
fn of_value(acc: &mut Proposals<'_, '_>, before: &Before) {
    let Some(value) = inferred(acc, before).or_else(|| looked_up(acc, before)) else { return };
    let documented = documented(acc, before);
    let expected = expression::expected(acc);
    for (name, part) in attributes(&value) {
        // The marks of a whole value also apply to its parts.
        let part = part.with_marks(&value.marks);
        let mut proposal = Proposal::new(&name, CompletionKind::Attribute)
            .detail(detail(&part))
            .rank(rank(&part, expected.as_ref()));
        if let Some(attribute) = documented.get(&name) {
            let card = Card::default()
                .deprecation(attribute.deprecated, &attribute.deprecation_message)
                .paragraph(&attribute.description);
            proposal = proposal.card(&card).deprecated(attribute.deprecated);
        }
        acc.add(proposal);
    }
}

/// The attributes of an object, or the known keys of a map.
fn attributes(value: &Abstract) -> Vec<(String, Abstract)> {
    let from_type = value.ty.as_object().into_iter().flat_map(|it| it.iter()).map(|(name, _)| name);
    let from_parts = match &value.inside {
        Inside::Attrs(parts) => Some(parts.keys()),
        _ => None,
    };
    let from_constant = value.constant.as_ref().and_then(|it| it.0.as_map()).map(|it| it.keys());
    let names = from_type
        .chain(from_parts.into_iter().flatten())
        .chain(from_constant.into_iter().flatten());
    let mut found = TreeMap::new();
    for name in names.filter(|it| addr::is_identifier(it)) {
        if let Some(part) = value.attr(name) {
            found.insert(name.to_string(), part);
        }
    }
    found.into_iter().collect()
}

/// The value that type inference gives the expression before the dot.
fn inferred(acc: &Proposals<'_, '_>, before: &Before) -> Option<Abstract> {
    let item = acc.cursor.item_around(before.range)?;
    let (id, _) = item.map.exprs().find(|(_, range)| *range == before.range)?;
    acc.cursor.values(item).expr(id).cloned()
}

/// The value from the declaration that the reference names. It serves if inference has no entry for the
/// expression.
fn looked_up(acc: &Proposals<'_, '_>, before: &Before) -> Option<Abstract> {
    let module = acc.cursor.document.module();
    let (reference, taken) =
        acc.cursor.document.reference_root(before.root.as_ref()?.text(), &before.steps)?;
    let name = match reference {
        Ref::Variable(name) => ItemName::Variable(name),
        Ref::Local(name) => ItemName::Local(name),
        Ref::Resource(resource) => ItemName::Resource(*resource),
        Ref::Module(name) => ItemName::Module(name),
        Ref::Output(name) => ItemName::Output(name),
        _ => return None,
    };
    let value = value_of(module, module.lookup(&name)?);
    before.steps.iter().skip(taken).try_fold(value, |value, step| match step {
        Step::AttrStep(it) => value.attr(&it.name()?),
        Step::IndexStep(_)
        | Step::LegacyIndexStep(_)
        | Step::SplatStep(_)
        | Step::AttrSplatStep(_) => Some(value.any_element()),
    })
}

/// The schema attributes that can follow the dot, with their documentation; empty if there are none.
fn documented(acc: &Proposals<'_, '_>, before: &Before) -> TreeMap<String, Attribute> {
    found_attributes(acc, before).unwrap_or_default()
}

fn found_attributes(
    acc: &Proposals<'_, '_>,
    before: &Before,
) -> Option<TreeMap<String, Attribute>> {
    let module = acc.cursor.document.module();
    let (reference, taken) =
        acc.cursor.document.reference_root(before.root.as_ref()?.text(), &before.steps)?;
    let key = match reference {
        Ref::Resource(resource) => module.lookup(&ItemName::Resource(*resource))?,
        Ref::SelfObject => acc.cursor.item()?.key,
        Ref::Module(call) => return outputs(module, &call, before.steps.len() == taken),
        _ => return None,
    };
    let part = schema_of_resource(module, item(module.db, key).kind.as_resource()?)?;
    let names: Vec<String> = before
        .steps
        .iter()
        .skip(taken)
        .filter_map(|step| match step {
            Step::AttrStep(it) => it.name().map(|it| it.to_string()),
            _ => None,
        })
        .collect();
    let mut block = part.block();
    let mut rest = names.iter();
    while let Some(name) = rest.next() {
        if let Some(nested) = block.blocks().get(&**name) {
            block = &nested.block;
            continue;
        }
        let attribute = block.attributes().get(&**name)?;
        let inner = rest.try_fold(attribute, |it, name| it.nested()?.attributes().get(&**name))?;
        return Some(owned(inner.nested()?.attributes()));
    }
    Some(owned(block.attributes()))
}

fn owned(attributes: &SortedMap<values::Str, Attribute>) -> TreeMap<String, Attribute> {
    attributes.iter().map(|(name, it)| (name.to_string(), it.clone())).collect()
}

/// The outputs of a called module, as attributes with their descriptions.
fn outputs(
    module: Module<'_>,
    call: &values::Str,
    is_whole: bool,
) -> Option<TreeMap<String, Attribute>> {
    let call = module.lookup(&ItemName::Module(call.clone())).filter(|_| is_whole)?;
    let called = module.with_directory(called_by(module, call)?);
    let outputs = called.names(NameKind::Output).into_iter().filter_map(|(name, key)| match name {
        ItemName::Output(name) => {
            let output = item(called.db, key).kind.as_output()?;
            let described = Attribute {
                description: output.description.clone().unwrap_or_default(),
                deprecated: output.deprecated.is_some(),
                deprecation_message: output.deprecated.clone().unwrap_or_default(),
                ..Attribute::computed(Type::Dynamic)
            };
            Some((name.to_string(), described))
        }
        _ => None,
    });
    Some(outputs.collect())
}
