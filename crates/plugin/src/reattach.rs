//! Parses `TF_REATTACH_PROVIDERS`, which names providers that another program runs, such as a debugger.

use addr::ProviderSource;
use serde_json::{Map, Value as Json};
use sorted::TreeMap;

use crate::{
    handshake::{Address, HandshakeError},
    protocol::ProtocolVersion,
};

/// The address of a provider that this process neither starts nor ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reattach {
    /// The version of the plugin protocol that the provider serves.
    pub protocol: ProtocolVersion,
    /// The address on which the provider listens.
    pub address: Address,
    /// The id of its process, for messages only.
    pub process: i64,
}

/// An error in `TF_REATTACH_PROVIDERS`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("Invalid format for TF_REATTACH_PROVIDERS: {0}")]
pub struct ReattachError(String);

/// Parses the value of `TF_REATTACH_PROVIDERS`. An empty value gives no providers.
///
/// # Errors
/// If the text is not a JSON object of the expected form, a key is not a provider address, or the protocol version
/// or address type is unknown.
pub fn parse_reattach(text: &str) -> Result<TreeMap<ProviderSource, Reattach>, ReattachError> {
    if text.is_empty() {
        return Ok(TreeMap::new());
    }
    let object: Map<String, Json> =
        serde_json::from_str(text).map_err(|error| ReattachError(error.to_string()))?;
    let entry = |(key, value): (String, Json)| {
        let source = ProviderSource::parse(&key)
            .map_err(|error| ReattachError(format!("{key:?}: {error}")))?;
        let config = config(&value).map_err(|error| ReattachError(format!("{key:?}: {error}")))?;
        Ok((source, config))
    };
    object.into_iter().map(entry).collect()
}

fn config(value: &Json) -> Result<Reattach, String> {
    let kind = field(value, "Protocol").and_then(Json::as_str).unwrap_or("grpc");
    if kind != "grpc" {
        return Err(HandshakeError::Protocol(kind.to_owned()).to_string());
    }
    let protocol = match field(value, "ProtocolVersion").and_then(Json::as_i64).unwrap_or(0) {
        0 | 5 => ProtocolVersion::V5,
        6 => ProtocolVersion::V6,
        other => return Err(format!("unsupported protocol version {other}")),
    };
    let text = |key| {
        let address = field(value, "Addr").and_then(|it| field(it, key)).and_then(Json::as_str);
        address.ok_or_else(|| format!("\"Addr\" has no {key:?}"))
    };
    let address =
        Address::parse(text("Network")?, text("String")?).map_err(|error| match error {
            HandshakeError::Network(network) => format!("Unknown address type {network:?}"),
            other => other.to_string(),
        })?;
    let process = field(value, "Pid").and_then(Json::as_i64).unwrap_or(0);
    Ok(Reattach { protocol, address, process })
}

/// Returns a field of a JSON object. The case of its name is ignored, as in Go's decoder.
fn field<'a>(value: &'a Json, name: &str) -> Option<&'a Json> {
    value
        .as_object()?
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let shown = match parse_reattach(text) {
            Ok(map) => map.iter().map(|(source, it)| format!("{source}: {it:?}\n")).collect(),
            Err(error) => format!("{error}\n"),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn reattach_entries_are_keyed_by_source_address() {
        check(
            r#"{"registry.terraform.io/hashicorp/random":{"Protocol":"grpc","ProtocolVersion":6,"Pid":33,"Test":true,
                "Addr":{"Network":"unix","String":"/tmp/plugin7"}},
               "foo/bar":{"addr":{"network":"tcp","string":"127.0.0.1:7"}}}"#,
            expect![[r#"
                registry.opentofu.org/foo/bar: Reattach { protocol: V5, address: Tcp(127.0.0.1:7), process: 0 }
                registry.terraform.io/hashicorp/random: Reattach { protocol: V6, address: Unix("/tmp/plugin7"), process: 33 }
            "#]],
        );
        check("", expect![[""]]);
    }

    #[test]
    fn invalid_reattach_values_are_errors() {
        check(
            "[]",
            expect![[r#"
            Invalid format for TF_REATTACH_PROVIDERS: invalid type: sequence, expected a map at line 1 column 0
        "#]],
        );
        check(
            r#"{"a/b":{"Addr":{"Network":"pipe","String":"x"}}}"#,
            expect![[r#"
            Invalid format for TF_REATTACH_PROVIDERS: "a/b": Unknown address type "pipe"
        "#]],
        );
        check(
            r#"{"a/b":{"ProtocolVersion":4}}"#,
            expect![[r#"
            Invalid format for TF_REATTACH_PROVIDERS: "a/b": unsupported protocol version 4
        "#]],
        );
        check(
            r#"{"a/b":{}}"#,
            expect![[r#"
            Invalid format for TF_REATTACH_PROVIDERS: "a/b": "Addr" has no "Network"
        "#]],
        );
    }
}
