//! `resource`, `data` and `ephemeral` blocks.

use addr::{ProviderSource, ResourceMode};
use values::{Path, Step, Str, Type};

use super::conditions;
use crate::{
    analysis::{
        Inference,
        body::{BodyInfer, Persistence, by_certainty, without_schema},
        env::ItemEnv,
        infer::{Infer, InferEnv},
        instances::all_instances,
        problem::ItemProblem,
        value::{Abstract, Tri},
    },
    destroy_time,
    expr::{At, Expr, ExprId, NodeId, Ref},
    fix::Fix,
    item::{IgnoreChanges, Item, Lifecycle, Provisioner, Resource},
    lower::MISSING_ARGUMENT,
    names::{ItemName, provider_local_name, required_providers},
    suggest, unsupported,
    workspace::{SchemaLookup, resource_schema},
};

pub(super) fn infer(item: &Item, resource: &Resource, mut env: ItemEnv<'_>) -> Inference {
    let (argument, mut problems) = super::with_repetition(item, resource.repetition, &mut env);
    let source = required_providers(env.db, env.directory).source(&provider_local_name(resource));
    let mut infer = Infer::new(&item.exprs, &env);
    check_provider(&mut infer, &env, resource);
    let object = body(&mut infer, &env, item, resource, &source);
    super::check_depends_on(&mut infer, &env, &resource.depends_on);
    lifecycle(&mut infer, &env, &resource.lifecycle, &object);
    *env.self_object.borrow_mut() = Some(object.clone());
    for provisioner in &resource.provisioners {
        self::provisioner(&mut infer, provisioner);
    }
    if let Some(connection) = &resource.connection {
        without_schema(&mut infer, &connection.body);
    }
    destroy_references(&mut infer, item);
    problems.append(&mut infer.problems);
    let address = address(&env, resource);
    // The reference names the object where a value is at fault, and not where the text is.
    let named = |problem: ItemProblem| match problem.id {
        "ephemeral-value-misuse" => problem.about(&address),
        _ => problem,
    };
    let problems = problems.into_iter().map(named).collect();
    let value = instances(item, resource, argument.as_ref(), object, &env);
    Inference { value, problems }
}

/// The address as `with …` shows it, without the module's, which diagnostics of a whole configuration add.
fn address(_: &ItemEnv<'_>, resource: &Resource) -> String {
    resource.resource.to_string()
}

/// What a reference to the resource means, all instances together.
fn instances(
    item: &Item,
    resource: &Resource,
    argument: Option<&Abstract>,
    object: Abstract,
    env: &ItemEnv<'_>,
) -> Abstract {
    let object = match resource.resource.mode {
        ResourceMode::Ephemeral => {
            let message = format!("{} is an ephemeral resource", resource.resource);
            super::ephemeral(object).with_origin(env.link(item.header.into(), &message, None))
        }
        _ => object,
    };
    all_instances(resource.repetition, argument, object)
}

fn body(
    infer: &mut Infer<'_>,
    env: &ItemEnv<'_>,
    item: &Item,
    resource: &Resource,
    source: &ProviderSource,
) -> Abstract {
    let mode = resource.resource.mode;
    let ty = &resource.resource.type_name;
    match resource_schema(env.db, env.workspace, source, mode, ty) {
        SchemaLookup::Found(schema) => {
            if mode == ResourceMode::Managed
                && let Some(path) = schema.write_only_in_set()
            {
                infer.problems.push(ItemProblem::error(
                    resource.type_node.into(),
                    "write-only-in-set",
                    "Unsupported write-only attribute",
                    format!(
                        "The provider {} declares \"{path}\" of {ty} as write-only inside of a set. Elements of a set are known by their value, so a \
                         value that cannot be kept has no place in one. This is a bug in the provider.",
                        source.for_display()
                    ),
                ));
            }
            let persistence = match mode {
                ResourceMode::Ephemeral => Persistence::Ephemeral,
                ResourceMode::Managed | ResourceMode::Data => Persistence::Stored,
            };
            BodyInfer { infer, persistence }.block(&resource.body, schema.block(), item.header, "")
        }
        SchemaLookup::NoSuchType => {
            without_schema(infer, &resource.body);
            no_such_type(infer, env, resource, source);
            Abstract::any()
        }
        SchemaLookup::NoProvider => {
            without_schema(infer, &resource.body);
            Abstract::any()
        }
    }
}

