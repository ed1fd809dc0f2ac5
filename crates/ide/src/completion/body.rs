//! Completion of argument names, block types and object keys.

use hir::{
    names::{ItemName, item, required_providers},
    symbols::NameKind,
};
use provider::{Attribute, NestedBlock};
use sorted::TreeSet;
use syntax::{
    AstNode, SyntaxKind, SyntaxToken,
    ast::{self, BodyItem, HasItems as _},
};
use values::Type;

use super::{Completion, CompletionKind, Completions, Proposal, Proposals, context::Kind, escaped};
use crate::{
    Document,
    hover::{Card, declared, schema_flags, value_of},
    language::{self, Argument, LanguageBlock},
    scheme::{DoubleKeys, SchemaPart, Scheme, blocks_around, scheme, variables},
    shown,
};

/// The top-level block types, for an empty file.
pub(super) fn of_empty_file(document: Document<'_>) -> Completions {
    let range = db::ByteRange { start: 0, end: 0 };
    let blocks = scheme(document.module(), &[]).unwrap_or_default();
    let blocks = blocks.language_blocks().iter().filter(|it| it.is_supported);
    let items = blocks.map(|block| Completion {
        label: block.name.to_owned(),
        kind: CompletionKind::Block,
        detail: None,
        documentation: Some(block.doc.to_owned()),
        range,
        insert: block_snippet(block),
        is_snippet: true,
        sort_key: format!("5{}", block.name),
        is_deprecated: false,
    });
    Completions { items: items.collect(), is_incomplete: false }
}

/// Proposes argument names and block types.
pub(super) fn names(acc: &mut Proposals<'_, '_>) {
    let Kind::Name { block } = &acc.place.kind else { return };
    let blocks = block.as_ref().map(chain).unwrap_or_default();
    let module = acc.cursor.document.module();
    let Some(scheme) = scheme(module, &blocks) else { return };
    let written = block.as_ref().map(|it| ExistingContent::of(it, acc)).unwrap_or_default();
    let follow = FollowingSyntax::of(acc);
    for argument in scheme.language_arguments().filter(|it| !written.arguments.contains(it.name)) {
        acc.add(follow.argument(language_argument(argument)));
    }
    for block in scheme.language_blocks().iter().filter(|it| it.is_supported) {
        if !(block.is_single && written.blocks.contains(block.name)) {
            acc.add(follow.block(language_block(block), || block_snippet(block)));
        }
    }
    if let Some(part) = &scheme.schema
        && scheme.language.is_none_or(|it| it.name != "dynamic")
    {
        of_schema(acc, part, &written, &follow);
    }
    if let Some(called) = scheme.called {
        inputs(acc, module.with_directory(called), &written, &follow);
    }
    in_required_providers(acc, &blocks, &written);
}

/// A block with its enclosing blocks, outermost first.
fn chain(block: &ast::Block) -> Vec<ast::Block> {
    let mut blocks: Vec<ast::Block> =
        block.syntax().ancestors().filter_map(ast::Block::cast).collect();
    blocks.reverse();
    blocks
}

/// The arguments and block types that a body already contains.
#[derive(Default)]
struct ExistingContent {
    arguments: TreeSet<String>,
    blocks: TreeSet<String>,
}

impl ExistingContent {
    /// Collects the contents of a block, without the name at the cursor.
    fn of(block: &ast::Block, acc: &Proposals<'_, '_>) -> ExistingContent {
        let mut written = ExistingContent::default();
        let is_typed = |token: &SyntaxToken| token.text_range() == acc.place.replaced;
        for item in block.body().into_iter().flat_map(|body| body.body_items()) {
            match item {
                BodyItem::Attribute(it) => {
                    let name = it.name_token().filter(|it| !is_typed(it));
                    written.arguments.extend(name.map(|it| it.text().to_owned()));
                }
                BodyItem::Block(it) => {
                    let name = it.type_token().filter(|it| !is_typed(it));
                    written.blocks.extend(name.map(|it| it.text().to_owned()));
                }
            }
        }
        written
    }
}

/// The syntax after the name at the cursor, so that a proposal does not insert it a second time.
struct FollowingSyntax {
    has_equals: bool,
    has_body: bool,
}

impl FollowingSyntax {
    fn of(acc: &Proposals<'_, '_>) -> FollowingSyntax {
        let at = acc.cursor.root.token_at_offset(acc.place.replaced.end()).right_biased();
        let after = std::iter::successors(at, SyntaxToken::next_token);
        let mut after = after.filter(|it| it.text_range().start() >= acc.place.replaced.end());
        let next = after.find(|it| it.kind() != SyntaxKind::WHITESPACE).map(|it| it.kind());
        FollowingSyntax {
            has_equals: next == Some(SyntaxKind::EQ),
            has_body: matches!(next, Some(SyntaxKind::L_BRACE | SyntaxKind::OPEN_QUOTE)),
        }
    }

