//! Completion at the beginning of an expression: references, functions, keywords and the values of special
//! arguments.

use addr::ResourceMode;
use hir::{
    Expr, ItemKind,
    analysis::Abstract,
    names::{ItemName, item, required_providers},
    symbols::NameKind,
};
use sorted::TreeSet;
use syntax::{AstNode, SyntaxKind, SyntaxToken, ast};
use values::{Type, functions};

use super::{
    CompletionKind, Proposal, Proposals,
    body::{one_line, path_of_object},
    context::Kind,
    path::{described, rank, rank_of_type, types_in_use},
    test_file,
};
use crate::{
    language::{self, ValueForm},
    scheme::{ArgumentMeaning, blocks_around, scheme, takes},
    signature::Callee,
};

/// Proposes everything that an expression can begin with.
pub(super) fn complete(acc: &mut Proposals<'_, '_>) {
    let Kind::Expression { after } = &acc.place.kind else { return };
    match takes(acc.cursor.document.module(), after) {
        Some(ValueForm::Type) => types(acc),
        Some(ValueForm::Provider | ValueForm::Providers) => providers(acc),
        Some(ValueForm::References) => references(acc),
        Some(ValueForm::Addresses(addressed)) => test_file::addresses(acc, addressed, &[]),
        Some(ValueForm::Triggers) => resource_types(acc),
        Some(ValueForm::Attributes) => own_attributes(acc),
        Some(ValueForm::Keyword(words)) => {
            words
                .iter()
                .for_each(|it| acc.add(Proposal::new(*it, CompletionKind::Keyword).rank(1)));
        }
        Some(ValueForm::Bool) => {
            words(acc, 2);
            anything(acc, after);
        }
        _ => {
            let is_bool = expected(acc).is_some_and(|it| it.ty == Type::Bool);
            words(acc, if is_bool { 2 } else { 8 });
            anything(acc, after);
        }
    }
}

fn words(acc: &mut Proposals<'_, '_>, rank: u8) {
    if acc.place.typed.contains("::") {
        return;
    }
    for word in ["true", "false", "null"] {
        let rank = if word == "null" { 8 } else { rank };
        acc.add(Proposal::new(word, CompletionKind::Keyword).rank(rank));
    }
}

fn anything(acc: &mut Proposals<'_, '_>, after: &SyntaxToken) {
    let expected = expected(acc);
    if acc.place.typed.contains("::") {
        return functions_of_providers(acc, expected.as_ref());
    }
    for (name, value) in symbols(acc, after) {
        let ty = value.as_ref().map(|it| &it.ty);
        let detail = ty.map(one_line).unwrap_or_default();
        let rank = value.as_ref().map_or(3, |it| rank(it, expected.as_ref()).min(4));
        acc.add(Proposal::new(name, CompletionKind::Local).detail(detail).rank(rank));
    }
    whole_references(acc, expected.as_ref());
    references(acc);
    match acc.cursor.document.is_test() {
        true => test_file::roots(acc),
        false => ambient_roots(acc),
    }
    functions(acc, expected.as_ref());
    if matches!(after.kind(), SyntaxKind::L_BRACK | SyntaxKind::L_BRACE) {
        let text = "for ${1:item} in ${2:list} : ${0:item}";
        acc.add(Proposal::new("for", CompletionKind::Keyword).snippet(text.to_owned()).rank(8));
    }
}

/// Proposes variables and locals as whole references, unless the module has more than `FEW` of them.
fn whole_references(acc: &mut Proposals<'_, '_>, expected: Option<&Expected>) {
    /// A longer list would hide the other proposals.
    const FEW: usize = 200;
    let module = acc.cursor.document.module();
    let own = acc.cursor.item().map(|it| it.key);
    let found = [NameKind::Variable, NameKind::Local].map(|kind| module.names(kind));
    if found.iter().map(Vec::len).sum::<usize>() > FEW {
        return;
    }
    let found = found.into_iter().flatten().filter(|(_, key)| Some(*key) != own);
    let found = found.filter_map(|(name, key)| match name {
        ItemName::Variable(name) => Some((format!("var.{name}"), CompletionKind::Variable, key)),
        ItemName::Local(name) => Some((format!("local.{name}"), CompletionKind::Local, key)),
        _ => None,
    });
    for (label, kind, key) in found {
        acc.add(described(module, key, Proposal::new(label, kind), expected));
    }
}

/// Proposes the first names of references to declared items.
fn references(acc: &mut Proposals<'_, '_>) {
    let module = acc.cursor.document.module();
    let namespaces =
        [(NameKind::Variable, "var"), (NameKind::Local, "local"), (NameKind::Module, "module")];
    for (kind, name) in namespaces {
        if !module.names(kind).is_empty() {
            root(acc, name);
        }
    }
    for (mode, name) in [(ResourceMode::Data, "data"), (ResourceMode::Ephemeral, "ephemeral")] {
        if !types_in_use(acc, mode).is_empty() {
            root(acc, name);
        }
    }
    resource_types(acc);
}

