//! Lowers templates to lists of parts, with escapes decoded, strip markers and indentation applied, and directives
//! paired.
//!
//! The steps and their order are HCL's (see `hclsyntax/parser_template.go`). First, strip markers trim the
//! adjacent literal *token*, not all adjacent text. Then `<<-` removes the indentation that all lines share. Then
//! directives are paired. In a heredoc every line is a token, so `~}` at the end of a line removes that line's
//! newline and no more.

mod flush;

use std::{borrow::Cow, vec};

use rowan::NodeOrToken;

use crate::SyntaxNode;
use crate::ast::{self, AstNode, Expr, TemplateNode, template_elements};
use crate::literal::{unescape_quoted, unescape_template};
use crate::syntax_kind::SyntaxKind::{CLOSE_QUOTE, QUOTED_LIT};
use crate::tree::{TreeNode, TreeToken};

/// A part of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part<N: TreeNode = SyntaxNode> {
    /// Literal text.
    Literal(String),
    /// `${ expr }`
    Interpolation(Interpolation<N>),
    /// `%{ if condition }…%{ else }…%{ endif }`
    If(If<N>),
    /// `%{ for key, value in collection }…%{ endfor }`
    For(For<N>),
}

/// `${ expr }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interpolation<N: TreeNode = SyntaxNode> {
    /// The node, for its range.
    pub node: ast::Interpolation<N>,
    /// The expression; `None` after a syntax error.
    pub expr: Option<Expr<N>>,
}

/// A conditional of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct If<N: TreeNode = SyntaxNode> {
    /// The directive that opens it.
    pub node: ast::TemplateIf<N>,
    /// The condition; `None` after a syntax error.
    pub condition: Option<Expr<N>>,
    /// The parts that are used if the condition is true.
    pub then_parts: Vec<Part<N>>,
    /// The parts that are used otherwise; `None` without an `else`, which means the empty string.
    pub else_parts: Option<Vec<Part<N>>>,
}

/// A repetition in a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct For<N: TreeNode = SyntaxNode> {
    /// The directive that opens it.
    pub node: ast::TemplateFor<N>,
    /// The name of the key or index; `None` if there is only one name.
    pub key_name: Option<N::Token>,
    /// The name of the value; `None` after a syntax error.
    pub value_name: Option<N::Token>,
    /// The collection to iterate over; `None` after a syntax error.
    pub collection: Option<Expr<N>>,
    /// The parts that are repeated for each element.
    pub parts: Vec<Part<N>>,
}

/// A lowered template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template<N: TreeNode = SyntaxNode> {
    /// The parts in order, without empty literals.
    pub parts: Vec<Part<N>>,
    /// True if the template is a single interpolation, so that its value keeps its type: `"${true}"` is a bool.
    /// Always false for a heredoc.
    pub is_wrap: bool,
}