fn no_such_type(
    infer: &mut Infer<'_>,
    env: &ItemEnv<'_>,
    resource: &Resource,
    source: &ProviderSource,
) {
    let (mode, ty) = (resource.resource.mode, &*resource.resource.type_name);
    let Some(input) = env.workspace.providers(env.db).get(source) else { return };
    let schemas = &input.schemas(env.db).0;
    let (summary, noun) = match mode {
        ResourceMode::Managed => ("Invalid resource type", "resource type"),
        ResourceMode::Data => ("Invalid data source", "data source"),
        ResourceMode::Ephemeral => ("Invalid ephemeral resource", "ephemeral resource"),
    };
    let mut detail =
        format!("The provider {} does not support {noun} \"{ty}\".", source.for_display());
    let other = [ResourceMode::Managed, ResourceMode::Data, ResourceMode::Ephemeral]
        .into_iter()
        .find(|other| *other != mode && schemas.of_mode(*other, ty).is_some());
    let names = schemas.types_of_mode(mode);
    let mut fix = None;
    if let Some(other) = other {
        let block = other.block_type();
        detail.push_str(&format!(
            "\n\nDid you intend to use a block of type \"{block}\" \"{ty}\"? If so, declare this using a block of type \"{block}\" instead of one of \
             type \"{}\".",
            mode.block_type()
        ));
    } else if let Some(close) = suggest::closest(ty, names.iter().copied()) {
        detail.push_str(&format!(" Did you mean \"{close}\"?"));
        fix = Fix::last(ty, Some(close));
    }
    let at = resource.type_node.into();
    let problem = ItemProblem::error(at, "invalid-resource-type", summary, detail);
    infer.problems.push(problem.fixed_by(fix));
}

/// The configuration that a resource names must exist.
fn check_provider(infer: &mut Infer<'_>, env: &ItemEnv<'_>, resource: &Resource) {
    let Some(provider) = &resource.provider else { return };
    if let Some(key) = provider.key {
        let value = infer.expr(key);
        let certainty = value.deep_marks().ephemeral;
        if certainty > Tri::No {
            let detail = "A provider instance key must not be derived from an ephemeral value.";
            let problem = ItemProblem::error(
                key.into(),
                "ephemeral-provider-key",
                "Invalid provider instance key",
                detail,
            );
            infer.problems.push(by_certainty(problem, certainty).because(value.origin.as_ref()));
        }
    }
    let Some(alias) = &provider.alias else { return };
    let declared = ItemName::Provider(provider.local_name.clone(), Some(alias.clone()));
    let required = required_providers(env.db, env.directory);
    let passed = required
        .declared
        .get(&provider.local_name)
        .is_some_and(|(entry, _)| entry.configuration_aliases.contains(alias));
    if !passed && !crate::analysis::declares(env.db, env.directory, &declared) {
        infer.problems.push(missing_provider_config(&provider.local_name, alias, provider.node));
    }
}

pub(super) fn missing_provider_config(local_name: &Str, alias: &Str, node: NodeId) -> ItemProblem {
    ItemProblem::error(
        node.into(),
        "missing-provider-configuration",
        "Provider configuration not present",
        format!(
            "There is no configuration \"{local_name}.{alias}\" in this module. Declare it with a provider \"{local_name}\" block with alias = \
             \"{alias}\", or list it under configuration_aliases if the calling module passes it."
        ),
    )
}

