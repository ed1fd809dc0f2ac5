//! Lowers `module` blocks.

use db::Summary;
use rustc_hash::FxHashSet;
use syntax::{AstNode, flat::ast};
use values::Str;

use crate::{
    item::{ItemKind, ModuleCall, PassedProvider},
    lower::{
        body::{self, BodyReader},
        header::header_range,
        item_ctx::{ItemCtx, Top},
        literal,
        problem::Problem,
        reference, resource,
    },
};

pub(super) fn module_call(ctx: &mut ItemCtx<'_>, top: &Top<'_, '_>) -> Option<ItemKind> {
    let block = top.block;
    let [label] = body::expect_labels(ctx, block, ["name"])?;
    let name = body::name(ctx, &label, "module instance");
    let mut reader = BodyReader::of_item(ctx, top);
    let source_attr = reader.required(ctx, "source");
    let source_range =
        source_attr.as_ref().map_or(header_range(block), |attr| attr.syntax().text_range());
    let source_node = ctx.node(source_range);
    let source_value = source_attr.and_then(|attr| attr.value());
    let source = source_value.as_ref().and_then(literal::literal_string).map(Str::from);
    let source_expr = match (&source, source_value) {
        (None, Some(value)) => Some(ctx.expr(&value)),
        _ => None,
    };
    let version = reader.attr("version").map(|attr| body::value(ctx, &attr));
    let mut repetition = resource::repetition(ctx, &mut reader, "module");
    let providers = reader.attr("providers").and_then(|attr| providers(ctx, attr.value()?));
    let depends_on = body::depends_on(ctx, reader.attr("depends_on"));
    if let Some(mut lifecycle) = reader.lifecycle(ctx, "module") {
        resource::enabled(ctx, &mut lifecycle, "module", &mut repetition);
        lifecycle.finish(ctx);
    }
    for name in ["provider", "locals"] {
        resource::reserved_blocks(ctx, &mut reader, name, "module");
    }
    let inputs = reader.rest_attrs(ctx);
    Some(ItemKind::ModuleCall(Box::new(ModuleCall {
        name: Str::from(name),
        source,
        source_node,
        source_expr,
        version,
        repetition,
        providers,
        depends_on,
        inputs,
    })))
}

/// Lowers `providers = { child = parent.alias, child.alias = parent }`.
pub(super) fn providers(ctx: &mut ItemCtx<'_>, value: ast::Expr) -> Option<Box<[PassedProvider]>> {
    let ast::Expr::Object(object) = &value else {
        ctx.problem(Problem::new(
            Summary::INVALID_PROVIDERS_MAP,
            value.syntax().text_range(),
            "A static map expression is required: { name_in_the_module = name_here }.",
        ));
        return None;
    };
    let mut passed: Vec<PassedProvider> = Vec::new();
    let mut seen = FxHashSet::default();
    for item in object.items() {
        let Some(provider) = passed_provider(ctx, &item) else { continue };
        if seen.insert((provider.child_name.clone(), provider.child_alias.clone())) {
            passed.push(provider);
            continue;
        }
        let range = item.key().map_or(value.syntax().text_range(), |it| it.syntax().text_range());
        ctx.problem(Problem::new(
            Summary::DUPLICATE_PROVIDER_ADDRESS,
            range,
            "A provider configuration of this name was already passed. Each provider configuration \
             can be passed only once.",
        ));
    }
    Some(passed.into())
}

fn passed_provider(ctx: &mut ItemCtx<'_>, item: &ast::ObjectItem) -> Option<PassedProvider> {
    let key = item.key()?;
    let parent = resource::provider_ref(ctx, item.value()?)?;
    let (child_name, child_alias) = match key.name_token() {
        Some(name) => (Str::from(name.text()), None),
        None => child_config(ctx, &key.expr()?)?,
    };
    Some(PassedProvider { child_name, child_alias, parent })
}

fn child_config(ctx: &mut ItemCtx<'_>, key: &ast::Expr) -> Option<(Str, Option<Str>)> {
    let config = reference::unquoted(ctx, key, |_, key| {
        let traversal = key.as_static_traversal()?;
        let name = Str::from(traversal.root.text());
        match traversal.steps.as_slice() {
            [] => Some((name, None)),
            [ast::Step::AttrStep(alias)] => Some((name, Some(Str::from(alias.name()?)))),
            _ => None,
        }
    });
    if config.is_none() {
        ctx.problem(Problem::new(
            Summary::INVALID_PROVIDER_REFERENCE,
            key.syntax().text_range(),
            "A key of \"providers\" is the name of a provider in the called module, optionally \
             followed by a period and an alias.",
        ));
    }
    config
}
