//! Refactoring that inlines a local.

use hir::names::ItemName;
use syntax::{AstNode, SyntaxKind, SyntaxNode, ast};

use super::{Action, ActionKind, Selection, layout, remove::last_of_locals};
use crate::{
    Edit,
    block_syntax::attribute_around,
    naming::{Named, Occurrence, Role, Templates, bound, value},
    references::{Use, uses},
};

/// Replaces every use of the local at the cursor by its value and removes the declaration.
pub(super) fn action(selection: &Selection<'_>) -> Option<Action> {
    let document = selection.tree.document;
    let cursor = document.cursor(selection.tree.start + u32::from(selection.range.start()))?;
    let occurrence = Occurrence::at(&cursor, &cursor.token()?)?;
    let Named::Item(_, ItemName::Local(name)) = &occurrence.named else { return None };
    let module = document.module();
    let (tree, value) = value(&module, &ItemName::Local(name.clone()))?;
    // A heredoc needs its own lines and cannot become a part of another expression.
    if let ast::Expr::Heredoc(_) = value {
        return None;
    }
    let (declarations, reads): (Vec<Use>, Vec<Use>) = uses(&cursor, &occurrence.named)
        .into_iter()
        .partition(|it| it.reference.role == Role::Declaration);
    let [_] = declarations.as_slice() else { return None };
    let declaration = attribute_around(value.syntax())?;
    let own = tree.file_range(declaration.syntax().text_range());
    let gone = last_of_locals(declaration.syntax().clone());
    let mut edits = vec![layout::remove(&tree, &gone)];
    for read in &reads {
        let place = read.reference.place;
        let is_own = place.file == own.file
            && own.range.start <= place.range.start
            && place.range.end <= own.range.end;
        if is_own {
            return None;
        }
        edits.push(replace(&module, read, &value)?);
    }
    (!reads.is_empty()).then_some(())?;
    let title = match reads.len() {
        1 => format!("Inline local.{name}"),
        count => format!("Inline local.{name} in all {count} places"),
    };
    Some(Action { kind: ActionKind::Inline, ..Action::fix(title, edits) })
}

/// Returns true if a `for` expression around `place` binds a name that `value` reads, so that the name would
/// change its meaning there.
fn is_captured(tree: &crate::Cursor<'_>, place: &SyntaxNode, value: &ast::Expr) -> bool {
    let roots = value.syntax().descendants().filter_map(ast::Reference::cast);
    roots
        .filter_map(|it| it.name())
        .any(|name| bound(tree, &Templates::default(), &name, place).is_some())
}

fn replace(module: &crate::Module<'_>, read: &Use, value: &ast::Expr) -> Option<Edit> {
    let place = read.reference.place;
    let tree = module.document(place.file).cursor(place.range.start)?;
    let step = tree.token()?.parent()?;
    let chain = step.parent().filter(|it| it.kind() == SyntaxKind::TRAVERSAL)?;
    if attribute_around(&chain).and_then(|it| it.name()).is_some_and(|it| it == "depends_on") {
        return None;
    }
    if is_captured(&tree, &chain, value) {
        return None;
    }
    let is_last = chain.last_child().is_some_and(|it| it == step);
    // If further steps follow, the value replaces only the first two words of the reference.
    let around: &SyntaxNode = if is_last { &chain } else { &step };
    let range = syntax::TextRange::new(chain.text_range().start(), step.text_range().end());
    Some(Edit::replace(tree.file_range(range), layout::in_place_of(around, value)))
}