fn root(acc: &mut Proposals<'_, '_>, name: &'static str) {
    let doc = language::ROOTS.iter().find(|(root, _)| *root == name).map_or("", |it| it.1);
    acc.add(Proposal::new(name, CompletionKind::Keyword).doc(doc).rank(6));
}

fn resource_types(acc: &mut Proposals<'_, '_>) {
    for (name, count) in types_in_use(acc, ResourceMode::Managed) {
        let detail =
            if count == 1 { "1 resource".to_owned() } else { format!("{count} resources") };
        acc.add(Proposal::new(name, CompletionKind::Resource).detail(detail).rank(6));
    }
}

/// Proposes `each`, `count` and `self` in blocks that have them, and `path`, `terraform` and `tofu` everywhere.
fn ambient_roots(acc: &mut Proposals<'_, '_>) {
    let blocks = acc.place_blocks();
    if let Some(block) = blocks.first() {
        use syntax::ast::HasItems as _;
        let has = |name: &str| block.body().is_some_and(|it| it.attribute(name).is_some());
        if has("for_each") {
            root(acc, "each");
        }
        if has("count") {
            root(acc, "count");
        }
    }
    let sees_itself = |it: &ast::Block| {
        let kind = it.block_type();
        matches!(kind.as_deref(), Some("provisioner" | "connection" | "postcondition"))
    };
    if blocks.iter().any(sees_itself) {
        root(acc, "self");
    }
    ["path", "terraform", "tofu"].into_iter().for_each(|it| root(acc, it));
}

fn functions(acc: &mut Proposals<'_, '_>, expected: Option<&Expected>) {
    let library = functions::all().filter(|it| it.is_for_configurations());
    for callee in library.map(Callee::Library) {
        function(acc, &callee, expected);
    }
    functions_of_providers(acc, expected);
}

fn functions_of_providers(acc: &mut Proposals<'_, '_>, expected: Option<&Expected>) {
    for callee in Callee::of_providers(acc.cursor.document.module()) {
        function(acc, &callee, expected);
    }
}

fn function(acc: &mut Proposals<'_, '_>, callee: &Callee<'_>, expected: Option<&Expected>) {
    let is_called = acc.is_before(SyntaxKind::L_PAREN);
    let result = callee.result().unwrap_or(Type::Dynamic);
    let fits = expected.is_none_or(|it| rank_of_type(&result, &it.ty) < 7);
    let proposal = Proposal::new(callee.name(), CompletionKind::Function)
        .detail(callee.text())
        .doc(callee.doc())
        .rank(if fits { 7 } else { 8 });
    let call = if callee.has_parameters() { "($0)" } else { "()" };
    acc.add(match is_called {
        true => proposal,
        false => proposal.snippet(format!("{}{call}", callee.name())),
    });
}

fn types(acc: &mut Proposals<'_, '_>) {
    for (name, snippet, doc) in language::TYPES {
        let proposal = Proposal::new(*name, CompletionKind::Type).doc(doc);
        acc.add(match snippet.contains('$') {
            true => proposal.snippet((*snippet).to_owned()),
            false => proposal,
        });
    }
}

/// Proposes the provider configurations of the module.
fn providers(acc: &mut Proposals<'_, '_>) {
    let module = acc.cursor.document.module();
    let required = required_providers(module.db, module.directory);
    let mut names: TreeSet<String> = TreeSet::new();
    for (name, (entry, _)) in &required.declared {
        names.insert(name.to_string());
        names.extend(entry.configuration_aliases.iter().map(|alias| format!("{name}.{alias}")));
    }
    for (name, _) in module.names(NameKind::Provider) {
        if let ItemName::Provider(name, alias) = name {
            names.insert(match alias {
                Some(alias) => format!("{name}.{alias}"),
                None => name.to_string(),
            });
        }
    }
    names.extend(test_file::providers(acc.cursor.document));
    for name in names {
        let local_name = name.split('.').next().unwrap_or_default();
        let source = required.source(local_name).for_display();
        acc.add(Proposal::new(&*name, CompletionKind::Provider).detail(source));
    }
}

/// Proposes attributes of the resource itself, for `ignore_changes`.
fn own_attributes(acc: &mut Proposals<'_, '_>) {
    acc.add(Proposal::new("all", CompletionKind::Keyword).doc("Every change is ignored.").rank(6));
    let Some(first) = acc.place_blocks().into_iter().next() else { return };
    let Some(scheme) = scheme(acc.cursor.document.module(), &[first]) else { return };
    let Some(part) = scheme.schema else { return };
    for (name, attribute) in part.block().attributes() {
        let proposal = Proposal::new(&**name, CompletionKind::Attribute);
        acc.add(proposal.detail(one_line(&attribute.decode_type())).doc(&attribute.description));
    }
    for (name, nested) in part.block().blocks() {
        let proposal = Proposal::new(&**name, CompletionKind::Attribute);
        acc.add(proposal.detail("block").doc(&nested.block.description));
    }
}

