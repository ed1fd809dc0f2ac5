//! `encryption {}` of a `terraform` block: how state and plan files are written (`reference`: surface 4.4).

use rustc_hash::FxHashSet;
use syntax::{AstNode, flat::ast};
use values::Str;

use super::{
    ItemCtx,
    body::{self, BodyReader},
    problem::Problem,
};
use crate::{item::Body, suggest};

const KEY_PROVIDERS: &[&str] =
    &["pbkdf2", "aws_kms", "gcp_kms", "azure_vault", "openbao", "external"];
const METHODS: &[&str] = &["aes_gcm", "unencrypted", "external"];

/// The names that targets may use: `type.name` of the methods.
type Declared = FxHashSet<(Str, Str)>;

/// Checks the block.
pub(super) fn encryption(ctx: &mut ItemCtx<'_>, block: &ast::Block<'_>) {
    body::refuse_labels(ctx, block);
    let mut reader = BodyReader::new(block);
    declared(ctx, &mut reader, "key_provider", KEY_PROVIDERS);
    let methods = declared(ctx, &mut reader, "method", METHODS);
    for kind in ["state", "plan"] {
        if let Some(target) = reader.single_block(ctx, kind, "encryption block") {
            body::refuse_labels(ctx, &target);
            self::target(ctx, &target, &methods, true);
        }
    }
    let sources = reader.single_block(ctx, "remote_state_data_sources", "encryption block");
    if let Some(sources) = sources {
        let mut reader = BodyReader::new(&sources);
        let default = reader.single_block(ctx, "default", "remote_state_data_sources block");
        default.iter().for_each(|it| target(ctx, it, &methods, false));
        for source in reader.blocks("remote_state_data_source") {
            body::expect_labels(ctx, &source, ["name"]);
            target(ctx, &source, &methods, false);
        }
        reader.finish(ctx);
    }
    reader.finish(ctx);
}

/// The blocks of one kind, with their types and names.
fn declared(
    ctx: &mut ItemCtx<'_>,
    reader: &mut BodyReader<'_>,
    kind: &'static str,
    types: &[&str],
) -> Declared {
    let mut declared = Declared::default();
    for block in reader.blocks(kind) {
        let Some([ty, name]) = body::expect_labels(ctx, &block, ["type", "name"]) else { continue };
        let (type_name, block_name) = (ty.text(), name.text());
        if !types.contains(&&*type_name) {
            let hint = suggest::question(suggest::closest(&type_name, types.iter().copied()));
            ctx.problem(Problem::error(
                "unknown-encryption",
                ty.syntax().text_range(),
                format!("Unknown {kind} type"),
                format!(
                    "There is no {kind} \"{type_name}\". There are {}.{hint}",
                    types.join(", ")
                ),
            ));
        }
        if !declared.insert((Str::from(&*type_name), Str::from(&*block_name))) {
            ctx.problem(Problem::error(
                "duplicate-declaration",
                body::header_range(&block),
                format!("Duplicate {kind} \"{block_name}\""),
                format!("A {kind} \"{type_name}\" with the name \"{block_name}\" was already declared. Names must be unique per type."),
            ));
        }
        let _: Body = body::schema_body(ctx, &block);
    }
    declared
}

/// What is encrypted: `method`, `fallback {}` and, of what this program writes, `enforced`.
fn target(ctx: &mut ItemCtx<'_>, block: &ast::Block<'_>, methods: &Declared, is_written: bool) {
    let mut reader = BodyReader::new(block);
    if is_written {
        body::literal_bool(ctx, reader.attr("enforced"));
    }
    if let Some(value) = reader.required(ctx, "method").and_then(|attr| attr.value()) {
        method(ctx, &value, methods);
    }
    if let Some(fallback) = reader.single_block(ctx, "fallback", "encryption target") {
        target(ctx, &fallback, methods, false);
    }
    reader.finish(ctx);
}

/// `method.TYPE.NAME` of a declared method.
fn method(ctx: &mut ItemCtx<'_>, value: &ast::Expr<'_>, methods: &Declared) {
    let range = value.syntax().text_range();
    let traversal = value.as_static_traversal().filter(|it| it.root.text() == "method");
    let named = traversal.and_then(|it| match it.steps.as_slice() {
        [ast::Step::AttrStep(ty), ast::Step::AttrStep(name)] => Some((ty.name()?, name.name()?)),
        _ => None,
    });
    let Some((ty, name)) = named else {
        ctx.problem(Problem::error(
            "invalid-encryption-method",
            range,
            "Invalid encryption method",
            "The method is a reference to a method block of the same encryption block: method.TYPE.NAME, as in method.aes_gcm.main.",
        ));
        return;
    };
    if methods.contains(&(Str::from(&*ty), Str::from(&*name))) {
        return;
    }
    let of_type = methods.iter().filter(|it| *it.0 == *ty).map(|(_, name)| &**name);
    let hint = suggest::question(suggest::closest(&name, of_type));
    ctx.problem(Problem::error(
        "undeclared-reference",
        range,
        "Reference to undeclared encryption method",
        format!("There is no method \"{ty}\" \"{name}\" in this encryption block.{hint}"),
    ));
}