impl<N: TreeNode> Template<N> {
    /// Returns the text of a template, or `None` if it contains a sequence.
    pub fn as_literal(&self) -> Option<String> {
        let texts = self.parts.iter().map(|part| match part {
            Part::Literal(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the interpolation of a template with [`is_wrap`](Template::is_wrap), otherwise `None`.
    pub fn as_wrap(&self) -> Option<&Interpolation<N>> {
        match self.parts.as_slice() {
            [Part::Interpolation(it)] if self.is_wrap => Some(it),
            _ => None,
        }
    }
}

/// Lowers `"…"`.
pub fn quoted<N: TreeNode>(template: &ast::QuotedTemplate<N>) -> Template<N> {
    let pieces = stripped(template.syntax());
    let is_wrap = is_wrap(&pieces);
    Template { parts: paired(pieces), is_wrap }
}

/// Calls `read` with the text of a template that has no sequences, as most have. `None` if it has one, or if its text
/// is in several tokens.
pub fn with_plain_text<N: TreeNode, T>(
    template: &ast::QuotedTemplate<N>,
    read: impl FnOnce(&str) -> T,
) -> Option<T> {
    let mut elements = template_elements(template.syntax());
    match (elements.next(), elements.next()) {
        (None, _) => Some(read("")),
        (Some(NodeOrToken::Token(token)), None) => Some(read(&decoded(&token))),
        _ => None,
    }
}

/// Lowers `<<EOT … EOT`.
pub fn heredoc<N: TreeNode>(template: &ast::Heredoc<N>) -> Template<N> {
    let mut pieces = stripped(template.syntax());
    if template.is_flush() {
        flush::remove_indentation(&mut pieces);
    }
    Template { parts: paired(pieces), is_wrap: false }
}

/// Lowers a template without quotes.
pub fn bare<N: TreeNode>(template: &ast::TemplateFile<N>) -> Template<N> {
    let pieces = stripped(template.syntax());
    let is_wrap = is_wrap(&pieces);
    Template { parts: paired(pieces), is_wrap }
}

/// A literal token or a sequence, before directives are paired.
#[derive(Debug)]
enum Piece<N> {
    Literal(String),
    Sequence(TemplateNode<N>),
}

/// Returns the elements of a template with escapes decoded and strip markers applied.
fn stripped<N: TreeNode>(syntax: &N) -> Vec<Piece<N>> {
    let mut pieces: Vec<Piece<N>> = Vec::new();
    let mut trim_next = false;
    for element in template_elements(syntax) {
        match element {
            NodeOrToken::Token(token) => {
                let mut text = decoded(&token).into_owned();
                if std::mem::take(&mut trim_next) {
                    text = text.trim_start().to_owned();
                }
                pieces.push(Piece::Literal(text));
            }
            NodeOrToken::Node(node) => {
                let Some(sequence) = TemplateNode::cast(node) else { continue };
                if let (true, Some(Piece::Literal(text))) =
                    (sequence.strips_before(), pieces.last_mut())
                {
                    text.truncate(text.trim_end().len());
                }
                trim_next = sequence.strips_after();
                pieces.push(Piece::Sequence(sequence));
            }
        }
    }
    pieces
}

fn decoded(token: &impl TreeToken) -> Cow<'_, str> {
    match token.kind() {
        QUOTED_LIT => unescape_quoted(token.text()),
        _ => unescape_template(token.text()),
    }
}

/// Returns true for a single interpolation. Empty literals still count here: a newline that `~}` has trimmed away
/// makes the template a string.
fn is_wrap<N>(pieces: &[Piece<N>]) -> bool {
    matches!(pieces, [Piece::Sequence(TemplateNode::Interpolation(_))])
}

fn paired<N: TreeNode>(pieces: Vec<Piece<N>>) -> Vec<Part<N>> {
    let mut pieces = pieces.into_iter();
    let (mut parts, mut end) = parts_to_end(&mut pieces, 0);
    // An unmatched end directive has been reported; the parts after it are kept.
    while end.is_some() {
        let more;
        (more, end) = parts_to_end(&mut pieces, 0);
        parts.extend(more);
    }
    parts
}

/// Returns the parts up to a directive that ends or divides an enclosing one, and that directive. `depth` counts
/// the open directives, so that a hostile template cannot overflow the stack.
fn parts_to_end<N: TreeNode>(
    pieces: &mut vec::IntoIter<Piece<N>>,
    depth: usize,
) -> (Vec<Part<N>>, Option<TemplateNode<N>>) {
    let mut parts = Vec::new();
    while let Some(piece) = pieces.next() {
        let sequence = match piece {
            Piece::Literal(text) => {
                push_literal(&mut parts, text);
                continue;
            }
            Piece::Sequence(sequence) => sequence,
        };
        match sequence {
            TemplateNode::Interpolation(node) => {
                let expr = node.expr();
                parts.push(Part::Interpolation(Interpolation { node, expr }));
            }
            TemplateNode::TemplateIf(node) if depth < crate::MAX_DEPTH => {
                parts.push(if_part(node, pieces, depth))
            }
            TemplateNode::TemplateFor(node) if depth < crate::MAX_DEPTH => {
                parts.push(for_part(node, pieces, depth))
            }
            TemplateNode::TemplateIf(_) | TemplateNode::TemplateFor(_) => {}
            end => return (parts, Some(end)),
        }
    }
    (parts, None)
}

fn push_literal<N: TreeNode>(parts: &mut Vec<Part<N>>, text: String) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Literal(before)) => before.push_str(&text),
        _ => parts.push(Part::Literal(text)),
    }
}

fn if_part<N: TreeNode>(
    node: ast::TemplateIf<N>,
    pieces: &mut vec::IntoIter<Piece<N>>,
    depth: usize,
) -> Part<N> {
    let (then_parts, end) = parts_to_end(pieces, depth + 1);
    let else_parts = matches!(end, Some(TemplateNode::TemplateElse(_)))
        .then(|| parts_to_end(pieces, depth + 1).0);
    Part::If(If { condition: node.condition(), node, then_parts, else_parts })
}

fn for_part<N: TreeNode>(
    node: ast::TemplateFor<N>,
    pieces: &mut vec::IntoIter<Piece<N>>,
    depth: usize,
) -> Part<N> {
    let (parts, _) = parts_to_end(pieces, depth + 1);
    let (key_name, value_name) = (node.key_name(), node.value_name());
    Part::For(For { collection: node.collection(), node, key_name, value_name, parts })
}

impl<N: TreeNode> ast::QuotedTemplate<N> {
    /// Returns the text if nothing in it has to be evaluated, as in a key, a label or a version. Otherwise `None`.
    pub fn literal_text(&self) -> Option<String> {
        with_plain_text(self, str::to_owned).or_else(|| quoted(self).as_literal())
    }

    /// Returns true if the closing quote is present.
    pub fn is_closed(&self) -> bool {
        self.syntax().first_token_by_kind(&|it| it == CLOSE_QUOTE).is_some()
    }
}

#[cfg(test)]
mod tests;
