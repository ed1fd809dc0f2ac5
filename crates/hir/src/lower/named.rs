//! Lowers `variable`, `output` and `locals` blocks.

use std::sync::Arc;

use db::Summary;
use rustc_hash::FxHashSet;
use syntax::{
    AstNode,
    flat::ast::{self, HasItems as _},
};
use values::Str;

use crate::{
    expr::{Expr, NodeId, Ref},
    item::{Condition, ItemKind, Local, Output, RefPlace, Variable},
    lower::{
        body::{self, BodyReader},
        header::header_range,
        item_ctx::{ItemCtx, Top},
        literal,
        lowered::Lowered,
        problem::Problem,
        types,
    },
};

/// Names that a variable cannot have, because they are meta-arguments of module calls.
const RESERVED: &[&str] =
    &["source", "version", "providers", "count", "for_each", "lifecycle", "depends_on", "locals"];

/// Returns true if a variable cannot have this name, because it is a meta-argument of module calls.
pub fn is_reserved_variable(name: &str) -> bool {
    RESERVED.contains(&name)
}

pub(super) fn variable(ctx: &mut ItemCtx<'_>, top: &Top<'_, '_>) -> Option<ItemKind> {
    let block = top.block;
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    let name = Str::from(body::name(ctx, &label, "variable"));
    if is_reserved_variable(&name) {
        ctx.problem(Problem::new(
            Summary::invalid_name("variable"),
            label.syntax().text_range(),
            format!("The variable name \"{name}\" is reserved due to its special meaning inside module blocks."),
        ));
    }
    let mut reader = BodyReader::of_item(ctx, top);
    let ty = types::constraint(ctx, reader.attr("type"));
    let default =
        ctx.without_names(|ctx| reader.attr("default").map(|attr| body::value(ctx, &attr)));
    let description = body::literal_text(ctx, reader.attr("description"));
    let Marks { sensitive, ephemeral, may_be_secret, ephemeral_node } = marks(ctx, &mut reader);
    let nullable = body::literal_bool(ctx, reader.attr("nullable")).unwrap_or(true);
    let deprecated = body::literal_text(ctx, reader.attr("deprecated"));
    let is_const = body::literal_bool(ctx, reader.attr("const")).unwrap_or(false);
    let validations = reader
        .blocks("validation")
        .iter()
        .filter_map(|block| validation(ctx, block, &name))
        .collect();
    reader.finish(ctx);
    Some(ItemKind::Variable(Box::new(Variable {
        name,
        ty,
        default,
        description,
        sensitive,
        ephemeral,
        may_be_secret,
        ephemeral_node,
        nullable,
        is_const,
        deprecated,
        validations,
    })))
}

/// Lowers a validation. Its condition must refer to its own variable.
fn validation(ctx: &mut ItemCtx<'_>, block: &ast::Block, variable: &Str) -> Option<Condition> {
    let validation = body::condition(ctx, block)?;
    let is_reference = |it: &Expr| matches!(it, Expr::Ref(_));
    let is_itself = |it: &Expr| {
        matches!(it, Expr::Missing)
            || matches!(it, Expr::Ref(Ref::Variable(name)) if name == variable)
    };
    // A condition without any reference is already reported.
    if ctx.any_inside(validation.condition, is_reference)
        && !ctx.any_inside(validation.condition, is_itself)
    {
        ctx.problem(Problem::new(
            Summary::FOREIGN_VALIDATION,
            ctx.range_of(validation.condition),
            format!(
                "The condition for variable \"{variable}\" must refer to var.{variable} in \
                     order to test incoming values."
            ),
        ));
    }
    Some(validation)
}

/// The values of `sensitive` and `ephemeral`.
struct Marks {
    sensitive: bool,
    ephemeral: bool,
    may_be_secret: bool,
    ephemeral_node: Option<NodeId>,
}

