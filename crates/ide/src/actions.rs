//! What can be done about a problem, and to an expression: changes that are offered at a place.
//!
//! Start reading at [`code_actions`]. One module makes one kind of offer; `layout` knows how a change fits what is around.
//!
//! **Invariant:** what is left after a change can be read: an offer never makes a syntax error.

mod declare;
mod ephemeral;
mod extract;
mod inline;
pub(crate) mod layout;
mod mark;
mod meant;
mod missing;
mod remove;
mod rewrite;

use db::{ByteRange, Diagnostic, Location};
use syntax::{AstNode, SyntaxNode, TextRange, TextSize, ast};

use crate::{Cursor, Document, Edit};

/// A change that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What it does, in a few words.
    pub title: String,
    /// What sort of change it is.
    pub kind: ActionKind,
    /// The change; no two edits overlap.
    pub edits: Vec<Edit>,
    /// The problem that it mends: an index into the list that was given.
    pub mends: Option<usize>,
    /// Whether it is what is most likely meant.
    pub is_preferred: bool,
}

/// What sort of change an action is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// It mends a problem.
    QuickFix,
    /// It gives a part of an expression a name.
    Extract,
    /// It puts what a name stands for where the name is used.
    Inline,
    /// It says the same in another way.
    Rewrite,
}

/// Everything that is offered for a range of a file, of whose configuration these are the diagnostics: quick fixes first.
pub fn code_actions(
    document: Document<'_>,
    range: ByteRange,
    diagnostics: &[Diagnostic],
) -> Vec<Action> {
    let mut actions = Vec::new();
    let faults = diagnostics.iter().enumerate();
    let faults: Vec<(usize, Fault<'_, '_>)> =
        faults.filter_map(|(index, it)| Some((index, Fault::of(document, range, it)?))).collect();
    for (index, fault) in &faults {
        let found = quick_fixes(fault).into_iter();
        actions.extend(found.map(|action| Action { mends: Some(*index), ..action }));
    }
    actions.extend(missing::all(&faults));
    if let Some(selection) = Selection::of(document, range) {
        actions.extend(extract::actions(&selection));
        actions.extend(inline::action(&selection));
        actions.extend(rewrite::unwrap(&selection));
    }
    for action in &mut actions {
        crate::edit::fit_newlines(document.db, &mut action.edits);
    }
    actions
}

fn quick_fixes(fault: &Fault<'_, '_>) -> Vec<Action> {
    let mut actions = Vec::new();
    actions.extend(meant::action(fault));
    actions.extend(ephemeral::actions(fault));
    actions.extend(mark::sensitive(fault));
    actions.extend(declare::actions(fault));
    actions.extend(missing::action(fault));
    actions.extend(rewrite::unquote(fault));
    actions.extend(rewrite::block_and_argument(fault));
    actions.extend(remove::action(fault));
    actions
}

impl Action {
    fn fix(title: impl Into<String>, edits: Vec<Edit>) -> Action {
        let kind = ActionKind::QuickFix;
        Action { title: title.into(), kind, edits, mends: None, is_preferred: false }
    }

    fn preferred(self) -> Action {
        Action { is_preferred: true, ..self }
    }
}

/// A diagnostic and what stands at its place.
struct Fault<'a, 'db> {
    diagnostic: &'a Diagnostic,
    tree: Cursor<'db>,
    /// The place, from the start of the block.
    range: TextRange,
    /// The smallest node around the place.
    node: SyntaxNode,
}

impl<'a, 'db> Fault<'a, 'db> {
    /// The diagnostic as one of the file, if it touches a range.
    fn of(document: Document<'db>, range: ByteRange, diagnostic: &'a Diagnostic) -> Option<Self> {
        let Location { path, range: place } = diagnostic.location.as_ref()?;
        let is_here = *path == *document.file.path(document.db);
        let touches = place.start <= range.end && range.start <= place.end;
        (is_here && touches).then_some(())?;
        let tree = document.cursor(place.start)?;
        let range = in_tree(&tree, *place)?;
        let node = node_around(&tree, range)?;
        Some(Fault { diagnostic, tree, range, node })
    }

    fn id(&self) -> &'static str {
        self.diagnostic.id
    }

    /// The expression that the place is.
    fn expr(&self) -> Option<ast::Expr> {
        let exact = self.node.ancestors().take_while(|it| it.text_range() == self.range);
        exact.filter_map(ast::Expr::cast).last()
    }

    /// The innermost block around the place, the one whose header it is included.
    fn block(&self) -> Option<ast::Block> {
        self.node.ancestors().find_map(ast::Block::cast)
    }

    /// Whether the file is one of the root module.
    fn is_in_root(&self) -> bool {
        let document = self.tree.document;
        document.workspace.root(document.db) == document.directory
    }
}

/// What is selected, where there is something.
struct Selection<'db> {
    tree: Cursor<'db>,
    range: TextRange,
    node: SyntaxNode,
}

impl<'db> Selection<'db> {
    fn of(document: Document<'db>, range: ByteRange) -> Option<Selection<'db>> {
        let tree = document.cursor(range.start)?;
        let range = in_tree(&tree, range)?;
        let text = tree.root.text().slice(range).to_string();
        let start = range.start() + TextSize::of(&text) - TextSize::of(text.trim_start());
        let range = TextRange::at(start, TextSize::of(text.trim()));
        let node = node_around(&tree, range)?;
        Some(Selection { tree, range, node })
    }
}

/// A range of the file as one of a block that it is in, between characters.
fn in_tree(tree: &Cursor<'_>, range: ByteRange) -> Option<TextRange> {
    let place = |at: u32| {
        (tree.start <= at).then(|| tree.document.cursor_in(tree.block, tree.start, at).offset)
    };
    let (start, end) = (place(range.start)?, place(range.end)?);
    (start <= end).then(|| TextRange::new(start, end))
}

fn node_around(tree: &Cursor<'_>, range: TextRange) -> Option<SyntaxNode> {
    let element = match range.is_empty() {
        // Of two tokens at an empty place, the one that says something.
        true => tree.document.cursor(tree.start + u32::from(range.start()))?.token()?.into(),
        false => tree.root.covering_element(range),
    };
    match element {
        syntax::NodeOrToken::Node(node) => Some(node),
        syntax::NodeOrToken::Token(token) => token.parent(),
    }
}

#[cfg(test)]
mod tests;
