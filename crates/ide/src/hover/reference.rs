//! Hover for names in expressions: references, their attributes, and names that `for` expressions bind.

use hir::{
    Expr, ExprId, Ref,
    analysis::Abstract,
    names::{ItemName, item},
};
use syntax::{
    AstNode, SyntaxNode, SyntaxToken, TextRange,
    ast::{self, Step},
};
use values::Str;

use super::{Card, body, declared, declared::with_value, schema_attribute, test_file, type_word};
use crate::{
    Cursor, ItemAt,
    block_syntax::is_in_type_argument,
    language,
    naming::{Chain, Interpretation, Named, Occurrence, Templates, Written, in_address},
    scheme::{called_by, schema_of_resource},
    shown,
    test_file::TestName,
};

/// An expression, with its item.
#[derive(Clone, Copy)]
struct ExprAt<'a> {
    item: ItemAt<'a>,
    expr: ExprId,
}

/// A name in a reference chain, with the chain.
struct Walked {
    chain: Chain,
    /// The number of steps up to and including the name; 0 for the root.
    position: usize,
}

impl Walked {
    /// The text from the root to the name, without whitespace.
    fn text(&self) -> String {
        let mut text = self.chain.root.text().to_owned();
        for step in self.chain.steps.iter().take(self.position) {
            text.extend(step.syntax().text().to_string().split_whitespace());
        }
        text
    }

    /// The names of the attributes after the first `taken` steps. Skips indexes and splats.
    fn attributes(&self, taken: usize) -> Vec<String> {
        let steps = self.chain.steps.iter().take(self.position).skip(taken);
        let name = |step: &Step| match step {
            Step::AttrStep(it) => it.name().map(|name| name.to_string()),
            _ => None,
        };
        steps.filter_map(name).collect()
    }
}

/// Describes a name of a reference chain.
pub(super) fn step(cursor: &Cursor<'_>, token: &SyntaxToken) -> Option<Card> {
    let (chain, position) = Chain::around(&token.parent()?)?;
    if let Some(Occurrence { named: Named::Item(directory, name), .. }) =
        in_address(cursor, &chain, position)
    {
        let module = cursor.document.module().with_directory(directory);
        return Some(declared(module, module.lookup(&name)?));
    }
    let read_as = chain.read_as(cursor, &Templates::default());
    let walked = Walked { chain, position };
    let found = cursor.expr_around(token.text_range());
    let found = found.map(|(item, expr)| ExprAt { item, expr });
    match read_as? {
        Interpretation::Written(Written::Type) => {
            let is_alone = walked.chain.steps.is_empty();
            is_alone.then(|| type_word(token.text()))?
        }
        Interpretation::Written(Written::Provider(occurrence)) => provider(cursor, &occurrence?),
        Interpretation::Written(Written::Attribute(_)) => own_attribute(cursor, &walked),
        Interpretation::Written(Written::Iterator(_)) => None,
        Interpretation::Bound(_) => {
            let ExprAt { item, expr } = found?;
            Some(valued(cursor, &walked, cursor.values(item).expr(expr)?))
        }
        Interpretation::Reference(reference, taken) if position <= taken => {
            named(cursor, &reference, found)
        }
        Interpretation::Reference(reference, taken) => {
            attribute(cursor, &walked, &reference, taken, found)
        }
    }
}

/// Describes a provider configuration.
fn provider(cursor: &Cursor<'_>, occurrence: &Occurrence) -> Option<Card> {
    if let Named::OfTest(TestName::Provider(local_name, _)) = &occurrence.named {
        return Some(test_file::provider(cursor, local_name, &occurrence.named));
    }
    let Named::Item(directory, name) = &occurrence.named else { return None };
    let module = cursor.document.module().with_directory(*directory);
    match (module.lookup(name), name) {
        (Some(key), _) => Some(declared(module, key)),
        (None, ItemName::Provider(local_name, _)) => {
            Some(body::required_provider(module, local_name))
        }
        _ => None,
    }
}

