//! Providers that somebody else runs, such as a debugger: `TF_REATTACH_PROVIDERS`.

use std::collections::BTreeMap;

use addr::ProviderSource;
use serde_json::{Map, Value as Json};

use crate::{
    handshake::{Address, HandshakeError},
    protocol::ProtocolVersion,
};

/// Where a provider listens that is not ours to start or to end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reattach {
    pub protocol: ProtocolVersion,
    pub address: Address,
    /// Its process, for messages only.
    pub process: i64,
}

/// What is wrong with `TF_REATTACH_PROVIDERS`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("Invalid format for TF_REATTACH_PROVIDERS: {0}")]
pub struct ReattachError(String);

/// Reads the value of `TF_REATTACH_PROVIDERS`; an empty one names no provider.
///
/// # Errors
/// Text that is no JSON object of this kind, a key that is no provider address, an unknown protocol version or
/// address type.
pub fn parse_reattach(text: &str) -> Result<BTreeMap<ProviderSource, Reattach>, ReattachError> {
    if text.is_empty() {
        return Ok(BTreeMap::new());
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

/// A field of a JSON object whatever the case of its name, as Go's decoder finds it.
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
    fn providers_are_found_by_source_address() {
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
    fn faults_are_named() {
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
