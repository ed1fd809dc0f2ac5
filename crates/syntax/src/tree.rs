//! The interface of a tree that the typed view needs. The lossless and the flat tree implement it.

use std::fmt::Debug;

use rowan::{NodeOrToken, TextRange};

use crate::syntax_kind::SyntaxKind;
use crate::{SyntaxNode, SyntaxToken};

/// A node of a tree.
pub trait TreeNode: Clone + Debug + PartialEq + Eq {
    /// The type of the tree's tokens.
    type Token: TreeToken;

    /// Returns the kind of the node.
    fn kind(&self) -> SyntaxKind;
    /// Returns the range from the node's first to its last token, without the trivia around it.
    fn text_range(&self) -> TextRange;
    /// Returns the first child node whose kind satisfies `is_it`.
    fn first_child_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<Self>;
    /// Returns the next sibling node whose kind satisfies `is_it`.
    fn next_sibling_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<Self>;
    /// Returns the first child token whose kind satisfies `is_it`, which must accept only kinds of tokens.
    fn first_token_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<Self::Token>;
    /// Returns the child nodes and tokens in order, possibly including trivia.
    fn elements(&self) -> impl Iterator<Item = NodeOrToken<Self, Self::Token>> + use<Self>;
}

/// A token of a tree.
pub trait TreeToken: Clone + Debug + PartialEq + Eq {
    /// Returns the kind of the token.
    fn kind(&self) -> SyntaxKind;
    /// Returns the text of the token.
    fn text(&self) -> &str;
    /// Returns the range of the token.
    fn text_range(&self) -> TextRange;
}

impl TreeNode for SyntaxNode {
    type Token = SyntaxToken;

    fn kind(&self) -> SyntaxKind {
        self.kind()
    }

    fn text_range(&self) -> TextRange {
        self.text_range()
    }

    // rowan allocates for each child that it returns, so children of other kinds are skipped inside rowan.
    fn first_child_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<Self> {
        self.first_child_by_kind(is_it)
    }

    fn next_sibling_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<Self> {
        self.next_sibling_by_kind(is_it)
    }

    fn first_token_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<SyntaxToken> {
        self.first_child_or_token_by_kind(is_it)?.into_token()
    }

    fn elements(&self) -> impl Iterator<Item = NodeOrToken<Self, SyntaxToken>> + use<> {
        self.children_with_tokens()
    }
}

impl TreeToken for SyntaxToken {
    fn kind(&self) -> SyntaxKind {
        self.kind()
    }

    fn text(&self) -> &str {
        self.text()
    }

    fn text_range(&self) -> TextRange {
        self.text_range()
    }
}