    fn argument(&self, proposal: Proposal) -> Proposal {
        if self.has_equals {
            return proposal;
        }
        let text = format!("{} = ", proposal.label);
        proposal.text(text)
    }

    fn block(&self, proposal: Proposal, snippet: impl FnOnce() -> String) -> Proposal {
        if self.has_body { proposal } else { proposal.snippet(snippet()) }
    }
}

fn language_argument(argument: &Argument) -> Proposal {
    let rank = if argument.is_required { 1 } else { 4 };
    let need = if argument.is_required { "required, " } else { "" };
    Proposal::new(argument.name, CompletionKind::Argument)
        .detail(format!("{need}{}", argument.takes.shown()))
        .doc(argument.doc)
        .rank(rank)
}

fn language_block(block: &LanguageBlock) -> Proposal {
    Proposal::new(block.name, CompletionKind::Block).detail("block").doc(block.doc).rank(5)
}

/// The snippet of a block that the language defines, with a placeholder for each label and each required argument.
fn block_snippet(block: &LanguageBlock) -> String {
    let mut text = block.name.to_owned();
    let mut number = 0;
    for label in block.labels {
        number += 1;
        text.push_str(&format!(" \"${{{number}:{}}}\"", escaped(&label.replace(' ', "_"))));
    }
    text.push_str(" {\n");
    for argument in block.arguments.iter().filter(|it| it.is_required) {
        number += 1;
        text.push_str(&format!("  {} = ${number}\n", argument.name));
    }
    if block.name == "dynamic" {
        text.push_str("  content {\n    $0\n  }\n}");
    } else {
        text.push_str("  $0\n}");
    }
    text
}

/// Proposes the arguments and nested blocks that a provider's schema defines for a body.
fn of_schema(
    acc: &mut Proposals<'_, '_>,
    part: &SchemaPart,
    written: &ExistingContent,
    follow: &FollowingSyntax,
) {
    for (name, attribute) in part.block().attributes() {
        if attribute.is_computed_only() || written.arguments.contains(&**name) {
            continue;
        }
        acc.add(follow.argument(schema_argument(name, attribute)));
    }
    for (name, nested) in part.block().blocks() {
        let is_single = nested.max_items == 1
            || matches!(nested.nesting, provider::Nesting::Single | provider::Nesting::Group);
        if is_single && written.blocks.contains(&**name) {
            continue;
        }
        acc.add(follow.block(schema_block(name, nested), || nested_snippet(name, nested)));
    }
    if !part.block().blocks().is_empty() {
        let dynamic = &language::DYNAMIC;
        acc.add(follow.block(language_block(dynamic), || block_snippet(dynamic)));
    }
}

fn schema_argument(name: &str, attribute: &Attribute) -> Proposal {
    let flags: Vec<&str> =
        schema_flags(attribute).into_iter().filter(|it| *it != "optional").collect();
    let ty = one_line(&attribute.decode_type());
    let detail =
        flags.into_iter().map(ToOwned::to_owned).chain([ty]).collect::<Vec<_>>().join(", ");
    let card = Card::default()
        .deprecation(attribute.deprecated, &attribute.deprecation_message)
        .paragraph(&attribute.description);
    Proposal::new(name, CompletionKind::Argument)
        .detail(detail)
        .card(&card)
        .rank(if attribute.required { 1 } else { 3 })
        .deprecated(attribute.deprecated)
}

fn schema_block(name: &str, nested: &NestedBlock) -> Proposal {
    let is_required = nested.min_items > 0;
    Proposal::new(name, CompletionKind::Block)
        .detail(if is_required { "required block" } else { "block" })
        .doc(&nested.block.description)
        .rank(if is_required { 2 } else { 3 })
        .deprecated(nested.block.deprecated)
}

/// The snippet of a nested block with its required arguments.
fn nested_snippet(name: &str, nested: &NestedBlock) -> String {
    let mut text = escaped(name);
    let mut number = 0;
    if nested.nesting == provider::Nesting::Map {
        number += 1;
        text.push_str(&format!(" \"${{{number}:key}}\""));
    }
    text.push_str(" {\n");
    for (name, _) in nested.block.attributes().iter().filter(|(_, it)| it.required) {
        number += 1;
        text.push_str(&format!("  {} = ${number}\n", escaped(name)));
    }
    text.push_str("  $0\n}");
    text
}

