//! A plan as JSON (`show -json`).

use std::sync::Arc;

use addr::{ModuleInstance, ResourceMode};
use hir::{Program, item::Item};
use serde_json::{Map, Value as Json, json};
use state::{Action, Change, Importing, OutputChange, Plan, ResourceChange, State};
use values::{Path, Step, Value};

use crate::{
    json,
    plan::{configuration, view::PlanView},
    state::json::{StateJson, checks, document, instance_fields, tree},
};

/// The version of the format.
const FORMAT_VERSION: &str = "1.2";

/// The inputs of a plan's JSON document.
#[derive(Clone, Copy)]
pub struct PlanJson<'a> {
    /// The plan and the schemas.
    pub view: PlanView<'a>,
    /// The prior state, after refresh.
    pub prior_state: Option<&'a State>,
    /// The configuration of the plan, for the field `configuration` and for defaults of variables.
    pub program: Option<&'a Program>,
}

/// The document of `show -json` for a plan.
///
/// Sensitive values are in clear text, as the format defines; `before_sensitive` and `after_sensitive` mark them.
/// Ephemeral resources and the values of ephemeral variables are omitted.
pub fn plan_json(inputs: &PlanJson<'_>) -> String {
    json::compact(&plan_document(inputs))
}

pub(crate) fn plan_document(inputs: &PlanJson<'_>) -> Json {
    let plan = inputs.view.plan;
    let has_content = |it: &&State| it.resources().len() > 0 || !it.outputs.is_empty();
    let prior_state = inputs.prior_state.filter(has_content).map(|state| {
        let mut document = document(&StateJson {
            state: Some(state),
            written_by: ::state::WRITTEN_VERSION,
            schemas: inputs.view.schemas,
        });
        // The results of conditions are in the plan's own field `checks`.
        drop(document.as_object_mut().and_then(|it| it.shift_remove("checks")));
        document
    });
    let array = |items: Vec<Json>| (!items.is_empty()).then_some(Json::Array(items));
    let object = |items: Map<String, Json>| (!items.is_empty()).then_some(Json::Object(items));
    json::object([
        ("format_version", Some(FORMAT_VERSION.into())),
        ("terraform_version", Some(::state::WRITTEN_VERSION.into())),
        ("variables", object(variables(inputs))),
        ("planned_values", Some(planned_values(inputs))),
        ("resource_drift", array(changes(inputs, &plan.resource_drift))),
        ("resource_changes", array(changes(inputs, &plan.resource_changes))),
        ("output_changes", object(output_changes(plan))),
        ("prior_state", prior_state),
        (
            "configuration",
            inputs.program.map(|it| configuration::configuration(it, inputs.view.schemas)),
        ),
        ("relevant_attributes", array(relevant_attributes(plan))),
        ("checks", (!plan.checks.is_empty()).then(|| checks(&plan.checks))),
        ("timestamp", Some(plan.timestamp.as_str().into())),
        ("applyable", Some(plan.is_applyable.into())),
        ("complete", Some((plan.targets.is_empty() && plan.excludes.is_empty()).into())),
        ("errored", Some(plan.has_errors.into())),
    ])
}

/// The values of variables, including defaults of variables without a value. Ephemeral variables are omitted.
/// The document of `show -config -json`.
pub fn configuration_json(program: &Program, schemas: crate::Schemas<'_>) -> String {
    json::compact(&configuration::configuration(program, schemas))
}

/// The declarations of the root module as a JSON document, without expressions, which need schemas, and without the
/// contents of called modules. `calls` are its module calls.
pub fn module_json(program: &Program, calls: &[Arc<Item>]) -> String {
    json::compact(&configuration::single_module(program, calls))
}

fn variables(inputs: &PlanJson<'_>) -> Map<String, Json> {
    let plan = inputs.view.plan;
    let mut variables: Vec<(String, Json)> = Vec::new();
    for (name, value) in &plan.variables {
        variables.push((name.to_string(), json!({"value": json::known(value)})));
    }
    for (name, value) in inputs.program.into_iter().flat_map(configuration::defaults) {
        if !plan.variables.contains_key(&name) && !plan.ephemeral_variables.contains(&name) {
            variables.push((name.to_string(), json!({"value": json::known(&value)})));
        }
    }
    sorted::sort_by(&mut variables, |a, b| a.0.cmp(&b.0));
    variables.into_iter().collect()
}

