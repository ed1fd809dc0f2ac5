//! Lowers `resource`, `data` and `ephemeral` blocks.

use addr::ResourceMode;
use db::Summary;
use syntax::{AstNode, TextRange, flat::ast};
use values::{Path, Str, Value};

use crate::{
    expr::ExprId,
    item::{
        Block, IgnoreChanges, IgnorePath, ItemKind, Lifecycle, ProviderRef, Provisioner, RefPlace,
        Repetition, Resource,
    },
    lower::{
        body::{self, BodyReader},
        header::header_range,
        item_ctx::{ItemCtx, Top},
        literal,
        problem::Problem,
        reference,
    },
};

/// The arguments of `lifecycle` that only managed resources have.
const MANAGED_ONLY: &[&str] = &[
    "create_before_destroy",
    "prevent_destroy",
    "ignore_changes",
    "replace_triggered_by",
    "destroy",
];

pub(super) fn resource(
    ctx: &mut ItemCtx<'_>,
    top: &Top<'_, '_>,
    mode: ResourceMode,
) -> Option<ItemKind> {
    let block = top.block;
    let [ty, name] = body::expect_labels(ctx, block, ["type", "name"])?;
    let noun = mode.noun();
    let type_node = ctx.node(ty.syntax().text_range());
    let what = if mode == ResourceMode::Managed { "resource" } else { noun };
    let ty = body::name(ctx, &ty, format_args!("{what} type"));
    let name = body::name(ctx, &name, what);
    let resource = addr::Resource::new(mode, ty, name);
    let mut reader = BodyReader::of_item(ctx, top);
    let mut repetition = repetition(ctx, &mut reader, noun);
    let provider = reader.attr("provider").and_then(|attr| provider_ref(ctx, attr.value()?));
    let depends_on = body::depends_on(ctx, reader.attr("depends_on"));
    let lifecycle = match reader.lifecycle(ctx, noun) {
        Some(reader) => lifecycle(ctx, reader, mode, &mut repetition),
        None => Lifecycle::default(),
    };
    let (connection, provisioners) = match mode {
        ResourceMode::Managed => {
            let provisioners = provisioners(ctx, &mut reader);
            (connection(ctx, &mut reader, &provisioners), provisioners)
        }
        ResourceMode::Ephemeral => {
            refuse_provisioners(ctx, &mut reader);
            (None, Box::default())
        }
        ResourceMode::Data => (None, Box::default()),
    };
    refuse_reserved(ctx, &mut reader);
    let body = reader.rest(ctx);
    Some(ItemKind::Resource(Box::new(Resource {
        resource,
        type_node,
        repetition,
        provider,
        depends_on,
        lifecycle,
        connection,
        provisioners,
        body,
        in_check: None,
    })))
}

/// Lowers `count` or `for_each`. [`enabled`] handles `enabled`, which is in `lifecycle`.
pub(super) fn repetition(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader, noun: &str) -> Repetition {
    let count = reader.attr("count");
    let for_each = reader.attr("for_each");
    if let (Some(_), Some(for_each)) = (&count, &for_each) {
        exclusive(ctx, body::name_range(for_each), "\"count\" and \"for_each\"", noun);
    }
    ctx.in_place(RefPlace::Repetition, |ctx| match (count, for_each) {
        (Some(count), _) => Repetition::Count(body::value(ctx, &count)),
        (None, Some(for_each)) => Repetition::ForEach(body::value(ctx, &for_each)),
        (None, None) => Repetition::Single,
    })
}

fn exclusive(ctx: &mut ItemCtx<'_>, range: TextRange, which: &str, noun: &str) {
    let plural = match noun {
        "module" => "modules",
        "data source" => "data sources",
        "ephemeral resource" => "ephemeral resources",
        _ => "resources",
    };
    ctx.problem(Problem::new(
        Summary::invalid_repetition(which),
        range,
        format!(
            "The \"count\", \"enabled\", and \"for_each\" meta-arguments are mutually-exclusive. \
             Only one may be used to be explicit about the number of {plural} to be created."
        ),
    ));
}