/// The beginning of a type, cut after 60 characters.
pub(super) fn one_line(ty: &Type) -> String {
    let text = ty.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Proposes the variables of a called module.
fn inputs(
    acc: &mut Proposals<'_, '_>,
    called: crate::Module<'_>,
    written: &ExistingContent,
    follow: &FollowingSyntax,
) {
    for (key, variable) in
        variables(called).filter(|(_, it)| !written.arguments.contains(&*it.name))
    {
        acc.add(follow.argument(input(called, key, variable)));
    }
}

/// The proposal of a module's variable, for a module call or a variables file.
pub(super) fn input(
    module: crate::Module<'_>,
    key: hir::names::ItemKey,
    variable: &hir::item::Variable,
) -> Proposal {
    let is_required = variable.default.is_none();
    let marks = [
        (is_required, "required"),
        (variable.ephemeral, "ephemeral"),
        (variable.sensitive, "sensitive"),
    ];
    let words = marks.iter().filter(|(holds, _)| *holds).map(|(_, word)| (*word).to_owned());
    let detail = words.chain([one_line(&variable.ty.ty)]).collect::<Vec<_>>().join(", ");
    Proposal::new(&*variable.name, CompletionKind::Argument)
        .detail(detail)
        .card(&declared(module, key))
        .rank(if is_required { 1 } else { 3 })
        .deprecated(variable.deprecated.is_some())
}

/// Proposes the local names of providers that the module uses and `required_providers` lacks.
fn in_required_providers(
    acc: &mut Proposals<'_, '_>,
    blocks: &[ast::Block],
    written: &ExistingContent,
) {
    let Some(block) = blocks.get(1) else { return };
    if block.block_type().as_deref() != Some("required_providers") {
        return;
    }
    let module = acc.cursor.document.module();
    let required = required_providers(module.db, module.directory);
    let names = used_providers(module).filter(|it| !written.arguments.contains(it));
    let names: TreeSet<String> = names.collect();
    for name in names {
        let source = required.source(&name).for_display();
        let text = format!(
            "{} = {{\n  source  = \"{}\"\n  version = \"$1\"\n}}",
            escaped(&name),
            escaped(&source)
        );
        acc.add(Proposal::new(name, CompletionKind::Provider).detail(source).snippet(text));
    }
}

/// The local names of the providers that the module's resources and provider configurations use.
fn used_providers(module: crate::Module<'_>) -> impl Iterator<Item = String> {
    let kinds = [NameKind::Resource, NameKind::Provider];
    let all = kinds.into_iter().flat_map(move |kind| module.names(kind));
    all.filter_map(move |(name, key)| match name {
        ItemName::Resource(_) => {
            let resource = item(module.db, key).kind.as_resource()?;
            Some(hir::names::provider_local_name(resource).to_string())
        }
        ItemName::Provider(name, _) => Some(name.to_string()),
        _ => None,
    })
}

/// Proposes keys of an object.
pub(super) fn keys(acc: &mut Proposals<'_, '_>) {
    let Kind::Key { object } = &acc.place.kind else { return };
    let typed = acc.place.replaced;
    let written: TreeSet<String> = object
        .items()
        .filter_map(|it| it.key()?.name_token())
        .filter(|it| it.text_range() != typed)
        .map(|it| it.text().to_owned())
        .collect();
    let follow = FollowingSyntax::of(acc);
    for proposal in key_proposals(acc, object) {
        if !written.contains(&proposal.label) {
            acc.add(follow.argument(proposal));
        }
    }
}

/// The argument whose value contains an object, and the keys that lead to that object. `None` if the object is not
/// nested in plain objects and tuples.
pub(super) fn path_of_object(object: &ast::Object) -> Option<(ast::Attribute, Vec<String>)> {
    let mut names = Vec::new();
    for node in object.syntax().ancestors().skip(1) {
        if let Some(item) = ast::ObjectItem::cast(node.clone()) {
            names.push(item.key()?.name_token()?.text().to_owned());
        } else if let Some(attribute) = ast::Attribute::cast(node.clone()) {
            names.reverse();
            return Some((attribute, names));
        } else if !matches!(node.kind(), SyntaxKind::OBJECT | SyntaxKind::TUPLE) {
            return None;
        }
    }
    None
}

fn key_proposals(acc: &Proposals<'_, '_>, object: &ast::Object) -> Vec<Proposal> {
    let Some((attribute, names)) = path_of_object(object) else { return Vec::new() };
    let module = acc.cursor.document.module();
    let blocks = blocks_around(attribute.syntax());
    let kind = blocks.last().and_then(ast::Block::block_type);
    if kind.as_deref() == Some("required_providers") && names.is_empty() {
        return language::REQUIRED_PROVIDER.iter().map(language_argument).collect();
    }
    let Some(scheme) = scheme(module, &blocks) else { return Vec::new() };
    let Some(name) = attribute.name() else { return Vec::new() };
    if let Some(keys) = &scheme.double {
        return double_proposals(module, keys, &names);
    }
    if &*name == "providers" && scheme.called.is_some() {
        return provider_keys(module, &scheme);
    }
    expected_keys(module, &scheme, &name, &names)
}

/// The attributes or outputs that a test double may give values for.
fn double_proposals(
    module: crate::Module<'_>,
    keys: &DoubleKeys,
    names: &[String],
) -> Vec<Proposal> {
    match keys {
        DoubleKeys::Attributes(part) => {
            let Some((first, rest)) = names.split_first() else {
                let all = part.block().attributes().iter();
                return all.map(|(name, it)| schema_argument(name, it)).collect();
            };
            let found = part.block().attributes().get(&**first);
            found.map(|it| of_type(it.decode_type(), rest)).unwrap_or_default()
        }
        DoubleKeys::Outputs(directory) if names.is_empty() => {
            outputs(module.with_directory(*directory))
        }
        DoubleKeys::Outputs(_) => Vec::new(),
    }
}

/// The outputs of a module.
pub(super) fn outputs(module: crate::Module<'_>) -> Vec<Proposal> {
    let names = module.names(NameKind::Output).into_iter();
    let proposal = |(name, key)| match name {
        ItemName::Output(name) => {
            let detail = one_line(&value_of(module, key).ty);
            let proposal = Proposal::new(&*name, CompletionKind::Attribute).detail(detail);
            Some(proposal.card(&declared(module, key)))
        }
        _ => None,
    };
    names.filter_map(proposal).collect()
}

/// The provider names that a called module accepts in `providers`, including its configuration aliases.
fn provider_keys(module: crate::Module<'_>, scheme: &Scheme) -> Vec<Proposal> {
    let Some(called) = scheme.called else { return Vec::new() };
    let called = module.with_directory(called);
    let required = required_providers(called.db, called.directory);
    let declared = required.declared.iter().flat_map(|(name, (entry, _))| {
        let aliases = entry.configuration_aliases.iter().map(move |it| format!("{name}.{it}"));
        std::iter::once(name.to_string()).chain(aliases)
    });
    let names: TreeSet<String> = declared.chain(used_providers(called)).collect();
    names.into_iter().map(|it| Proposal::new(it, CompletionKind::Provider)).collect()
}

/// The attributes that the object at a path of keys should have, from the schema or the type constraint.
fn expected_keys(
    module: crate::Module<'_>,
    scheme: &Scheme,
    name: &str,
    names: &[String],
) -> Vec<Proposal> {
    use crate::scheme::ArgumentMeaning;
    match scheme.argument(module, name) {
        Some(ArgumentMeaning::Schema(attribute, _)) => {
            let nested = names.iter().try_fold(attribute, |attribute, name| {
                attribute.nested()?.attributes().get(&**name)
            });
            if let Some(object) = nested.and_then(Attribute::nested) {
                let settable = object.attributes().iter().filter(|(_, it)| !it.is_computed_only());
                return settable.map(|(name, it)| schema_argument(name, it)).collect();
            }
            of_type(attribute.decode_type(), names)
        }
        Some(ArgumentMeaning::Variable(key)) => {
            let variable = item(module.db, key).kind.as_variable();
            variable.map(|it| of_type(it.ty.ty.clone(), names)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn of_type(mut ty: Type, names: &[String]) -> Vec<Proposal> {
    for name in names {
        let inner = element(&ty);
        let found = match &inner {
            Type::Object(object) => object.get(name).cloned(),
            other => other.element().cloned(),
        };
        let Some(found) = found else { return Vec::new() };
        ty = found;
    }
    let Type::Object(object) = element(&ty) else { return Vec::new() };
    let propose = |(name, ty): (&values::Str, &Type)| {
        let is_required = !object.is_optional(name);
        let need = if is_required { "required, " } else { "" };
        Proposal::new(&**name, CompletionKind::Argument)
            .detail(format!("{need}{}", one_line(ty)))
            .doc(&match ty {
                Type::Object(_) => shown::fenced(&shown::type_text(ty)),
                _ => String::new(),
            })
            .rank(if is_required { 1 } else { 3 })
    };
    object.iter().map(propose).collect()
}

/// The element type of a list or set, at any depth; any other type is returned as it is.
fn element(ty: &Type) -> Type {
    match ty {
        Type::List(inner) | Type::Set(inner) => element(inner),
        other => other.clone(),
    }
}
