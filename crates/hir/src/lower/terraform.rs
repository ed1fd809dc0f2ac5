//! Lowers `terraform` blocks.

use db::Summary;
use syntax::{
    AstNode,
    flat::ast::{self, BodyItem},
};
use values::Str;

use crate::{
    item::{Block, Encryption, ItemKind, RequiredProvider, Terraform},
    lower::{
        body::{self, BodyReader},
        encryption,
        header::header_range,
        item_ctx::ItemCtx,
        literal,
        problem::Problem,
    },
};

pub(super) fn terraform(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ItemKind> {
    body::expect_labels(ctx, block, []).map(|[]: [ast::Label; 0]| ())?;
    let mut reader = BodyReader::new(block);
    let required_version = required_version(ctx, reader.attr("required_version"));
    // OpenTofu accepts and ignores both.
    for name in ["experiments", "language"] {
        reader.attr(name);
    }
    let blocks = reader.blocks("required_providers");
    blocks.iter().for_each(|it| body::refuse_labels(ctx, it));
    blocks.iter().skip(1).for_each(|it| ctx.problem(duplicate_requirements(it)));
    let requirements_node = blocks.first().map(|it| ctx.node(header_range(it)));
    let required_providers = blocks
        .iter()
        .flat_map(|block| required_provider_items(ctx, block))
        .collect::<Vec<_>>()
        .iter()
        .filter_map(|attr| required_provider(ctx, attr))
        .collect();
    let mut backends = reader.blocks("backend").into_iter();
    let backend = backends.next();
    for extra in backends {
        ctx.problem(Problem::new(
            Summary::DUPLICATE_BACKEND,
            header_range(&extra),
            "A module may have only one backend configuration, and this terraform block already has one.",
        ));
    }
    let backend = backend.and_then(|block| {
        body::expect_labels(ctx, &block, ["type"])?;
        body::schema_block(ctx, &block)
    });
    let clouds = clouds(ctx, &mut reader);
    let provider_metas = provider_metas(ctx, &mut reader);
    let encryptions = encryptions(ctx, &mut reader);
    reader.finish(ctx);
    Some(ItemKind::Terraform(Box::new(Terraform {
        required_version,
        required_providers,
        requirements_node,
        backend,
        clouds,
        provider_metas,
        encryptions,
    })))
}

fn clouds(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader<'_>) -> Box<[Block]> {
    let blocks = reader.blocks("cloud");
    blocks.iter().for_each(|it| body::refuse_labels(ctx, it));
    blocks.iter().filter_map(|it| body::schema_block(ctx, it)).collect()
}

fn encryptions(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader<'_>) -> Box<[Encryption]> {
    reader.blocks("encryption").iter().map(|it| encryption::encryption(ctx, it)).collect()
}

fn duplicate_requirements(block: &ast::Block<'_>) -> Problem {
    Problem::new(
        Summary::DUPLICATE_REQUIRED_PROVIDERS,
        header_range(block),
        "A module may have only one required providers configuration, and this terraform block \
         already has one. Merge the two.",
    )
}

/// Lowers `provider_meta "name" {}` blocks, with which a module passes metadata to a provider.
fn provider_metas(ctx: &mut ItemCtx<'_>, reader: &mut BodyReader<'_>) -> Box<[Block]> {
    let read = |block: &ast::Block<'_>| {
        body::expect_labels(ctx, block, ["provider"])?;
        body::schema_block(ctx, block)
    };
    reader.blocks("provider_meta").iter().filter_map(read).collect()
}

