//! JSON texts with the bytes that Go's `encoding/json` writes.

use serde::Serialize;
use serde_json::Value;
use sorted::TreeMap;

/// Returns the text with sorted names and an indentation of two spaces, without a line break at the end.
pub(crate) fn pretty(value: &Value) -> String {
    // Serializing a value to a string cannot fail.
    let text = serde_json::to_string_pretty(&Sorted::from(value)).unwrap_or_default();
    // These characters occur only inside strings.
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                escaped.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// A value whose objects are sorted by name.
#[derive(Serialize)]
#[serde(untagged)]
enum Sorted<'a> {
    Object(TreeMap<&'a str, Sorted<'a>>),
    Array(Vec<Sorted<'a>>),
    Other(&'a Value),
}

impl<'a> From<&'a Value> for Sorted<'a> {
    fn from(value: &'a Value) -> Sorted<'a> {
        match value {
            Value::Object(map) => {
                Sorted::Object(map.iter().map(|(name, it)| (name.as_str(), it.into())).collect())
            }
            Value::Array(items) => Sorted::Array(items.iter().map(Sorted::from).collect()),
            other => Sorted::Other(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_sorted_indented_and_escaped_as_in_go() {
        let value = json!({ "b": [1, {}], "a": { "d": "<&>", "c": null }, "e": [] });
        let expected = "{\n  \"a\": {\n    \"c\": null,\n    \"d\": \"\\u003c\\u0026\\u003e\"\n  },\n  \"b\": \
                        [\n    1,\n    {}\n  ],\n  \"e\": []\n}";
        assert_eq!(pretty(&value), expected);
    }
}
