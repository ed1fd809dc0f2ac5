//! The configuration of a plan: each block with its expressions as constants or as lists of their references.
//!
//! Literals appear as written, even in a write-only attribute, because they are in the source anyway. Defaults of
//! ephemeral variables are omitted.

pub(crate) mod expression;
pub(crate) mod providers;

use std::sync::Arc;

use hir::{
    Entry, ExprId, ModuleId, Program,
    item::{DependsOn, Item, ModuleCall, Output, Provisioner, RefTarget, Repetition, Resource},
};
use serde_json::{Map, Value as Json};
use values::{Str, Type, Value};

use crate::{
    Schemas, json,
    plan::configuration::{
        expression::Expressions,
        providers::{Configurations, Place},
    },
};

/// The defaults of the root module's variables, without those of ephemeral variables.
pub(super) fn defaults(program: &Program) -> Vec<(Str, Value)> {
    let variables = program.root().variables.iter().filter(|(_, it)| !it.variable().ephemeral);
    variables.filter_map(|(name, entry)| Some((name.clone(), default(entry)?))).collect()
}

fn default(entry: &Entry) -> Option<Value> {
    let variable = entry.variable();
    let value = hir::eval::constant(&entry.item.exprs, variable.default?);
    if value.has_errors() {
        return None;
    }
    hir::eval::apply_type(&variable.ty, value.value).ok()
}

/// The document.
pub(super) fn configuration(program: &Program, schemas: Schemas<'_>) -> Json {
    document(Place::root(program, schemas))
}

/// The document for one module, as if it were the root module.
pub(super) fn single_module(program: &Program, calls: &[Arc<Item>]) -> Json {
    document(Place::single(program, calls))
}

fn document(root: Place<'_>) -> Json {
    let configurations = Configurations::of(&root);
    let root = root.with_inherited(&configurations);
    json::object([
        ("provider_config", some(configurations.json())),
        ("root_module", Some(module(&root))),
    ])
}

fn some(fields: Map<String, Json>) -> Option<Json> {
    (!fields.is_empty()).then_some(Json::Object(fields))
}

fn module(place: &Place<'_>) -> Json {
    let module = place.module();
    let outputs = module.outputs.iter().map(|(name, it)| (name.to_string(), output(place, it)));
    let mut resources: Vec<_> =
        module.resources.iter().map(|(address, it)| (address, resource(place, it))).collect();
    // Managed resources come first, as in OpenTofu.
    sorted::sort_by(&mut resources, |(a, _), (b, _)| {
        (b.mode, a.to_string()).cmp(&(a.mode, b.to_string()))
    });
    let resources: Vec<Json> = resources.into_iter().map(|(_, it)| it).collect();
    let calls = match place.single_calls() {
        Some(calls) => calls.iter().filter_map(|it| declared_call(it)).collect(),
        None => {
            let calls = module.calls.iter();
            calls.map(|(name, (entry, id))| (name.to_string(), call(place, entry, *id))).collect()
        }
    };
    let variables = module.variables.iter().map(|(name, it)| (name.to_string(), variable(it)));
    json::object([
        ("outputs", some(outputs.collect())),
        ("resources", (!resources.is_empty()).then_some(Json::Array(resources))),
        ("module_calls", some(calls)),
        ("variables", some(variables.collect())),
    ])
}

fn variable(entry: &Entry) -> Json {
    let variable = entry.variable();
    let default = if variable.ephemeral { None } else { default(entry) };
    // A variable without a type constraint has the type `any`, which is omitted.
    let is_typed = variable.ty.ty != Type::Dynamic;
    json::object([
        ("type", is_typed.then(|| json::of_type(&variable.ty.ty))),
        ("default", default.as_ref().and_then(json::known)),
        ("required", flag(variable.default.is_none())),
        ("description", variable.description.as_deref().map(Json::from)),
        ("sensitive", flag(variable.sensitive)),
        ("ephemeral", flag(variable.ephemeral)),
        ("deprecated", variable.deprecated.as_deref().map(Json::from)),
    ])
}

fn output(place: &Place<'_>, entry: &Entry) -> Json {
    let output: &Output = entry.output();
    let expressions = Expressions::of(entry);
    json::object([
        ("sensitive", flag(output.sensitive)),
        ("ephemeral", flag(output.ephemeral)),
        ("deprecated", output.deprecated.as_deref().map(Json::from)),
        (
            "expression",
            place.unless_single(|| {
                Some(output.value.map_or_else(nothing, |it| expressions.json(it)))
            }),
        ),
        ("depends_on", depends_on(&output.depends_on)),
        ("description", output.description.as_deref().map(Json::from)),
    ])
}

