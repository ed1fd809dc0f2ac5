//! Faults that a configuration can ask for, to see how a core takes them.
//!
//! ```hcl
//! fault = { on = "open", kind = "hang", after = 1 }
//! ```
//!
//! The same as JSON in `PLAYGROUND_FAULT` holds for every object, or those that its `type` and `name` choose.

use provider::ObjectNesting;
use serde::{Deserialize, Serialize};
use values::Value;

use crate::sdk::{
    Object,
    schema::{Attribute, boolean, nested, number, string},
    validate::{OneOf, WholeBetween},
};

/// The calls that a fault can be on. `apply` is create, update and delete; `any` is all.
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

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// An error is the answer.
    Fail,
    /// There is no answer, ever.
    Hang,
    /// There is no answer until the core asks to stop; then an error is.
    Wait,
    /// The process ends at once.
    Die,
    /// The answer takes a while.
    Slow,
    /// The code that should answer panics.
    Panic,
    /// The answer differs from what was configured or planned.
    Inconsistent,
    /// The answer has an unknown value.
    Unknown,
    /// The answer is null.
    Null,
    /// The answer has a value for a write-only attribute.
    WriteOnly,
    /// The answer is not of the schema's type.
    WrongType,
    /// The next renewal is said to be due in the past.
    Past,
}

/// A fault that was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// On which call, see [`CALLS`].
    pub on: String,
    /// What goes wrong.
    pub kind: FaultKind,
    /// How many such calls for the same object pass before; they are counted in the ledger, across processes.
    #[serde(default)]
    pub after: u32,
    /// Only when the work is done already.
    #[serde(default)]
    pub late: bool,
    /// For [`FaultKind::Slow`].
    #[serde(default = "default_delay")]
    pub ms: u64,
    /// In the environment only: the type that is meant; any if empty.
    #[serde(default, rename = "type", skip_serializing_if = "String::is_empty")]
    pub type_name: String,
    /// In the environment only: the object that is meant; any if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

const fn default_delay() -> u64 {
    1000
}

impl Fault {
    /// The attribute that asks for a fault.
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

    /// The fault that an object asks for, if its `fault` is there and known.
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

    /// The fault that the environment asks for.
    pub(super) fn of_environment(text: &str) -> Option<Fault> {
        serde_json::from_str(text).ok()
    }

    /// Whether the fault is on a call of this name about this object.
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
    fn every_listed_kind_is_one() {
        for kind in KINDS {
            let text = format!("{{\"on\":\"open\",\"kind\":{kind:?}}}");
            assert!(Fault::of_environment(&text).is_some(), "{kind}");
        }
        assert!(Fault::of_environment("{\"on\":\"open\",\"kind\":\"other\"}").is_none());
    }

    #[test]
    fn a_fault_is_on_the_calls_that_it_names() {
        let fault = |text: &str| Fault::of_environment(text).expect("parses");
        let apply = fault(r#"{"on":"apply","kind":"fail","type":"playground_secret"}"#);
        assert!(apply.is_on("create", "playground_secret", "a"));
        assert!(!apply.is_on("create", "playground_vault", "a"));
        assert!(!apply.is_on("read", "playground_secret", "a"));
        assert!(fault(r#"{"on":"any","kind":"fail","name":"a"}"#).is_on("close", "t", "a"));
    }
}