/// Lowers `language {}`: the edition of the language, and the compatible programs and versions.
pub(super) fn language(ctx: &mut ItemCtx<'_>, block: &ast::Block<'_>) -> Option<ItemKind> {
    body::refuse_labels(ctx, block);
    let mut reader = BodyReader::new(block);
    if let Some(edition) = reader.attr("edition").and_then(|attr| attr.value())
        && literal::keyword(&edition).as_deref() != Some("tofu2024")
    {
        ctx.problem(Problem::new(
            Summary::UNSUPPORTED_EDITION,
            edition.syntax().text_range(),
            "The only edition of the language is tofu2024, written without quotes.",
        ));
    }
    if let Some(experiments) = reader.attr("experiments").and_then(|attr| attr.value()) {
        let is_empty =
            matches!(&experiments, ast::Expr::Tuple(it) if it.elements().next().is_none());
        if !is_empty {
            ctx.problem(Problem::new(
                Summary::UNSUPPORTED_EXPERIMENT,
                experiments.syntax().text_range(),
                "There are no experiments in this version. Take the argument out.",
            ));
        }
    }
    if let Some(compatible) = reader.single_block(ctx, "compatible_with", "language block") {
        body::refuse_labels(ctx, &compatible);
        let mut compatible = BodyReader::new(&compatible);
        version_constraint(ctx, compatible.attr("opentofu"));
    }
    reader.finish(ctx);
    Some(ItemKind::Other("language".into()))
}

/// The version constraint for OpenTofu. Ignored in a `.tf` file, where it is a constraint for Terraform, whose
/// version numbers differ.
fn required_version(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute<'_>>) -> Option<Str> {
    if ctx.is_tofu { version_constraint(ctx, attr) } else { None }
}

/// Checks the version constraint. Reports one that the emulated version of OpenTofu does not satisfy.
fn version_constraint(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute<'_>>) -> Option<Str> {
    let range = attr.as_ref().map(|attr| attr.syntax().text_range());
    let value = attr.as_ref().and_then(|attr| Some(attr.value()?.syntax().text_range()));
    let text = body::literal_text(ctx, attr)?;
    let range = range?;
    let supported = addr::opentofu_version();
    let parsed = constraint(ctx, &text, value.unwrap_or(range));
    if parsed.is_some_and(|it| !it.allows(&supported)) {
        ctx.problem(Problem::new(
            Summary::UNSUPPORTED_OPENTOFU_VERSION,
            range,
            format!(
                "The configuration requires OpenTofu {text}; this Mayfly is compatible with \
                 OpenTofu {supported}. Use a Mayfly that is compatible with a version that the \
                 constraint allows, or change the constraint if it is stricter than it has to be."
            ),
        ));
    }
    Some(text)
}

/// Parses a version constraint. Reports an invalid one.
pub(super) fn constraint(
    ctx: &mut ItemCtx<'_>,
    text: &str,
    range: syntax::TextRange,
) -> Option<addr::VersionConstraint> {
    match addr::VersionConstraint::parse(text) {
        Ok(constraint) => Some(constraint),
        Err(error) => {
            ctx.problem(Problem::new(
                Summary::INVALID_VERSION_CONSTRAINT,
                range,
                format!(
                    "The version constraint {text:?} cannot be understood: {error}. Write \
                     comparisons with commas between them, as in \">= 1.10.0, < 2.0.0\"."
                ),
            ));
            None
        }
    }
}

fn required_provider_items<'t>(
    ctx: &mut ItemCtx<'_>,
    block: &ast::Block<'t>,
) -> Vec<ast::Attribute<'t>> {
    let mut attributes = Vec::new();
    for item in block.body().into_iter().flat_map(|body| body.items()) {
        match item {
            BodyItem::Attribute(attr) => attributes.push(attr),
            BodyItem::Block(nested) => ctx.problem(Problem::new(
                Summary::unexpected_block(nested.block_type().unwrap_or_default()),
                header_range(&nested),
                "Blocks are not allowed here: an entry is written as \"name = { source = … }\".",
            )),
        }
    }
    attributes
}

fn is_provider_name(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() && !c.is_uppercase() || c == '-';
    name.chars().all(fits) && !name.starts_with('-') && !name.ends_with('-')
}

