//! Random values: their replacements, and the mapping between the identifiers of both executables.
//!
//! **Invariant:** each rule names the attribute or the form that it ignores. The presence of the value is still
//! compared.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// The attributes with random values: type, path (`*` is every element), reason.
const ATTRIBUTES: &[(&str, &str, &str)] = &[
    ("aws_ami", "creation_date", "the local API gives the time at which it began"),
    ("aws_ami", "root_snapshot_id", "the local API makes snapshots of images when it is reset"),
    ("aws_ami", "block_device_mappings.*.ebs.snapshot_id", "the same snapshots"),
    (
        "aws_caller_identity",
        "arn",
        "the provider names the session of an assumed role after the time",
    ),
    ("aws_caller_identity", "user_id", "the same name"),
    ("external", "result.timestamp", "a script of the lambda module says when it ran"),
    ("null_resource", "triggers.timestamp", "the same time"),
    ("random_password", "result", "the provider draws it"),
    ("random_password", "bcrypt_hash", "made of what is drawn, and of a salt"),
];

/// Attributes whose value, and whether there is one, depends on the moment of the read: type, name, reason.
const MOMENTARY: &[(&str, &str, &str)] = &[(
    "aws_default_network_acl",
    "subnet_ids",
    "the provider reads the subnets that exist, while others are created",
)];

/// Attributes whose whole text is random, wherever it is used: type, path (`*` is every element), reason.
const DRAWN: &[(&str, &str, &str)] = &[
    ("aws_eip", "public_ip", "the local API draws addresses"),
    ("aws_eip", "public_dns", "made of the address"),
    ("aws_nat_gateway", "private_ip", "the local API draws addresses"),
    ("aws_vpc_endpoint", "subnet_configuration.*.ipv4", "the local API draws addresses"),
];

/// The texts that chance decided in an instance of a state.
pub(crate) fn drawn(instance: &Value) -> Vec<&str> {
    let of_type = instance["type"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    for (_, path, _) in DRAWN.iter().filter(|(it, ..)| *it == of_type) {
        let path: Vec<&str> = path.split('.').collect();
        texts_at(&instance["attributes"], &path, &mut found);
    }
    found
}

fn texts_at<'v>(value: &'v Value, path: &[&str], found: &mut Vec<&'v str>) {
    match (path, value) {
        ([], value) => found.extend(value.as_str()),
        (["*", rest @ ..], Value::Array(items)) => {
            items.iter().for_each(|it| texts_at(it, rest, found));
        }
        ([name, rest @ ..], value) => texts_at(&value[*name], rest, found),
    }
}

/// The text before the identifier of a request in an error.
const REQUEST: &str = "RequestID: ";

/// Replaces the attributes of [`ATTRIBUTES`] in all resources inside a value.
pub(crate) fn without_chance(value: &mut Value) {
    if let Some(name) = value["type"].as_str().map(str::to_owned) {
        for (_, path, _) in ATTRIBUTES.iter().filter(|(it, ..)| *it == name) {
            let path: Vec<&str> = path.split('.').collect();
            for holder in ["/values", "/change/before", "/change/after", "/attributes"] {
                if let Some(object) = value.pointer_mut(holder) {
                    replace(object, &path);
                }
            }
        }
        for (_, attribute, _) in MOMENTARY.iter().filter(|(it, ..)| *it == name) {
            if let Some(attributes) = value["attributes"].as_object_mut() {
                attributes.insert((*attribute).to_owned(), Value::from("(decided by chance)"));
            }
        }
    }
    match value {
        Value::Object(parts) => parts.values_mut().for_each(without_chance),
        Value::Array(items) => items.iter_mut().for_each(without_chance),
        _ => {}
    }
}

fn replace(value: &mut Value, path: &[&str]) {
    match (path, value) {
        ([], value) if !value.is_null() => *value = Value::from("(decided by chance)"),
        (["*", rest @ ..], Value::Array(items)) => {
            items.iter_mut().for_each(|it| replace(it, rest));
        }
        ([name, rest @ ..], Value::Object(parts)) => {
            if let Some(part) = parts.get_mut(*name) {
                replace(part, rest);
            }
        }
        _ => {}
    }
}

/// Returns an error's text without the identifiers of requests.
pub(crate) fn without_requests(text: &str) -> String {
    let mut parts = text.split(REQUEST);
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        written.push_str(REQUEST);
        written.push('…');
        written
            .push_str(part.trim_start_matches(|it: char| it.is_ascii_alphanumeric() || it == '-'));
    }
    written
}

/// The mapping between the identifiers of the reference and those of Mayfly. It is one-to-one within an example.
#[derive(Clone, Default)]
pub(crate) struct Renaming {
    /// Words that a provider generated, which may look like any word.
    drawn: HashSet<String>,
    /// Whole texts that a provider generated, such as keys.
    texts: HashSet<String>,
    /// True if only the API's identifiers of seventeen hexadecimal digits are mapped, as before an apply. The
    /// local API assigns them in the order of requests.
    pub(crate) is_narrow: bool,
    ours: HashMap<String, String>,
    theirs: HashMap<String, String>,
}

