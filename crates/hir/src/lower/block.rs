//! Lowers top-level blocks by their type.

use db::Summary;
use syntax::{
    AstNode,
    flat::{
        FlatParse,
        ast::{self, HasItems as _},
    },
};

use crate::{
    fix::Fix,
    lower::{
        check,
        header::header_range,
        item_ctx::{Top, lower_one},
        lowered::Lowered,
        module_call, named, override_rules,
        problem::Problem,
        provider_block, refactoring, resource, terraform, test_file,
    },
    suggest,
};

/// The top-level block types, for suggestions.
pub(super) const TOP_LEVEL: &[&str] = &[
    "resource",
    "data",
    "ephemeral",
    "module",
    "provider",
    "variable",
    "output",
    "locals",
    "terraform",
    "check",
    "moved",
    "import",
    "removed",
];

/// Lowers the blocks of a file and reports the arguments outside of them.
pub(super) fn lower_items(lowered: &mut Lowered, parse: &FlatParse<'_>) {
    for item in parse.file().into_iter().flat_map(|file| file.body_items()) {
        match item {
            ast::BodyItem::Block(block) => {
                if lowered.file.is_test {
                    test_file::lower_top(lowered, &Top::alone(&block));
                    continue;
                }
                let is_override = lowered.file.is_override;
                lower_top(lowered, &Top { is_override, ..Top::alone(&block) });
            }
            ast::BodyItem::Attribute(attribute) => {
                let name = attribute.name().unwrap_or_default();
                lowered.problems.push(Problem::new(
                    Summary::UNSUPPORTED_ARGUMENT,
                    attribute
                        .name_token()
                        .map_or(attribute.syntax().text_range(), |name| name.text_range()),
                    format!("An argument named \"{name}\" is not expected here."),
                ));
            }
        }
    }
}

/// Lowers a top-level block according to its type.
pub(super) fn lower_top(lowered: &mut Lowered, top: &Top<'_, '_>) {
    let block = top.block;
    let Some(kind) = block.type_token() else { return };
    match kind.text() {
        kind @ ("check" | "moved" | "import" | "removed" | "language") if top.is_override => {
            lowered.problems.push(override_rules::refused_block(block, kind));
        }
        "variable" => lower_one(lowered, top, named::variable),
        "output" => lower_one(lowered, top, named::output),
        "locals" => named::locals(lowered, block),
        "resource" => lower_one(lowered, top, |ctx, top| {
            resource::resource(ctx, top, addr::ResourceMode::Managed)
        }),
        "data" => lower_one(lowered, top, |ctx, top| {
            resource::resource(ctx, top, addr::ResourceMode::Data)
        }),
        "ephemeral" => lower_one(lowered, top, |ctx, top| {
            resource::resource(ctx, top, addr::ResourceMode::Ephemeral)
        }),
        "module" => lower_one(lowered, top, module_call::module_call),
        "provider" => lower_one(lowered, top, provider_block::provider),
        "terraform" => lower_one(lowered, top, |ctx, top| terraform::terraform(ctx, top.block)),
        "check" => {
            lower_one(lowered, top, |ctx, top| check::check(ctx, top.block));
            check::scoped_data(lowered, block);
        }
        "moved" => lower_one(lowered, top, |ctx, top| refactoring::moved(ctx, top.block)),
        "removed" => lower_one(lowered, top, |ctx, top| refactoring::removed(ctx, top.block)),
        "import" => lower_one(lowered, top, |ctx, top| refactoring::import(ctx, top.block)),
        "language" => lower_one(lowered, top, |ctx, top| terraform::language(ctx, top.block)),
        "required_providers" => lowered.problems.push(Problem::new(
            Summary::MISPLACED_REQUIRED_PROVIDERS,
            header_range(block),
            "A \"required_providers\" block stands in a \"terraform\" block: write terraform { \
             required_providers { … } }.",
        )),
        other => {
            let mut detail = format!("Blocks of type \"{other}\" are not expected here.");
            let close = suggest::closest(other, TOP_LEVEL.iter().copied());
            if let Some(close) = close {
                detail.push_str(&format!(" Did you mean \"{close}\"?"));
            }
            let problem = Problem::new(Summary::UNSUPPORTED_BLOCK, kind.text_range(), detail);
            lowered.problems.push(problem.fixed_by(Fix::first(other, close)));
        }
    }
}