/// Lowers `provider = name.alias[key]`.
pub(super) fn provider_ref(ctx: &mut ItemCtx<'_>, value: ast::Expr) -> Option<ProviderRef> {
    let range = value.syntax().text_range();
    let quoted = literal::literal_string(&value).is_some();
    let node = ctx.node(range);
    let result = reference::unquoted(ctx, &value, |ctx, expr| {
        let traversal = expr.as_static_traversal()?;
        let local_name = Str::from(traversal.root.text());
        let (alias, key) = match traversal.steps.as_slice() {
            [] => (None, None),
            [ast::Step::AttrStep(alias)] => (Some(alias.name()?), None),
            [ast::Step::AttrStep(alias), ast::Step::IndexStep(key)] if !quoted => {
                let key =
                    ctx.in_place(RefPlace::ProviderKey, |ctx| ctx.expr_opt(key.index(), range));
                (Some(alias.name()?), Some(key))
            }
            _ => return None,
        };
        Some(ProviderRef { local_name, alias: alias.map(Str::from), key, node })
    });
    if result.is_none() {
        ctx.problem(Problem::new(
            Summary::INVALID_PROVIDER_REFERENCE,
            range,
            "The \"provider\" argument requires a provider type name, optionally followed by a \
             period and then a configuration alias.",
        ));
    }
    result
}

fn lifecycle(
    ctx: &mut ItemCtx<'_>,
    mut reader: BodyReader,
    mode: ResourceMode,
    repetition: &mut Repetition,
) -> Lifecycle {
    let mut lifecycle = Lifecycle::default();
    if mode == ResourceMode::Managed {
        managed_lifecycle(ctx, &mut reader, &mut lifecycle);
    } else {
        refuse_managed_lifecycle(ctx, &mut reader, mode);
    }
    enabled(ctx, &mut reader, mode.noun(), repetition);
    lifecycle.preconditions = reader
        .blocks("precondition")
        .iter()
        .filter_map(|block| body::condition(ctx, block))
        .collect();
    lifecycle.postconditions = reader
        .blocks("postcondition")
        .iter()
        .filter_map(|block| body::condition(ctx, block))
        .collect();
    reader.finish(ctx);
    lifecycle
}

/// Lowers `enabled` of `lifecycle`, which excludes `count` and `for_each`.
pub(super) fn enabled(
    ctx: &mut ItemCtx<'_>,
    lifecycle: &mut BodyReader,
    noun: &str,
    repetition: &mut Repetition,
) {
    let Some(enabled) = lifecycle.attr("enabled") else { return };
    let other = match repetition {
        Repetition::Count(_) => Some("count"),
        Repetition::ForEach(_) => Some("for_each"),
        Repetition::Single | Repetition::Enabled(_) => None,
    };
    if let Some(other) = other {
        let range = enabled.syntax().text_range();
        let (first, second) = (other.min("enabled"), other.max("enabled"));
        exclusive(ctx, range, &format!("\"{first}\" and \"{second}\""), noun);
    }
    *repetition =
        Repetition::Enabled(ctx.in_place(RefPlace::Repetition, |ctx| body::value(ctx, &enabled)));
}

fn managed_lifecycle(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader, lifecycle: &mut Lifecycle) {
    lifecycle.create_before_destroy =
        body::literal_bool(ctx, reader.attr("create_before_destroy")) == Some(true);
    lifecycle.prevent_destroy = reader.attr("prevent_destroy").map(|attr| body::value(ctx, &attr));
    lifecycle.skip_destroy = reader.attr("destroy").and_then(|it| destroy(ctx, &it)) == Some(false);
    lifecycle.ignore_changes = ignore_changes(ctx, reader.attr("ignore_changes"));
    lifecycle.replace_triggered_by = replace_triggered_by(ctx, reader.attr("replace_triggered_by"));
}

/// The value of `destroy`, which must be a constant. As in OpenTofu, a quoted bool is none, unlike in other arguments.
fn destroy(ctx: &mut ItemCtx<'_>, attr: &ast::Attribute) -> Option<bool> {
    let value = attr.value()?;
    let result = body::constant_bool(ctx, &value);
    if result.is_none() {
        ctx.problem(Problem::new(
            Summary::INVALID_LIFECYCLE_DESTROY,
            value.syntax().text_range(),
            "The lifecycle destroy expression must be a boolean constant: true or false, without quotes and without \
             references.",
        ));
    }
    result
}

