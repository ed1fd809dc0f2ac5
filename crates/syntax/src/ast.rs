//! The typed view of the tree. Every accessor may answer `None`: any part may be missing from what a user types.
//!
//! `generated.rs` comes from `grammar/hcl.ungram`; `body.rs` and `expr.rs` hold what a grammar cannot say.

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

/// A typed view of a node, of the lossless tree where nothing else is said.
pub trait AstNode<N: TreeNode = SyntaxNode>: Sized {
    /// Whether a node of this kind can be seen as `Self`.
    fn can_cast(kind: SyntaxKind) -> bool;
    /// The view of `syntax`, if its kind fits.
    fn cast(syntax: N) -> Option<Self>;
    /// The node behind the view.
    fn syntax(&self) -> &N;
}

/// The children of a node that can be seen as `T`, in source order.
#[derive(Clone, Debug)]
pub struct AstChildren<T, N = SyntaxNode> {
    place: Place<N>,
    marker: PhantomData<T>,
}

/// How far the children were gone through.
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