fn resource(place: &Place<'_>, entry: &Entry) -> Json {
    let resource: &Resource = entry.resource();
    let address = &resource.resource;
    let expressions = Expressions::of(entry);
    let provisioners: Vec<Json> =
        resource.provisioners.iter().map(|it| provisioner(place, &expressions, it)).collect();
    let schema = place.schema(resource);
    let body = || some(expressions.body(&resource.body, schema.as_ref().map(|it| it.block())));
    let (count, for_each) = repetition(place, &expressions, resource.repetition);
    json::object([
        ("address", Some(address.to_string().into())),
        ("mode", Some(json::mode(address.mode).into())),
        ("type", Some(address.type_name.as_str().into())),
        ("name", Some(address.name.as_str().into())),
        ("provider_config_key", Some(place.provider_key(resource).into())),
        ("provisioners", (!provisioners.is_empty()).then_some(Json::Array(provisioners))),
        ("expressions", place.unless_single(body)),
        (
            "schema_version",
            place.unless_single(|| Some(schema.as_ref().map_or(0, |it| it.version()).into())),
        ),
        ("count_expression", count),
        ("for_each_expression", for_each),
        ("depends_on", depends_on(&resource.depends_on)),
    ])
}

fn provisioner(
    place: &Place<'_>,
    expressions: &Expressions<'_>,
    provisioner: &Provisioner,
) -> Json {
    json::object([
        ("type", Some((&*provisioner.kind).into())),
        ("expressions", place.unless_single(|| some(expressions.body(&provisioner.body, None)))),
    ])
}

fn call(place: &Place<'_>, entry: &Entry, id: ModuleId) -> Json {
    let call: &ModuleCall = entry.module_call();
    let expressions = Expressions::of(entry);
    let inputs = call.inputs.iter().map(|it| (it.name.to_string(), expressions.json(it.value)));
    let (count, for_each) = repetition(place, &expressions, call.repetition);
    let (source, version) =
        (place.module().source_of(&call.name, entry), place.module().version_of(&call.name, entry));
    json::object([
        ("source", Some(source).filter(|it| !it.is_empty()).map(Json::from)),
        ("expressions", some(inputs.collect())),
        ("count_expression", count),
        ("for_each_expression", for_each),
        ("module", place.inside(entry, id).map(|it| module(&it))),
        ("version_constraint", version.map(|it| Json::from(&*it))),
        ("depends_on", depends_on(&call.depends_on)),
    ])
}

/// A call of a module that is shown alone.
fn declared_call(item: &Item) -> Option<(String, Json)> {
    let call = item.kind.as_module_call()?;
    let text = |expr: ExprId| {
        let constant = hir::eval::constant(&item.exprs, expr);
        json::known(&constant.value).filter(|it| !constant.has_errors() && it.is_string())
    };
    let source = call.source.as_deref().map(Json::from);
    let json = json::object([
        ("source", source.or_else(|| call.source_expr.and_then(text))),
        ("version_constraint", call.version.and_then(text)),
        ("depends_on", depends_on(&call.depends_on)),
    ]);
    Some((call.name.to_string(), json))
}

fn repetition(
    place: &Place<'_>,
    expressions: &Expressions<'_>,
    repetition: Repetition,
) -> (Option<Json>, Option<Json>) {
    let known = |expr| {
        let json = place.unless_single(|| Some(expressions.json(expr)));
        json.filter(|it| it.as_object().is_some_and(|it| !it.is_empty()))
    };
    match repetition {
        Repetition::Count(expr) => (known(expr), None),
        Repetition::ForEach(expr) => (None, known(expr)),
        Repetition::Single | Repetition::Enabled(_) => (None, None),
    }
}

fn depends_on(entries: &[DependsOn]) -> Option<Json> {
    let entries: Vec<Json> = entries.iter().map(|it| target(&it.target).into()).collect();
    (!entries.is_empty()).then_some(Json::Array(entries))
}

fn target(target: &RefTarget) -> String {
    match target {
        RefTarget::Variable(name) => format!("var.{name}"),
        RefTarget::Local(name) => format!("local.{name}"),
        RefTarget::Resource(resource) => resource.to_string(),
        RefTarget::ModuleOutput(call, output) => format!("module.{call}.{output}"),
        RefTarget::Module(call) => format!("module.{call}"),
        RefTarget::Ambient(reference) => reference.to_string(),
    }
}

fn nothing() -> Json {
    Json::Object(Map::new())
}

fn flag(flag: bool) -> Option<Json> {
    flag.then_some(Json::Bool(true))
}
