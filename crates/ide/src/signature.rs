//! Signature help, and function signatures as text.

use db::ByteRange;
use hir::{names::required_providers, provider_function};
use provider::FunctionSignature;
use sorted::SortedMap;
use syntax::{AstNode, SyntaxKind, SyntaxNode, ast};
use values::{
    Str, Type,
    functions::{Function, Parameter, Shape},
};

use crate::{Document, Module};

/// The signature of the function call at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureHelp {
    /// The signature as text.
    pub label: String,
    /// The documentation of the function, in Markdown.
    pub documentation: String,
    /// The parameters, each with its byte range in `label`.
    pub parameters: Vec<ParameterHelp>,
    /// The index of the parameter at the cursor. `None` if the function takes no such argument.
    pub active: Option<usize>,
}

/// A parameter of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterHelp {
    /// The byte range of the parameter in the label of the signature.
    pub label: ByteRange,
}

/// A function that a module can call.
pub(crate) enum Callee<'db> {
    /// A function of the language.
    Library(&'static Function),
    /// A function of a provider, with its qualified name.
    Provider(Str, &'db FunctionSignature),
}

impl<'db> Callee<'db> {
    /// The function with the given name. `None` if the module has no such function.
    pub(crate) fn of(module: Module<'db>, name: &str) -> Option<Callee<'db>> {
        let Some(parts) = provider_function::parse(name) else {
            return values::functions::lookup(name).map(Callee::Library);
        };
        let functions = functions_of(module, parts.provider)?;
        Some(Callee::Provider(name.into(), functions.get(parts.function)?))
    }

    /// The functions of all providers that the module requires.
    pub(crate) fn of_providers(module: Module<'db>) -> Vec<Callee<'db>> {
        let required = required_providers(module.db, module.directory);
        let mut found = Vec::new();
        for provider in required.declared.keys() {
            for (function, signature) in functions_of(module, provider).into_iter().flatten() {
                let name = Str::from(format!("provider::{provider}::{function}"));
                found.push(Callee::Provider(name, signature));
            }
        }
        found
    }

    /// The name by which the module calls the function.
    pub(crate) fn name(&self) -> &str {
        match self {
            Callee::Library(function) => function.name,
            Callee::Provider(name, _) => name,
        }
    }

    /// The documentation of the function, in Markdown.
    pub(crate) fn doc(&self) -> &str {
        match self {
            Callee::Library(function) => function.doc,
            Callee::Provider(_, signature) if signature.description.is_empty() => {
                &signature.summary
            }
            Callee::Provider(_, signature) => &signature.description,
        }
    }

    /// The result type. `None` if it depends on the arguments.
    pub(crate) fn result(&self) -> Option<Type> {
        match self {
            Callee::Library(function) => function.result(),
            Callee::Provider(_, signature) => Some(signature.returns.clone()),
        }
    }

    /// The type of the argument at a position. `None` if the function takes no such argument.
    pub(crate) fn parameter(&self, position: usize) -> Option<Type> {
        match self {
            Callee::Library(function) => Some(function.parameter(position)?.shape.ty()),
            Callee::Provider(_, signature) => {
                Some(provider_function::parameter(signature, position)?.ty.clone())
            }
        }
    }

    /// Returns true if the last parameter takes any number of arguments.
    pub(crate) fn is_variadic(&self) -> bool {
        match self {
            Callee::Library(function) => function.variadic.is_some(),
            Callee::Provider(_, signature) => signature.variadic.is_some(),
        }
    }

    /// Returns true if the function takes at least one argument.
    pub(crate) fn has_parameters(&self) -> bool {
        self.parameter(0).is_some()
    }

    fn parameter_texts(&self) -> Vec<String> {
        let text = |name: &str, ty: &Type| format!("{name}: {}", ty);
        let variadic = |text: String| format!("{text}...");
        match self {
            Callee::Library(it) => {
                let rest = it.variadic.iter().map(|it| variadic(parameter_text(it)));
                it.params.iter().map(parameter_text).chain(rest).collect()
            }
            Callee::Provider(_, it) => {
                let rest = it.variadic.iter().map(|it| variadic(text(&it.name, &it.ty)));
                it.parameters.iter().map(|it| text(&it.name, &it.ty)).chain(rest).collect()
            }
        }
    }

    /// The signature as `name(a: string, b: number...): string`.
    pub(crate) fn text(&self) -> String {
        self.signature().0
    }

    /// The text of the signature, and the ranges of its parameters.
    fn signature(&self) -> (String, Vec<ParameterHelp>) {
        let mut label = format!("{}(", self.name());
        let mut ranges = Vec::new();
        for (index, text) in self.parameter_texts().into_iter().enumerate() {
            label.push_str(if index == 0 { "" } else { ", " });
            let start = label.len() as u32;
            label.push_str(&text);
            ranges.push(ParameterHelp { label: ByteRange { start, end: label.len() as u32 } });
        }
        label.push(')');
        if let Some(ty) = self.result() {
            label.push_str(&format!(": {}", ty));
        }
        (label, ranges)
    }
}

fn parameter_text(parameter: &Parameter) -> String {
    match parameter.shape {
        Shape::Type => format!("{}: type", parameter.name),
        shape => format!("{}: {}", parameter.name, shape.ty()),
    }
}

/// The functions of a provider that the module requires under a local name.
fn functions_of<'db>(
    module: Module<'db>,
    provider: &str,
) -> Option<&'db SortedMap<Str, FunctionSignature>> {
    let required = required_providers(module.db, module.directory);
    required.declared.get(provider)?;
    let input = module.workspace.providers(module.db).get(&required.source(provider))?;
    Some(&input.schemas(module.db).0.functions)
}

/// Returns the signature of the innermost call whose argument list contains an offset.
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
    let callee = Callee::of(document.module(), &call.name()?)?;
    let (label, parameters) = callee.signature();
    let last = parameters.len().checked_sub(1);
    let active = match callee.is_variadic() {
        true => last.map(|last| position.min(last)),
        false => Some(position).filter(|it| *it < parameters.len()),
    };
    Some(SignatureHelp { label, documentation: callee.doc().to_owned(), parameters, active })
}