/// Lowers `name = { source, version, configuration_aliases }`, or the legacy version string.
fn required_provider(ctx: &mut ItemCtx<'_>, attr: &ast::Attribute) -> Option<RequiredProvider> {
    let name = attr.name_token()?;
    if !is_provider_name(name.text()) {
        ctx.problem(Problem::new(
            Summary::INVALID_PROVIDER_NAME,
            name.text_range(),
            "A local name of a provider contains only lowercase letters, digits, and dashes, and \
             neither begins nor ends with a dash.",
        ));
    }
    let node = ctx.node(attr.syntax().text_range());
    let mut entry = RequiredProvider {
        local_name: Str::from(name.text()),
        source: None,
        version: None,
        configuration_aliases: Box::default(),
        node,
    };
    let value = attr.value()?;
    if let Some(version) = literal::literal_string(&value) {
        entry.version = Some((version.into(), ctx.node(value.syntax().text_range())));
        return Some(entry);
    }
    let ast::Expr::Object(object) = &value else {
        ctx.problem(invalid(&value, "required_providers entries must be strings or objects."));
        return Some(entry);
    };
    for item in object.items() {
        required_provider_field(ctx, &mut entry, &item);
    }
    Some(entry)
}

fn required_provider_field(
    ctx: &mut ItemCtx<'_>,
    entry: &mut RequiredProvider,
    item: &ast::ObjectItem,
) {
    let Some(key) = item.key() else { return };
    let name = match key.name_token() {
        Some(token) => token.text().to_owned(),
        None => key.expr().as_ref().and_then(literal::literal_string).unwrap_or_default(),
    };
    let Some(value) = item.value() else { return };
    match name.as_str() {
        "source" | "version" => match literal::literal_string(&value) {
            Some(text) if name == "source" => {
                entry.source = Some((text.into(), ctx.node(value.syntax().text_range())));
            }
            Some(text) => {
                entry.version = Some((text.into(), ctx.node(value.syntax().text_range())))
            }
            None => {
                let summary = match name.as_str() {
                    "source" => Summary::REQUIRED_SOURCE,
                    _ => Summary::REQUIRED_VERSION,
                };
                let detail = format!(
                    "The {name} of a required provider must be a string without interpolation."
                );
                let range = value.syntax().text_range();
                ctx.problem(Problem::new(summary, range, detail));
            }
        },
        "configuration_aliases" => {
            entry.configuration_aliases = aliases(ctx, &entry.local_name, &value)
        }
        other => ctx.problem(Problem::new(
            Summary::INVALID_REQUIRED_PROVIDERS,
            key.syntax().text_range(),
            format!(
                "required_providers objects can only contain \"version\", \"source\" and \
                 \"configuration_aliases\" attributes, not \"{other}\". To configure a provider, \
                 use a \"provider\" block."
            ),
        )),
    }
}

fn invalid(value: &ast::Expr, detail: &str) -> Problem {
    Problem::new(Summary::REQUIRED_PROVIDERS_SYNTAX, value.syntax().text_range(), detail)
}

fn aliases(ctx: &mut ItemCtx<'_>, local_name: &str, value: &ast::Expr) -> Box<[Str]> {
    let ast::Expr::Tuple(tuple) = value else {
        ctx.problem(invalid(
            value,
            "configuration_aliases is a list of references such as [aws.replica].",
        ));
        return Box::default();
    };
    let mut aliases = Vec::new();
    for element in tuple.elements() {
        let alias =
            element.as_static_traversal().and_then(|traversal| match traversal.steps.as_slice() {
                [ast::Step::AttrStep(alias)] if traversal.root.text() == local_name => alias.name(),
                _ => None,
            });
        match alias {
            Some(alias) => aliases.push(Str::from(alias)),
            None => ctx.problem(Problem::new(
                Summary::CONFIGURATION_ALIASES,
                element.syntax().text_range(),
                format!(
                    "Configuration aliases can only contain references to local provider \
                         configuration names in the format of {local_name}.ALIAS."
                ),
            )),
        }
    }
    aliases.into()
}
