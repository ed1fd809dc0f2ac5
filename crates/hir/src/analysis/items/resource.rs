//! `resource`, `data` and `ephemeral` blocks.

use addr::{ProviderSource, ResourceMode};
use db::{Rule, Summary};
use provider::Schema;
use values::{Path, Step, Str, Type};

use crate::{
    analysis::{
        analyzed::Inference,
        body::{BodyInfer, Persistence, without_schema},
        declared::ephemeral,
        env::ItemEnv,
        infer::{Infer, InferEnv},
        instances::all_instances,
        items::{
            conditions,
            depends_on::check_depends_on,
            provider_reference::{self, Referrer},
            provisioner,
        },
        problem::ItemProblem,
        value::{Abstract, marks::Tri},
    },
    destroy_time,
    expr::{At, Expr, ExprId, Exprs, NodeId, Ref},
    fix::Fix,
    item::{IgnoreChanges, Item, Lifecycle, Resource},
    item_name::provider_local_name,
    names::required_providers,
    suggest, unsupported,
    workspace::{SchemaLookup, resource_schema},
};

pub(super) fn infer(item: &Item, resource: &Resource, mut env: ItemEnv<'_>) -> Inference {
    let (argument, mut problems) =
        super::repetition::with_repetition(item, resource.repetition, &mut env);
    let source = required_providers(env.db, env.directory).source(provider_local_name(resource));
    let mut infer = Infer::new(&item.exprs, &env);
    if let Some(provider) = &resource.provider {
        let referrer = Referrer { item, repetition: resource.repetition };
        provider_reference::check(&mut infer, &env, &referrer, provider);
    }
    let Resource { resource: address, .. } = resource;
    let (mode, ty) = (address.mode, &address.type_name);
    let schema = resource_schema(env.db, env.workspace, &source, mode, ty);
    let object = body(&mut infer, &env, item, resource, &source, &schema);
    check_depends_on(&mut infer, &env, &resource.depends_on);
    lifecycle(&mut infer, &env, &resource.lifecycle, &object, schema.found());
    *env.self_object.borrow_mut() = Some(object.clone());
    let plugins = env.workspace.provisioners(env.db);
    provisioner::infer(&mut infer, plugins, &resource.provisioners, resource.connection.as_ref());
    destroy_references(&mut infer, item, &env);
    problems.append(&mut infer.problems);
    // OpenTofu names the object if a value is at fault, but not if the text is. The address has the form that `with
    // …` shows, without the module's address; diagnostics of a whole configuration add that.
    let named = |problem: ItemProblem| match problem.id() {
        Rule::EphemeralValueMisuse | Rule::PossiblyEphemeral => problem.about(address.to_string()),
        _ => problem,
    };
    let problems = problems.into_iter().map(named).collect();
    let value = instances(item, resource, argument.as_ref(), object, &env);
    Inference { value, problems }
}

/// The value of a reference to the resource, for all instances together.
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
            ephemeral(object).with_origin(env.link(item.header.into(), &message, None))
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
    schema: &SchemaLookup,
) -> Abstract {
    let mode = resource.resource.mode;
    let ty = &resource.resource.type_name;
    match schema {
        SchemaLookup::Found(schema) => {
            if mode == ResourceMode::Managed
                && let Some(path) = schema.write_only_in_set()
            {
                infer.problems.push(ItemProblem::new(
                    resource.type_node.into(),
                    Summary::UNSUPPORTED_WRITE_ONLY,
                    format!(
                        "The provider {} declares \"{path}\" of {ty} as write-only inside of a \
                         set. Elements of a set are identified by their values, so a set cannot \
                         contain a value that must not be saved. This is a bug in the provider.",
                        source.for_display()
                    ),
                ));
            }
            let persistence = match mode {
                ResourceMode::Ephemeral => Persistence::Ephemeral,
                ResourceMode::Managed | ResourceMode::Data => Persistence::Stored,
            };
            BodyInfer { infer, persistence, enclosing: None }.block(
                &resource.body,
                schema.block(),
                item.header,
            )
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
    if mode == ResourceMode::Data && ty == "terraform_remote_state" && source.is_builtin() {
        let detail = unsupported::detail("the data source \"terraform_remote_state\"");
        let (at, summary) = (resource.type_node.into(), Summary::NOT_SUPPORTED_YET);
        infer.problems.push(ItemProblem::new(at, summary, detail));
        return;
    }
    let (summary, noun) = match mode {
        ResourceMode::Managed => (Summary::INVALID_RESOURCE_TYPE, "resource type"),
        ResourceMode::Data => (Summary::INVALID_DATA_SOURCE, "data source"),
        ResourceMode::Ephemeral => (Summary::INVALID_EPHEMERAL_TYPE, "ephemeral resource"),
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
            "\n\nDid you intend to use a block of type \"{block}\" \"{ty}\"? If so, declare this \
             using a block of type \"{block}\" instead of one of type \"{}\".",
            mode.block_type()
        ));
    } else if let Some(close) = suggest::closest(ty, names.iter().copied()) {
        detail.push_str(&format!(" Did you mean \"{close}\"?"));
        fix = Fix::last(ty, Some(close));
    }
    let at = resource.type_node.into();
    let problem = ItemProblem::new(at, summary, detail);
    infer.problems.push(problem.fixed_by(fix));
}

