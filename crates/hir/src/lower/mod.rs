//! Lowers the syntax tree of a top-level block to items without source ranges.
//!
//! Start reading at [`lower_text`] and [`lower_chunk`]. The declarations of a block never depend on other blocks,
//! so lowering is a pure function of the block's text. It returns items, source maps and problems. A file in the
//! JSON syntax counts as one block.
//!
//! ```text
//! lower_text ─► block: the kinds of blocks ─► resource, module_call, …  ─► body ─► expr, types, reference
//!     │           ▲                                                    all add to an ItemCtx
//!     └──► json ──┘ ◄── overriding: a block with its overrides
//! ```

pub(crate) mod block;
pub(crate) mod body;
pub(crate) mod check;
pub(crate) mod encryption;
pub(crate) mod expr;
pub(crate) mod header;
pub(crate) mod item_ctx;
pub(crate) mod json;
pub(crate) mod literal;
pub(crate) mod lowered;
pub(crate) mod module_call;
pub(crate) mod named;
pub(crate) mod override_rules;
pub(crate) mod overriding;
pub(crate) mod problem;
pub(crate) mod provider_block;
pub(crate) mod refactoring;
pub(crate) mod reference;
pub(crate) mod resource;
pub(crate) mod source_map;
pub(crate) mod spare;
pub(crate) mod standalone;
pub(crate) mod terraform;
pub(crate) mod test_double;
pub(crate) mod test_file;
pub(crate) mod types;

use syntax::{
    AstNode, Parse, TextRange,
    ast::{HasItems as _, SourceFile},
    flat::FlatParse,
};

use crate::lower::{
    block::lower_items,
    lowered::{FileKind, Lowered},
    problem::Problem,
};

pub use standalone::{StandaloneExpression, StandaloneTemplate, lower_expression, lower_template};

pub use named::is_reserved_variable;

pub use problem::SYNTAX_ERROR;

pub use reference::{reference_root, reference_root_in_test};

/// Lowers the text of one block. `path` is the path of its file, which determines the syntax.
pub fn lower_text(text: &str, path: &str) -> Lowered {
    let file = FileKind::of(path);
    match file.is_json {
        true => json::lower(text, file),
        false => lower_parsed(text, file),
    }
}

/// Lowers one top-level chunk of a file in the native syntax.
pub fn lower_chunk(text: &str) -> Lowered {
    lower_parsed(text, FileKind::default())
}

fn lower_parsed(text: &str, file: FileKind) -> Lowered {
    let parse = FlatParse::chunk(text);
    let problems = parse.errors().iter().map(Problem::syntax).collect();
    let mut lowered = Lowered { problems, ..Lowered::of(file) };
    lower_items(&mut lowered, &parse);
    lowered
}

/// The header of the block around a range, which diagnostics show after "in": `resource "a" "b"`.
pub(crate) fn context_at(text: &str, path: &str, place: TextRange) -> Option<String> {
    match db::is_json(path) {
        true => {
            let mut headers = json::headers(text, path).into_iter();
            headers.find(|(it, _)| it.contains_range(place)).map(|(_, header)| header)
        }
        false => header_at(&syntax::parse_chunk(text), place),
    }
}

/// The header of the block around a range of a syntax tree.
pub(crate) fn header_at(parse: &Parse<SourceFile>, place: TextRange) -> Option<String> {
    let around = |block: &syntax::ast::Block| block.syntax().text_range().contains_range(place);
    parse.tree().blocks().find(around).map(|block| header::header_text(&block))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{StandaloneExpression, block::TOP_LEVEL, lower_chunk, lower_expression, types};
    use crate::expr::{Expr, Ref};

    // The words that editors highlight. `cargo xtask codegen` generates grammars from these lists.
    const BLOCK_TYPES: &str = include_str!("../../../../grammar/words/block_types.txt");
    const REFERENCES: &str = include_str!("../../../../grammar/words/references.txt");
    const PRIMITIVE_TYPES: &str = include_str!("../../../../grammar/words/primitive_types.txt");
    const TYPE_CONSTRUCTORS: &str = include_str!("../../../../grammar/words/type_constructors.txt");

    #[test]
    fn traversal_with_too_many_steps_is_refused() {
        let lowered = |steps: usize| {
            let text = format!("locals {{\n  a = local.b{}\n}}\n", ".c".repeat(steps));
            lower_chunk(&text)
        };
        assert!(lowered(500).problems.is_empty());
        let problems = lowered(100_000).problems;
        assert!(problems.iter().all(|it| it.id() == "expression-too-deep"));
        assert!(!problems.is_empty());
    }

    /// The `addr` crate parses addresses on the command line, the `syntax` crate names in a configuration. They
    /// may use tables of different Unicode versions, of which the later has more letters.
    #[test]
    fn parser_and_addresses_accept_the_same_names() {
        let is_name = |text: &str| {
            let parse = syntax::parse_expression(text);
            let name = parse.tree().expr().and_then(|expr| expr.name_token());
            parse.errors().is_empty() && name.is_some_and(|name| name.text() == text)
        };
        // Characters that `addr` and the standard library classify differently.
        let is_doubtful = |c: &char| {
            addr::is_identifier(&c.to_string()) != c.is_alphabetic()
                || addr::is_identifier(&format!("a{c}")) != c.is_alphanumeric()
        };
        let few = ('\u{0}'..='\u{3100}').chain('\u{fb00}'..='\u{ffff}');
        let many = ('\u{3101}'..='\u{10ffff}').filter(is_doubtful);
        for c in few.chain(many).filter(|c| !c.is_whitespace()) {
            for text in [c.to_string(), format!("a{c}")] {
                let (in_address, to_parser) = (addr::is_identifier(&text), is_name(&text));
                let agree = in_address == to_parser || in_address && c > '\u{530}';
                assert!(agree, "{text:?} {:x}", c as u32);
            }
        }
    }

    fn problems(text: &str) -> String {
        lower_chunk(text).problems.iter().fold(String::new(), |mut acc, it| {
            let _ = writeln!(acc, "{}: {}", it.id(), it.detail);
            acc
        })
    }

    #[test]
    fn grammar_lists_all_block_types() {
        let listed: Vec<&str> = BLOCK_TYPES.lines().collect();
        let missing: Vec<_> = TOP_LEVEL.iter().filter(|it| !listed.contains(it)).collect();
        assert!(missing.is_empty(), "not in grammar/words/block_types.txt: {missing:?}");
        for word in listed {
            let problems = problems(&format!("{word} {{\n}}\n"));
            assert!(!problems.contains("unsupported-block:"), "{word}: {problems}");
        }
    }

    #[test]
    fn grammar_lists_no_resource_type_as_reference_root() {
        let is_resource_type = |root: &str| {
            let StandaloneExpression { exprs, .. } = lower_expression(&format!("{root}.a.b"));
            exprs.iter().any(
                |(_, expr)| matches!(expr, Expr::Ref(Ref::Resource(it)) if *it.type_name == *root),
            )
        };
        assert!(is_resource_type("terraform_data"));
        for word in REFERENCES.lines() {
            assert!(!is_resource_type(word), "{word}");
        }
    }

    #[test]
    fn grammar_lists_all_type_keywords() {
        let mut listed: Vec<&str> =
            PRIMITIVE_TYPES.lines().chain(TYPE_CONSTRUCTORS.lines()).collect();
        let mut known: Vec<&str> = types::WORDS.into_iter().chain(["optional"]).collect();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
