//! Names for generated values: ids and random values are replaced by the address of their object and a generation.
//!
//! A replaced object gets the next generation, so the ids reveal a replacement that only one program made.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

/// Resource types with attributes whose values differ in every run.
const MADE_UP: &[(&str, &[&str])] = &[
    ("terraform_data", &["id"]),
    ("null_resource", &["id"]),
    (
        "local_file",
        &[
            "id",
            "content_base64",
            "content_base64sha256",
            "content_base64sha512",
            "content_md5",
            "content_sha1",
            "content_sha256",
            "content_sha512",
        ],
    ),
    ("random_id", &["id", "b64_std", "b64_url", "dec", "hex"]),
    ("random_pet", &["id"]),
    ("random_string", &["id", "result"]),
    ("random_uuid", &["id", "result"]),
    ("random_password", &["result", "bcrypt_hash"]),
    ("playground_secret", &["id", "arn", "secret_id", "version_id"]),
    ("playground_parameter", &["id", "arn"]),
    ("playground_database", &["id", "arn"]),
    ("time_static", &["id", "rfc3339"]),
    ("time_sleep", &["id"]),
    ("tls_private_key", KEYS),
    ("tls_public_key", KEYS),
];
const KEYS: &[&str] = &[
    "id",
    "private_key_openssh",
    "private_key_pem",
    "private_key_pem_pkcs8",
    "public_key_openssh",
    "public_key_pem",
    "public_key_fingerprint_md5",
    "public_key_fingerprint_sha256",
];
/// The minimal length of a value; shorter ones may be part of other texts.
const SHORTEST: usize = 8;

/// The name of each generated value.
#[derive(Default)]
pub(crate) struct Names {
    of_value: BTreeMap<String, String>,
    generations: BTreeMap<String, usize>,
}

impl Names {
    /// Names the values of a state file that have no name yet.
    pub(crate) fn learn(&mut self, state: &Json) {
        let resources = array(&state["resources"]).iter();
        let instances =
            resources.flat_map(|it| array(&it["instances"]).iter().map(move |each| (it, each)));
        // The instance keys may contain generated values, so instances with plain keys are named first.
        let (made_up, plain): (Vec<_>, Vec<_>) = instances.partition(|(resource, instance)| {
            let address = address(resource, instance);
            without_uuids(&address) != address
        });
        for (resource, instance) in plain.into_iter().chain(made_up) {
            let kind = resource["type"].as_str().unwrap_or_default();
            let Some((_, attributes)) = MADE_UP.iter().find(|(it, _)| *it == kind) else {
                continue;
            };
            let address = self.text(&address(resource, instance));
            for attribute in *attributes {
                let value = instance["attributes"][*attribute].as_str().unwrap_or_default();
                self.name(&address, attribute, value);
            }
        }
    }

    fn name(&mut self, address: &str, attribute: &str, value: &str) {
        if value.len() < SHORTEST || self.of_value.contains_key(value) {
            return;
        }
        let what = format!("{address}.{attribute}");
        let generation = self.generations.entry(what.clone()).or_default();
        *generation += 1;
        let name = format!("{what} {generation}");
        let upper = value.to_uppercase();
        if upper != value && without_uuids(&upper) == upper {
            self.of_value.insert(upper, format!("<{name} in upper case>"));
        }
        self.of_value.insert(value.to_owned(), format!("<{name}>"));
    }

    /// The text with values replaced by their names.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (value, name) in self.of_value.iter().rev() {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), name);
            }
        }
        without_uuids(&text)
    }

    /// The JSON with values replaced by their names, also in keys.
    pub(crate) fn json(&self, json: &Json) -> Json {
        match json {
            Json::String(text) => Json::String(self.text(text)),
            Json::Array(elements) => elements.iter().map(|it| self.json(it)).collect(),
            Json::Object(members) => {
                let named: Map<String, Json> =
                    members.iter().map(|(key, it)| (self.text(key), self.json(it))).collect();
                Json::Object(named)
            }
            other => other.clone(),
        }
    }
}

/// The elements of an array; empty for other values.
pub(crate) fn array(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

/// The address of an instance in a state file.
pub(crate) fn address(resource: &Json, instance: &Json) -> String {
    let key = match &instance["index_key"] {
        Json::Null => String::new(),
        key => format!("[{key}]"),
    };
    format!("{}{key}", resource_address(resource))
}

/// The address of a resource in a state file, with its module instance.
pub(crate) fn resource_address(resource: &Json) -> String {
    let text = |name: &str| resource[name].as_str().unwrap_or_default();
    let module = match text("module") {
        "" => String::new(),
        module => format!("{module}."),
    };
    let mode = if text("mode") == "data" { "data." } else { "" };
    format!("{module}{mode}{}.{}", text("type"), text("name"))
}

/// Replaces UUIDs that are in no state, such as those of destroyed objects.
fn without_uuids(text: &str) -> String {
    const LENGTH: usize = 36;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_uuid = rest.as_bytes().get(..LENGTH).is_some_and(|bytes| {
            bytes.iter().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => *byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
        });
        if is_uuid {
            out.push_str("<uuid>");
            rest = &rest[LENGTH..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}
