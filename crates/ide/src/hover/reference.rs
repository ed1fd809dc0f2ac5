//! Names in expressions: references, the attributes behind them, and what `for` binds.

use hir::{
    Expr, ExprId, Ref, SymbolId,
    analysis::Abstract,
    lower::reference_root,
    names::{ItemName, item},
};
use syntax::{
    AstNode, SyntaxNode, SyntaxToken, TextRange,
    ast::{self, Step},
};
use values::Str;

use super::{Card, body, declared, declared::with_value, schema_attribute, type_word};
use crate::{
    Cursor, ItemAt,
    language::{self, Takes},
    scheme::{called_by, schema_of_resource, takes},
    shown,
};

/// A name of a traversal, with what comes before it.
pub(crate) struct Walked {
    /// The first name.
    pub(crate) root: SyntaxToken,
    /// All steps of the traversal.
    pub(crate) steps: Vec<Step>,
    /// How many steps there are up to and with the name; 0 for the root.
    pub(crate) position: usize,
}

impl Walked {
    /// The traversal that a name belongs to.
    pub(crate) fn of(token: &SyntaxToken) -> Option<Walked> {
        let parent = token.parent()?;
        let Some(step) = Step::cast(parent.clone()) else {
            let reference = ast::Reference::cast(parent)?;
            let traversal = reference.syntax().parent().and_then(ast::Traversal::cast);
            let steps = traversal.map(|it| it.steps().collect()).unwrap_or_default();
            return Some(Walked { root: reference.ident_token()?, steps, position: 0 });
        };
        let traversal = ast::Traversal::cast(step.syntax().parent()?)?;
        let ast::Expr::Reference(root) = traversal.base()? else { return None };
        let steps: Vec<Step> = traversal.steps().collect();
        let position = steps.iter().position(|it| *it == step)? + 1;
        Some(Walked { root: root.ident_token()?, steps, position })
    }

    /// The text from the first name to the one that is asked for, without blanks.
    fn text(&self) -> String {
        let mut text = self.root.text().to_owned();
        for step in self.steps.iter().take(self.position) {
            text.extend(step.syntax().text().to_string().split_whitespace());
        }
        text
    }

    /// Names of the attributes after the first `taken` steps; indexes and splats do not count.
    fn attributes(&self, taken: usize) -> Vec<String> {
        let steps = self.steps.iter().take(self.position).skip(taken);
        let name = |step: &Step| match step {
            Step::AttrStep(it) => it.name().map(|name| name.to_string()),
            _ => None,
        };
        steps.filter_map(name).collect()
    }
}

/// Explains a name of a traversal.
pub(super) fn step(cursor: &Cursor<'_>, token: &SyntaxToken) -> Option<Card> {
    let walked = Walked::of(token)?;
    if walked.position == 0 && walked.steps.is_empty() && is_in_type(token) {
        return type_word(token.text());
    }
    let found = cursor.expr_around(token.text_range());
    if let Some((item, id)) = found
        && symbol_root(item, id).is_some()
    {
        let value = cursor.values(item).expr(id).cloned();
        return value.map(|value| valued(cursor, &walked, &value));
    }
    match takes(cursor.document.module(), token) {
        Some(Takes::Provider | Takes::Providers) => return provider(cursor, &walked),
        Some(Takes::Attributes) => return own_attribute(cursor, &walked),
        _ => {}
    }
    let (reference, taken) = reference_root(walked.root.text(), &walked.steps)?;
    if walked.position <= taken {
        return named(cursor, &reference, found);
    }
    attribute(cursor, &walked, &reference, taken, found)
}

/// Explains `name.alias`, a configuration of a provider.
fn provider(cursor: &Cursor<'_>, walked: &Walked) -> Option<Card> {
    let module = cursor.document.module();
    let local_name = Str::from(walked.root.text());
    let alias = match walked.steps.first() {
        Some(Step::AttrStep(it)) => Some(Str::from(&*it.name()?)),
        _ => None,
    };
    let name = ItemName::Provider(local_name, alias);
    match module.lookup(&name) {
        Some(key) => Some(declared(module, key)),
        None => Some(body::required_provider(cursor, walked.root.text())),
    }
}

/// Explains an attribute of the resource itself, as `ignore_changes` names it.
fn own_attribute(cursor: &Cursor<'_>, walked: &Walked) -> Option<Card> {
    let module = cursor.document.module();
    let resource = cursor.item()?.item.kind.as_resource()?;
    let part = schema_of_resource(module, resource)?;
    let mut names = vec![walked.root.text().to_owned()];
    names.extend(walked.attributes(0));
    let attribute = part.block().attribute_by_names(names.iter().map(String::as_str))?;
    Some(schema_attribute(&walked.text(), attribute, &part.source))
}

/// Whether a name is a word of a type constraint.
pub(crate) fn is_in_type(token: &SyntaxToken) -> bool {
    let attribute = token.parent_ancestors().find_map(ast::Attribute::cast);
    attribute.is_some_and(|it| is_type(&it))
}

/// Whether an attribute is the `type` of a variable.
pub(crate) fn is_type(attribute: &ast::Attribute) -> bool {
    let block =
        attribute.syntax().parent().and_then(|body| body.parent()).and_then(ast::Block::cast);
    attribute.name().as_deref() == Some("type")
        && block.is_some_and(|it| it.block_type().as_deref() == Some("variable"))
}