fn replace_triggered_by(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> Box<[ExprId]> {
    let Some(value) = attr.and_then(|attr| attr.value()) else { return Box::default() };
    let range = value.syntax().text_range();
    let ast::Expr::Tuple(tuple) = &value else {
        ctx.problem(Problem::new(
            Summary::REPLACE_TRIGGER_NO_REFERENCE,
            range,
            "A static list expression is required: write the references between brackets, as in [terraform_data.a].",
        ));
        return Box::default();
    };
    ctx.in_place(RefPlace::ReplaceTrigger, |ctx| {
        tuple.elements().map(|element| ctx.expr(&element)).collect()
    })
}

/// Reports lifecycle arguments of resources that are not managed, in the words of the ephemeral resources RFC.
fn refuse_managed_lifecycle(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader, mode: ResourceMode) {
    for name in MANAGED_ONLY.iter().copied() {
        let Some(attr) = reader.attr(name) else { continue };
        let range = attr.syntax().text_range();
        ctx.problem(match mode {
            ResourceMode::Ephemeral => Problem::new(
                Summary::INVALID_EPHEMERAL_LIFECYCLE,
                range,
                format!(
                    "The lifecycle argument \"{name}\" cannot be used in ephemeral resources. This \
                     is meant to be used strictly in \"resource\" blocks."
                ),
            ),
            _ => Problem::new(
                Summary::INVALID_DATA_LIFECYCLE,
                range,
                format!(
                    "The lifecycle argument \"{name}\" is defined only for managed resources \
                     (\"resource\" blocks), and is not valid for data resources."
                ),
            ),
        });
    }
}

fn ignore_changes(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> IgnoreChanges {
    let Some(value) = attr.and_then(|attr| attr.value()) else { return IgnoreChanges::None };
    if literal::keyword(&value).as_deref() == Some("all") {
        return IgnoreChanges::All;
    }
    let ast::Expr::Tuple(tuple) = &value else {
        ctx.problem(Problem::new(
            Summary::INVALID_IGNORE_CHANGES,
            value.syntax().text_range(),
            "A static list expression is required: write attribute names between brackets, or the keyword all.",
        ));
        return IgnoreChanges::None;
    };
    if let Some(star) =
        tuple.elements().find(|it| literal::literal_string(it).as_deref() == Some("*"))
    {
        ctx.problem(Problem::new(
            Summary::IGNORE_CHANGES_WILDCARD,
            star.syntax().text_range(),
            "The [\"*\"] form of ignore_changes wildcard is not supported. Write \"ignore_changes \
             = all\" to ignore changes to all attributes.",
        ));
        return IgnoreChanges::None;
    }
    let paths: Vec<_> = tuple.elements().filter_map(|element| ignore_path(ctx, &element)).collect();
    if paths.is_empty() { IgnoreChanges::None } else { IgnoreChanges::Paths(paths.into()) }
}

fn ignore_path(
    ctx: &mut ItemCtx<'_>,
    element: &ast::Expr,
) -> Option<(IgnorePath, crate::expr::NodeId)> {
    let range = element.syntax().text_range();
    let path = reference::unquoted(ctx, element, |_, element| {
        let traversal = element.as_static_traversal()?;
        traversal.steps.iter().try_fold(
            Path::default().attr(traversal.root.text()),
            |path, step| match step {
                ast::Step::AttrStep(it) => Some(path.attr(it.name()?)),
                ast::Step::LegacyIndexStep(it) => {
                    Some(path.index(Value::number(values::Number::parse(&it.number()?)?)))
                }
                ast::Step::IndexStep(it) => Some(path.index(literal_key(&it.index()?)?)),
                _ => None,
            },
        )
    });
    match path {
        Some(path) => Some((IgnorePath(path), ctx.node(range))),
        None => {
            ctx.problem(Problem::new(
                Summary::INVALID_IGNORE_CHANGES,
                range,
                "A single static variable reference is required: only attribute access and \
                 indexing with constant keys. No calculations, function calls, template \
                 expressions, etc are allowed here.",
            ));
            None
        }
    }
}

/// A constant index key. `None` if the key is computed.
fn literal_key(expr: &ast::Expr) -> Option<Value> {
    if let Some(text) = literal::literal_string(expr) {
        return Some(Value::string(text));
    }
    match expr {
        ast::Expr::Literal(it) => match it.kind()? {
            ast::LiteralKind::Number(text) => Some(Value::number(values::Number::parse(&text)?)),
            _ => None,
        },
        _ => None,
    }
}

/// Lowers the resource's `connection` block, which all its provisioners share. Its references count as
/// destroy-time references if one of the provisioners runs at destruction.
pub(super) fn connection(
    ctx: &mut ItemCtx<'_>,
    reader: &mut BodyReader,
    provisioners: &[Provisioner],
) -> Option<Block> {
    let block = reader.single_block(ctx, "connection", "resource")?;
    body::refuse_labels(ctx, &block);
    let place = provisioner_place(provisioners.iter().any(|it| it.at_destroy));
    ctx.in_place(place, |ctx| body::schema_block(ctx, &block))
}

fn provisioner_place(at_destroy: bool) -> RefPlace {
    if at_destroy { RefPlace::DestroyProvisioner } else { RefPlace::CreateProvisioner }
}

pub(super) fn provisioners(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader) -> Box<[Provisioner]> {
    reader.blocks("provisioner").iter().filter_map(|block| provisioner(ctx, block)).collect()
}

fn provisioner(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<Provisioner> {
    let [kind] = body::expect_labels(ctx, block, ["type"])?;
    let node = ctx.node(block_header(block));
    let mut reader = BodyReader::new(block);
    let at_destroy = match keyword_of(ctx, &mut reader, "when", &["create", "destroy"], "when") {
        Some(word) => word == "destroy",
        None => false,
    };
    let continue_on_failure =
        keyword_of(ctx, &mut reader, "on_failure", &["continue", "fail"], "on_failure").as_deref()
            == Some("continue");
    for name in ["lifecycle", "locals", "depends_on"] {
        reserved_blocks(ctx, &mut reader, name, "provisioner");
    }
    reader.absorb_escape(ctx);
    ctx.in_place(provisioner_place(at_destroy), |ctx| {
        let connection = reader.single_block(ctx, "connection", "provisioner");
        connection.iter().for_each(|it| body::refuse_labels(ctx, it));
        let connection = connection.and_then(|block| body::schema_block(ctx, &block));
        let body = reader.rest(ctx);
        let kind = Str::from(&*kind.text());
        Some(Provisioner { kind, at_destroy, continue_on_failure, body, connection, node })
    })
}

fn keyword_of(
    ctx: &mut ItemCtx<'_>,
    reader: &mut BodyReader,
    name: &'static str,
    words: &[&str],
    what: &str,
) -> Option<String> {
    let value = reader.attr(name)?.value()?;
    let quoted = literal::literal_string(&value);
    let is_quoted = quoted.is_some() && !ctx.is_json;
    let word = literal::keyword(&value).or(quoted);
    if word.as_deref().is_some_and(|word| words.contains(&word)) {
        if is_quoted {
            ctx.problem(Problem::new(
                Summary::QUOTED_KEYWORD,
                value.syntax().text_range(),
                "In this context, keywords are expected literally rather than in quotes. Remove \
                 the quotes surrounding this keyword.",
            ));
        }
        return word;
    }
    ctx.problem(Problem::new(
        Summary::invalid_provisioner_keyword(what),
        value.syntax().text_range(),
        format!(
            "The \"{what}\" argument requires one of the following keywords: {}.",
            words.join(" or ")
        ),
    ));
    None
}

/// Reports provisioners and connections, which ephemeral resources do not support.
fn refuse_provisioners(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader) {
    for kind in ["connection", "provisioner"] {
        for block in reader.blocks(kind) {
            ctx.problem(Problem::new(
                Summary::INVALID_EPHEMERAL_BLOCK,
                block_header(&block),
                format!(
                    "The block type \"{kind}\" cannot be used in ephemeral resources. This is \
                     meant to be used strictly in \"resource\" blocks."
                ),
            ));
        }
    }
}

/// Merges the `_ {}` block into the body. It escapes arguments whose names are meta-arguments.
fn refuse_reserved(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader) {
    reserved_blocks(ctx, reader, "locals", "resource");
    reader.absorb_escape(ctx);
}

/// Reports blocks whose type is reserved for future versions.
pub(super) fn reserved_blocks(
    ctx: &mut ItemCtx<'_>,
    reader: &mut BodyReader,
    name: &'static str,
    inside: &str,
) {
    for nested in reader.blocks(name) {
        let way_out = match name {
            "locals" => " Declare locals at the top level of the module.",
            "provider" => {
                " Declare providers at the top level of the module, and hand them over with \"providers\"."
            }
            _ => " Take it out.",
        };
        ctx.problem(Problem::new(
            Summary::reserved_block(inside),
            block_header(&nested),
            format!(
                "The block type name \"{name}\" is reserved for use in a future version.{way_out}"
            ),
        ));
    }
}

/// The range of a block's type and labels.
pub(super) fn block_header(block: &ast::Block) -> TextRange {
    header_range(block)
}
