//! `variable`, `output` and `locals` blocks.

use std::sync::Arc;

use syntax::{
    AstNode,
    ast::{self, BodyItem},
};
use values::Str;

use super::{
    ItemCtx, Lowered,
    body::{self, BodyReader},
    problem::Problem,
    types,
};
use crate::{
    expr::NodeId,
    item::{ItemKind, Local, Output, RefPlace, Variable},
};

/// Names that a variable cannot have, because a module call gives them another meaning.
const RESERVED: &[&str] =
    &["source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"];

/// Whether a variable cannot have a name because a module call gives it another meaning.
pub fn is_reserved_variable(name: &str) -> bool {
    RESERVED.contains(&name)
}

pub(super) fn variable(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ItemKind> {
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    body::check_name(ctx, &label, "variable name");
    let name = Str::from(&*label.text());
    if is_reserved_variable(&name) {
        ctx.problem(Problem::error(
            "invalid-name",
            label.syntax().text_range(),
            "Invalid variable name",
            format!("The variable name \"{name}\" is reserved due to its special meaning inside module blocks."),
        ));
    }
    let mut reader = BodyReader::new(block);
    let ty = types::constraint(ctx, reader.attr("type"));
    let default = reader.attr("default").map(|attr| body::value(ctx, &attr));
    let description = body::literal_text(ctx, reader.attr("description"));
    let sensitive = body::literal_bool(ctx, reader.attr("sensitive")).unwrap_or(false);
    let (ephemeral, ephemeral_node) = ephemeral(ctx, reader.attr("ephemeral"));
    let nullable = body::literal_bool(ctx, reader.attr("nullable")).unwrap_or(true);
    let deprecated = body::literal_text(ctx, reader.attr("deprecated"));
    refuse_const(ctx, reader.attr("const"));
    let validations = reader
        .blocks("validation")
        .iter()
        .filter_map(|block| body::condition(ctx, block))
        .collect();
    reader.finish(ctx);
    Some(ItemKind::Variable(Box::new(Variable {
        name,
        ty,
        default,
        description,
        sensitive,
        ephemeral,
        ephemeral_node,
        nullable,
        deprecated,
        validations,
    })))
}

/// `const = true` changes when a variable has its value.
fn refuse_const(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) {
    let range = attr.as_ref().map(|attr| attr.syntax().text_range());
    if let (Some(range), Some(true)) = (range, body::literal_bool(ctx, attr)) {
        ctx.problem(Problem::unsupported(range, "\"const\" of a variable"));
    }
}

/// `ephemeral = true`, and where that stands.
fn ephemeral(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> (bool, Option<NodeId>) {
    let range = attr.as_ref().map(|attr| attr.syntax().text_range());
    let ephemeral = body::literal_bool(ctx, attr).unwrap_or(false);
    let node = range.filter(|_| ephemeral).map(|range| ctx.node(range));
    (ephemeral, node)
}

pub(super) fn output(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ItemKind> {
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    body::check_name(ctx, &label, "output name");
    let mut reader = BodyReader::new(block);
    let value = reader.required(ctx, "value").map(|attr| body::value(ctx, &attr));
    let description = body::literal_text(ctx, reader.attr("description"));
    let sensitive = body::literal_bool(ctx, reader.attr("sensitive")).unwrap_or(false);
    let (ephemeral, ephemeral_node) = ephemeral(ctx, reader.attr("ephemeral"));
    let deprecated = body::literal_text(ctx, reader.attr("deprecated"));
    let depends_on = body::depends_on(ctx, reader.attr("depends_on"));
    let preconditions = reader
        .blocks("precondition")
        .iter()
        .filter_map(|block| body::condition(ctx, block))
        .collect();
    reader.finish(ctx);
    Some(ItemKind::Output(Box::new(Output {
        name: Str::from(&*label.text()),
        value,
        description,
        sensitive,
        ephemeral,
        ephemeral_node,
        deprecated,
        depends_on,
        preconditions,
    })))
}

/// Each name of a `locals` block is an item of its own, so that editing one leaves the others.
pub(super) fn locals(lowered: &mut Lowered, block: &ast::Block) {
    let mut seen: Vec<String> = Vec::new();
    for item in block.body().into_iter().flat_map(|body| body.items()) {
        let mut ctx = ItemCtx::new(&mut lowered.problems);
        ctx.context = "locals".to_owned();
        match item {
            BodyItem::Attribute(attr) => {
                let Some(name) = attr.name_token() else { continue };
                if seen.iter().any(|it| it == name.text()) {
                    continue;
                }
                seen.push(name.text().to_owned());
                let header = ctx.node(name.text_range());
                let value = ctx.in_place(RefPlace::Config, |ctx| body::value(ctx, &attr));
                let kind = ItemKind::Local(Local { name: name.text().into(), value });
                let (item, source_map) = ctx.finish(kind, header);
                lowered.items.push(Arc::new(item));
                lowered.source_maps.push(source_map);
            }
            BodyItem::Block(nested) => ctx.problem(Problem::error(
                "unsupported-block",
                body::header_range(&nested),
                "Unsupported block type",
                "Blocks are not allowed here: a locals block holds only \"name = value\" lines.",
            )),
        }
    }
    if let Some(label) = block.labels().next() {
        lowered.problems.push(Problem::error(
            "extraneous-label",
            label.syntax().text_range(),
            "Extraneous label for locals",
            "No labels are expected for locals blocks.",
        ));
    }
}
