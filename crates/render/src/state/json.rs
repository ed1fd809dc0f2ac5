//! A state as JSON (`show -json`), and the tree of modules, which plans show too.

use addr::{InstanceKey, ModuleInstance, ProviderSource, ResourceInstance};
use serde_json::{Map, Value as Json, json};
use sorted::TreeMap;
use state::{Attributes, CheckKind, CheckResult, InstanceEntry, Object, State, Status};
use values::{Type, Value};

use crate::{Schemas, json};

/// The version of the format.
const FORMAT_VERSION: &str = "1.0";

/// The inputs of a state's JSON document.
#[derive(Clone, Copy)]
pub struct StateJson<'a> {
    /// The state. `None` if there is none.
    pub state: Option<&'a State>,
    /// The version that the state file records.
    pub written_by: &'a str,
    /// The schemas of its providers.
    pub schemas: Schemas<'a>,
}

/// The document of `show -json`. Sensitive values are in clear text, as the format defines; `sensitive_values`
/// marks them.
pub fn state_json(inputs: &StateJson<'_>) -> String {
    json::compact(&document(inputs))
}

pub(crate) fn document(inputs: &StateJson<'_>) -> Json {
    let Some(state) = inputs.state else { return json!({"format_version": FORMAT_VERSION}) };
    let checks = (!state.checks.is_empty()).then(|| checks(&state.checks));
    json::object([
        ("format_version", Some(FORMAT_VERSION.into())),
        ("terraform_version", Some(inputs.written_by.into())),
        ("values", Some(values(state, inputs.schemas))),
        ("checks", checks),
    ])
}

fn values(state: &State, schemas: Schemas<'_>) -> Json {
    let outputs: Map<String, Json> = state
        .outputs
        .iter()
        .map(|(name, output)| {
            let described = json::object([
                ("sensitive", Some(output.sensitive.into())),
                ("value", json::known(&output.value)),
                ("type", Some(json::of_type(&output.value.ty()))),
                ("deprecated", output.deprecated.clone().map(Json::String)),
            ]);
            (name.to_string(), described)
        })
        .collect();
    let mut resources: Vec<(ModuleInstance, Json)> = Vec::new();
    for InstanceEntry { address, resource, instance } in state.instances() {
        let provider = &resource.provider.source;
        let objects = instance.current.iter().map(|it| (it, None));
        let deposed = instance.deposed.iter().map(|(key, it)| (it, Some(key.as_str())));
        for (object, deposed) in objects.chain(deposed) {
            resources.push((
                address.module.clone(),
                of_object(&address, provider, object, deposed, schemas),
            ));
        }
    }
    json::object([
        ("outputs", (!outputs.is_empty()).then_some(Json::Object(outputs))),
        ("root_module", Some(tree(resources))),
    ])
}

/// Arranges objects, sorted by address, as a tree of modules.
pub(crate) fn tree(resources: Vec<(ModuleInstance, Json)>) -> Json {
    let mut modules: TreeMap<ModuleInstance, Vec<Json>> = TreeMap::new();
    modules.entry(ModuleInstance::root()).or_default();
    for (module, resource) in resources {
        let mut parent = module.parent();
        modules.entry(module).or_default().push(resource);
        // A module without objects of its own appears if a child module has some.
        while let Some(module) = parent.filter(|it| !modules.contains_key(it)) {
            parent = module.parent();
            modules.insert(module, Vec::new());
        }
    }
    // Addresses sort children after their parents, so the tree is built from the last module.
    let mut children: TreeMap<ModuleInstance, Vec<Json>> = TreeMap::new();
    while let Some((module, resources)) = modules.pop_last() {
        let mut inside = children.remove(&module).unwrap_or_default();
        inside.reverse();
        let address = (!module.is_root()).then(|| module.to_string().into());
        let node = json::object([
            ("resources", (!resources.is_empty()).then_some(Json::Array(resources))),
            ("address", address),
            ("child_modules", (!inside.is_empty()).then_some(Json::Array(inside))),
        ]);
        match module.parent() {
            Some(parent) => children.entry(parent).or_default().push(node),
            None => return node,
        }
    }
    Json::Object(Map::new())
}

/// The fields of every object: the parts of its address.
pub(crate) fn instance_fields(
    address: &ResourceInstance,
    provider: &ProviderSource,
) -> Map<String, Json> {
    let resource = &address.resource;
    let mut fields = Map::new();
    fields.insert("address".into(), address.to_string().into());
    fields.insert("mode".into(), json::mode(address.resource.mode).into());
    fields.insert("type".into(), resource.type_name.as_str().into());
    fields.insert("name".into(), resource.name.as_str().into());
    match &address.key {
        InstanceKey::None => {}
        InstanceKey::Int(index) => drop(fields.insert("index".into(), (*index).into())),
        InstanceKey::String(text) => drop(fields.insert("index".into(), text.as_str().into())),
    }
    fields.insert("provider_name".into(), provider.to_string().into());
    fields
}

