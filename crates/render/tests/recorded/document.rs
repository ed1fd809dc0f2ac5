//! Reads `show -json` back into the models from which it was written.

use std::sync::Arc;

use addr::{ProviderConfigRef, ProviderSource, ResourceInstance};
use serde_json::Value as Json;
use sorted::TreeMap;
use state::{
    Action, BackendRecord, Change, DeposedKey, Importing, Object, OutputChange, OutputValue, Plan,
    PlanMode, Reason, RelevantAttribute, ResourceChange, State, StateIdentity, Status,
};
use values::{Mark, Path, Str, Type, Value};

use crate::{AllSchemas, schema::type_of};

pub(crate) fn plan(json: &Json, schemas: &AllSchemas) -> Plan {
    let changes = |name: &str| {
        let changes = json[name].as_array().into_iter().flatten();
        changes.map(|it| Arc::new(resource_change(it, schemas))).collect()
    };
    let outputs = json["output_changes"].as_object().into_iter().flatten();
    Plan {
        id: "3b9c".to_owned(),
        timestamp: text(json, "timestamp"),
        made_by: "a test".to_owned(),
        mode: PlanMode::Normal,
        is_applyable: true,
        has_errors: json["errored"].as_bool().unwrap_or(false),
        variables: TreeMap::new(),
        ephemeral_variables: Default::default(),
        resource_changes: changes("resource_changes"),
        resource_drift: changes("resource_drift"),
        ephemerals: Vec::new(),
        output_changes: outputs
            .map(|(name, it)| (Str::from(name.as_str()), output_change(it)))
            .collect(),
        checks: Vec::new(),
        relevant_attributes: relevant_attributes(json),
        targets: Vec::new(),
        excludes: Vec::new(),
        force_replace: Vec::new(),
        backend: BackendRecord {
            type_name: "local".to_owned(),
            config: Value::empty_object(),
            workspace: "default".to_owned(),
        },
        prior_state: StateIdentity::default(),
        root_dir: ".".to_owned(),
        data_dir: ".terraform".to_owned(),
        files: state::PlannedFiles::default(),
    }
}

pub(crate) fn state(json: &Json, schemas: &AllSchemas) -> State {
    let mut state = State::default();
    let values = &json["values"];
    for (name, output) in values["outputs"].as_object().into_iter().flatten() {
        let sensitive = output["sensitive"].as_bool().unwrap_or(false);
        let value = value(&output["value"], &Json::Null, &Json::Null, &type_of(&output["type"]));
        state
            .outputs
            .insert(Str::from(name.as_str()), OutputValue { value, sensitive, deprecated: None });
    }
    push_module(&values["root_module"], schemas, &mut state);
    state
}

fn push_module(json: &Json, schemas: &AllSchemas, state: &mut State) {
    for resource in json["resources"].as_array().into_iter().flatten() {
        let address = instance(&text(resource, "address"));
        let (provider, ty) = typed(resource, &address, schemas);
        let value = value(&resource["values"], &Json::Null, &resource["sensitive_values"], &ty);
        let mut object = Object::encode("an object", 0, &value, &ty).expect("a recorded object");
        if resource["tainted"] == true {
            object = object.with_status(Status::Tainted);
        }
        match resource["deposed_key"].as_str().and_then(DeposedKey::parse) {
            Some(key) => state.set_deposed(&address, key, &provider, object.into()),
            None => state.set_current(&address, &provider, object.into()),
        }
    }
    for child in json["child_modules"].as_array().into_iter().flatten() {
        push_module(child, schemas, state);
    }
}

fn typed(
    json: &Json,
    address: &ResourceInstance,
    schemas: &AllSchemas,
) -> (ProviderConfigRef, Type) {
    let source = ProviderSource::parse(&text(json, "provider_name")).expect("a source");
    let resource = &address.resource;
    let schema = schemas.get(&source).and_then(|it| it.of_mode(resource.mode, &resource.type_name));
    let ty = schema.expect("the recorded schema").implied_type().clone();
    (ProviderConfigRef::default_in(addr::ModulePath::root(), source), ty)
}

fn resource_change(json: &Json, schemas: &AllSchemas) -> ResourceChange {
    let addr = instance(&text(json, "address"));
    let (provider, ty) = typed(json, &addr, schemas);
    let change = &json["change"];
    let paths = change["replace_paths"].as_array().into_iter().flatten();
    ResourceChange {
        previous_addr: json["previous_address"].as_str().map(|it| Box::new(instance(it))),
        deposed: json["deposed"].as_str().and_then(DeposedKey::parse),
        provider: provider.into(),
        change: Change {
            action: action(&change["actions"]),
            before: value(&change["before"], &Json::Null, &change["before_sensitive"], &ty),
            after: value(
                &change["after"],
                &change["after_unknown"],
                &change["after_sensitive"],
                &ty,
            ),
            importing: change["importing"]["id"]
                .as_str()
                .map(|id| Box::new(Importing::Id(id.to_owned()))),
            generated_config: text(change, "generated_config"),
            before_identity: None,
            after_identity: None,
        },
        private: [].into(),
        required_replace: paths.map(path).collect(),
        reason: json["action_reason"].as_str().and_then(reason),
        addr,
    }
}

