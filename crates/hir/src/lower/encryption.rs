//! Lowers the `encryption` block of a `terraform` block, which configures the encryption of state and plan files.

use db::Summary;
use rustc_hash::FxHashSet;
use syntax::{AstNode, flat::ast};
use values::Str;

use crate::{
    encryption::{KEY_PROVIDERS, METHODS},
    item::{Block, Encryption},
    lower::{
        body::{self, BodyReader},
        header::header_range,
        item_ctx::ItemCtx,
        problem::Problem,
    },
    suggest,
};

/// The labels of a key provider or a method.
#[derive(PartialEq, Eq, Hash)]
struct BlockLabels {
    ty: Str,
    name: Str,
}

/// The declared blocks of one kind.
type Declared = FxHashSet<BlockLabels>;

/// Lowers the block. Checks the types of its key providers and methods, and the references of its targets.
pub(super) fn encryption(ctx: &mut ItemCtx<'_>, block: &ast::Block<'_>) -> Encryption {
    let before = ctx.problems.len();
    body::refuse_labels(ctx, block);
    let node = ctx.node(header_range(block));
    let mut reader = BodyReader::new(block);
    let (key_providers, _) = declared(ctx, &mut reader, "key_provider", KEY_PROVIDERS);
    let (method_blocks, methods) = declared(ctx, &mut reader, "method", METHODS);
    for kind in ["state", "plan"] {
        if let Some(target) = reader.single_block(ctx, kind, "encryption block") {
            body::refuse_labels(ctx, &target);
            self::target(ctx, &target, &methods, true);
        }
    }
    let sources = reader.single_block(ctx, "remote_state_data_sources", "encryption block");
    if let Some(sources) = sources {
        let mut reader = BodyReader::new(&sources);
        body::refuse_labels(ctx, &sources);
        let default = reader.single_block(ctx, "default", "remote_state_data_sources block");
        default.iter().for_each(|it| body::refuse_labels(ctx, it));
        default.iter().for_each(|it| target(ctx, it, &methods, false));
        data_sources(ctx, &mut reader, &methods);
        reader.finish(ctx);
    }
    reader.finish(ctx);
    let is_sound = ctx.problems.len() == before;
    Encryption { key_providers, methods: method_blocks, is_sound, node }
}

fn data_sources(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader<'_>, methods: &Declared) {
    let mut seen = FxHashSet::default();
    for source in reader.blocks("remote_state_data_source") {
        if let Some([name]) = body::expect_labels(ctx, &source, ["name"])
            && !seen.insert(name.text())
        {
            let name = name.text();
            ctx.problem(Problem::new(
                Summary::duplicate_encryption_block("remote_data_source"),
                header_range(&source),
                format!("Found multiple instances of remote_state_data_source \"{name}\". Names must be unique."),
            ));
        }
        target(ctx, &source, methods, false);
    }
}

/// Takes the blocks of one kind. Returns the valid ones, and their types and names. The first of two blocks with
/// the same name wins.
fn declared(
    ctx: &mut ItemCtx<'_>,
    reader: &mut BodyReader<'_>,
    kind: &'static str,
    types: &[&str],
) -> (Box<[Block]>, Declared) {
    let (mut kept, mut declared) = (Vec::new(), Declared::default());
    for block in reader.blocks(kind) {
        let Some([ty, name]) = body::expect_labels(ctx, &block, ["type", "name"]) else { continue };
        let (type_name, block_name) = (ty.text(), name.text());
        if !types.contains(&&*type_name) {
            let hint = suggest::question(suggest::closest(&type_name, types.iter().copied()));
            ctx.problem(Problem::new(
                Summary::unknown_encryption(kind),
                ty.syntax().text_range(),
                format!(
                    "There is no {kind} \"{type_name}\". There are {}.{hint}",
                    types.join(", ")
                ),
            ));
        }
        if !declared.insert(BlockLabels { ty: (&*type_name).into(), name: (&*block_name).into() }) {
            ctx.problem(Problem::new(
                Summary::duplicate_encryption_block(kind),
                header_range(&block),
                format!("Found multiple instances of {kind}.{type_name}.{block_name}. Names must be unique per type."),
            ));
            continue;
        }
        kept.extend(body::schema_block(ctx, &block));
    }
    (kept.into(), declared)
}

/// Checks an encryption target: `method`, `fallback {}` and, if Mayfly writes the target (`is_written`),
/// `enforced`.
fn target(ctx: &mut ItemCtx<'_>, block: &ast::Block<'_>, methods: &Declared, is_written: bool) {
    let mut reader = BodyReader::new(block);
    if is_written {
        body::literal_bool(ctx, reader.attr("enforced"));
    }
    if let Some(value) = reader.required(ctx, "method").and_then(|attr| attr.value()) {
        method(ctx, &value, methods);
    }
    if let Some(fallback) = reader.single_block(ctx, "fallback", "encryption target") {
        body::refuse_labels(ctx, &fallback);
        target(ctx, &fallback, methods, false);
    }
    reader.finish(ctx);
}

/// Checks a reference to a method, `method.TYPE.NAME`.
fn method(ctx: &mut ItemCtx<'_>, value: &ast::Expr<'_>, methods: &Declared) {
    let range = value.syntax().text_range();
    let traversal = value.as_static_traversal().filter(|it| it.root.text() == "method");
    let named = traversal.and_then(|it| match it.steps.as_slice() {
        [ast::Step::AttrStep(ty), ast::Step::AttrStep(name)] => Some((ty.name()?, name.name()?)),
        _ => None,
    });
    let Some((ty, name)) = named else {
        ctx.problem(Problem::new(
            Summary::INVALID_ENCRYPTION_METHOD,
            range,
            "The method is a reference to a method block of the same encryption block: \
             method.TYPE.NAME, as in method.aes_gcm.main.",
        ));
        return;
    };
    if methods.contains(&BlockLabels { ty: (&*ty).into(), name: (&*name).into() }) {
        return;
    }
    let of_type = methods.iter().filter(|it| *it.ty == *ty).map(|it| &*it.name);
    let close = suggest::closest(&name, of_type).map(|name| format!("method.{ty}.{name}"));
    let of_name =
        methods.iter().find(|it| *it.name == *name).map(|it| format!("method.{}.{name}", it.ty));
    let hint = suggest::question(close.or(of_name).as_deref());
    ctx.problem(Problem::new(
        Summary::UNDEFINED_ENCRYPTION_METHOD,
        range,
        format!("There is no method \"{ty}\" \"{name}\" in this encryption block.{hint}"),
    ));
}