fn marks(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader) -> Marks {
    let (sensitive, ephemeral) = (reader.attr("sensitive"), reader.attr("ephemeral"));
    let may_be_secret = is_undecided(sensitive.as_ref()) || is_undecided(ephemeral.as_ref());
    let range = ephemeral.as_ref().map(|attr| attr.syntax().text_range());
    let sensitive = body::literal_bool(ctx, sensitive).unwrap_or(false);
    let ephemeral = body::literal_bool(ctx, ephemeral).unwrap_or(false);
    let ephemeral_node = range.filter(|_| ephemeral).map(|range| ctx.node(range));
    Marks { sensitive, ephemeral, may_be_secret, ephemeral_node }
}

/// Returns true if an argument is present and its value is not a literal bool.
fn is_undecided(attr: Option<&ast::Attribute>) -> bool {
    let is_decided = |value: ast::Expr| literal::literal_bool(&value).is_some();
    attr.is_some_and(|it| !it.value().is_some_and(is_decided))
}

pub(super) fn output(ctx: &mut ItemCtx<'_>, top: &Top<'_, '_>) -> Option<ItemKind> {
    let block = top.block;
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    let name = body::name(ctx, &label, "output");
    let mut reader = BodyReader::of_item(ctx, top);
    let value = reader.required(ctx, "value").map(|attr| body::value(ctx, &attr));
    let description = body::literal_text(ctx, reader.attr("description"));
    let Marks { sensitive, ephemeral, may_be_secret, ephemeral_node } = marks(ctx, &mut reader);
    let deprecated = body::literal_text(ctx, reader.attr("deprecated"));
    let depends_on = body::depends_on(ctx, reader.attr("depends_on"));
    let preconditions = reader
        .blocks("precondition")
        .iter()
        .filter_map(|block| body::condition(ctx, block))
        .collect();
    for block in reader.blocks("postcondition") {
        ctx.problem(Problem::new(
            Summary::INVALID_OUTPUT_POSTCONDITION,
            header_range(&block),
            "Output values can only have preconditions, not postconditions. Write a \"precondition\" block.",
        ));
    }
    reader.finish(ctx);
    Some(ItemKind::Output(Box::new(Output {
        name: Str::from(name),
        value,
        description,
        sensitive,
        ephemeral,
        may_be_secret,
        ephemeral_node,
        deprecated,
        depends_on,
        preconditions,
    })))
}

/// The definitions of a `locals` block. If a name has several, only the first; the parser reports the others.
pub(super) fn definitions<'t>(
    block: &ast::Block<'t>,
) -> impl Iterator<Item = ast::Attribute<'t>> + use<'t> {
    // A set, because a generated block may have 100,000 definitions.
    let mut seen: FxHashSet<Str> = FxHashSet::default();
    let attributes = block.body().into_iter().flat_map(|body| body.attributes());
    attributes.filter(move |it| it.name_token().is_some_and(|name| seen.insert(name.text().into())))
}

/// Lowers a `locals` block. Each name is a separate item, so that an edit of one does not invalidate the others.
pub(super) fn locals(lowered: &mut Lowered, block: &ast::Block) {
    for attr in definitions(block) {
        let Some(token) = attr.name_token() else { continue };
        let mut ctx = ItemCtx::of(lowered);
        let name = Str::from(token.text());
        let header = ctx.node(token.text_range());
        let value = ctx.in_place(RefPlace::Config, |ctx| body::value(ctx, &attr));
        let (item, source_map) = ctx.finish(ItemKind::Local(Local { name, value }), header);
        lowered.items.push(Arc::new(item));
        lowered.source_maps.push(source_map);
    }
    for nested in block.body().into_iter().flat_map(|body| body.blocks()) {
        lowered.problems.push(Problem::new(
            Summary::unexpected_block(nested.block_type().unwrap_or_default()),
            header_range(&nested),
            "Blocks are not allowed here: a locals block holds only \"name = value\" lines.",
        ));
    }
    if let Some(label) = block.labels().next() {
        lowered.problems.push(Problem::new(
            Summary::extraneous_label("locals"),
            label.syntax().text_range(),
            "No labels are expected for locals blocks.",
        ));
    }
}
