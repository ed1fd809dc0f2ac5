//! Questions that the tree of a block answers alone: the block around a node, the range of a name.

use syntax::{
    AstNode, SyntaxKind, SyntaxNode, SyntaxToken, TextRange,
    ast::{self, HasItems},
};
use values::Str;

/// The block whose body contains an attribute.
pub(crate) fn block_of(attribute: &SyntaxNode) -> Option<ast::Block> {
    ast::Block::cast(attribute.parent()?.parent()?)
}

/// The attribute of a block's body that contains a node.
pub(crate) fn attribute_around(node: &SyntaxNode) -> Option<ast::Attribute> {
    node.ancestors().find_map(ast::Attribute::cast)
}

/// The value of an argument if it is a literal string.
pub(crate) fn literal(block: &ast::Block, name: &str) -> Option<Str> {
    match block.body()?.attribute(name)?.value()? {
        ast::Expr::QuotedTemplate(quoted) => quoted.literal_text().map(Str::from),
        _ => None,
    }
}

/// The index of the label that names the declared item of a top-level block.
pub(crate) fn name_label(block: &ast::Block) -> Option<usize> {
    match block.block_type()?.as_str() {
        "variable" | "output" | "module" | "provider" | "check" => Some(0),
        "resource" | "data" | "ephemeral" => Some(1),
        _ => None,
    }
}

/// Returns true if a node is a top-level item of its file.
pub(crate) fn is_top_level(node: &SyntaxNode) -> bool {
    node.parent().is_some_and(|parent| parent.kind() == SyntaxKind::SOURCE_FILE)
}

/// The top-level block around a node.
pub(crate) fn top_level(node: &SyntaxNode) -> Option<ast::Block> {
    ast::Block::cast(node.ancestors().find(is_top_level)?)
}

/// The range of the name in a label, an attribute or a quoted string, without quotes. A rename replaces this
/// range.
pub(crate) fn name_range(node: &SyntaxNode) -> TextRange {
    let tokens = || node.children_with_tokens().filter_map(syntax::NodeOrToken::into_token);
    let first = |kind| tokens().find(|token| token.kind() == kind).map(|token| token.text_range());
    match (first(SyntaxKind::OPEN_QUOTE), first(SyntaxKind::CLOSE_QUOTE)) {
        (Some(open), Some(close)) => TextRange::new(open.end(), close.start()),
        _ => tokens()
            .find(|token| token.kind().is_name())
            .map_or(node.text_range(), |it| it.text_range()),
    }
}

/// Returns true if a token is in the second argument of `convert`, or is the comma before it.
pub(crate) fn is_in_type_argument(token: &SyntaxToken) -> bool {
    let is_type = |list: &SyntaxNode| {
        let call = list.parent().and_then(ast::Call::cast);
        let name = call.and_then(|call| call.name());
        let name = name.as_deref().map(|name| name.strip_prefix("core::").unwrap_or(name));
        let tokens = list.children_with_tokens().filter_map(|it| it.into_token());
        let commas = tokens.filter(|it| it.kind() == SyntaxKind::COMMA);
        let is_before = |comma: &SyntaxToken| comma.text_range().end() <= token.text_range().end();
        name == Some("convert") && commas.filter(is_before).count() == 1
    };
    token.parent_ancestors().any(|node| node.kind() == SyntaxKind::ARG_LIST && is_type(&node))
}

/// The name of an argument of a block, or the type of its nested block, including a `dynamic` one.
pub(crate) fn argument_of(block: &ast::Block, name: &str) -> Option<TextRange> {
    let body = block.body()?;
    if let Some(attribute) = body.attribute(name) {
        return Some(attribute.name_token()?.text_range());
    }
    let mut blocks = body.blocks();
    let nested = blocks.find(|it| {
        let kind = it.block_type();
        kind.as_deref() == Some(name)
            || kind.as_deref() == Some("dynamic")
                && it.label_texts().next().as_deref() == Some(name)
    })?;
    Some(nested.type_token()?.text_range())
}
