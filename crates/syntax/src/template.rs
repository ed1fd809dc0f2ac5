//! What the text between quotes means: a template as a list of parts, with escapes decoded, strip markers and indentation applied, and
//! directives paired.
//!
//! The steps and their order are HCL's (`hclsyntax/parser_template.go` is where to look): strip markers trim the neighbouring literal *token*, not the
//! neighbouring text; then `<<-` takes away the indentation that all lines share; then directives are paired. In a heredoc every line
//! is a token, which is why `~}` at the end of a line takes that line's newline and no more.

mod flush;

use std::vec;

use rowan::NodeOrToken;

use crate::ast::{self, AstNode, Expr, TemplateNode, template_elements};
use crate::literal::{unescape_quoted, unescape_template};
use crate::syntax_kind::SyntaxKind::{CLOSE_QUOTE, QUOTED_LIT};
use crate::{SyntaxNode, SyntaxToken};

/// A piece of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// Text.
    Literal(String),
    /// `${ expr }`
    Interpolation(Interpolation),
    /// `%{ if condition }…%{ else }…%{ endif }`
    If(If),
    /// `%{ for key, value in collection }…%{ endfor }`
    For(For),
}

/// `${ expr }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interpolation {
    /// The node, for its range.
    pub node: ast::Interpolation,
    /// The expression; `None` after an error.
    pub expr: Option<Expr>,
}

/// A conditional of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct If {
    /// The directive that opens it.
    pub node: ast::TemplateIf,
    /// The condition; `None` after an error.
    pub condition: Option<Expr>,
    /// What it yields where the condition holds.
    pub then_parts: Vec<Part>,
    /// What it yields elsewhere; `None` without an `else`, which means the empty string.
    pub else_parts: Option<Vec<Part>>,
}

/// A repetition of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct For {
    /// The directive that opens it.
    pub node: ast::TemplateFor,
    /// The name of the key or index, where two names are given.
    pub key_name: Option<SyntaxToken>,
    /// The name of the value; `None` after an error.
    pub value_name: Option<SyntaxToken>,
    /// What is gone through; `None` after an error.
    pub collection: Option<Expr>,
    /// What each element yields.
    pub parts: Vec<Part>,
}

/// A template, lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    /// Its parts in order. Empty literals are left out.
    pub parts: Vec<Part>,
    /// The template is one interpolation and nothing else, so its value keeps its type: `"${true}"` is a bool. A heredoc never is.
    pub is_wrap: bool,
}

impl Template {
    /// The text of a template that has no sequence.
    pub fn as_literal(&self) -> Option<String> {
        let texts = self.parts.iter().map(|part| match part {
            Part::Literal(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The interpolation of a template that [is one](Template::is_wrap).
    pub fn as_wrap(&self) -> Option<&Interpolation> {
        match self.parts.as_slice() {
            [Part::Interpolation(it)] if self.is_wrap => Some(it),
            _ => None,
        }
    }
}

/// Lowers `"…"`.
pub fn quoted(template: &ast::QuotedTemplate) -> Template {
    let pieces = stripped(template.syntax());
    let is_wrap = is_wrap(&pieces);
    Template { parts: paired(pieces), is_wrap }
}

/// Lowers `<<EOT … EOT`.
pub fn heredoc(template: &ast::Heredoc) -> Template {
    let mut pieces = stripped(template.syntax());
    if template.is_flush() {
        flush::remove_indentation(&mut pieces);
    }
    Template { parts: paired(pieces), is_wrap: false }
}

/// Lowers a template without quotes.
pub fn bare(template: &ast::TemplateFile) -> Template {
    let pieces = stripped(template.syntax());
    let is_wrap = is_wrap(&pieces);
    Template { parts: paired(pieces), is_wrap }
}

/// A token of text or a sequence, before pairing.
#[derive(Debug)]
enum Piece {
    Literal(String),
    Sequence(TemplateNode),
}

/// The elements of a template with escapes decoded and strip markers applied.
fn stripped(syntax: &SyntaxNode) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut trim_next = false;
    for element in template_elements(syntax) {
        match element {
            NodeOrToken::Token(token) => {
                let mut text = decoded(&token);
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

fn decoded(token: &SyntaxToken) -> String {
    match token.kind() {
        QUOTED_LIT => unescape_quoted(token.text()).into_owned(),
        _ => unescape_template(token.text()).into_owned(),
    }
}

/// Counted before empty literals are dropped: the newline that `~}` has trimmed away still makes it a string.
fn is_wrap(pieces: &[Piece]) -> bool {
    matches!(pieces, [Piece::Sequence(TemplateNode::Interpolation(_))])
}

fn paired(pieces: Vec<Piece>) -> Vec<Part> {
    let mut pieces = pieces.into_iter();
    let mut parts = Vec::new();
    // An end that nothing begins has been reported; what follows it is read on.
    loop {
        let (more, end) = parts_to_end(&mut pieces, 0);
        parts.extend(more);
        if end.is_none() {
            return parts;
        }
    }
}

/// Parts up to a directive that ends or divides an enclosing one, which is answered too. `depth` counts the open directives, so that no hostile
/// template runs us out of stack.
fn parts_to_end(
    pieces: &mut vec::IntoIter<Piece>,
    depth: usize,
) -> (Vec<Part>, Option<TemplateNode>) {
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

fn push_literal(parts: &mut Vec<Part>, text: String) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Literal(before)) => before.push_str(&text),
        _ => parts.push(Part::Literal(text)),
    }
}

fn if_part(node: ast::TemplateIf, pieces: &mut vec::IntoIter<Piece>, depth: usize) -> Part {
    let (then_parts, end) = parts_to_end(pieces, depth + 1);
    let else_parts = matches!(end, Some(TemplateNode::TemplateElse(_)))
        .then(|| parts_to_end(pieces, depth + 1).0);
    Part::If(If { condition: node.condition(), node, then_parts, else_parts })
}

fn for_part(node: ast::TemplateFor, pieces: &mut vec::IntoIter<Piece>, depth: usize) -> Part {
    let (parts, _) = parts_to_end(pieces, depth + 1);
    let (key_name, value_name) = (node.key_name(), node.value_name());
    Part::For(For { collection: node.collection(), node, key_name, value_name, parts })
}

impl ast::QuotedTemplate {
    /// The text, if nothing in it is to be evaluated; as a key, a label or a version is written.
    pub fn literal_text(&self) -> Option<String> {
        quoted(self).as_literal()
    }

    /// Whether the closing quote is there.
    pub fn is_closed(&self) -> bool {
        self.syntax().last_token().is_some_and(|token| token.kind() == CLOSE_QUOTE)
    }
}

#[cfg(test)]
mod tests;
