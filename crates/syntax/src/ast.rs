//! The typed view of the tree. Every accessor may answer `None`: any part may be missing from what a user types.
//!
//! `generated.rs` comes from `grammar/hcl.ungram`; `body.rs` and `expr.rs` hold what a grammar cannot say.

mod body;
mod expr;
#[rustfmt::skip]
mod generated;

use std::marker::PhantomData;

use crate::syntax_kind::SyntaxKind;
use crate::{SyntaxNode, SyntaxNodeChildren, SyntaxToken};

pub use self::body::{HasItems, LabelKind};
pub(crate) use self::expr::template_elements;
pub use self::expr::{Access, BinaryOp, LiteralKind, StaticTraversal, UnaryOp};
pub use self::generated::*;

/// A typed view of a node.
pub trait AstNode: Sized {
    /// Whether a node of this kind can be seen as `Self`.
    fn can_cast(kind: SyntaxKind) -> bool;
    /// The view of `syntax`, if its kind fits.
    fn cast(syntax: SyntaxNode) -> Option<Self>;
    /// The node behind the view.
    fn syntax(&self) -> &SyntaxNode;
}

/// The children of a node that can be seen as `N`, in source order.
#[derive(Clone, Debug)]
pub struct AstChildren<N> {
    inner: SyntaxNodeChildren,
    marker: PhantomData<N>,
}

impl<N: AstNode> Iterator for AstChildren<N> {
    type Item = N;

    fn next(&mut self) -> Option<N> {
        self.inner.find_map(N::cast)
    }
}

mod support {
    use super::*;

    pub(super) fn child<N: AstNode>(parent: &SyntaxNode) -> Option<N> {
        parent.children().find_map(N::cast)
    }

    pub(super) fn children<N>(parent: &SyntaxNode) -> AstChildren<N> {
        AstChildren { inner: parent.children(), marker: PhantomData }
    }

    pub(super) fn token(parent: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxToken> {
        tokens(parent).find(|token| token.kind() == kind)
    }

    pub(super) fn tokens(parent: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> + use<> {
        parent.children_with_tokens().filter_map(rowan::NodeOrToken::into_token)
    }
}