/// The changes that a plan lists, by address.
fn sorted(changes: &[Arc<ResourceChange>]) -> Vec<&ResourceChange> {
    let listed = changes.iter().map(Arc::as_ref);
    let listed = listed.filter(|it| it.addr.resource.mode != ResourceMode::Ephemeral);
    let mut listed: Vec<&ResourceChange> = listed.collect();
    sorted::sort_by(&mut listed, |a, b| a.compare_addresses(b));
    listed
}

fn planned_values(inputs: &PlanJson<'_>) -> Json {
    let plan = inputs.view.plan;
    let outputs: Map<String, Json> = plan
        .output_changes
        .iter()
        .filter(|(_, it)| it.action != Action::Delete)
        .map(|(name, it)| (name.to_string(), planned_output(it)))
        .collect();
    let mut resources: Vec<(ModuleInstance, Json)> = Vec::new();
    for change in sorted(&plan.resource_changes) {
        // OpenTofu lists forgotten objects, without values.
        let stays = change.change.action != Action::Delete && change.deposed.is_none();
        if stays {
            resources.push((change.addr.module.clone(), planned_resource(inputs, change)));
        }
    }
    json::object([
        ("outputs", (!outputs.is_empty()).then_some(Json::Object(outputs))),
        ("root_module", Some(tree(resources))),
    ])
}

fn planned_output(change: &OutputChange) -> Json {
    let value = change.after.is_wholly_known().then(|| json::known(&change.after)).flatten();
    // OpenTofu's plan files have one value for both sides of an unchanged output, the old one.
    let ty = match change.action {
        Action::NoOp => change.before.ty(),
        _ => change.after.ty(),
    };
    json::object([
        ("sensitive", Some(change.sensitive.into())),
        ("type", value.is_some().then(|| json::of_type(&ty))),
        ("value", value),
    ])
}

fn planned_resource(inputs: &PlanJson<'_>, change: &ResourceChange) -> Json {
    let (_, after) = marked(inputs, change);
    let mut fields = instance_fields(&change.addr, &change.provider.source);
    let schema = schema(inputs, change);
    fields.insert("schema_version".into(), schema.map_or(0, |it| it.version()).into());
    let values = json::known(&after).unwrap_or_default();
    let is_empty = values.as_object().is_some_and(Map::is_empty) || values.is_null();
    if !is_empty {
        fields.insert("values".into(), values);
    }
    fields.insert("sensitive_values".into(), json::sensitive_flags(&after));
    Json::Object(fields)
}

fn schema(inputs: &PlanJson<'_>, change: &ResourceChange) -> Option<Arc<provider::Schema>> {
    let resource = &change.addr.resource;
    (inputs.view.schemas)(&change.provider.source)?.of_mode(resource.mode, &resource.type_name)
}

/// The old and the new value, with the marks of the schema added to their own.
fn marked(inputs: &PlanJson<'_>, change: &ResourceChange) -> (Value, Value) {
    let Change { before, after, .. } = &change.change;
    match schema(inputs, change) {
        Some(schema) => {
            let mark = |it: &Value| provider::mark_by_schema(it, schema.block());
            (mark(before), mark(after))
        }
        None => (before.clone(), after.clone()),
    }
}

fn changes(inputs: &PlanJson<'_>, changes: &[Arc<ResourceChange>]) -> Vec<Json> {
    sorted(changes).into_iter().map(|it| resource_change(inputs, it)).collect()
}