fn lifecycle(infer: &mut Infer<'_>, env: &ItemEnv<'_>, lifecycle: &Lifecycle, object: &Abstract) {
    if let Some(prevent) = lifecycle.prevent_destroy {
        prevent_destroy(infer, prevent);
    }
    if let IgnoreChanges::Paths(paths) = &lifecycle.ignore_changes {
        paths.iter().for_each(|(path, node)| check_ignored(infer, &path.0, *node, &object.ty));
    }
    replace_triggers(infer, &lifecycle.replace_triggered_by);
    for precondition in &lifecycle.preconditions {
        conditions::check(infer, precondition);
    }
    let outer = env.self_object.replace(Some(object.clone()));
    for postcondition in &lifecycle.postconditions {
        conditions::check(infer, postcondition);
    }
    *env.self_object.borrow_mut() = outer;
}

fn prevent_destroy(infer: &mut Infer<'_>, prevent: ExprId) {
    let value = infer.expr(prevent);
    let certainty = value.deep_marks().ephemeral;
    if certainty > Tri::No {
        let detail = "The decision for whether it's okay to destroy instances of this resource must stay consistent between plan and apply, so it \
                      cannot depend on an ephemeral value.";
        let problem = ItemProblem::error(
            prevent.into(),
            "ephemeral-prevent-destroy",
            "Invalid value for prevent_destroy",
            detail,
        );
        infer.problems.push(by_certainty(problem, certainty).because(value.origin.as_ref()));
    }
    let reason = match super::converted(&value, &Type::Bool) {
        Ok(Some(constant)) if constant.is_null() => "it is null".to_owned(),
        Ok(_) => return,
        Err(reason) => reason,
    };
    infer.problems.push(ItemProblem::error(
        prevent.into(),
        "unsuitable-value-type",
        "Unsuitable value type",
        format!("Unsuitable value: \"prevent_destroy\" must be true or false, but {reason}."),
    ));
}

/// What is ignored must be there: each name that is an attribute of an object is one of the type's.
fn check_ignored(infer: &mut Infer<'_>, path: &Path, node: NodeId, object: &Type) {
    let mut ty = object;
    for step in path.steps() {
        let (Step::Attr(name), Type::Object(attributes)) = (step, ty) else { return };
        let Some(inner) = attributes.get(name) else {
            let close = suggest::closest(name, attributes.iter().map(|(name, _)| &**name));
            let hint = close.map(|it| format!(" Did you mean \"{it}\"?")).unwrap_or_default();
            let (id, summary) = ("unsupported-attribute", "Unsupported attribute");
            let detail = format!("This object does not have an attribute named \"{name}\".{hint}");
            let problem = ItemProblem::error(node.into(), id, summary, detail);
            infer.problems.push(problem.fixed_by(Fix::last(name, close)));
            return;
        };
        ty = inner;
    }
}

/// What is wrong with a trigger is said first; a list that could be right is not run yet.
fn replace_triggers(infer: &mut Infer<'_>, triggers: &[ExprId]) {
    let before = infer.problems.len();
    for &trigger in triggers {
        infer.expr(trigger);
        check_trigger(infer, trigger);
        if let Some(resource) = ephemeral_root(infer.exprs, trigger) {
            let detail = format!(
                "{resource} is an ephemeral resource. It is opened anew in every run and has no changes that could trigger a replacement."
            );
            infer.problems.push(ItemProblem::error(
                trigger.into(),
                "ephemeral-replace-trigger",
                "Invalid replace_triggered_by expression",
                detail,
            ));
        }
    }
    if let (Some(&first), true) = (triggers.first(), infer.problems.len() == before) {
        infer.problems.push(not_supported(first, "\"replace_triggered_by\""));
    }
}

fn not_supported(at: impl Into<At>, what: &str) -> ItemProblem {
    let detail = unsupported::detail(what);
    ItemProblem::error(at.into(), unsupported::ID, unsupported::SUMMARY, detail)
}