impl Renaming {
    /// Records the words of a text that a provider generated.
    pub(crate) fn draws(&mut self, text: &str) {
        self.drawn.extend(words(text).into_iter().map(str::to_owned));
    }

    /// Records a text that a provider generated, which may have any number of words.
    pub(crate) fn draws_whole(&mut self, text: &str) {
        self.texts.insert(text.trim().to_owned());
    }

    /// Returns true if both texts are equal except for identifiers and times, and no identifier has two
    /// counterparts.
    pub(crate) fn same(&mut self, theirs: &str, ours: &str) -> bool {
        if self.texts.contains(theirs.trim()) && self.texts.contains(ours.trim()) {
            return self.stand_for(&[(theirs.trim(), ours.trim())]);
        }
        if !self.is_narrow && is_time(theirs) && is_time(ours) {
            return true;
        }
        let (theirs, ours) = (words(theirs), words(ours));
        let mut attempt = Vec::new();
        let is_same = theirs.len() == ours.len()
            && theirs.iter().zip(&ours).filter(|(theirs, ours)| theirs != ours).all(
                |(theirs, ours)| {
                    attempt.push((*theirs, *ours));
                    self.is_random(theirs) && self.is_random(ours)
                },
            );
        is_same && self.stand_for(&attempt)
    }

    /// Records counterparts, all of them or none. Returns false if one of them already has another counterpart.
    fn stand_for(&mut self, pairs: &[(&str, &str)]) -> bool {
        let mut added = Vec::new();
        let fits = pairs.iter().all(|(theirs, ours)| {
            if !self.ours.contains_key(*theirs) && !self.theirs.contains_key(*ours) {
                self.ours.insert((*theirs).to_owned(), (*ours).to_owned());
                self.theirs.insert((*ours).to_owned(), (*theirs).to_owned());
                added.push((*theirs, *ours));
            }
            self.ours.get(*theirs).is_some_and(|it| it == ours)
        });
        if !fits {
            for (theirs, ours) in added {
                self.ours.remove(theirs);
                self.theirs.remove(ours);
            }
        }
        fits
    }

    /// Returns true if both lists have the same elements except for identifiers, in an order that depends on the
    /// identifiers. Returns false if the lists are equal without a mapping, so that the order of lists without
    /// identifiers is compared.
    pub(crate) fn is_reordered(&mut self, theirs: &[Value], ours: &[Value]) -> bool {
        if theirs.len() != ours.len() || ours.iter().all(|it| theirs.contains(it)) {
            return false;
        }
        let mut renaming = self.clone();
        let mut rest: Vec<&Value> = ours.iter().collect();
        let finds_all = theirs.iter().all(|theirs| {
            let found = rest.iter().position(|ours| {
                let mut attempt = renaming.clone();
                let is_same = attempt.same_value(theirs, ours);
                if is_same {
                    renaming = attempt;
                }
                is_same
            });
            found.map(|index| rest.remove(index)).is_some()
        });
        if finds_all {
            *self = renaming;
        }
        finds_all
    }

    fn same_value(&mut self, theirs: &Value, ours: &Value) -> bool {
        match (theirs, ours) {
            (Value::String(theirs), Value::String(ours)) => self.same(theirs, ours),
            (Value::Array(theirs), Value::Array(ours)) => {
                theirs.len() == ours.len()
                    && theirs.iter().zip(ours).all(|(theirs, ours)| self.same_value(theirs, ours))
            }
            (Value::Object(theirs), Value::Object(ours)) => {
                theirs.len() == ours.len()
                    && theirs.iter().all(|(name, theirs)| {
                        ours.get(name).is_some_and(|ours| self.same_value(theirs, ours))
                    })
            }
            _ => theirs == ours,
        }
    }

    /// Returns true for a part of a random identifier: at least four characters with a digit among them, at least
    /// sixteen capitals and digits, or a generated word.
    fn is_random(&self, word: &str) -> bool {
        if self.is_narrow {
            return word.len() == 17 && word.chars().all(|it| it.is_ascii_hexdigit());
        }
        let has_digit = word.chars().any(|it| it.is_ascii_digit());
        let is_capital = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit();
        (word.len() >= 4 && has_digit)
            || (word.len() >= 16 && word.chars().all(is_capital))
            || self.drawn.contains(word)
    }
}

/// Returns true for a time in RFC 3339.
fn is_time(text: &str) -> bool {
    let shape: String =
        text.chars().take(19).map(|it| if it.is_ascii_digit() { '0' } else { it }).collect();
    let is_rest = |it: char| it.is_ascii_digit() || matches!(it, '.' | ':' | '+' | '-' | 'Z');
    shape == "0000-00-00T00:00:00" && text[19..].chars().all(is_rest)
}

