//! `terraform` blocks.

use syntax::{
    AstNode,
    flat::ast::{self, BodyItem},
};
use values::Str;

use super::{
    ItemCtx,
    body::{self, BodyReader},
    expr,
    problem::Problem,
};
use crate::{
    item::{ItemKind, RequiredProvider, Terraform},
    unsupported,
};

pub(super) fn terraform(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<ItemKind> {
    body::expect_labels(ctx, block, []).map(|[]: [ast::Label; 0]| ())?;
    let mut reader = BodyReader::new(block);
    let required_version = required_version(ctx, reader.attr("required_version"));
    for name in ["experiments", "language"] {
        if let Some(attr) = reader.attr(name) {
            let what = format!("\"{name}\" in the terraform block");
            ctx.problem(Problem::unsupported(attr.syntax().text_range(), &what));
        }
    }
    let blocks = reader.blocks("required_providers");
    let required_providers = blocks
        .iter()
        .flat_map(required_provider_items)
        .filter_map(|attr| required_provider(ctx, &attr))
        .collect();
    let backend = reader.single_block(ctx, "backend", "terraform block");
    let backend = backend.and_then(|block| {
        body::expect_labels(ctx, &block, ["type"])?;
        let backend = body::schema_block(ctx, &block)?;
        // Arguments of the local one are judged first: they may not be ephemeral.
        if let Some(what) = unsupported::backend(&backend)
            && backend.labels.first().is_none_or(|kind| &**kind != "local")
        {
            ctx.problem(Problem::unsupported(body::header_range(&block), &what));
        }
        Some(backend)
    });
    for kind in ["cloud", "encryption", "provider_meta"] {
        for nested in reader.blocks(kind) {
            let what = format!("\"{kind}\" in the terraform block");
            ctx.problem(Problem::unsupported(body::header_range(&nested), &what));
        }
    }
    reader.finish(ctx);
    Some(ItemKind::Terraform(Box::new(Terraform { required_version, required_providers, backend })))
}

/// The constraint on the version of the program; one that the program does not meet is refused here.
fn required_version(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> Option<Str> {
    let range = attr.as_ref().map(|attr| attr.syntax().text_range());
    let text = body::literal_text(ctx, attr)?;
    let range = range?;
    let supported = addr::opentofu_version();
    match addr::VersionConstraint::parse(&text) {
        Ok(constraint) if constraint.allows(&supported) => {}
        Ok(_) => ctx.problem(Problem::error(
            "unsupported-opentofu-version",
            range,
            "Unsupported OpenTofu version",
            format!(
                "The configuration requires OpenTofu {text}; this Mayfly is compatible with OpenTofu {supported}. Use a Mayfly that is compatible \
                 with a version that the constraint allows, or change the constraint if it is stricter than it has to be."
            ),
        )),
        Err(error) => ctx.problem(Problem::error(
            "invalid-version-constraint",
            range,
            "Invalid version constraint",
            format!(
                "The version constraint {text:?} cannot be understood: {error}. Write comparisons with commas between them, as in \
                 \">= 1.10.0, < 2.0.0\"."
            ),
        )),
    }
    Some(text)
}

fn required_provider_items<'t>(block: &ast::Block<'t>) -> Vec<ast::Attribute<'t>> {
    let items = block.body().into_iter().flat_map(|body| body.items());
    items
        .filter_map(|item| match item {
            BodyItem::Attribute(attr) => Some(attr),
            BodyItem::Block(_) => None,
        })
        .collect()
}

/// `name = { source, version, configuration_aliases }`, or the legacy version string.
fn required_provider(ctx: &mut ItemCtx<'_>, attr: &ast::Attribute) -> Option<RequiredProvider> {
    let name = attr.name_token()?;
    let node = ctx.node(attr.syntax().text_range());
    let mut entry = RequiredProvider {
        local_name: Str::from(name.text()),
        source: None,
        version: None,
        configuration_aliases: Box::default(),
        node,
    };
    let value = attr.value()?;
    if let Some(version) = expr::literal_string(&value) {
        entry.version = Some(version.into());
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
        None => key.expr().as_ref().and_then(expr::literal_string).unwrap_or_default(),
    };
    let Some(value) = item.value() else { return };
    match name.as_str() {
        "source" | "version" => match expr::literal_string(&value) {
            Some(text) if name == "source" => entry.source = Some(text.into()),
            Some(text) => entry.version = Some(text.into()),
            None => ctx.problem(invalid(&value, &format!("The {name} of a required provider must be a string without interpolation."))),
        },
        "configuration_aliases" => entry.configuration_aliases = aliases(ctx, &entry.local_name, &value),
        other => ctx.problem(Problem::error(
            "invalid-required-providers",
            key.syntax().text_range(),
            "Invalid required_providers object",
            format!(
                "required_providers objects can only contain \"version\", \"source\" and \"configuration_aliases\" attributes, not \
                 \"{other}\". To configure a provider, use a \"provider\" block."
            ),
        )),
    }
}

fn invalid(value: &ast::Expr, detail: &str) -> Problem {
    Problem::error(
        "invalid-required-providers",
        value.syntax().text_range(),
        "Invalid required_providers syntax",
        detail,
    )
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
            Some(alias) => aliases.push(Str::from(&*alias)),
            None => ctx.problem(invalid(
                &element,
                &format!("Configuration aliases can only contain references to local provider configuration names in the format of {local_name}.ALIAS."),
            )),
        }
    }
    aliases.into()
}
