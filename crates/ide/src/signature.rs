//! Signatures of functions: as text, and while the arguments of a call are typed.

use db::ByteRange;
use syntax::{AstNode, SyntaxKind, SyntaxNode, ast};
use values::functions::{Function, Parameter, Shape};

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
    match parameter.shape {
        Shape::Type => format!("{}: type", parameter.name),
        shape => format!("{}: {}", parameter.name, shape.ty()),
    }
}

/// The text of a signature, and the ranges of its parameters.
fn signature(function: &Function) -> (String, Vec<ParameterHelp>) {
    let variadic = function.variadic.iter().map(|it| format!("{}...", parameter_text(it)));
    let parameters = function.params.iter().map(parameter_text).chain(variadic);
    let mut label = format!("{}(", function.name);
    let mut ranges = Vec::new();
    for (index, text) in parameters.enumerate() {
        label.push_str(if index == 0 { "" } else { ", " });
        let start = label.len() as u32;
        label.push_str(&text);
        ranges.push(ParameterHelp { label: ByteRange { start, end: label.len() as u32 } });
    }
    label.push(')');
    if let Some(ty) = function.result() {
        label.push_str(&format!(": {ty}"));
    }
    (label, ranges)
}

/// The signature of the innermost call whose arguments are around an offset.
pub fn signature_help(document: Document<'_>, offset: u32) -> Option<SignatureHelp> {
    let cursor = document.cursor(offset)?;
    let token = cursor.significant_before(cursor.offset)?;
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture;

    /// Shows the label with the active parameter between marks.
    #[track_caller]
    fn check(call: &str, expect: Expect) {
        let fixture = fixture::load(&format!("locals {{\n  a = {call}\n  b = 1\n}}\n"));
        let found = crate::signature_help(fixture.document(), fixture.offset());
        let shown = found.map(|it| match it.active.map(|index| it.parameters[index].label) {
            Some(range) => {
                let (before, rest) = it.label.split_at(range.start as usize);
                let (active, after) = rest.split_at((range.end - range.start) as usize);
                format!("{before}«{active}»{after}")
            }
            None => it.label,
        });
        expect.assert_eq(shown.as_deref().unwrap_or("nothing"));
    }

    #[test]
    fn the_parameter_at_the_cursor() {
        check(
            "substr($0\"a\", 1, 2)",
            expect!["substr(«str: string», offset: number, length: number): string"],
        );
        check(
            "substr(\"a\", 1,$0 2)",
            expect!["substr(str: string, offset: number, «length: number»): string"],
        );
        check(
            "substr(\"a\", 1, 2$0)",
            expect!["substr(str: string, offset: number, «length: number»): string"],
        );
        check("substr(\"a\", 1, 2)$0", expect!["nothing"]);
        check("substr$0(\"a\", 1, 2)", expect!["nothing"]);
        check(
            "substr(\"a\", 1, 2, $03)",
            expect!["substr(str: string, offset: number, length: number): string"],
        );
    }

    #[test]
    fn a_type_is_an_argument() {
        check("convert([], $0)", expect!["convert(value: any, «type: type»)"]);
    }

    #[test]
    fn any_number_of_arguments() {
        check("max(1, 2, 3, $0)", expect!["max(«numbers: number...»): number"]);
        check("concat($0)", expect!["concat(«seqs: any...»)"]);
    }

    #[test]
    fn calls_inside_of_calls() {
        check("substr(upper($0), 1)", expect!["upper(«str: string»): string"]);
        check(
            "substr(upper(\"a\"), $0)",
            expect!["substr(str: string, «offset: number», length: number): string"],
        );
        check(
            "[for x in upper(\"a\") : substr([1, 2], $0)]",
            expect!["substr(str: string, «offset: number», length: number): string"],
        );
    }

    #[test]
    fn unfinished_calls() {
        check(
            "substr(\"a\", $0",
            expect!["substr(str: string, «offset: number», length: number): string"],
        );
        check("substr(\"${upper($0)}\")", expect!["upper(«str: string»): string"]);
        check("nothing($0)", expect!["nothing"]);
        check("timestamp($0)", expect!["timestamp(): string"]);
    }
}