/// Describes an attribute of the resource itself, as `ignore_changes` names it.
fn own_attribute(cursor: &Cursor<'_>, walked: &Walked) -> Option<Card> {
    let module = cursor.document.module();
    let resource = cursor.item()?.item.kind.as_resource()?;
    let part = schema_of_resource(module, resource)?;
    let mut names = vec![walked.chain.root.text().to_owned()];
    names.extend(walked.attributes(0));
    let attribute = part.block().attribute_by_names(names.iter().map(String::as_str))?;
    Some(schema_attribute(&walked.text(), attribute, &part.source))
}

/// Returns true if a token is part of a type constraint.
pub(crate) fn is_in_type(token: &SyntaxToken) -> bool {
    let attribute = token.parent_ancestors().find_map(ast::Attribute::cast);
    attribute.is_some_and(|it| is_type(&it)) || is_in_type_argument(token)
}

/// Returns true if an attribute is the `type` of a variable.
pub(crate) fn is_type(attribute: &ast::Attribute) -> bool {
    let block =
        attribute.syntax().parent().and_then(|body| body.parent()).and_then(ast::Block::cast);
    attribute.name().as_deref() == Some("type")
        && block.is_some_and(|it| it.block_type().as_deref() == Some("variable"))
}

/// Describes the item that a reference names.
fn named(cursor: &Cursor<'_>, reference: &Ref, found: Option<ExprAt<'_>>) -> Option<Card> {
    let module = cursor.document.module();
    let name = match reference {
        Ref::Variable(name) => ItemName::Variable(name.clone()),
        Ref::Local(name) => ItemName::Local(name.clone()),
        Ref::Resource(resource) => ItemName::Resource((**resource).clone()),
        Ref::Module(name) => ItemName::Module(name.clone()),
        Ref::Output(name) => ItemName::Output(name.clone()),
        Ref::Run(name) => return test_file::run(&cursor.document.run(name)?),
        Ref::SelfObject => {
            return Some(declared(module, cursor.item()?.key));
        }
        ambient => return ambient_card(cursor, ambient, found),
    };
    Some(declared(module, module.lookup(&name)?))
}

fn ambient_card(cursor: &Cursor<'_>, reference: &Ref, found: Option<ExprAt<'_>>) -> Option<Card> {
    let text = reference.to_string();
    let (root, attribute) = text.split_once('.')?;
    let known = language::ATTRIBUTES.iter().find(|it| it.0 == root && it.1 == attribute);
    let (_, _, ty, doc) = known?;
    let value = found.and_then(|it| cursor.values(it.item).expr(it.expr).cloned());
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

/// The card of a name with a known value.
fn valued(cursor: &Cursor<'_>, walked: &Walked, value: &Abstract) -> Card {
    let card = Card::of(format!("{}: {}", walked.text(), shown::type_of(value)));
    with_value(cursor.document.module(), card, value)
}

fn attribute(
    cursor: &Cursor<'_>,
    walked: &Walked,
    reference: &Ref,
    taken: usize,
    found: Option<ExprAt<'_>>,
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
    if let (Ref::Run(run), [output]) = (reference, &*names) {
        let module = cursor.document.run(run)?.module()?;
        let key = module.lookup(&ItemName::Output(Str::from(&**output)))?;
        let declaration = item(module.db, key).kind.as_output()?;
        return Some(declared::output(module, key, declaration, &walked.text()));
    }
    let value = found.and_then(|it| cursor.values(it.item).expr(it.expr).cloned());
    let card = match &value {
        Some(value) => valued(cursor, walked, value),
        None => Card::of(walked.text()),
    };
    match schema_of_path(cursor, reference, &names) {
        Some(schema) => Some(card.with(schema)),
        None => value.map(|_| card),
    }
}

/// The card of a resource attribute from the provider's schema.
fn schema_of_path(cursor: &Cursor<'_>, reference: &Ref, names: &[String]) -> Option<Card> {
    let module = cursor.document.module();
    let key = match reference {
        Ref::Resource(resource) => module.lookup(&ItemName::Resource((**resource).clone()))?,
        Ref::SelfObject => cursor.item()?.key,
        _ => return None,
    };
    let part = schema_of_resource(module, item(module.db, key).kind.as_resource()?)?;
    let attribute = part.block().attribute_by_names(names.iter().map(String::as_str))?;
    Some(schema_attribute("", attribute, &part.source))
}

/// Describes a name at the place where a `for` expression binds it.
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
