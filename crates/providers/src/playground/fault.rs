//! Faults that a configuration can request, to test how a core handles them.
//!
//! ```hcl
//! fault = { on = "open", kind = "hang", after = 1 }
//! ```
//!
//! A fault as JSON in `PLAYGROUND_FAULT` applies to all objects, or to those that its `type` and `name` select.

use provider::ObjectNesting;
use serde::{Deserialize, Serialize};
use values::Value;

use mayfly_sdk::{
    Object,
    schema::{Attribute, boolean, nested, number, string},
    validate::{OneOf, WholeBetween},
};

/// The calls that a fault can apply to. `apply` stands for create, update and delete; `any` for all calls.
pub(super) const CALLS: &[&str] = &[
    "any",
    "schema",
    "validate",
    "configure",
    "upgrade",
    "read",
    "plan",
    "apply",
    "create",
    "update",
    "delete",
    "import",
    "read_data",
    "open",
    "renew",
    "close",
];

const KINDS: &[&str] = &[
    "fail",
    "hang",
    "wait",
    "die",
    "slow",
    "panic",
    "inconsistent",
    "unknown",
    "null",
    "write_only",
    "wrong_type",
    "past",
];

/// The kind of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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

/// A requested fault.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The call that the fault applies to, see [`CALLS`].
    pub on: String,
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The number of such calls for the same object that succeed first. The ledger counts them across processes.
    #[serde(default)]
    pub after: u32,
    /// True if the fault happens after the work of the call is done.
    #[serde(default)]
    pub late: bool,
    /// The delay in milliseconds for [`FaultKind::Slow`].
    #[serde(default = "default_delay")]
    pub ms: u64,
    /// Only in the environment variable: the type that the fault applies to. Empty for all types.
    #[serde(default, rename = "type", skip_serializing_if = "String::is_empty")]
    pub type_name: String,
    /// Only in the environment variable: the object that the fault applies to. Empty for all objects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

const fn default_delay() -> u64 {
    1000
}

impl Fault {
    /// The attribute that requests a fault.
    pub(super) fn attribute() -> Attribute {
        nested(
            ObjectNesting::Single,
            [
                ("on", string().required().validator(OneOf(CALLS))),
                ("kind", string().required().validator(OneOf(KINDS))),
                ("after", number().optional().validator(WholeBetween(0, 1_000_000))),
                ("late", boolean().optional()),
                ("ms", number().optional().validator(WholeBetween(0, 3_600_000))),
            ],
        )
        .optional()
        .description("A fault to provoke, for trying out what a core does about it.")
    }

    /// The fault that an object requests. `None` if its `fault` is null or unknown.
    pub(super) fn of(object: &Value) -> Option<Fault> {
        let fault = Object::new(object.clone()).object("fault")?;
        let whole = |name| fault.int(name).ok().flatten();
        Some(Fault {
            on: fault.string("on")?.to_string(),
            kind: serde_json::from_value(fault.string("kind")?.to_string().into()).ok()?,
            after: whole("after").and_then(|it| u32::try_from(it).ok()).unwrap_or(0),
            late: fault.bool("late").unwrap_or(false),
            ms: whole("ms").and_then(|it| u64::try_from(it).ok()).unwrap_or(default_delay()),
            type_name: String::new(),
            name: String::new(),
        })
    }

    /// The fault that the environment variable requests.
    pub(super) fn of_environment(text: &str) -> Option<Fault> {
        serde_json::from_str(text).ok()
    }

    /// Returns true if the fault applies to a call of this name for this object.
    pub(super) fn is_on(&self, rpc: &str, type_name: &str, name: &str) -> bool {
        let on = match self.on.as_str() {
            "any" => true,
            "apply" => matches!(rpc, "create" | "update" | "delete"),
            on => on == rpc,
        };
        let chosen = |wanted: &str, given: &str| wanted.is_empty() || wanted == given;
        on && chosen(&self.type_name, type_name) && chosen(&self.name, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_fault_kind_is_parsed() {
        for kind in KINDS {
            let text = format!("{{\"on\":\"open\",\"kind\":{kind:?}}}");
            assert!(Fault::of_environment(&text).is_some(), "{kind}");
        }
        assert!(Fault::of_environment("{\"on\":\"open\",\"kind\":\"other\"}").is_none());
    }

    #[test]
    fn fault_applies_to_the_named_calls() {
        let fault = |text: &str| Fault::of_environment(text).expect("parses");
        let apply = fault(r#"{"on":"apply","kind":"fail","type":"playground_secret"}"#);
        assert!(apply.is_on("create", "playground_secret", "a"));
        assert!(!apply.is_on("create", "playground_vault", "a"));
        assert!(!apply.is_on("read", "playground_secret", "a"));
        assert!(fault(r#"{"on":"any","kind":"fail","name":"a"}"#).is_on("close", "t", "a"));
    }
}
