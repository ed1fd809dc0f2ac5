//! What the typed view needs of a tree, whichever it is: the lossless one, or the one that is gone through once.

use std::fmt::Debug;

use rowan::{NodeOrToken, TextRange};

use crate::syntax_kind::SyntaxKind;
use crate::{SyntaxNode, SyntaxToken};

/// A node of a tree.
pub trait TreeNode: Clone + Debug + PartialEq + Eq {
    /// The tokens of the tree.
    type Token: TreeToken;

    /// The kind of the node.
    fn kind(&self) -> SyntaxKind;
    /// From its first to its last token; trivia around a node are not part of it.
    fn text_range(&self) -> TextRange;
    /// The first child node of some kinds.
    fn first_child_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<Self>;
    /// The next node of some kinds below the same parent.
    fn next_sibling_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<Self>;
    /// The first child of some kinds, which are kinds of tokens.
    fn first_token_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<Self::Token>;
    /// Its nodes and tokens in order. Trivia may be among them.
    fn elements(&self) -> impl Iterator<Item = NodeOrToken<Self, Self::Token>> + use<Self>;
}

/// A token of a tree.
pub trait TreeToken: Clone + Debug + PartialEq + Eq {
    /// The kind of the token.
    fn kind(&self) -> SyntaxKind;
    /// The text of the token.
    fn text(&self) -> &str;
    /// Where it stands.
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

    // A child that is looked at is an allocation, so those of other kinds are passed over in the tree below.
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
