//! `output` blocks.

use addr::ResourceMode;
use db::Summary;
use values::{MarkKind, Str};

use crate::{
    analysis::{
        analyzed::Inference,
        declared::{ephemeral, sensitive},
        env::ItemEnv,
        infer::{Infer, InferEnv},
        items::{conditions, depends_on::check_depends_on},
        problem::ItemProblem,
        value::{Abstract, inside::Inside, marks::Tri},
    },
    content::item,
    expr::{Expr, ExprId, Ref},
    item::{Item, Output},
    item_name::provider_local_name,
    names::required_providers,
    workspace::{SchemaLookup, resource_schema},
};

/// The detail of the error for an ephemeral output of the root module, with a way to solve it.
pub const EPHEMERAL_ROOT_OUTPUT: &str = "Root module is not allowed to have ephemeral \
                                         outputs\n\nIts outputs are stored in the state. To keep \
                                         the parts of this value that are not ephemeral, remove \
                                         `ephemeral = true` and wrap the value in \
                                         ephemeralasnull(), which replaces the ephemeral ones with \
                                         null. Otherwise remove the output.";

/// Returns the advice for an ephemeral value in an output that is not declared ephemeral. An output of the root
/// module cannot be declared so.
pub fn output_not_ephemeral(is_root: bool) -> &'static str {
    if is_root {
        "Outputs of the root module are stored in the state and cannot be ephemeral. To keep the \
         parts of this value that are not ephemeral, wrap it in ephemeralasnull(), which replaces \
         the ephemeral ones with null. Otherwise remove the output."
    } else {
        "In order to allow this output to store ephemeral values add `ephemeral = true` attribute to it."
    }
}

pub(super) fn infer(item: &Item, output: &Output, env: ItemEnv<'_>) -> Inference {
    let is_root = env.workspace.root(env.db) == env.directory;
    let mut infer = Infer::new(&item.exprs, &env);
    let value = match output.value {
        Some(value) => infer.expr(value),
        None => Abstract::any(),
    };
    if is_root && output.ephemeral {
        infer.problems.push(ItemProblem::new(
            item.header.into(),
            Summary::EPHEMERAL_ROOT_OUTPUT,
            EPHEMERAL_ROOT_OUTPUT,
        ));
    } else if let Some(expr) = output.value {
        if !output.ephemeral && value.deep_marks().ephemeral > Tri::No {
            not_marked(&mut infer, expr, &value, is_root);
        } else if is_root && !output.sensitive {
            check_sensitive(&mut infer, &env, expr, &value);
        }
    }
    for precondition in &output.preconditions {
        conditions::check(&mut infer, precondition);
    }
    check_depends_on(&mut infer, &env, &output.depends_on);
    let problems = std::mem::take(&mut infer.problems).into();
    Inference { value: seen_by_callers(item, output, value, &env), problems }
}

/// The value that callers read. It is ephemeral exactly if the output is declared ephemeral.
fn seen_by_callers(item: &Item, output: &Output, value: Abstract, env: &ItemEnv<'_>) -> Abstract {
    let mut value = match output.ephemeral {
        true => value,
        false => value.without_deep(MarkKind::Ephemeral),
    };
    if let Some(sensitive) = sensitive(output.sensitive, output.may_be_secret) {
        value = value.with_mark(MarkKind::Sensitive, sensitive);
    }
    if output.ephemeral {
        let at = output.ephemeral_node.unwrap_or(item.header);
        let message = format!("output \"{}\" is declared ephemeral", output.name);
        value = Abstract { origin: env.link(at.into(), &message, None), ..ephemeral(value) };
    }
    if output.deprecated.is_some() {
        value = value.with_mark(MarkKind::Deprecated, Tri::Yes);
    }
    value
}

