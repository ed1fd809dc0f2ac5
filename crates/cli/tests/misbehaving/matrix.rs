//! Faults that the answer to every call can have, each with each call. The instruction to the plugin is the fault and
//! the call: `answers null to ReadResource`.

use crate::{
    client::Ask,
    command::Run,
    good::{self, Call, diagnostic, raw},
    serve::Reply,
    wire::Message,
};

/// The begin of a way in which the plugin speaks version 5 of the protocol.
pub(crate) const OLD: &str = "in version 5, ";

/// The name of an RPC in protocol 6, which has another name in protocol 5.
const RENAMED: &[(&str, &str)] = &[
    ("GetSchema", "GetProviderSchema"),
    ("PrepareProviderConfig", "ValidateProviderConfig"),
    ("ValidateResourceTypeConfig", "ValidateResourceConfig"),
    ("ValidateDataSourceConfig", "ValidateDataResourceConfig"),
    ("Configure", "ConfigureProvider"),
    ("Stop", "StopProvider"),
];

/// Faults below the level of messages.
const FRAMES: &[(&str, &[u8])] = &[
    ("sends no message", b""),
    ("sends no protocol buffer", b"\0\0\0\0\x03\xff\xff\xff"),
    ("claims a message of 4 GiB", b"\0\xff\xff\xff\xffabc"),
];

/// Values in MessagePack with their names.
type Values = &'static [(&'static str, &'static [u8])];

/// Values that no call may answer.
const UNREADABLE: Values = &[
    ("what cannot be read", b"\xc1"),
    ("a list of one element", b"\x91\xc3"),
    ("4 billion entries", b"\xdf\xff\xff\xff\xff"),
];

/// Values that only some calls may answer, so that the commands refuse them.
const EMPTY: Values = &[("an unknown value", b"\xd4\0\0"), ("null", b"\xc0")];

const WORDS: &str = "says a secret and escapes";
const STATUS: &str = "fails with a secret";
const AS_IDENTITY: &str = " as the identity";

/// The fields of an answer that the faults replace.
#[derive(Default)]
struct Fields {
    value: Option<u64>,
    identity: Option<u64>,
    diagnostics: Option<u64>,
}

/// The fields of the answer to an RPC of protocol 6.
fn fields(method: &str) -> Fields {
    let [value, identity, diagnostics] = match method {
        "GetProviderSchema" => [0, 0, 4],
        "GetProvisionerSchema" | "ProvisionResource" => [0, 0, 2],
        "ValidateProvisionerConfig" => [0, 0, 1],
        "GetResourceIdentitySchemas" | "ValidateProviderConfig" | "GetFunctions" => [0, 0, 2],
        "ValidateResourceConfig"
        | "ValidateDataResourceConfig"
        | "ValidateEphemeralResourceConfig"
        | "ConfigureProvider"
        | "RenewEphemeralResource"
        | "CloseEphemeralResource" => [0, 0, 1],
        "UpgradeResourceState" | "ReadDataSource" => [1, 0, 2],
        "UpgradeResourceIdentity" => [0, 1, 2],
        "ReadResource" => [1, 5, 2],
        "PlanResourceChange" => [1, 7, 4],
        "ApplyResourceChange" => [1, 5, 3],
        "MoveResourceState" => [1, 4, 2],
        // The value and the identity are in an imported object.
        "ImportResourceState" => [2, 4, 2],
        "OpenEphemeralResource" => [3, 0, 1],
        "CallFunction" => [1, 0, 0],
        _ => [0, 0, 0],
    };
    let [value, identity, diagnostics] =
        [value, identity, diagnostics].map(|it| (it != 0).then_some(it));
    Fields { value, identity, diagnostics }
}

/// The name in protocol 6 of a received RPC, or the name of an RPC of provisioners in this table.
pub(crate) fn current_name<'m>(service: &str, method: &'m str) -> &'m str {
    match (service.ends_with("Provisioner"), method) {
        (true, "GetSchema") => return Ask::ProvisionerSchema.method(),
        (true, "Stop") => return Ask::StopProvisioner.method(),
        _ => {}
    }
    RENAMED.iter().find(|(old, _)| *old == method).map_or(method, |(_, current)| current)
}

/// The calls of the plugin, with the request of the client that makes each.
fn calls() -> impl Iterator<Item = (&'static str, Ask)> {
    let identities = ("GetResourceIdentitySchemas", Ask::Schemas);
    Ask::ALL.into_iter().map(|ask| (ask.method(), ask)).chain([identities])
}

/// The faults of transport in the answer to each call.
pub(crate) fn of_transport() -> impl Iterator<Item = (String, Ask)> {
    let each =
        |(method, ask)| FRAMES.iter().map(move |(fault, _)| (format!("{fault} to {method}"), ask));
    calls().flat_map(each)
}

/// The faults of the values in the answer to each call that has some.
pub(crate) fn of_values() -> impl Iterator<Item = (String, Ask)> {
    calls().flat_map(|(method, ask)| answers(method, UNREADABLE).map(move |way| (way, ask)))
}