/// The name bound by `for` and the like that an expression begins with.
fn symbol_root(item: ItemAt<'_>, mut id: ExprId) -> Option<SymbolId> {
    loop {
        match &item.item.exprs[id] {
            Expr::GetAttr { base, .. } | Expr::Index { base, .. } => id = *base,
            Expr::Symbol(symbol) if &**item.item.exprs.symbol_name(*symbol) != "*" => {
                return Some(*symbol);
            }
            _ => return None,
        }
    }
}

/// Explains what a reference names as a whole.
fn named(
    cursor: &Cursor<'_>,
    reference: &Ref,
    found: Option<(ItemAt<'_>, ExprId)>,
) -> Option<Card> {
    let module = cursor.document.module();
    let name = match reference {
        Ref::Variable(name) => ItemName::Variable(name.clone()),
        Ref::Local(name) => ItemName::Local(name.clone()),
        Ref::Resource(resource) => ItemName::Resource(resource.clone()),
        Ref::Module(name) => ItemName::Module(name.clone()),
        Ref::SelfObject => {
            return Some(declared(module, cursor.item()?.key));
        }
        ambient => return ambient_card(cursor, ambient, found),
    };
    Some(declared(module, module.lookup(&name)?))
}

fn ambient_card(
    cursor: &Cursor<'_>,
    reference: &Ref,
    found: Option<(ItemAt<'_>, ExprId)>,
) -> Option<Card> {
    let text = reference.to_string();
    let (root, attribute) = text.split_once('.')?;
    let known = language::ATTRIBUTES.iter().find(|it| it.0 == root && it.1 == attribute);
    let (_, _, ty, doc) = known?;
    let value = found.and_then(|(item, id)| cursor.values(item).expr(id).cloned());
    let card = match &value {
        Some(value) => Card::of(format!("{text}: {}", shown::type_of(value))),
        None => Card::of(format!("{text}: {ty}")),
    };
    let card = card.paragraph(doc);
    Some(match &value {
        Some(value) => with_value(cursor.document.module(), card, value),
        None => card,
    })
}

/// Explains a name whose value is known from the expression that it ends.
fn valued(cursor: &Cursor<'_>, walked: &Walked, value: &Abstract) -> Card {
    let card = Card::of(format!("{}: {}", walked.text(), shown::type_of(value)));
    with_value(cursor.document.module(), card, value)
}

fn attribute(
    cursor: &Cursor<'_>,
    walked: &Walked,
    reference: &Ref,
    taken: usize,
    found: Option<(ItemAt<'_>, ExprId)>,
) -> Option<Card> {
    let module = cursor.document.module();
    let names = walked.attributes(taken);
    if let (Ref::Module(call), [output]) = (reference, &*names) {
        let call = module.lookup(&ItemName::Module(call.clone()))?;
        let called = module.with_directory(called_by(module, call)?);
        let key = called.lookup(&ItemName::Output(Str::from(&**output)))?;
        let declaration = item(module.db, key).kind.as_output()?;
        return Some(declared::output(called, key, declaration, &walked.text()));
    }
    let value = found.and_then(|(item, id)| cursor.values(item).expr(id).cloned());
    let card = match &value {
        Some(value) => valued(cursor, walked, value),
        None => Card::of(walked.text()),
    };
    match schema_of_path(cursor, reference, &names) {
        Some(schema) => Some(card.with(schema)),
        None => value.map(|_| card),
    }
}

/// What the provider says of an attribute of a resource.
fn schema_of_path(cursor: &Cursor<'_>, reference: &Ref, names: &[String]) -> Option<Card> {
    let module = cursor.document.module();
    let key = match reference {
        Ref::Resource(resource) => module.lookup(&ItemName::Resource(resource.clone()))?,
        Ref::SelfObject => cursor.item()?.key,
        _ => return None,
    };
    let part = schema_of_resource(module, item(module.db, key).kind.as_resource()?)?;
    let attribute = part.block().attribute_by_names(names.iter().map(String::as_str))?;
    Some(schema_attribute("", attribute, &part.source))
}

/// Explains a name where `for` binds it.
pub(super) fn bound_name(
    cursor: &Cursor<'_>,
    intro: &ast::ForIntro,
    token: &SyntaxToken,
) -> Option<Card> {
    let is_key = intro.key_name().as_ref() == Some(token);
    if !is_key && intro.value_name().as_ref() != Some(token) {
        return None;
    }
    let around: SyntaxNode = intro.syntax().parent()?;
    let range: TextRange = around.text_range();
    let item = cursor.item_around(range)?;
    let (key, value) = match &item.item.exprs[item.map.expr_of(range)?] {
        Expr::ForTuple(it) => (it.key, it.value),
        Expr::ForObject(it) => (it.key, it.value),
        _ => return None,
    };
    let symbol = if is_key { key? } else { value };
    let value = cursor.values(item).symbol(symbol)?.clone();
    let card = Card::of(format!("{}: {}", token.text(), shown::type_of(&value)));
    Some(with_value(cursor.document.module(), card, &value))
}