fn not_marked(infer: &mut Infer<'_>, expr: ExprId, value: &Abstract, is_root: bool) {
    let problem =
        ItemProblem::new(expr.into(), Summary::OUTPUT_NOT_EPHEMERAL, output_not_ephemeral(is_root));
    let certainty = value.deep_marks().ephemeral;
    let when = value.ephemeral.somewhere();
    let mut problem = problem.if_ephemeral(certainty, &when, value.origin.as_ref());
    // OpenTofu checks the marks of a value's parts only when the whole value is known.
    if is_root && value.marks.ephemeral == Tri::No && may_be_partly_unknown(value) {
        problem.detail.push_str(
            "\n\nOpenTofu accepts this while another part of the value is not known yet, and a \
             saved plan then holds the secret.",
        );
    }
    infer.problems.push(problem);
}

fn may_be_partly_unknown(value: &Abstract) -> bool {
    let is_open =
        |part: &Abstract| part.constant.is_none() && part.deep_marks().ephemeral == Tri::No;
    match &value.inside {
        Inside::Attrs(attrs) => attrs.values().any(is_open),
        Inside::Items(items) => items.iter().any(is_open),
        Inside::Each(_) | Inside::Opaque(_) => false,
    }
}

fn check_sensitive(infer: &mut Infer<'_>, env: &ItemEnv<'_>, expr: ExprId, value: &Abstract) {
    if value.deep_marks().sensitive == Tri::Yes {
        infer.problems.push(ItemProblem::new(
            expr.into(),
            Summary::SENSITIVE_OUTPUT,
            "To reduce the risk of accidentally exporting sensitive data that was intended to be \
             only internal, Mayfly requires that any root module output containing sensitive data \
             be explicitly marked as sensitive, to confirm your intent.\n\nIf you do intend to \
             export this data, annotate the output value as sensitive by adding the following \
             argument:\n    sensitive = true",
        ));
        return;
    }
    if let Some((at, name)) = write_only_traversal(env, infer.exprs, expr) {
        let detail = format!(
            "\"{name}\" is a write-only attribute. An output of the root module that refers to one \
             must be sensitive, to confirm that this is intended:\n    sensitive = true\n\nThe \
             output will be null all the same: a write-only attribute cannot be read back."
        );
        infer.problems.push(ItemProblem::new(at.into(), Summary::WRITE_ONLY_OUTPUT, detail));
    }
}

/// Finds a traversal that reaches a write-only attribute, anywhere in an expression.
fn write_only_traversal(
    env: &ItemEnv<'_>,
    exprs: &crate::Exprs,
    expr: ExprId,
) -> Option<(ExprId, String)> {
    if let Expr::GetAttr { .. } = &exprs[expr]
        && let Some(name) = reaches_write_only(env, exprs, expr)
    {
        return Some((expr, name));
    }
    let mut found = None;
    exprs[expr].for_each_child(&mut |child| {
        if found.is_none() {
            found = write_only_traversal(env, exprs, child);
        }
    });
    found
}

fn reaches_write_only(env: &ItemEnv<'_>, exprs: &crate::Exprs, expr: ExprId) -> Option<String> {
    let (resource, mut names) = names_from_resource(exprs, expr)?;
    names.reverse();
    if resource.mode != ResourceMode::Managed {
        return None;
    }
    let key = env.find_resource(&resource)?.key(env.db);
    let declared = item(env.db, key).kind.as_resource()?;
    let source = required_providers(env.db, env.directory).source(provider_local_name(declared));
    let schema =
        resource_schema(env.db, env.workspace, &source, resource.mode, &resource.type_name);
    let SchemaLookup::Found(schema) = schema else { return None };
    let attribute = schema.block().attribute_by_names(names.iter().map(|name| &**name))?;
    attribute.write_only.then(|| format!("{resource}.{}", names.join(".")))
}

/// The resource at the root of a traversal, and the attribute names in reverse order.
fn names_from_resource(exprs: &crate::Exprs, expr: ExprId) -> Option<(addr::Resource, Vec<Str>)> {
    let mut names = Vec::new();
    let mut at = expr;
    loop {
        match &exprs[at] {
            Expr::GetAttr { base, name } => {
                names.push(name.clone());
                at = *base;
            }
            Expr::Index { base, .. } => at = *base,
            Expr::Ref(Ref::Resource(resource)) => return Some(((**resource).clone(), names)),
            _ => return None,
        }
    }
}
