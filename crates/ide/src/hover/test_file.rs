//! Hover for the names that test files declare: runs and provider configurations.

use syntax::ast::{self, HasItems as _};

use super::{Card, body::required_provider, declared::place_text};
use crate::{Cursor, FileRange, block_syntax::literal, naming::Named, shown, test_file::RunAt};

/// The card of a run: its command and its module.
pub(super) fn run(run: &RunAt<'_>) -> Option<Card> {
    let name = run.block.label_texts().next()?;
    let body = run.block.body();
    let command = body.as_ref().and_then(|it| it.attribute("command")?.value());
    let command = command.and_then(|it| it.name_token());
    let command = command.map_or_else(|| "apply".to_owned(), |it| it.text().to_owned());
    let module = body.and_then(|it| it.blocks().find(is_module));
    let module = match module.and_then(|it| literal(&it, "source")) {
        Some(source) => format!("the module {}", shown::code(&source)),
        None => "the module under test".to_owned(),
    };
    let place = run.tree.file_range(syntax::AstNode::syntax(&run.block).text_range());
    let card = Card::of(format!("run.{name}"));
    let card = card.paragraph(&format!("A run of {} with {module}.", shown::code(&command)));
    Some(card.footer(declared_in(&run.tree, place)))
}

fn is_module(block: &ast::Block) -> bool {
    block.block_type().as_deref() == Some("module")
}

/// The card of a provider configuration of the file, or of the provider if the file has none of this name.
pub(super) fn provider(cursor: &Cursor<'_>, local_name: &str, named: &Named) -> Card {
    let card = required_provider(cursor.document.module(), local_name);
    let place = named.declarations(cursor).first().map(|it| it.name);
    card.footer(place.and_then(|it| declared_in(cursor, it)))
}

fn declared_in(cursor: &Cursor<'_>, place: FileRange) -> Option<String> {
    let place = place_text(cursor.document.module(), place);
    Some(format!("Declared in {}", shown::code(&place)))
}