/// The ways to answer a call with one of these values, or with one as the identity.
fn answers(method: &'static str, values: Values) -> impl Iterator<Item = String> {
    let fields = fields(method);
    let places = [fields.value.map(|_| ""), fields.identity.map(|_| AS_IDENTITY)];
    places.into_iter().flatten().flat_map(move |place| {
        values.iter().map(move |(value, _)| format!("answers {value}{place} to {method}"))
    })
}

/// Empty values, and faults in calls that a plain configuration does not make, in commands.
pub(crate) fn of_commands() -> impl Iterator<Item = (String, Run)> {
    let plans = [
        "UpgradeResourceState",
        "UpgradeResourceIdentity",
        "MoveResourceState",
        "ReadResource",
        "ImportResourceState",
        "PlanResourceChange",
    ];
    let in_plan = plans.into_iter().flat_map(|method| answers(method, EMPTY));
    let extra = ["GetFunctions", "CallFunction", "UpgradeResourceIdentity", "MoveResourceState"];
    let faults = extra.into_iter().flat_map(|method| {
        let faults = ["dies before", "dies while", "sends no protocol buffer to"];
        faults.map(|fault| format!("{fault} {method}"))
    });
    let unreadable = ["UpgradeResourceIdentity", "MoveResourceState", "CallFunction"];
    let unreadable = unreadable.into_iter().flat_map(|method| answers(method, UNREADABLE));
    let in_apply = answers("ApplyResourceChange", EMPTY);
    let in_plan = in_plan.chain(faults).chain(unreadable);
    let in_plan = in_plan.map(|way| (way, Run::ToTheEnd("plan")));
    in_plan.chain(in_apply.map(|way| (way, Run::ToTheEnd("apply"))))
}

/// Harmful words in the answer to each call, and in the status instead of one.
pub(crate) fn of_words() -> impl Iterator<Item = (String, Ask)> {
    let each = |(method, ask)| [WORDS, STATUS].map(|fault| (format!("{fault} to {method}"), ask));
    calls().flat_map(each)
}

/// Faults in protocol 5, one above and one below the level of messages.
pub(crate) fn of_version_5() -> impl Iterator<Item = (String, Ask)> {
    calls().flat_map(|(method, ask)| {
        [format!("{OLD}dies before {method}"), format!("{OLD}sends no protocol buffer to {method}")]
            .map(|way| (way, ask))
    })
}

/// Faults in the calls of provisioners, which only protocol 5 has.
pub(crate) fn of_provisioners() -> impl Iterator<Item = (String, Ask)> {
    Ask::OF_PROVISIONERS.into_iter().flat_map(|ask| {
        let dies = ["dies before", "dies while", "dies after", "does not implement"];
        let dies = dies.map(|how| format!("{OLD}{how} {}", ask.method()));
        let frames =
            FRAMES.iter().map(move |(fault, _)| format!("{OLD}{fault} to {}", ask.method()));
        let words = [WORDS, STATUS].map(|fault| format!("{OLD}{fault} to {}", ask.method()));
        dies.into_iter().chain(frames).chain(words).map(move |way| (way, ask))
    })
}

/// The reply of a way of this table to a call. `None` if the way does not apply to the call.
pub(crate) fn reply(way: &str, call: &Call<'_>) -> Option<Reply> {
    let (fault, method) = way.rsplit_once(" to ")?;
    if method != call.method {
        return None;
    }
    if let Some((_, bytes)) = FRAMES.iter().find(|(it, _)| *it == fault) {
        return Some(Reply::Frames(bytes.to_vec(), Some(0)));
    }
    if fault == STATUS {
        return Some(Reply::Status(2, "the password is hunter2".to_owned()));
    }
    let fields = fields(method);
    if fault == WORDS {
        return Some(Reply::Message(said(call, fields.diagnostics)));
    }
    let value = fault.strip_prefix("answers ")?;
    let (value, is_identity) = match value.strip_suffix(AS_IDENTITY) {
        Some(value) => (value, true),
        None => (value, false),
    };
    let (_, bytes) = UNREADABLE.iter().chain(EMPTY).find(|(it, _)| *it == value)?;
    let (field, broken) = match is_identity {
        true => (fields.identity?, Message::new().message(1, &raw(bytes))),
        false => (fields.value?, raw(bytes)),
    };
    Some(Reply::Message(replaced(call, field, &broken)))
}

/// The good answer with another value of a field.
fn replaced(call: &Call<'_>, field: u64, value: &Message) -> Message {
    if call.method == "ImportResourceState" {
        let imported = good::imported().message(field, value);
        return Message::new().message(1, &imported);
    }
    // The last value of a field counts.
    good::answer(call).unwrap_or_default().message(field, value)
}

/// An answer with an error in which a secret and escapes are.
fn said(call: &Call<'_>, diagnostics: Option<u64>) -> Message {
    let text = "It is \x1b[2J hunter2 \x1b]0;owned\x07";
    match (call.method, diagnostics) {
        (_, Some(field)) => Message::new().message(field, &diagnostic(1, text, text)),
        ("CallFunction", None) => {
            Message::new().message(2, &Message::new().text(1, text).number(2, u64::MAX))
        }
        _ => Message::new().text(1, text),
    }
}
