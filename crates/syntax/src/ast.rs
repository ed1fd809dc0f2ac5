//! The typed view of the tree. Every accessor may return `None`, because any part may be missing from incomplete
//! text.
//!
//! `generated.rs` is generated from `grammar/hcl.ungram`; `body.rs` and `expr.rs` hold the accessors that a
//! grammar cannot express.

mod body;
mod expr;
#[rustfmt::skip]
mod generated;

use std::marker::PhantomData;

use crate::SyntaxNode;
use crate::syntax_kind::SyntaxKind;
use crate::tree::{TreeNode, TreeToken};

pub use self::body::{HasItems, LabelKind};
pub(crate) use self::expr::template_elements;
pub use self::expr::{Access, BinaryOp, LiteralKind, StaticTraversal, UnaryOp};
pub use self::generated::*;

/// A typed view of a node. The node belongs to the lossless tree unless `N` names another tree.
pub trait AstNode<N: TreeNode = SyntaxNode>: Sized {
    /// Returns true if a node of this kind can be viewed as `Self`.
    fn can_cast(kind: SyntaxKind) -> bool;
    /// Returns the view of `syntax`, or `None` if its kind does not fit.
    fn cast(syntax: N) -> Option<Self>;
    /// Returns the node behind the view.
    fn syntax(&self) -> &N;
}

/// An iterator over the children of a node that can be viewed as `T`, in source order.
#[derive(Clone, Debug)]
pub struct AstChildren<T, N = SyntaxNode> {
    place: Place<N>,
    marker: PhantomData<T>,
}

/// The position of the iterator: before the first child of a node, at a child, or behind the last child.
#[derive(Clone, Debug)]
enum Place<N> {
    Before(N),
    At(N),
    Behind,
}

impl<N: TreeNode, T: AstNode<N>> Iterator for AstChildren<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let next = match &self.place {
            Place::Before(parent) => parent.first_child_by_kind(&T::can_cast),
            Place::At(child) => child.next_sibling_by_kind(&T::can_cast),
            Place::Behind => None,
        };
        self.place = next.clone().map_or(Place::Behind, Place::At);
        T::cast(next?)
    }
}

mod support {
    use rowan::NodeOrToken;

    use super::*;

    pub(super) fn child<N: TreeNode, T: AstNode<N>>(parent: &N) -> Option<T> {
        parent.first_child_by_kind(&T::can_cast).and_then(T::cast)
    }

    pub(super) fn children<N: TreeNode, T>(parent: &N) -> AstChildren<T, N> {
        AstChildren { place: Place::Before(parent.clone()), marker: PhantomData }
    }

    pub(super) fn token<N: TreeNode>(parent: &N, kind: SyntaxKind) -> Option<N::Token> {
        parent.first_token_by_kind(&|it| it == kind)
    }

    pub(super) fn tokens<N: TreeNode>(parent: &N) -> impl Iterator<Item = N::Token> + use<N> {
        parent.elements().filter_map(NodeOrToken::into_token)
    }
}
