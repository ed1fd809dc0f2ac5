//! Code actions: quick fixes for diagnostics, and refactorings of the selected expression.
//!
//! Start reading at [`code_actions`]. Each submodule makes one kind of action; `layout` fits an edit into the text
//! around it.
//!
//! **Invariant:** an action never introduces a syntax error.

mod declare;
mod ephemeral;
mod extract;
mod inline;
pub(crate) mod layout;
mod mark;
mod missing;
mod remove;
mod rewrite;
mod spelling;

use db::{ByteRange, Diagnostic, Location, Rule};
use syntax::{AstNode, SyntaxNode, TextRange, TextSize, ast};

use crate::{Cursor, Document, Edit};

/// A code action: a change that the editor offers at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The title that the editor shows, in a few words.
    pub title: String,
    /// The kind of the change.
    pub kind: ActionKind,
    /// The edits of the change. They do not overlap.
    pub edits: Vec<Edit>,
    /// The diagnostic that the action fixes, as an index into the diagnostics that the caller passed.
    pub diagnostic: Option<usize>,
    /// True if the action is the most likely intention, so that the editor may apply it without a choice.
    pub is_preferred: bool,
}

/// The kind of a code action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// Fixes a diagnostic.
    QuickFix,
    /// Extracts a part of an expression into a named item.
    Extract,
    /// Replaces the uses of a name by its value.
    Inline,
    /// Rewrites an expression without a change of its meaning.
    Rewrite,
}

/// Returns the code actions for a range of a file, quick fixes first. `diagnostics` are those of the file's
/// configuration.
pub fn code_actions(
    document: Document<'_>,
    range: ByteRange,
    diagnostics: &[Diagnostic],
) -> Vec<Action> {
    let mut actions = Vec::new();
    let faults = diagnostics.iter().enumerate();
    let fault = |(index, it)| DiagnosticSite::of(document, range, index, it);
    let faults: Vec<DiagnosticSite<'_, '_>> = faults.filter_map(fault).collect();
    for fault in &faults {
        let found = quick_fixes(fault).into_iter();
        actions.extend(found.map(|action| Action { diagnostic: Some(fault.index), ..action }));
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

fn quick_fixes(fault: &DiagnosticSite<'_, '_>) -> Vec<Action> {
    let mut actions = Vec::new();
    actions.extend(spelling::action(fault));
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
        Action { title: title.into(), kind, edits, diagnostic: None, is_preferred: false }
    }

    fn preferred(self) -> Action {
        Action { is_preferred: true, ..self }
    }
}

/// A diagnostic with the syntax at its place.
struct DiagnosticSite<'a, 'db> {
    /// The position of the diagnostic among those of the request.
    index: usize,
    diagnostic: &'a Diagnostic,
    tree: Cursor<'db>,
    /// The place of the diagnostic, relative to the start of the block.
    range: TextRange,
    /// The smallest node that covers the place.
    node: SyntaxNode,
}

impl<'a, 'db> DiagnosticSite<'a, 'db> {
    /// Locates a diagnostic in the file. `None` if it is about another file or does not touch `range`.
    fn of(
        document: Document<'db>,
        range: ByteRange,
        index: usize,
        diagnostic: &'a Diagnostic,
    ) -> Option<Self> {
        let Location { path, range: place } = diagnostic.location.as_ref()?;
        let is_here = *path == *document.file.path(document.db);
        let touches = place.start <= range.end && range.start <= place.end;
        (is_here && touches).then_some(())?;
        let tree = document.cursor(place.start)?;
        let range = in_tree(&tree, *place)?;
        let node = node_around(&tree, range)?;
        Some(DiagnosticSite { index, diagnostic, tree, range, node })
    }

    fn id(&self) -> Rule {
        self.diagnostic.id()
    }

    /// The expression whose range is exactly the place of the diagnostic.
    fn expr(&self) -> Option<ast::Expr> {
        let exact = self.node.ancestors().take_while(|it| it.text_range() == self.range);
        exact.filter_map(ast::Expr::cast).last()
    }

    /// The innermost block around the place. A place in the header of a block belongs to that block.
    fn block(&self) -> Option<ast::Block> {
        self.node.ancestors().find_map(ast::Block::cast)
    }

    /// Returns true if the file belongs to the root module.
    fn is_in_root(&self) -> bool {
        let document = self.tree.document;
        document.workspace.root(document.db) == document.directory
    }
}

/// The selected text without the blanks around it, with the syntax at its place.
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

/// Converts a range of the file into one relative to the start of the tree's block, moved to character boundaries.
/// `None` if the range begins before the block.
fn in_tree(tree: &Cursor<'_>, range: ByteRange) -> Option<TextRange> {
    let place = |at: u32| {
        (tree.start <= at).then(|| tree.document.cursor_in(tree.block, tree.start, at).offset)
    };
    let (start, end) = (place(range.start)?, place(range.end)?);
    (start <= end).then(|| TextRange::new(start, end))
}

fn node_around(tree: &Cursor<'_>, range: TextRange) -> Option<SyntaxNode> {
    let element = match range.is_empty() {
        // An empty range may touch two tokens; the cursor chooses the more useful one.
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
