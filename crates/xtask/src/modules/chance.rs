//! Values that chance decides: what they are replaced by, and which identifiers stand for which.
//!
//! **Invariant:** a rule names the attribute or the shape of what it passes over; whether the value is there is compared all the same.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use serde_json::Value;

/// Attributes that chance decides: type, path (`*` is every element), reason.
const ATTRIBUTES: &[(&str, &str, &str)] = &[
    ("aws_ami", "creation_date", "the local API gives the time at which it began"),
    ("aws_ami", "root_snapshot_id", "the local API makes snapshots of images when it is reset"),
    ("aws_ami", "block_device_mappings.*.ebs.snapshot_id", "the same snapshots"),
    ("external", "result.timestamp", "a script of the lambda module says when it ran"),
    ("null_resource", "triggers.timestamp", "the same time"),
    ("random_password", "result", "the provider draws it"),
    ("random_password", "bcrypt_hash", "made of what is drawn, and of a salt"),
    ("tls_private_key", "*", "the provider draws the key"),
];

/// The mark of an identifier of a request in the text of an error.
const REQUEST: &str = "RequestID: ";

/// Replaces the attributes of [`ATTRIBUTES`] in everything that is a resource.
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
        (["*"], Value::Object(parts)) => {
            parts.values_mut().for_each(|it| replace(it, &[]));
        }
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

/// An error's text without the identifiers of the requests.
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

/// Which identifier of the reference stands for which of ours: one for one, in a whole example.
#[derive(Default)]
pub(crate) struct Renaming {
    /// Words that a provider drew, which may look like any word.
    drawn: HashSet<String>,
    ours: HashMap<String, String>,
    theirs: HashMap<String, String>,
}

impl Renaming {
    /// Notes the words of a text that a provider drew.
    pub(crate) fn draws(&mut self, text: &str) {
        self.drawn.extend(words(text).into_iter().map(str::to_owned));
    }

    /// Returns true if both texts are the same but for identifiers and times, and no identifier has two counterparts.
    pub(crate) fn same(&mut self, theirs: &str, ours: &str) -> bool {
        let (theirs, ours) = (words(theirs), words(ours));
        theirs.len() == ours.len()
            && theirs.iter().zip(&ours).all(|(theirs, ours)| {
                theirs == ours
                    || (self.is_random(theirs)
                        && self.is_random(ours)
                        && self.stands_for(theirs, ours))
            })
    }

    /// Returns true for part of a random identifier: at least four characters with a digit among them, or a word that was drawn.
    fn is_random(&self, word: &str) -> bool {
        (word.len() >= 4 && word.chars().any(|it| it.is_ascii_digit())) || self.drawn.contains(word)
    }

    fn stands_for(&mut self, theirs: &str, ours: &str) -> bool {
        let one_way = counterpart(&mut self.ours, theirs, ours);
        let other_way = counterpart(&mut self.theirs, ours, theirs);
        one_way && other_way
    }
}

fn counterpart(map: &mut HashMap<String, String>, of: &str, is: &str) -> bool {
    match map.entry(of.to_owned()) {
        Entry::Occupied(known) => known.get() == is,
        Entry::Vacant(place) => {
            place.insert(is.to_owned());
            true
        }
    }
}

/// The text cut before and behind every character that is no letter and no digit.
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

    use super::{Renaming, without_chance, without_requests};

    #[test]
    fn an_attribute_decided_by_chance_is_replaced_where_it_is_set() {
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
    fn errors_are_compared_without_the_identifiers_of_requests() {
        let text = "StatusCode: 400, RequestID: aB3-x9, api error RequestID: q";
        assert_eq!(without_requests(text), "StatusCode: 400, RequestID: …, api error RequestID: …");
    }

    #[test]
    fn identifiers_stand_for_each_other_one_for_one() {
        let mut renaming = Renaming::default();
        assert!(renaming.same("arn:aws:vpc-0a1b/x", "arn:aws:vpc-7c8d/x"));
        assert!(renaming.same("vpc-0a1b", "vpc-7c8d"));
        assert!(!renaming.same("vpc-0a1b", "vpc-9999"), "it stands for another");
        assert!(!renaming.same("vpc-5555", "vpc-7c8d"), "another stands for it");
        assert!(!renaming.same("vpc-0a1b", "vpc-0a1b-x"));
        assert!(!renaming.same("Enabled", "Disabled"), "no identifiers");
        assert!(!renaming.same("10", "20"), "too short for an identifier");
        assert!(!renaming.same("table-sly-cat", "table-big-dog"));
        renaming.draws("sly-cat");
        renaming.draws("big-dog");
        assert!(renaming.same("table-sly-cat", "table-big-dog"));
        assert!(!renaming.same("table-sly", "table-dog"));
    }
}
