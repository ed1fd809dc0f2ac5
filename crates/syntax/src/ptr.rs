//! Pointers from lowered items back into a tree.

use rowan::TextRange;

use crate::SyntaxNode;
use crate::ast::AstNode;
use crate::syntax_kind::SyntaxKind;

/// The kind and range of a node, which suffice to find it again in the same tree. It keeps no tree alive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SyntaxPtr {
    /// The kind of the node.
    pub kind: SyntaxKind,
    /// The range of the node, relative to the root under which the pointer was made.
    pub range: TextRange,
}

impl SyntaxPtr {
    /// Creates a pointer to `node`.
    pub fn new(node: &SyntaxNode) -> Self {
        Self { kind: node.kind(), range: node.text_range() }
    }

    /// Creates a pointer to the node of a typed view.
    pub fn of(node: &impl AstNode) -> Self {
        Self::new(node.syntax())
    }

    /// Returns the node under `root`, or `None` if that tree has no such node.
    pub fn to_node(self, root: &SyntaxNode) -> Option<SyntaxNode> {
        let mut node = root.clone();
        loop {
            if node.kind() == self.kind && node.text_range() == self.range {
                return Some(node);
            }
            node = node.child_or_token_at_range(self.range)?.into_node()?;
        }
    }

    /// Returns the typed node under `root`, or `None` if that tree has no such node.
    pub fn to_ast<N: AstNode>(self, root: &SyntaxNode) -> Option<N> {
        N::cast(self.to_node(root)?)
    }
}
