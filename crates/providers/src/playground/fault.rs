//! Faults that a configuration can request, to test how a core handles them.
//!
//! ```hcl
//! fault = { on = "open", kind = "hang", after = 1 }
//! ```
//!
//! A fault as JSON in `PLAYGROUND_FAULT` applies to all objects, or to those that its `type` and `name` select.

use mayfly_sdk::{
    AttributeValue, Choice, Diagnostic, Model, Object, Part, Type, Unknowns, Value,
    schema::Attribute,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The calls that a fault can apply to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Choice, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCall {
    /// All calls.
    Any,
    /// The request for the schemas.
    Schema,
    /// The validation of a configuration.
    Validate,
    /// The configuration of the provider.
    Configure,
    /// The upgrade of a stored state.
    Upgrade,
    /// The refresh of a managed object.
    Read,
    /// The plan of a managed object.
    Plan,
    /// The create, update or delete of a managed object.
    Apply,
    /// The create of a managed object.
    Create,
    /// The update of a managed object.
    Update,
    /// The delete of a managed object.
    Delete,
    /// The import of a managed object.
    Import,
    /// The read of a data source.
    ReadData,
    /// The opening of an ephemeral resource.
    Open,
    /// The renewal of an ephemeral resource.
    Renew,
    /// The close of an ephemeral resource.
    Close,
}

/// The kind of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Choice, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The call returns an error.
    Fail,
    /// The call never returns.
    Hang,
    /// The call waits until the core asks to stop and then returns an error.
    Wait,
    /// The process ends at once.
    Die,
    /// The call is delayed.
    Slow,
    /// The code of the call panics.
    Panic,
    /// The answer differs from the configuration or the plan.
    Inconsistent,
    /// The answer has an unknown value.
    Unknown,
    /// The answer is null.
    Null,
    /// The answer has a value for a write-only attribute.
    WriteOnly,
    /// The answer does not have the schema's type.
    WrongType,
    /// The answer requests the next renewal in the past.
    Past,
}

/// A fault to provoke, for trying out what a core does about it.
#[derive(Clone, PartialEq, Eq, Debug, Model, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The call that the fault applies to.
    pub on: FaultCall,
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The number of such calls for the same object that succeed first. The ledger counts them across processes.
    #[attribute(between(0, 1_000_000))]
    pub after: Option<u32>,
    /// True if the fault happens after the work of the call is done.
    pub late: Option<bool>,
    /// The delay in milliseconds of the kind `slow`, by default 1000.
    #[attribute(between(0, 3_600_000))]
    pub ms: Option<u64>,
}

impl Fault {
    /// The fault that an object requests. `None` if its `fault` is null or not known well enough.
    pub(super) fn of(object: &Value) -> Option<Fault> {
        let requested = Object::new(object.clone()).field("fault", Unknowns::Absent);
        requested.ok().and_then(|RequestedFault(fault)| fault)
    }

    /// Returns true if the fault applies to a call of this name.
    pub(super) fn is_on(&self, rpc: &str) -> bool {
        match self.on {
            FaultCall::Any => true,
            FaultCall::Apply => matches!(rpc, "create" | "update" | "delete"),
            call => call.text() == rpc,
        }
    }

    /// The number of calls that succeed first.
    pub(super) fn calls_before(&self) -> usize {
        self.after.and_then(|it| it.try_into().ok()).unwrap_or(0)
    }

    /// Returns true if the fault happens after the work of the call is done.
    pub(super) fn is_late(&self) -> bool {
        self.late == Some(true)
    }

    /// The delay in milliseconds for [`FaultKind::Slow`].
    pub(super) fn delay(&self) -> u64 {
        self.ms.unwrap_or(1000)
    }
}

/// The attribute `fault` of a configuration that may be unknown in parts. A fault without a known call and kind counts
/// as not set.
pub(super) struct RequestedFault(pub(super) Option<Fault>);

impl AttributeValue for RequestedFault {
    const HAS_NULL: bool = true;
    const HAS_UNKNOWN: bool = true;

    fn attribute() -> Attribute {
        Fault::attribute()
    }

    fn ty() -> Type {
        <Fault as AttributeValue>::ty()
    }