/// The number of complete arguments before the offset.
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
        let required = "terraform {\n  required_providers {\n    test = {}\n  }\n}\n";
        let fixture = fixture::load(&format!("locals {{\n  a = {call}\n  b = 1\n}}\n{required}"));
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
    fn signature_help_highlights_the_parameter_at_the_cursor() {
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
    fn signature_help_covers_provider_functions() {
        check(
            "provider::test::joined($0\"a\")",
            expect!["provider::test::joined(«first: string», rest: number...): list(string)"],
        );
        check(
            "provider::test::joined(\"a\", 1, $0)",
            expect!["provider::test::joined(first: string, «rest: number...»): list(string)"],
        );
        check("provider::other::joined($0)", expect!["nothing"]);
    }

    #[test]
    fn signature_help_covers_the_type_of_convert() {
        check("convert([], $0)", expect!["convert(value: any, «type: type»)"]);
    }

    #[test]
    fn signature_help_covers_variadic_parameters() {
        check("max(1, 2, 3, $0)", expect!["max(«numbers: number...»): number"]);
        check("concat($0)", expect!["concat(«seqs: any...»)"]);
    }

    #[test]
    fn signature_help_covers_nested_calls() {
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
    fn signature_help_covers_unfinished_calls() {
        check(
            "substr(\"a\", $0",
            expect!["substr(str: string, «offset: number», length: number): string"],
        );
        check("substr(\"${upper($0)}\")", expect!["upper(«str: string»): string"]);
        check("nothing($0)", expect!["nothing"]);
        check("timestamp($0)", expect!["timestamp(): string"]);
    }
}