pub(super) fn missing_provider_config(local_name: &Str, alias: &Str, node: NodeId) -> ItemProblem {
    ItemProblem::new(
        node.into(),
        Summary::MISSING_PROVIDER_CONFIGURATION,
        format!(
            "There is no configuration \"{local_name}.{alias}\" in this module. Declare it with a \
             provider \"{local_name}\" block with alias = \"{alias}\", or list it under \
             configuration_aliases if the calling module passes it."
        ),
    )
}

fn lifecycle(
    infer: &mut Infer<'_>,
    env: &ItemEnv<'_>,
    lifecycle: &Lifecycle,
    object: &Abstract,
    schema: Option<&Schema>,
) {
    if let Some(prevent) = lifecycle.prevent_destroy {
        prevent_destroy(infer, prevent);
    }
    if let IgnoreChanges::Paths(paths) = &lifecycle.ignore_changes {
        for (path, node) in paths {
            let redundant = schema.and_then(|schema| redundant_ignore(&path.0, *node, schema));
            infer.problems.extend(redundant);
            check_ignored(infer, &path.0, *node, &object.ty);
        }
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
        let detail = "The decision for whether it's okay to destroy instances of this resource \
                      must stay consistent between plan and apply, so it cannot depend on an ephemeral value.";
        let problem = ItemProblem::new(prevent.into(), Summary::EPHEMERAL_PREVENT_DESTROY, detail);
        let when = value.ephemeral.somewhere();
        infer.problems.push(problem.if_ephemeral(certainty, &when, value.origin.as_ref()));
    }
    let reason = match super::repetition::converted(&value, &Type::Bool) {
        Ok(Some(constant)) if constant.is_null() => "it is null".to_owned(),
        Ok(_) => return,
        Err(reason) => reason,
    };
    infer.problems.push(ItemProblem::new(
        prevent.into(),
        Summary::UNSUITABLE_VALUE_TYPE,
        format!("Unsuitable value: \"prevent_destroy\" must be true or false, but {reason}."),
    ));
}

/// The warning for an ignored attribute that only the provider sets: no configuration can change it.
fn redundant_ignore(path: &Path, node: NodeId, schema: &Schema) -> Option<ItemProblem> {
    let [Step::Attr(name)] = path.steps() else { return None };
    schema.block().attributes().get(name).filter(|it| it.is_computed_only())?;
    let detail = format!(
        "Adding an attribute name to ignore_changes tells Mayfly to ignore future changes to the \
         argument in configuration after the object has been created, retaining the value \
         originally configured.\n\nThe attribute {name} is decided by the provider alone and \
         therefore there can be no configured value to compare with. Including this attribute in \
         ignore_changes has no effect. Remove the attribute from ignore_changes to quiet this warning."
    );
    let problem = ItemProblem::new(node.into(), Summary::REDUNDANT_IGNORE_CHANGES, detail);
    Some(problem)
}

/// Reports a path in `ignore_changes` that does not exist in the type of the object.
fn check_ignored(infer: &mut Infer<'_>, path: &Path, node: NodeId, object: &Type) {
    let mut ty = object;
    for step in path.steps() {
        ty = match (step, ty) {
            (Step::Attr(name), Type::Object(attributes)) => match attributes.get(name) {
                Some(inner) => inner,
                None => {
                    return infer.problems.push(no_attribute(
                        name,
                        attributes.iter().map(|it| it.0),
                        node,
                    ));
                }
            },
            (Step::Attr(_), Type::String | Type::Number | Type::Bool) => {
                let detail = format!(
                    "Can't access attributes on a primitive-typed value ({}).",
                    ty.friendly_name()
                );
                let at = node.into();
                return infer.problems.push(ItemProblem::new(
                    at,
                    Summary::UNSUPPORTED_ATTRIBUTE,
                    detail,
                ));
            }
            (Step::Index(_), Type::String | Type::Number | Type::Bool) => {
                let detail = "This value does not have any indices.";
                let problem = ItemProblem::new(node.into(), Summary::INVALID_INDEX, detail);
                return infer.problems.push(problem);
            }
            _ => return,
        };
    }
}

fn no_attribute<'a>(name: &Str, names: impl Iterator<Item = &'a Str>, node: NodeId) -> ItemProblem {
    let close = suggest::closest(name, names.map(|name| &**name));
    let hint = suggest::question(close);
    let detail = format!("This object does not have an attribute named \"{name}\".{hint}");
    ItemProblem::new(node.into(), Summary::UNSUPPORTED_ATTRIBUTE, detail)
        .fixed_by(Fix::last(name, close))
}