fn of_object(
    address: &ResourceInstance,
    provider: &ProviderSource,
    object: &Object,
    deposed: Option<&str>,
    schemas: Schemas<'_>,
) -> Json {
    let mut fields = instance_fields(address, provider);
    let (values, sensitive) = match decoded(address, provider, object, schemas) {
        Some(value) => (json::known(&value).unwrap_or_default(), json::sensitive_flags(&value)),
        None => (attributes(&object.attributes), json!({})),
    };
    fields.insert("schema_version".into(), object.schema_version.into());
    fields.insert("values".into(), values);
    fields.insert("sensitive_values".into(), sensitive);
    if !object.dependencies.is_empty() {
        fields.insert(
            "depends_on".into(),
            object.dependencies.iter().map(ToString::to_string).collect(),
        );
    }
    if object.status == Status::Tainted {
        fields.insert("tainted".into(), true.into());
    }
    if let Some(key) = deposed {
        fields.insert("deposed_key".into(), key.into());
    }
    Json::Object(fields)
}

/// The value of an object, decoded by its schema and marked where the state or the schema says that it is
/// sensitive. Removes write-only values that an older version of the provider left in the state. `None` if there
/// is no schema or the object does not match it.
pub(crate) fn decoded(
    address: &ResourceInstance,
    provider: &ProviderSource,
    object: &Object,
    schemas: Schemas<'_>,
) -> Option<Value> {
    let schema = schemas(provider)?.of_mode(address.resource.mode, &address.resource.type_name)?;
    let value = object.decode(schema.implied_type()).ok()?;
    let value = provider::null_write_only(&value, schema.block());
    Some(provider::mark_by_schema(&value, schema.block()))
}

/// The attributes of an object without a schema.
fn attributes(attributes: &Attributes) -> Json {
    match attributes {
        Attributes::Json(text) => serde_json::from_str(text).unwrap_or(Json::Null),
        Attributes::Flat(map) => {
            map.iter().map(|(key, it)| (key.to_string(), Json::from(&**it))).collect()
        }
    }
}

/// An object without a schema as a value of the types that its JSON implies.
pub(crate) fn undecoded(object: &Object) -> Value {
    match &object.attributes {
        Attributes::Json(text) => {
            values::json::decode_implied(text.as_bytes()).unwrap_or(Value::null(Type::Dynamic))
        }
        Attributes::Flat(map) => {
            Value::object_from(map.iter().map(|(key, it)| (key, Value::string(it.clone()))))
        }
    }
}

/// The results of conditions.
pub(crate) fn checks(results: &[CheckResult]) -> Json {
    let mut results: Vec<_> = results.iter().collect();
    sorted::sort_by(&mut results, |a, b| a.config_addr.cmp(&b.config_addr));
    results.into_iter().map(check).collect()
}

fn check(result: &CheckResult) -> Json {
    let instances: Vec<Json> = result
        .objects
        .iter()
        .map(|object| {
            let problems: Vec<Json> =
                object.failure_messages.iter().map(|it| json!({"message": it})).collect();
            let address = checked_object(result.kind, &object.addr);
            json::object([
                ("address", Some(address)),
                ("status", Some(object.status.as_str().into())),
                ("problems", (!problems.is_empty()).then_some(Json::Array(problems))),
            ])
        })
        .collect();
    json::object([
        ("address", Some(check_address(result))),
        ("status", Some(result.status.as_str().into())),
        ("instances", (!instances.is_empty()).then_some(Json::Array(instances))),
    ])
}

/// The address of a checked object: its module instance, its key if it is a resource instance, and its text.
fn checked_object(kind: CheckKind, text: &str) -> Json {
    let resource = addr::parse_resource_instance(text).ok().filter(|_| kind == CheckKind::Resource);
    let key = resource.as_ref().and_then(|it| match &it.key {
        InstanceKey::None => None,
        InstanceKey::Int(index) => Some(Json::from(*index)),
        InstanceKey::String(key) => Some(key.as_str().into()),
    });
    let module = match &resource {
        Some(it) => (!it.module.is_root()).then(|| it.module.to_string()),
        None => split_module(text).0.map(str::to_owned),
    };
    json::object([
        ("instance_key", key),
        ("module", module.map(Json::from)),
        ("to_display", Some(text.into())),
    ])
}

/// Splits the address of a variable, an output or a check block, such as `module.m.output.name`, into the module
/// and the name.
fn split_module(text: &str) -> (Option<&str>, &str) {
    let (rest, name) = text.rsplit_once('.').unwrap_or(("", text));
    (rest.rsplit_once('.').map(|(module, _)| module), name)
}

fn check_address(result: &CheckResult) -> Json {
    let text = result.config_addr.as_str();
    if let (CheckKind::Resource, Ok(address)) = (result.kind, addr::parse_config_resource(text)) {
        return json::object([
            ("kind", Some("resource".into())),
            (
                "mode",
                Some(address.resource.mode.noun().split(' ').next().unwrap_or_default().into()),
            ),
            ("module", (!address.module.is_root()).then(|| address.module.to_string().into())),
            ("name", Some(address.resource.name.as_str().into())),
            ("to_display", Some(text.into())),
            ("type", Some(address.resource.type_name.as_str().into())),
        ]);
    }
    let kind = match result.kind {
        CheckKind::Resource => "resource",
        CheckKind::Output => "output_value",
        CheckKind::Check => "check",
        CheckKind::Variable => "var",
    };
    let (module, name) = split_module(text);
    json::object([
        ("kind", Some(kind.into())),
        ("module", module.map(Json::from)),
        ("name", Some(name.into())),
        ("to_display", Some(text.into())),
    ])
}