fn resource_change(inputs: &PlanJson<'_>, change: &ResourceChange) -> Json {
    let mut fields = Map::new();
    for (name, value) in instance_fields(&change.addr, &change.provider.source) {
        let is_first = name == "address";
        fields.insert(name, value);
        if is_first {
            let previous = change.previous_addr.as_deref().filter(|it| **it != change.addr);
            let module = Some(&change.addr.module).filter(|it| !it.is_root());
            fields
                .extend(previous.map(|it| ("previous_address".to_owned(), it.to_string().into())));
            fields.extend(module.map(|it| ("module_address".to_owned(), it.to_string().into())));
        }
    }
    if let Some(key) = change.deposed {
        fields.insert("deposed".into(), key.as_str().into());
    }
    fields.insert("change".into(), change_fields(inputs, change));
    if let Some(reason) = change.reason {
        fields.insert("action_reason".into(), reason.as_str().into());
    }
    Json::Object(fields)
}

fn change_fields(inputs: &PlanJson<'_>, change: &ResourceChange) -> Json {
    let (before, after) = marked(inputs, change);
    let details = &change.change;
    let unknown = if after.is_wholly_known() { json!({}) } else { json::unknown_flags(&after) };
    let replace: Vec<Json> = change.required_replace.iter().map(path).collect();
    json::object([
        ("actions", Some(json!(details.action.json_words()))),
        ("before", json::known(&before)),
        ("after", json::known(&after)),
        ("after_unknown", Some(unknown)),
        ("before_sensitive", Some(json::sensitive_flags(&before))),
        ("after_sensitive", Some(json::sensitive_flags(&after))),
        ("replace_paths", (!replace.is_empty()).then_some(Json::Array(replace))),
        ("importing", details.importing.as_deref().map(importing)),
        (
            "generated_config",
            Some(details.generated_config.as_str()).filter(|it| !it.is_empty()).map(Json::from),
        ),
        ("before_identity", details.before_identity.as_ref().and_then(json::known)),
        ("after_identity", details.after_identity.as_ref().and_then(json::known)),
    ])
}

fn importing(importing: &Importing) -> Json {
    match importing {
        Importing::Id(id) => json!({"id": id}),
        Importing::Identity(identity) => json!({"identity": json::known(identity)}),
    }
}

fn path(path: &Path) -> Json {
    path.steps()
        .iter()
        .map(|step| match step {
            Step::Attr(name) => Json::from(&**name),
            Step::Index(key) => json::known(key).unwrap_or_default(),
        })
        .collect()
}

fn output_changes(plan: &Plan) -> Map<String, Json> {
    let listed = plan.output_changes.iter().map(|(name, it)| (name.to_string(), output_change(it)));
    listed.collect()
}

fn output_change(change: &OutputChange) -> Json {
    let before = match change.action {
        Action::Create => Json::Null,
        _ => json::known(&change.before).unwrap_or_default(),
    };
    let unknown = match change.after.is_wholly_known() {
        true => Json::Bool(false),
        false => json::unknown_flags(&change.after),
    };
    json::object([
        ("actions", Some(json!(change.action.json_words()))),
        ("before", Some(before)),
        ("after", json::known(&change.after)),
        ("after_unknown", Some(unknown)),
        ("before_sensitive", Some(change.sensitive.into())),
        ("after_sensitive", Some(change.sensitive.into())),
    ])
}

fn relevant_attributes(plan: &Plan) -> Vec<Json> {
    let listed = plan.relevant_attributes.iter();
    listed
        .map(|it| json!({"resource": it.resource.to_string(), "attribute": path(&it.attribute)}))
        .collect()
}

#[cfg(test)]
mod tests {
    use values::Type;

    use super::*;

    #[test]
    fn type_of_a_planned_null_is_that_of_the_value_which_the_plan_file_has() {
        let null = |ty| Value::null(ty);
        let cases = [
            (Action::Update, "x".into(), null(Type::String), "string"),
            (Action::Update, "x".into(), null(Type::Dynamic), "dynamic"),
            (Action::NoOp, null(Type::Dynamic), null(Type::String), "dynamic"),
            (Action::NoOp, "x".into(), "x".into(), "string"),
        ];
        for (action, before, after, expected) in cases {
            let change = OutputChange { action, before, after, sensitive: false };
            assert_eq!(planned_output(&change)["type"], expected, "{change:?}");
        }
    }
}