/// Checks `replace_triggered_by`.
fn replace_triggers(infer: &mut Infer<'_>, triggers: &[ExprId]) {
    for &trigger in triggers {
        if let Some(problem) = wrong_trigger(infer.exprs, trigger) {
            infer.problems.push(problem);
            continue;
        }
        infer.expr(trigger);
        if let Some(resource) = ephemeral_root(infer.exprs, trigger) {
            let detail = format!(
                "{resource} is an ephemeral resource. It is opened anew in every run and has no \
                 changes that could trigger a replacement."
            );
            infer.problems.push(ItemProblem::new(
                trigger.into(),
                Summary::EPHEMERAL_REPLACE_TRIGGER,
                detail,
            ));
        }
    }
}

const OTHER_REFERENCE: &str = "Only resources, count.index, and each.key may be used in \
                               replace_triggered_by. To react to another value, keep it in a \
                               terraform_data resource and name that.";

/// The error for a trigger that does not reference a resource or a part of one; only their changes can trigger a
/// replacement.
fn wrong_trigger(exprs: &Exprs, trigger: ExprId) -> Option<ItemProblem> {
    let wrong = |at: ExprId, summary: Summary, detail: &str| {
        Some(ItemProblem::new(at.into(), summary, detail))
    };
    let references = references_in(exprs, trigger);
    for &(at, reference) in &references {
        match reference {
            Ref::Resource(_) | Ref::EachKey | Ref::CountIndex => {}
            Ref::EachValue => {
                let summary = Summary::REPLACE_TRIGGER_EACH;
                let detail = "Only each.key may be used in replace_triggered_by: it names the same \
                              instance of another resource.";
                return wrong(at, summary, detail);
            }
            _ => return wrong(at, Summary::REPLACE_TRIGGER_REFERENCE, OTHER_REFERENCE),
        }
    }
    let resources = references.iter().filter(|(_, it)| matches!(it, Ref::Resource(_))).count();
    match resources {
        0 if matches!(exprs[trigger], Expr::Missing) => None,
        0 => {
            let detail = "Missing resource reference in replace_triggered_by expression. An entry \
                          names a managed resource, one of its instances or one of its attributes.";
            wrong(trigger, Summary::REPLACE_TRIGGER_EXPRESSION, detail)
        }
        1 => match unreadable_step(exprs, trigger) {
            None => None,
            Some(at) if at == trigger => {
                let detail = "Unexpected expression found in replace_triggered_by. An entry names \
                              a managed resource, one of its instances or one of its attributes, \
                              and is not calculated.";
                wrong(at, Summary::REPLACE_TRIGGER_EXPRESSION, detail)
            }
            Some(at) => {
                let detail = "A single static variable reference is required: only attribute \
                              access and indexing with constant keys, each.key or count.index. No \
                              calculations, function calls, template expressions, etc are allowed here.";
                wrong(at, Summary::REPLACE_TRIGGER_NO_REFERENCE, detail)
            }
        },
        _ => {
            let detail = "Multiple resource references in replace_triggered_by expression. Write an entry for each.";
            wrong(trigger, Summary::REPLACE_TRIGGER_EXPRESSION, detail)
        }
    }
}

fn references_in(exprs: &Exprs, root: ExprId) -> Vec<(ExprId, &Ref)> {
    let (mut open, mut found) = (vec![root], Vec::new());
    while let Some(expr) = open.pop() {
        exprs[expr].for_each_child(&mut |child| open.push(child));
        if let Expr::Ref(reference) = &exprs[expr] {
            found.push((expr, reference));
        }
    }
    sorted::sort_by_key(&mut found, |(expr, _)| *expr);
    found
}

/// The first part of a trigger that is no step to a resource: the trigger itself, or a key that is computed. `None`
/// if there is none.
fn unreadable_step(exprs: &Exprs, trigger: ExprId) -> Option<ExprId> {
    let is_key = |key: ExprId| {
        matches!(
            &exprs[key],
            Expr::Literal(_) | Expr::Missing | Expr::Ref(Ref::EachKey | Ref::CountIndex)
        )
    };
    let (mut at, mut wrong_key) = (trigger, None);
    loop {
        at = match &exprs[at] {
            Expr::GetAttr { base, .. } => *base,
            Expr::Index { base, key } => {
                wrong_key = (!is_key(*key)).then_some(*key).or(wrong_key);
                *base
            }
            Expr::Ref(_) => return wrong_key,
            _ => return Some(trigger),
        };
    }
}

fn ephemeral_root(exprs: &Exprs, mut at: ExprId) -> Option<addr::Resource> {
    loop {
        match &exprs[at] {
            Expr::GetAttr { base, .. } | Expr::Index { base, .. } => at = *base,
            Expr::Ref(Ref::Resource(resource)) if resource.mode == ResourceMode::Ephemeral => {
                return Some((**resource).clone());
            }
            _ => return None,
        }
    }
}

/// Reports expressions that are not allowed in a destroy-time provisioner, and removes other problems at them.
fn destroy_references(infer: &mut Infer<'_>, item: &Item, env: &ItemEnv<'_>) {
    for refused in destroy_time::refused(item, &|it| env.needs_configuration(it)) {
        let at = At::from(refused.expr);
        infer.problems.retain(|it| it.at != at);
        infer.problems.push(ItemProblem::new(
            at,
            Summary::INVALID_DESTROY_REFERENCE,
            refused.detail,
        ));
    }
}