impl Proposals<'_, '_> {
    /// The blocks around the place, outermost first.
    fn place_blocks(&self) -> Vec<ast::Block> {
        let token = match &self.place.kind {
            Kind::Expression { after } => after,
            Kind::Step { dot } => dot,
            _ => return Vec::new(),
        };
        let mut blocks: Vec<_> = token.parent_ancestors().filter_map(ast::Block::cast).collect();
        blocks.reverse();
        blocks
    }

    /// Returns true if a token of the given kind directly follows the replaced range.
    fn is_before(&self, kind: SyntaxKind) -> bool {
        let at = self.cursor.root.token_at_offset(self.place.replaced.end()).right_biased();
        at.is_some_and(|it| {
            it.kind() == kind && it.text_range().start() == self.place.replaced.end()
        })
    }
}

/// The properties of the value that the place of the cursor expects.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) ty: Type,
    pub(super) ephemeral: Ephemeral,
}

/// The treatment of an ephemeral value at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ephemeral {
    /// An ephemeral value is an error.
    Refused,
    /// An ephemeral value is accepted and gets no preference.
    Accepted,
    /// The place is made for ephemeral values, as a write-only attribute is.
    Welcome,
}

impl Expected {
    fn of(ty: Type) -> Expected {
        Expected { ty, ephemeral: Ephemeral::Accepted }
    }
}

/// The value that the place of the cursor expects. `None` if nothing is known of it.
pub(super) fn expected(acc: &Proposals<'_, '_>) -> Option<Expected> {
    let token = match &acc.place.kind {
        Kind::Expression { after } => after.clone(),
        Kind::Step { dot } => {
            let traversal =
                dot.parent_ancestors().find(|it| <ast::Traversal>::can_cast(it.kind()))?;
            acc.cursor.significant_before(traversal.text_range().start())?
        }
        _ => return None,
    };
    expected_after(acc, &token)
}

fn expected_after(acc: &Proposals<'_, '_>, token: &SyntaxToken) -> Option<Expected> {
    use SyntaxKind as K;
    let parent = token.parent()?;
    match (token.kind(), parent.kind()) {
        (K::EQ, K::ATTRIBUTE) => of_argument(acc, &ast::Attribute::cast(parent)?, &[]),
        (K::EQ | K::COLON, K::OBJECT_ITEM) => {
            let item = ast::ObjectItem::cast(parent)?;
            let object = item.syntax().parent().and_then(ast::Object::cast)?;
            let (attribute, mut names) = path_of_object(&object)?;
            names.push(item.key()?.name_token()?.text().to_owned());
            of_argument(acc, &attribute, &names)
        }
        (K::L_PAREN | K::COMMA, K::ARG_LIST) => {
            let call = ast::Call::cast(parent.parent()?)?;
            let tokens = parent.children_with_tokens().filter_map(|it| it.into_token());
            let commas = tokens.filter(|it| it.kind() == K::COMMA);
            let position =
                commas.filter(|it| it.text_range().end() <= token.text_range().end()).count();
            let callee = Callee::of(acc.cursor.document.module(), &call.name()?)?;
            Some(Expected::of(callee.parameter(position)?))
        }
        (K::INTERP_OPEN, _) => Some(Expected::of(Type::String)),
        (K::BANG | K::AMP2 | K::PIPE2 | K::IF_KW, _) => Some(Expected::of(Type::Bool)),
        (
            K::PLUS
            | K::MINUS
            | K::STAR
            | K::SLASH
            | K::PERCENT
            | K::LT
            | K::GT
            | K::LTEQ
            | K::GTEQ,
            _,
        ) => Some(Expected::of(Type::Number)),
        (K::QUESTION | K::COLON, K::CONDITIONAL) => {
            let before = acc.cursor.significant_before(parent.text_range().start())?;
            expected_after(acc, &before)
        }
        _ => None,
    }
}

