//! Signatures of functions: as text, and while the arguments of a call are typed.

use db::ByteRange;
use syntax::{AstNode, SyntaxKind, SyntaxNode, ast};
use values::functions::{Function, Parameter};

use crate::Document;

/// The signature of the function that is being called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureHelp {
    /// The signature as text.
    pub label: String,
    /// What the function does, in Markdown.
    pub documentation: String,
    /// The parameters, each with its range of bytes of `label`.
    pub parameters: Vec<ParameterHelp>,
    /// Which of them the cursor is at. `None` where the function takes no such argument.
    pub active: Option<usize>,
}

/// One parameter of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterHelp {
    /// Its part of the label.
    pub label: ByteRange,
}

/// The signature of a function as `name(a: string, b: number...): string`.
pub(crate) fn text_of(function: &Function) -> String {
    signature(function).0
}

fn parameter_text(parameter: &Parameter) -> String {
    format!("{}: {}", parameter.name, parameter.shape.ty())
}

/// The text of a signature, and the ranges of its parameters.
fn signature(function: &Function) -> (String, Vec<ParameterHelp>) {
    let variadic = function.variadic.iter().map(|it| format!("{}...", parameter_text(it)));
    let parameters = function.params.iter().map(parameter_text).chain(variadic);
    labelled(function.name, parameters)
}

fn labelled(name: &str, parameters: impl Iterator<Item = String>) -> (String, Vec<ParameterHelp>) {
    let mut label = format!("{name}(");
    let mut ranges = Vec::new();
    for (index, text) in parameters.enumerate() {
        label.push_str(if index == 0 { "" } else { ", " });
        let start = label.len() as u32;
        label.push_str(&text);
        ranges.push(ParameterHelp { label: ByteRange { start, end: label.len() as u32 } });
    }
    label.push(')');
    (label, ranges)
}

/// The signature of the innermost call whose arguments are around an offset.
pub fn signature_help(document: Document<'_>, offset: u32) -> Option<SignatureHelp> {
    let cursor = document.cursor(offset)?;
    let token = cursor.tokens().left_biased()?;
    let (call, list) = token.parent_ancestors().find_map(|node| {
        let list = ast::ArgList::cast(node)?;
        let open = list.l_paren_token()?.text_range();
        let closed = list.r_paren_token().is_some_and(|it| it.text_range().end() <= cursor.offset);
        let is_inside = open.end() <= cursor.offset && !closed;
        is_inside.then(|| Some((ast::Call::cast(list.syntax().parent()?)?, list)))?
    })?;
    let position = commas_before(list.syntax(), cursor.offset);
    let function = values::functions::lookup(&call.name()?)?;
    let (label, parameters) = signature(function);
    let last = parameters.len().checked_sub(1);
    let active = match function.variadic {
        Some(_) => last.map(|last| position.min(last)),
        None => Some(position).filter(|it| *it < parameters.len()),
    };
    Some(SignatureHelp { label, documentation: function.doc.to_owned(), parameters, active })
}

/// How many arguments are finished before the offset.
fn commas_before(list: &SyntaxNode, offset: syntax::TextSize) -> usize {
    let tokens = list.children_with_tokens().filter_map(|it| it.into_token());
    tokens.filter(|it| it.kind() == SyntaxKind::COMMA && it.text_range().end() <= offset).count()
}
