//! Quick fixes that remove an argument or block that is not allowed.

use db::Rule;
use syntax::{
    AstNode, SyntaxKind, SyntaxNode,
    ast::{self, HasItems},
};

use super::{Action, DiagnosticSite, layout};

/// Identifiers of diagnostics that removing the argument or block fixes.
const SUPERFLUOUS: &[Rule] = &[
    Rule::UnsupportedArgument,
    Rule::UnsupportedBlock,
    Rule::DuplicateBlock,
    Rule::TooManyBlocks,
    Rule::ExtraneousDynamicContent,
    Rule::ReservedArgument,
    Rule::ProviderVersion,
    Rule::VersionOfLocalModule,
    Rule::InvalidEphemeralLifecycle,
    Rule::InvalidDataLifecycle,
    Rule::InvalidEphemeralBlock,
    Rule::DuplicateDeclaration,
];

/// Removes the argument or block that a diagnostic points at.
pub(super) fn action(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let is_duplicate = fault.id() == hir::lower::SYNTAX_ERROR;
    (is_duplicate || SUPERFLUOUS.contains(&fault.id())).then_some(())?;
    let node = item_of(&fault.node)?;
    if is_duplicate && !is_set_before(&node) {
        return None;
    }
    let title = match ast::BodyItem::cast(node.clone())? {
        _ if fault.id() == Rule::DuplicateDeclaration => "Remove this declaration".to_owned(),
        ast::BodyItem::Attribute(attribute) => format!("Remove argument \"{}\"", attribute.name()?),
        ast::BodyItem::Block(block) => format!("Remove block \"{}\"", block.block_type()?),
    };
    Some(Action::fix(title, vec![layout::remove(&fault.tree, &last_of_locals(node))]))
}

/// The node to remove: the whole `locals` block if `node` is its only argument and it has no comments, else
/// `node`.
pub(super) fn last_of_locals(node: SyntaxNode) -> SyntaxNode {
    let block = crate::block_syntax::block_of(&node)
        .filter(|it| it.block_type().is_some_and(|it| it == "locals"));
    let is_only = |block: &ast::Block| block.body().is_some_and(|it| it.body_items().count() == 1);
    let has_comments = |block: &ast::Block| {
        let mut elements = block.syntax().descendants_with_tokens();
        elements.any(|it| it.kind() == SyntaxKind::COMMENT)
    };
    match block {
        Some(block) if is_only(&block) && !has_comments(&block) => block.syntax().clone(),
        _ => node,
    }
}

/// The argument or block that contains a node.
fn item_of(node: &SyntaxNode) -> Option<SyntaxNode> {
    node.ancestors().find(|it| <ast::BodyItem>::can_cast(it.kind()))
}

/// Returns true if an earlier argument of the same body has the same name.
fn is_set_before(node: &SyntaxNode) -> bool {
    let name = |node: SyntaxNode| ast::Attribute::cast(node)?.name();
    let Some(own) = name(node.clone()) else { return false };
    let Some(body) = node.parent().and_then(ast::Body::cast) else { return false };
    let mut before = body.attributes().take_while(|it| it.syntax() != node);
    before.any(|it| it.name().as_ref() == Some(&own))
}
