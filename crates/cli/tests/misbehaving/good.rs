//! A well-behaved provider: its schemas and answers. The misbehaving ways deviate from it.

use values::{Kind, Str, Type, Value, json, msgpack};

use crate::wire::{Message, field};

/// The token that the ephemeral resource returns.
pub(crate) const TOKEN: &str = "the-t0ken-of-the-day";

/// A received call.
pub(crate) struct Call<'a> {
    /// The name of the RPC in protocol 6.
    pub(crate) method: &'a str,
    pub(crate) request: &'a [u8],
}

impl Call<'_> {
    /// The name of the object that the call is about.
    pub(crate) fn name(&self) -> String {
        let config = match self.method {
            "PlanResourceChange" => [4, 2],
            "ApplyResourceChange" => [4, 2],
            _ => [2, 2],
        };
        let name = |it: u64| {
            let value = self.value(it, &thing());
            value.get_attr("name").and_then(|it| it.as_str().map(str::to_owned))
        };
        config.into_iter().find_map(name).unwrap_or_default()
    }

    /// A value in the request. Null if it is missing or has another type.
    pub(crate) fn value(&self, number: u64, ty: &Type) -> Value {
        let bytes = field(field(self.request, number), 1);
        msgpack::decode(bytes, ty).unwrap_or_else(|_| Value::null(ty.clone()))
    }
}

pub(crate) fn thing() -> Type {
    Type::object([
        ("id", Type::String),
        ("name", Type::String),
        ("note", Type::String),
        ("size", Type::Number),
        ("secret", Type::String),
    ])
}

pub(crate) fn data() -> Type {
    Type::object([
        ("name", Type::String),
        ("number", Type::Number),
        ("map", Type::map(Type::String)),
        ("any", Type::Dynamic),
    ])
}

pub(crate) fn token() -> Type {
    Type::object([("name", Type::String), ("value", Type::String)])
}

pub(crate) fn provisioner() -> Type {
    Type::object([("text", Type::String)])
}

pub(crate) fn identity() -> Type {
    Type::object([("name", Type::String)])
}

/// `value` with some attributes replaced.
pub(crate) fn with(value: &Value, changes: &[(&str, Value)]) -> Value {
    let mut attributes = value.as_map().cloned().unwrap_or_default();
    attributes.extend(changes.iter().map(|(name, value)| (Str::from(*name), value.clone())));
    Value::object(attributes)
}

/// A `DynamicValue` message.
pub(crate) fn dynamic(value: &Value, ty: &Type) -> Message {
    raw(&msgpack::encode(value, ty).expect("the value is of the type"))
}

/// A `DynamicValue` message with these bytes.
pub(crate) fn raw(msgpack: &[u8]) -> Message {
    Message::new().bytes(1, msgpack)
}

pub(crate) const REQUIRED: u64 = 4;
pub(crate) const OPTIONAL: u64 = 5;
pub(crate) const COMPUTED: u64 = 6;
pub(crate) const SENSITIVE: u64 = 7;
pub(crate) const WRITE_ONLY: u64 = 11;
const OLD_WRITE_ONLY: u64 = 10;

pub(crate) fn attribute(name: &str, ty: &str, flags: &[u64]) -> Message {
    let message = Message::new().text(1, name).text(2, ty);
    flags.iter().fold(message, |message, flag| message.number(*flag, 1))
}

pub(crate) fn block(attributes: &[Message]) -> Message {
    attributes.iter().fold(Message::new(), |block, it| block.message(2, it))
}

pub(crate) fn schema(block: &Message) -> Message {
    Message::new().message(2, block)
}

/// The schemas in protocol 5, which has another field for write-only attributes.
pub(crate) fn old_schemas() -> Message {
    let mut attributes = thing_attributes();
    attributes[4] = attribute("secret", "\"string\"", &[OPTIONAL, OLD_WRITE_ONLY]);
    schemas(&schema(&block(&attributes)))
}

pub(crate) fn thing_attributes() -> Vec<Message> {
    vec![
        attribute("id", "\"string\"", &[COMPUTED]),
        attribute("name", "\"string\"", &[REQUIRED]),
        attribute("note", "\"string\"", &[OPTIONAL, COMPUTED]),
        attribute("size", "\"number\"", &[OPTIONAL]),
        attribute("secret", "\"string\"", &[OPTIONAL, WRITE_ONLY]),
    ]
}

/// The schemas, with `thing` as the schema of the managed resource type.
pub(crate) fn schemas(thing: &Message) -> Message {
    schemas_with(&[OPTIONAL], thing)
}

/// Like [`schemas`], with these flags on the argument of the provider configuration.
pub(crate) fn schemas_with(token: &[u64], thing: &Message) -> Message {
    let provider = block(&[attribute("token", "\"string\"", token)]);
    let data = block(&[
        attribute("name", "\"string\"", &[REQUIRED]),
        attribute("number", "\"number\"", &[COMPUTED]),
        attribute("map", "[\"map\",\"string\"]", &[COMPUTED]),
        attribute("any", "\"dynamic\"", &[COMPUTED]),
    ]);
    let token = block(&[
        attribute("name", "\"string\"", &[REQUIRED]),
        attribute("value", "\"string\"", &[COMPUTED, SENSITIVE]),
    ]);
    Message::new()
        .message(1, &schema(&provider))
        .entry(2, "bad_thing", thing)
        .entry(3, "bad_data", &schema(&data))
        .entry(7, "shout", &function("\"string\""))
        .entry(8, "bad_token", &schema(&token))
}

