//! Hover texts, in Markdown.
//!
//! Start reading at [`hover`]. `reference` describes names in expressions; `body` describes arguments, block types
//! and labels; `card` lays out the text.

mod body;
mod card;
mod declared;
mod planned;
mod quoted;
mod reference;
mod test_file;
#[cfg(test)]
mod tests;

use db::ByteRange;
use syntax::{
    AstNode, SyntaxKind, SyntaxToken,
    ast::{self, Block},
};

pub(crate) use card::Card;
pub(crate) use declared::{declared, value_of};
pub use planned::{PlannedSubject, planned_subject};
pub(crate) use reference::is_in_type;

use crate::{Cursor, Document, language, shown, signature::Callee};

/// The hover text of a range of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The described range.
    pub range: ByteRange,
    /// The text, in Markdown.
    pub markdown: String,
}

/// Returns the hover text for an offset. `None` if there is nothing to describe.
pub fn hover(document: Document<'_>, offset: u32) -> Option<Hover> {
    let cursor = document.cursor(offset)?;
    let token = cursor.token()?;
    let card = explained(&cursor, &token)?;
    Some(Hover { range: cursor.in_file(token.text_range()), markdown: card.markdown() })
}

fn explained(cursor: &Cursor<'_>, token: &SyntaxToken) -> Option<Card> {
    let parent = token.parent()?;
    match parent.kind() {
        SyntaxKind::ATTRIBUTE => body::argument(cursor, &ast::Attribute::cast(parent)?, token),
        SyntaxKind::BLOCK => body::block_type(cursor, &Block::cast(parent)?, token),
        SyntaxKind::LABEL => body::label(cursor, &ast::Label::cast(parent)?),
        SyntaxKind::FUNC_NAME if is_in_type(token) => type_word(token.text()),
        SyntaxKind::FUNC_NAME => function(cursor, &ast::FuncName::cast(parent)?),
        SyntaxKind::FOR_INTRO => {
            reference::bound_name(cursor, &ast::ForIntro::cast(parent)?, token)
        }
        SyntaxKind::OBJECT_KEY => body::object_key(cursor, &ast::ObjectKey::cast(parent)?, token),
        SyntaxKind::REFERENCE | SyntaxKind::ATTR_STEP => reference::step(cursor, token),
        SyntaxKind::QUOTED_TEMPLATE => quoted::text(cursor, token),
        _ => None,
    }
}

/// The signature and the documentation of a function.
fn function(cursor: &Cursor<'_>, name: &ast::FuncName) -> Option<Card> {
    let callee = Callee::of(cursor.document.module(), &name.text())?;
    Some(Card::of(callee.text()).paragraph(callee.doc()))
}

/// The card of a keyword of a type constraint.
fn type_word(word: &str) -> Option<Card> {
    let (name, _, doc) = language::TYPES.iter().find(|(name, _, _)| *name == word)?;
    Some(Card::of((*name).to_owned()).paragraph(doc))
}

/// The type and the documentation of an argument that the language defines.
fn language_argument(argument: &language::Argument) -> Card {
    let need = if argument.is_required { "Required." } else { "Optional." };
    Card::of(format!("{}: {}", argument.name, argument.takes.shown()))
        .paragraph(argument.doc)
        .paragraph(need)
}

/// The card of an attribute from a provider's schema.
fn schema_attribute(
    name: &str,
    attribute: &provider::Attribute,
    source: &addr::ProviderSource,
) -> Card {
    let ty = shown::type_text(&attribute.decode_type());
    Card::of(format!("{name}: {ty}"))
        .marks(schema_flags(attribute))
        .deprecation(attribute.deprecated, &attribute.deprecation_message)
        .paragraph(&attribute.description)
        .paragraph(&format!("Provider {}", shown::code(&source.for_display())))
}

/// The flags of a schema attribute, in words.
pub(crate) fn schema_flags(attribute: &provider::Attribute) -> Vec<&'static str> {
    let need = match (attribute.required, attribute.optional, attribute.computed) {
        (true, _, _) => "required",
        (_, true, true) => "optional, computed",
        (_, true, false) => "optional",
        _ => "computed",
    };
    let sensitive = attribute.sensitive.then_some("sensitive");
    let write_only = attribute.write_only.then_some("write-only: may be ephemeral, is not stored");
    [Some(need), sensitive, write_only].into_iter().flatten().collect()
}
