//! The typed view of the tree. Every accessor may answer `None`: any part may be missing from what a user types.
//!
//! `generated.rs` comes from `grammar/hcl.ungram`; `body.rs` and `expr.rs` hold what a grammar cannot say.

mod body;
mod expr;
#[rustfmt::skip]
mod generated;

use std::marker::PhantomData;

use crate::syntax_kind::SyntaxKind;
use crate::{SyntaxNode, SyntaxToken};

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
///
/// Each child that is looked at is an allocation, so those of other kinds are passed over in the tree below.
#[derive(Clone, Debug)]
pub struct AstChildren<N> {
    place: Place,
    marker: PhantomData<N>,
}

/// How far the children were gone through.
#[derive(Clone, Debug)]
enum Place {
    Before(SyntaxNode),
    At(SyntaxNode),
    Behind,
}

impl<N: AstNode> Iterator for AstChildren<N> {
    type Item = N;

    fn next(&mut self) -> Option<N> {
        let next = match &self.place {
            Place::Before(parent) => parent.first_child_by_kind(&N::can_cast),
            Place::At(child) => child.next_sibling_by_kind(&N::can_cast),
            Place::Behind => None,
        };
        self.place = next.clone().map_or(Place::Behind, Place::At);
        N::cast(next?)
    }
}

mod support {
    use super::*;

    pub(super) fn child<N: AstNode>(parent: &SyntaxNode) -> Option<N> {
        parent.first_child_by_kind(&N::can_cast).and_then(N::cast)
    }

    pub(super) fn children<N>(parent: &SyntaxNode) -> AstChildren<N> {
        AstChildren { place: Place::Before(parent.clone()), marker: PhantomData }
    }

    pub(super) fn token(parent: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxToken> {
        first_token(parent, |it| it == kind)
    }

    /// The first child of some kinds, which are kinds of tokens.
    pub(super) fn first_token(
        parent: &SyntaxNode,
        is_it: impl Fn(SyntaxKind) -> bool,
    ) -> Option<SyntaxToken> {
        parent.first_child_or_token_by_kind(&is_it)?.into_token()
    }

    pub(super) fn tokens(parent: &SyntaxNode) -> impl Iterator<Item = SyntaxToken> + use<> {
        parent.children_with_tokens().filter_map(rowan::NodeOrToken::into_token)
    }
}