pub(crate) fn function(returns: &str) -> Message {
    let parameter = Message::new().text(1, "text").text(2, "\"string\"");
    Message::new().message(1, &parameter).message(3, &Message::new().text(1, returns))
}

pub(crate) fn diagnostic(severity: u64, summary: &str, detail: &str) -> Message {
    Message::new().number(1, severity).text(2, summary).text(3, detail)
}

fn identity_of(value: &Value) -> Message {
    match value.get_attr("name") {
        Some(name) if !value.is_null() => {
            let value = Value::object_from([("name", name)]);
            Message::new().message(1, &dynamic(&value, &identity()))
        }
        _ => Message::new(),
    }
}

/// The answer of a well-behaved provider. `None` for an unknown call.
pub(crate) fn answer(call: &Call<'_>) -> Option<Message> {
    let nothing = Message::new();
    Some(match call.method {
        "GetProviderSchema" => schemas(&schema(&block(&thing_attributes()))),
        "GetResourceIdentitySchemas" => {
            let name = Message::new().text(1, "name").text(2, "\"string\"").number(3, 1);
            nothing.entry(1, "bad_thing", &Message::new().number(1, 1).message(2, &name))
        }
        "UpgradeResourceState" => {
            let state = json::decode(field(field(call.request, 3), 1), &thing());
            nothing.message(1, &dynamic(&state.expect("a state of ours"), &thing()))
        }
        "ReadResource" => {
            let state = call.value(2, &thing());
            nothing
                .message(1, &dynamic(&state, &thing()))
                .bytes(3, field(call.request, 3))
                .message(5, &identity_of(&state))
        }
        "PlanResourceChange" => planned(call),
        "ApplyResourceChange" => applied(call),
        "ImportResourceState" => nothing.message(1, &imported()),
        "MoveResourceState" => {
            let moved = with(&empty(&thing()), &[("name", Value::string("moved"))]);
            nothing.message(1, &dynamic(&moved, &thing())).message(4, &identity_of(&moved))
        }
        "UpgradeResourceIdentity" => {
            let named = Value::object_from([("name", Value::string("upgraded"))]);
            nothing.message(1, &identity_of(&named))
        }
        "ReadDataSource" => {
            let read = with(&call.value(2, &data()), &[("number", Value::int(1))]);
            nothing.message(1, &dynamic(&read, &data()))
        }
        "OpenEphemeralResource" => {
            let opened = with(&call.value(2, &token()), &[("value", Value::string(TOKEN))]);
            nothing.message(3, &dynamic(&opened, &token())).bytes(4, b"the-lease-of-it")
        }
        "RenewEphemeralResource" => nothing.bytes(3, b"the-lease-of-it"),
        "CallFunction" => nothing.message(1, &dynamic(&Value::string("HEY"), &Type::String)),
        "GetProvisionerSchema" => {
            let text = attribute("text", "\"string\"", &[OPTIONAL]);
            nothing.message(1, &schema(&block(&[text])))
        }
        "ProvisionResource" => nothing.text(1, "provisioned with hunter2"),
        "ValidateProviderConfig"
        | "ValidateProvisionerConfig"
        | "StopProvisioner"
        | "ValidateResourceConfig"
        | "ValidateDataResourceConfig"
        | "ValidateEphemeralResourceConfig"
        | "ConfigureProvider"
        | "CloseEphemeralResource"
        | "GetFunctions"
        | "StopProvider" => nothing,
        _ => return None,
    })
}

/// The object that a well-behaved provider imports.
pub(crate) fn imported() -> Message {
    let state = with(&empty(&thing()), &[("name", Value::string("there"))]);
    Message::new().text(1, "bad_thing").message(2, &dynamic(&state, &thing()))
}

/// An object whose attributes are all null.
pub(crate) fn empty(ty: &Type) -> Value {
    let Type::Object(object) = ty else { return Value::null(ty.clone()) };
    let null = |(name, ty): (&Str, &Type)| (name.clone(), Value::null(ty.clone()));
    Value::object(object.iter().map(null).collect())
}

/// The object that a well-behaved provider plans.
pub(crate) fn planned_state(call: &Call<'_>) -> Value {
    let proposed = call.value(3, &thing());
    if proposed.is_null() {
        return proposed;
    }
    let mut changes = vec![("secret", Value::null(Type::String))];
    if call.value(2, &thing()).is_null() {
        changes.push(("id", Value::unknown(Type::String)));
    }
    if proposed.get_attr("note").is_some_and(|it| it.is_null()) {
        changes.push(("note", Value::unknown(Type::String)));
    }
    with(&proposed, &changes)
}

fn planned(call: &Call<'_>) -> Message {
    let state = planned_state(call);
    Message::new()
        .message(1, &dynamic(&state, &thing()))
        .bytes(3, b"{}")
        .message(7, &identity_of(&state))
}

/// The object that a well-behaved provider creates.
pub(crate) fn made(call: &Call<'_>) -> Value {
    let planned = call.value(3, &thing());
    if planned.is_null() {
        return planned;
    }
    let made = |it: &Value, text: String| match it.kind() {
        Kind::Unknown(_) => Value::string(text),
        _ => it.clone(),
    };
    let part = |name: &str| planned.get_attr(name).unwrap_or_else(|| Value::null(Type::String));
    let id = made(&part("id"), format!("id-{}", call.name()));
    with(&planned, &[("id", id), ("note", made(&part("note"), "made".to_owned()))])
}

fn applied(call: &Call<'_>) -> Message {
    let state = made(call);
    Message::new()
        .message(1, &dynamic(&state, &thing()))
        .bytes(2, field(call.request, 5))
        .message(5, &identity_of(&state))
}
