//! Pointers from lowered things back into a tree.

use rowan::TextRange;

use crate::SyntaxNode;
use crate::ast::AstNode;
use crate::syntax_kind::SyntaxKind;

/// The kind and range of a node: enough to find it again in the same tree. It holds no tree alive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SyntaxPtr {
    /// The kind of the node.
    pub kind: SyntaxKind,
    /// Its range, relative to the root it was made under.
    pub range: TextRange,
}

impl SyntaxPtr {
    /// Points to `node`.
    pub fn new(node: &SyntaxNode) -> Self {
        Self { kind: node.kind(), range: node.text_range() }
    }

    /// Points to the node of a typed view.
    pub fn of(node: &impl AstNode) -> Self {
        Self::new(node.syntax())
    }

    /// The node under `root`; `None` if that tree has no such node.
    pub fn to_node(self, root: &SyntaxNode) -> Option<SyntaxNode> {
        let mut node = root.clone();
        loop {
            if node.kind() == self.kind && node.text_range() == self.range {
                return Some(node);
            }
            node = node.child_or_token_at_range(self.range)?.into_node()?;
        }
    }

    /// The typed node under `root`.
    pub fn to_ast<N: AstNode>(self, root: &SyntaxNode) -> Option<N> {
        N::cast(self.to_node(root)?)
    }
}
