//! Rewrites of legacy syntax.

use db::{Fix, Rule};
use syntax::{
    AstNode, SyntaxKind, SyntaxNode, TextRange,
    ast::{self, HasItems},
};

use super::{Action, ActionKind, DiagnosticSite, Selection, layout};
use crate::{Edit, block_syntax::attribute_around};

/// Removes the quotes around a type constraint or a reference.
pub(super) fn unquote(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    matches!(fault.id(), Rule::QuotedTypeConstraint | Rule::QuotedReference).then_some(())?;
    let ast::Expr::QuotedTemplate(quoted) = fault.expr()? else { return None };
    let text = quoted.literal_text()?;
    let text = match (fault.id(), text.as_str()) {
        // The quoted `list` and `map` meant collections of strings.
        (Rule::QuotedTypeConstraint, "list") => "list(string)".to_owned(),
        (Rule::QuotedTypeConstraint, "map") => "map(string)".to_owned(),
        _ => text,
    };
    let range = fault.tree.file_range(quoted.syntax().text_range());
    Some(Action::fix("Remove the quotes", vec![Edit::replace(range, text)]).preferred())
}

/// Converts the block `tags { … }` into the argument `tags = { … }`, or the other way round.
pub(super) fn block_and_argument(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    match fault.diagnostic.fix.as_ref()? {
        Fix::BlockIsArgument => {
            let block = fault.block()?;
            let has_blocks = block.body()?.blocks().next().is_some();
            (!has_blocks && block.labels().next().is_none()).then_some(())?;
            let brace = fault.tree.file_range(block.open_brace()?.text_range());
            Some(Action::fix("Make it an argument", vec![Edit::before(brace, "= ")]).preferred())
        }
        Fix::ArgumentIsBlock => {
            let argument = attribute_around(&fault.node)?;
            let ast::Expr::Object(object) = argument.value()? else { return None };
            can_be_body(&object).then_some(())?;
            let name = argument.name_token()?.text_range().end();
            let range = TextRange::new(name, object.syntax().text_range().start());
            let edits = vec![Edit::replace(fault.tree.file_range(range), " ")];
            Some(Action::fix("Make it a block", edits).preferred())
        }
        _ => None,
    }
}

/// Returns true if the contents of an object are valid as the contents of a block.
fn can_be_body(object: &ast::Object) -> bool {
    let tokens = || object.syntax().children_with_tokens();
    let has_comma = tokens().any(|it| it.kind() == SyntaxKind::COMMA);
    let is_argument = |item: ast::ObjectItem| {
        let has_colon =
            item.syntax().children_with_tokens().any(|it| it.kind() == SyntaxKind::COLON);
        item.key().is_some_and(|key| key.name_token().is_some()) && !has_colon
    };
    let count = object.items().count();
    let has_lines = object.syntax().text().contains_char('\n');
    !has_comma && object.items().all(is_argument) && (count <= 1 || has_lines)
}

/// Unwraps a template that is a single interpolation: `"${x}"` becomes `x`.
pub(super) fn unwrap(selection: &Selection<'_>) -> Option<Action> {
    let quoted = selection.node.ancestors().find_map(ast::QuotedTemplate::cast)?;
    let template = syntax::template::quoted(&quoted);
    let expr = template.as_wrap()?.expr.clone()?;
    let parent = quoted.syntax().parent()?;
    if <ast::ObjectKey>::can_cast(parent.kind()) {
        // A bare name as a key is its own text, so the key needs parentheses.
        return Some(action(selection, quoted.syntax(), format!("({})", expr.syntax().text())));
    }
    Some(action(selection, quoted.syntax(), layout::in_place_of(quoted.syntax(), &expr)))
}

fn action(selection: &Selection<'_>, quoted: &SyntaxNode, text: String) -> Action {
    let range = selection.tree.file_range(quoted.text_range());
    let edits = vec![Edit::replace(range, text)];
    Action {
        kind: ActionKind::Rewrite,
        ..Action::fix("Use the expression without a template", edits)
    }
}