    fn decode(part: &Part<'_>) -> Result<RequestedFault, Diagnostic> {
        let lenient =
            Part { value: part.value, path: part.path.clone(), unknowns: Unknowns::Absent };
        match <Option<Fault> as AttributeValue>::decode(&lenient) {
            Err(_) if !part.value.is_wholly_known() => Ok(RequestedFault(None)),
            decoded => decoded.map(RequestedFault),
        }
    }

    fn encode(&self) -> Value {
        AttributeValue::encode(&self.0)
    }
}

/// The fault in the environment variable, which applies to the selected objects.
pub(super) struct EnvironmentFault {
    fault: Fault,
    /// The selected type. Empty for all types.
    type_name: String,
    /// The name of the selected objects. Empty for all objects.
    name: String,
}

impl EnvironmentFault {
    /// Parses the text of the environment variable.
    pub(super) fn parse(text: &str) -> Result<EnvironmentFault, serde_json::Error> {
        let mut members: serde_json::Map<String, Json> = serde_json::from_str(text)?;
        let mut selection =
            |name| members.remove(name).map_or(Ok(String::new()), serde_json::from_value);
        let (type_name, name) = (selection("type")?, selection("name")?);
        Ok(EnvironmentFault { fault: serde_json::from_value(members.into())?, type_name, name })
    }

    /// The fault for an object. `None` if the object is not selected.
    pub(super) fn for_object(&self, type_name: &str, name: &str) -> Option<&Fault> {
        let selected = |wanted: &str, given: &str| wanted.is_empty() || wanted == given;
        let is_selected = selected(&self.type_name, type_name) && selected(&self.name, name);
        is_selected.then_some(&self.fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Fault {
        let parsed = EnvironmentFault::parse(text).expect("parses");
        parsed.fault
    }

    #[test]
    fn every_listed_fault_is_parsed() {
        for kind in FaultKind::TEXTS {
            let parsed = fault(&format!("{{\"on\":\"open\",\"kind\":{kind:?}}}"));
            assert_eq!(parsed.kind.text(), *kind);
        }
        for on in FaultCall::TEXTS {
            let parsed = fault(&format!("{{\"on\":{on:?},\"kind\":\"fail\"}}"));
            assert_eq!(parsed.on.text(), *on);
        }
        for wrong in
            ["{\"on\":\"open\",\"kind\":\"other\"}", "{\"on\":\"open\"}", "[]", "{\"type\":1}"]
        {
            assert!(EnvironmentFault::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn fault_applies_to_the_named_calls() {
        let apply = fault(r#"{"on":"apply","kind":"fail"}"#);
        assert!(apply.is_on("create") && apply.is_on("delete") && !apply.is_on("read"));
        assert!(fault(r#"{"on":"any","kind":"fail"}"#).is_on("close"));
        assert!(!fault(r#"{"on":"read","kind":"fail"}"#).is_on("read_data"));
    }

    #[test]
    fn fault_of_the_environment_selects_objects() {
        let parse = |text: &str| EnvironmentFault::parse(text).expect("parses");
        let of_type = parse(r#"{"on":"any","kind":"fail","type":"playground_secret"}"#);
        assert!(of_type.for_object("playground_secret", "a").is_some());
        assert!(of_type.for_object("playground_vault", "a").is_none());
        let named = parse(r#"{"on":"any","kind":"fail","name":"a"}"#);
        assert!(named.for_object("t", "a").is_some() && named.for_object("t", "b").is_none());
    }

    #[test]
    fn fault_without_a_known_call_counts_as_not_set() {
        let object = |on: Value, after: Value| {
            let fault = [
                ("on", on),
                ("kind", Value::string("fail")),
                ("after", after),
                ("late", Value::null(Type::Bool)),
                ("ms", Value::null(Type::Number)),
            ];
            Value::object_from([("fault", Value::object_from(fault))])
        };
        let unknown = Value::unknown;
        assert!(Fault::of(&object(unknown(Type::String), Value::int(0))).is_none());
        let found = Fault::of(&object(Value::string("plan"), unknown(Type::Number)));
        assert_eq!(found.map(|it| it.calls_before()), Some(0));
        assert!(Fault::of(&Value::object_from([("name", Value::string("n"))])).is_none());
    }
}
