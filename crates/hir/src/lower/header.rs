//! The header of a block: its type and labels.

use syntax::{AstNode, TextRange, flat::ast};

/// The range of a block's type and labels.
pub(super) fn header_range(block: &ast::Block) -> TextRange {
    let start = block.type_token().map_or(block.syntax().text_range(), |token| token.text_range());
    block.labels().last().map_or(start, |label| start.cover(label.syntax().text_range()))
}

/// The header of a block, which diagnostics show after "in": `resource "a" "b"`.
pub(super) fn header_text(block: &syntax::ast::Block) -> String {
    let mut text = block.block_type().unwrap_or_default().to_string();
    for label in block.label_texts() {
        text.extend([" \"", &label, "\""]);
    }
    text
}