/// Only a change of a resource, or of a part of one, can trigger a replacement.
fn check_trigger(infer: &mut Infer<'_>, trigger: ExprId) {
    let mut at = trigger;
    while let Expr::GetAttr { base, .. } | Expr::Index { base, .. } = &infer.exprs[at] {
        at = *base;
    }
    if !matches!(&infer.exprs[at], Expr::Ref(Ref::Resource(_)) | Expr::Missing) {
        infer.problems.push(ItemProblem::error(
            trigger.into(),
            "invalid-replace-trigger",
            "Invalid reference in replace_triggered_by expression",
            "An entry of replace_triggered_by names a managed resource, one of its instances or one of its attributes. To react to another value, \
             keep it in a terraform_data resource and name that.",
        ));
    }
}

fn ephemeral_root(exprs: &crate::Exprs, mut at: ExprId) -> Option<addr::Resource> {
    loop {
        match &exprs[at] {
            Expr::GetAttr { base, .. } | Expr::Index { base, .. } => at = *base,
            Expr::Ref(Ref::Resource(resource)) if resource.mode == ResourceMode::Ephemeral => {
                return Some(resource.clone());
            }
            _ => return None,
        }
    }
}

/// Whatever else is wrong with a reference that may not be there does not matter.
fn destroy_references(infer: &mut Infer<'_>, item: &Item) {
    for refused in destroy_time::refused(item) {
        infer.problems.retain(|it| it.at != refused.into());
        infer.problems.push(ItemProblem::error(
            refused.into(),
            destroy_time::ID,
            destroy_time::SUMMARY,
            destroy_time::DETAIL,
        ));
    }
}

/// Arguments of the provisioners that exist; each may be ephemeral (RFC, "provisioner block").
const PROVISIONERS: &[(&str, &[&str], &[&str])] = &[
    ("local-exec", &["command"], &["interpreter", "working_dir", "environment", "quiet"]),
    ("remote-exec", &[], &["inline", "script", "scripts"]),
    ("file", &["destination"], &["source", "content"]),
];

fn provisioner(infer: &mut Infer<'_>, provisioner: &Provisioner) {
    without_schema(infer, &provisioner.body);
    if let Some(connection) = &provisioner.connection {
        without_schema(infer, &connection.body);
    }
    let known = PROVISIONERS.iter().find(|(kind, _, _)| *kind == &*provisioner.kind);
    let Some((_, required, optional)) = known else {
        let names = PROVISIONERS.iter().map(|(kind, _, _)| *kind);
        let close = suggest::closest(&provisioner.kind, names);
        let hint = close.map(|it| format!(" Did you mean \"{it}\"?")).unwrap_or_default();
        infer.problems.push(ItemProblem::error(
            provisioner.node.into(),
            "unknown-provisioner",
            "Unknown provisioner",
            format!("There is no provisioner \"{}\". Provisioners are local-exec, remote-exec and file.{hint}", provisioner.kind),
        ).fixed_by(Fix::last(&provisioner.kind, close)));
        return;
    };
    if let Some(what) = unsupported::provisioner(&provisioner.kind) {
        infer.problems.push(not_supported(provisioner.node, &what));
    }
    for name in *required {
        if !provisioner.body.attrs.iter().any(|attr| *attr.name == **name) {
            let detail =
                format!("The argument \"{name}\" is required, but no definition was found.");
            infer.problems.push(
                ItemProblem::error(
                    provisioner.node.into(),
                    MISSING_ARGUMENT,
                    "Missing required argument",
                    detail,
                )
                .fixed_by(Some(Fix::MissingArgument((*name).into()))),
            );
        }
    }
    for attr in &provisioner.body.attrs {
        let names = || required.iter().chain(*optional).copied();
        if !names().any(|name| name == &*attr.name) {
            let close = suggest::closest(&attr.name, names());
            let hint = close.map(|it| format!(" Did you mean \"{it}\"?")).unwrap_or_default();
            let detail = format!("An argument named \"{}\" is not expected here.{hint}", attr.name);
            infer.problems.push(
                ItemProblem::error(
                    attr.node.into(),
                    "unsupported-argument",
                    "Unsupported argument",
                    detail,
                )
                .fixed_by(Fix::first(&attr.name, close)),
            );
        }
    }
}