fn output_change(json: &Json) -> OutputChange {
    OutputChange {
        action: action(&json["actions"]),
        before: value(&json["before"], &Json::Null, &Json::Null, &Type::Dynamic),
        after: value(&json["after"], &json["after_unknown"], &Json::Null, &Type::Dynamic),
        sensitive: json["after_sensitive"] == true || json["before_sensitive"] == true,
    }
}

fn relevant_attributes(json: &Json) -> Vec<RelevantAttribute> {
    let listed = json["relevant_attributes"].as_array().into_iter().flatten();
    let read = |it: &Json| {
        let resource = instance(&text(it, "resource"));
        RelevantAttribute { resource, attribute: path(&it["attribute"]) }
    };
    listed.map(read).collect()
}

fn path(json: &Json) -> Path {
    let steps = json.as_array().into_iter().flatten();
    steps.fold(Path::root(), |path, step| match (step.as_str(), step.as_i64()) {
        // The format does not distinguish attributes from keys.
        (Some(name), _) => path.attr(name),
        (_, Some(index)) => path.index(Value::int(index)),
        _ => path,
    })
}

fn instance(text: &str) -> ResourceInstance {
    addr::parse_resource_instance(text).expect("an address")
}

fn text(json: &Json, name: &str) -> String {
    json[name].as_str().unwrap_or_default().to_owned()
}

fn action(words: &Json) -> Action {
    let words: Vec<&str> =
        words.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let all = [
        Action::NoOp,
        Action::Create,
        Action::Read,
        Action::Update,
        Action::Delete,
        Action::DeleteThenCreate,
        Action::CreateThenDelete,
        Action::Forget,
        Action::ForgetThenCreate,
    ];
    all.into_iter().find(|it| it.json_words() == words).expect("an action")
}

fn reason(word: &str) -> Option<Reason> {
    let all = [
        Reason::ReplaceBecauseTainted,
        Reason::ReplaceByRequest,
        Reason::ReplaceBecauseCannotUpdate,
        Reason::ReplaceByTriggers,
        Reason::DeleteBecauseNoResourceConfig,
        Reason::DeleteBecauseWrongRepetition,
        Reason::DeleteBecauseCountIndex,
        Reason::DeleteBecauseEachKey,
        Reason::DeleteBecauseNoModule,
        Reason::DeleteBecauseNoMoveTarget,
        Reason::ReadBecauseConfigUnknown,
        Reason::ReadBecauseDependencyPending,
        Reason::ReadBecauseCheckNested,
    ];
    all.into_iter().find(|it| it.as_str() == word)
}

/// A value of a type, from its JSON and the flags next to it.
fn value(json: &Json, unknown: &Json, sensitive: &Json, ty: &Type) -> Value {
    let value = match (unknown, ty) {
        (Json::Bool(true), _) => Value::unknown(ty.clone()),
        (_, Type::Dynamic) => dynamic(json, unknown, sensitive),
        _ if json.is_null() => Value::null(ty.clone()),
        _ => container(json, unknown, sensitive, ty),
    };
    match sensitive {
        Json::Bool(true) => value.with_mark(Mark::Sensitive),
        _ => value,
    }
}

fn container(json: &Json, unknown: &Json, sensitive: &Json, ty: &Type) -> Value {
    let items = |element: &dyn Fn(usize) -> Type| -> Vec<Value> {
        let items = json.as_array().into_iter().flatten().enumerate();
        items.map(|(i, it)| value(it, &unknown[i], &sensitive[i], &element(i))).collect()
    };
    match ty {
        Type::List(element) => Value::list(Type::clone(element), items(&|_| Type::clone(element))),
        Type::Set(element) => Value::set(Type::clone(element), items(&|_| Type::clone(element))),
        Type::Tuple(types) => Value::tuple(items(&|i| types[i].clone())),
        Type::Map(element) => {
            let entry = |key: &str| value(&json[key], &unknown[key], &sensitive[key], element);
            let entries = keys(json, unknown).into_iter().map(|key| (Str::from(key), entry(key)));
            Value::map(Type::clone(element), entries.collect())
        }
        Type::Object(object) => Value::object_from(object.iter().map(|(name, ty)| {
            (name, value(&json[&**name], &unknown[&**name], &sensitive[&**name], ty))
        })),
        _ => values::json::decode(json.to_string().as_bytes(), ty).expect("a recorded value"),
    }
}

fn keys<'a>(json: &'a Json, unknown: &'a Json) -> Vec<&'a str> {
    let keys = |it: &'a Json| it.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let mut all: Vec<&str> = keys(json).chain(keys(unknown)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn dynamic(json: &Json, unknown: &Json, sensitive: &Json) -> Value {
    let ty = Type::Dynamic;
    match json {
        Json::Array(items) => {
            let items = items.iter().enumerate();
            Value::tuple(items.map(|(i, it)| value(it, &unknown[i], &sensitive[i], &ty)).collect())
        }
        Json::Object(_) => Value::object_from(
            keys(json, unknown)
                .into_iter()
                .map(|key| (key, value(&json[key], &unknown[key], &sensitive[key], &ty))),
        ),
        _ => values::json::decode_implied(json.to_string().as_bytes()).expect("a recorded value"),
    }
}