fn of_argument(
    acc: &Proposals<'_, '_>,
    attribute: &ast::Attribute,
    names: &[String],
) -> Option<Expected> {
    let module = acc.cursor.document.module();
    let blocks = blocks_around(attribute.syntax());
    let scheme = scheme(module, &blocks)?;
    let (ty, ephemeral) = match scheme.argument(module, &attribute.name()?)? {
        ArgumentMeaning::Language(argument) => (of_language(argument)?, Ephemeral::Accepted),
        ArgumentMeaning::Schema(attribute, _) => {
            let is_stored = matches!(blocks.first()?.block_type()?.as_str(), "resource" | "data");
            let ephemeral = match (is_stored, attribute.write_only) {
                (true, true) => Ephemeral::Welcome,
                // Parts of a nested attribute may be write-only, so an ephemeral value is not refused there.
                (true, false) if attribute.nested().is_none() => Ephemeral::Refused,
                _ => Ephemeral::Accepted,
            };
            (attribute.decode_type(), ephemeral)
        }
        ArgumentMeaning::Variable(key) => {
            let variable = item(module.db, key).kind.as_variable()?;
            let ephemeral =
                if variable.ephemeral { Ephemeral::Welcome } else { Ephemeral::Refused };
            (variable.ty.ty.clone(), ephemeral)
        }
    };
    let ty = names.iter().try_fold(ty, |ty, name| match &ty {
        Type::Object(object) => object.get(name).cloned(),
        other => other.element().cloned(),
    })?;
    Some(Expected { ty, ephemeral })
}

fn of_language(argument: &language::Argument) -> Option<Type> {
    Some(match argument.takes {
        ValueForm::Bool => Type::Bool,
        ValueForm::Number => Type::Number,
        ValueForm::String => Type::String,
        ValueForm::Strings => Type::list(Type::String),
        ValueForm::StringMap => Type::map(Type::String),
        ValueForm::Instances => Type::map(Type::Dynamic),
        _ => return None,
    })
}

/// The names that `for` expressions, `dynamic` blocks and template loops bind around a token, innermost first.
pub(super) fn symbols(
    acc: &Proposals<'_, '_>,
    token: &SyntaxToken,
) -> Vec<(String, Option<Abstract>)> {
    let mut found: Vec<(String, Option<Abstract>)> = Vec::new();
    for node in token.parent_ancestors() {
        let intro = node.children().find_map(ast::ForIntro::cast);
        if let Some(intro) = intro
            && intro.syntax().text_range().end() <= token.text_range().end()
        {
            let values = loop_values(acc, &node);
            let key = intro.key_name().map(|it| (it.text().to_owned(), values.0));
            let value = intro.value_name().map(|it| (it.text().to_owned(), values.1));
            found.extend(key.into_iter().chain(value));
        }
        let loops = node.children().filter_map(ast::TemplateFor::cast);
        for directive in
            loops.filter(|it| it.syntax().text_range().end() <= token.text_range().start())
        {
            let names = directive.key_name().into_iter().chain(directive.value_name());
            found.extend(names.map(|it| (it.text().to_owned(), None)));
        }
        if let Some(block) = ast::Block::cast(node) {
            found.extend(iterator(acc, &block));
        }
    }
    found
}

/// The values of the key and value names of a `for` expression.
fn loop_values(
    acc: &Proposals<'_, '_>,
    node: &syntax::SyntaxNode,
) -> (Option<Abstract>, Option<Abstract>) {
    let range = node.text_range();
    let Some(item) = acc.cursor.item_around(range) else { return (None, None) };
    let Some(id) = item.map.expr_of(range) else { return (None, None) };
    let (key, value) = match &item.item.exprs[id] {
        Expr::ForTuple(it) => (it.key, it.value),
        Expr::ForObject(it) => (it.key, it.value),
        _ => return (None, None),
    };
    let values = acc.cursor.values(item);
    (key.and_then(|key| values.symbol(key).cloned()), values.symbol(value).cloned())
}

/// The iterator of a `dynamic` block, with its value.
fn iterator(acc: &Proposals<'_, '_>, block: &ast::Block) -> Option<(String, Option<Abstract>)> {
    use syntax::ast::HasItems as _;
    if block.block_type().as_deref() != Some("dynamic") {
        return None;
    }
    let named = block.body().and_then(|it| it.attribute("iterator")?.value()?.name_token());
    let name = match named {
        Some(name) => name.text().to_owned(),
        None => block.label_texts().next()?.to_string(),
    };
    let value = acc.cursor.item().and_then(|item| {
        let ItemKind::Resource(resource) = &item.item.kind else { return None };
        let dynamic = dynamics(&resource.body).find(|(node, _)| {
            item.range(*node).is_some_and(|range| block.syntax().text_range().contains_range(range))
        });
        acc.cursor.values(item).symbol(dynamic?.1).cloned()
    });
    Some((name, value))
}

/// The header node and the iterator symbol of every `dynamic` block in a body; an outer block comes before its
/// inner ones.
fn dynamics(body: &hir::item::Body) -> Box<dyn Iterator<Item = (hir::NodeId, hir::SymbolId)> + '_> {
    Box::new(body.blocks.iter().flat_map(|block| {
        let own = block.dynamic.as_ref().map(|it| (block.node, it.iterator));
        own.into_iter().chain(dynamics(&block.body))
    }))
}
