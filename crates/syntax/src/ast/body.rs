//! Accessors for bodies and their parts: attributes, blocks and labels.

use smol_str::{SmolStr, SmolStrBuilder};

use super::{AstChildren, AstNode, Attribute, Block, Body, BodyItem, Label, SourceFile, support};
use crate::syntax_kind::SyntaxKind::{IDENT, L_BRACE, OPEN_QUOTE, QUOTED_LIT, R_BRACE};
use crate::tree::{TreeNode, TreeToken as _};
use crate::{SyntaxNode, literal};

/// A node that holds attributes and blocks: a file or the body of a block.
pub trait HasItems<N: TreeNode = SyntaxNode>: AstNode<N> {
    /// Returns the attributes and blocks in source order.
    fn body_items(&self) -> AstChildren<BodyItem<N>, N> {
        support::children(self.syntax())
    }

    /// Returns the attributes only.
    fn attributes(&self) -> AstChildren<Attribute<N>, N> {
        support::children(self.syntax())
    }

    /// Returns the blocks only.
    fn blocks(&self) -> AstChildren<Block<N>, N> {
        support::children(self.syntax())
    }

    /// Returns the first attribute with this name. If an attribute is set twice, the first one counts.
    fn attribute(&self, name: &str) -> Option<Attribute<N>> {
        self.attributes().find(|it| it.name_token().is_some_and(|token| token.text() == name))
    }
}

impl<N: TreeNode> HasItems<N> for SourceFile<N> {}
impl<N: TreeNode> HasItems<N> for Body<N> {}

impl<N: TreeNode> Attribute<N> {
    /// Returns the token that names the attribute.
    pub fn name_token(&self) -> Option<N::Token> {
        self.ident_token()
    }

    /// Returns the name of the attribute.
    pub fn name(&self) -> Option<SmolStr> {
        self.ident_token().map(|token| SmolStr::new(token.text()))
    }
}

impl<N: TreeNode> Block<N> {
    /// Returns the token of the block's type: `resource` in `resource "a" "b" {}`.
    pub fn type_token(&self) -> Option<N::Token> {
        self.ident_token()
    }

    /// Returns the block's type.
    pub fn block_type(&self) -> Option<SmolStr> {
        self.ident_token().map(|token| SmolStr::new(token.text()))
    }

    /// Returns the decoded labels, in order.
    pub fn label_texts(&self) -> impl Iterator<Item = SmolStr> + use<N> {
        self.labels().map(|label| label.text())
    }

    /// Returns the opening brace of the body.
    pub fn open_brace(&self) -> Option<N::Token> {
        support::token(&self.syntax, L_BRACE)
    }

    /// Returns the closing brace of the body.
    pub fn close_brace(&self) -> Option<N::Token> {
        support::token(&self.syntax, R_BRACE)
    }
}

/// The way in which a label is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LabelKind {
    /// `a`
    Name,
    /// `"a"`
    Quoted,
}

impl<N: TreeNode> Label<N> {
    /// Returns how the label is written.
    pub fn kind(&self) -> LabelKind {
        match support::token(&self.syntax, OPEN_QUOTE) {
            Some(_) => LabelKind::Quoted,
            None => LabelKind::Name,
        }
    }

    /// Returns the text between the quotes with escapes decoded, or the name itself.
    ///
    /// An invalid escape stands for itself; the parse of the file has reported it.
    pub fn text(&self) -> SmolStr {
        if let Some(name) = support::token(&self.syntax, IDENT) {
            return SmolStr::new(name.text());
        }
        let quoted = support::tokens(&self.syntax).filter(|token| token.kind() == QUOTED_LIT);
        let mut out = SmolStrBuilder::new();
        quoted.for_each(|token| out.push_str(&literal::unescape_quoted(token.text())));
        out.finish()
    }
}