/// Splits the text before and after every character that is neither a letter nor a digit.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match rest.find(|it: char| !it.is_ascii_alphanumeric()) {
            Some(0) => first.len_utf8(),
            Some(end) => end,
            None => rest.len(),
        };
        let (word, behind) = rest.split_at(end);
        words.push(word);
        rest = behind;
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Renaming, drawn, without_chance, without_requests};

    #[test]
    fn chance_attributes_are_selected_by_type_and_path() {
        let endpoint = json!({ "type": "aws_vpc_endpoint", "attributes": {
            "id": "vpce-1", "subnet_configuration": [{ "ipv4": "10.1.1.1" }, { "ipv4": "10.2.2.2" }],
        } });
        assert_eq!(drawn(&endpoint), ["10.1.1.1", "10.2.2.2"]);
        let none = json!({ "type": "aws_eip", "attributes": { "public_ip": null } });
        assert_eq!(drawn(&none), [""; 0]);
    }

    #[test]
    fn chance_attributes_are_replaced_if_set() {
        let mut state = json!([{ "type": "aws_ami", "values": {
            "id": "ami-1", "creation_date": "2026", "root_snapshot_id": null,
            "block_device_mappings": [{ "ebs": { "snapshot_id": "snap-1", "volume_type": "gp2" } }],
        } }, { "type": "aws_vpc", "values": { "creation_date": "2026" } }]);
        without_chance(&mut state);
        assert_eq!(
            state,
            json!([{ "type": "aws_ami", "values": {
                "id": "ami-1", "creation_date": "(decided by chance)", "root_snapshot_id": null,
                "block_device_mappings": [{ "ebs": { "snapshot_id": "(decided by chance)", "volume_type": "gp2" } }],
            } }, { "type": "aws_vpc", "values": { "creation_date": "2026" } }])
        );
    }

    #[test]
    fn request_ids_are_removed_from_errors() {
        let text = "StatusCode: 400, RequestID: aB3-x9, api error RequestID: q";
        assert_eq!(without_requests(text), "StatusCode: 400, RequestID: …, api error RequestID: …");
    }

    #[test]
    fn lists_that_differ_by_identifier_order_are_equal() {
        let mut renaming = Renaming::default();
        assert!(renaming.same("vpc-0a1b", "vpc-7c8d"));
        let list = |first: &str, second: &str| [json!({ "vpc": first }), json!({ "vpc": second })];
        let theirs = list("vpc-0a1b", "vpc-1111");
        assert!(renaming.is_reordered(&theirs, &list("vpc-2222", "vpc-7c8d")));
        assert!(!renaming.is_reordered(&theirs, &list("vpc-3333", "vpc-7c8d")), "1111 is 2222");
        assert!(!renaming.is_reordered(&list("a", "b"), &list("b", "a")), "no identifiers");
    }

    #[test]
    fn plans_may_differ_only_in_api_identifiers() {
        let mut renaming = Renaming { is_narrow: true, ..Renaming::default() };
        assert!(renaming.same("vpc-3bb9fab6892eae75a", "vpc-abbc13a289295ebd7"));
        assert!(!renaming.same("vpc-0a1b", "vpc-7c8d"));
        assert!(!renaming.same("2026-11-24T02:52:32Z", "2026-11-24T02:53:36Z"));
    }

    #[test]
    fn identifiers_are_renamed_one_to_one() {
        let mut renaming = Renaming::default();
        assert!(renaming.same("arn:aws:vpc-0a1b/x", "arn:aws:vpc-7c8d/x"));
        assert!(renaming.same("vpc-0a1b", "vpc-7c8d"));
        assert!(!renaming.same("vpc-0a1b", "vpc-9999"), "it stands for another");
        assert!(!renaming.same("vpc-5555", "vpc-7c8d"), "another stands for it");
        assert!(!renaming.same("vpc-0a1b", "vpc-0a1b-x"));
        assert!(!renaming.same("Enabled", "Disabled"), "no identifiers");
        assert!(!renaming.same("id-4444/Enabled", "id-6666/Disabled"));
        assert!(renaming.same("id-4444", "id-8888"), "nothing is learnt from texts that differ");
        assert!(!renaming.same("10", "20"), "too short for an identifier");
        assert!(renaming.same("AROARZPUZDIKIAUHWIRZF", "AROARZPUZDIKJMZKJBAYJ"));
        assert!(renaming.same("2026-11-24T02:52:32Z", "2026-11-24T02:53:36Z"));
        assert!(!renaming.same("2026-11-24T02:52:32Z", "2026-11-24"));
        assert!(!renaming.same("table-sly-cat", "table-big-dog"));
        renaming.draws("sly-cat");
        renaming.draws("big-dog");
        assert!(renaming.same("table-sly-cat", "table-big-dog"));
        assert!(!renaming.same("table-sly", "table-dog"));
        renaming.draws_whole("key a/b");
        renaming.draws_whole("key c");
        assert!(renaming.same("key a/b\n", "key c"));
        assert!(!renaming.same("key d", "key c"));
    }
}
