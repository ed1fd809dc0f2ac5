//! Withheld texts: a text that stands where a value must not be stored.

use crate::{Kind, Type, Value};

/// The text that a state has in place of a string in which a provider repeated a write-only value. Nothing else about
/// it is stored, so every program that reads the state sees why the value is not there.
pub const WITHHELD: &str = "(withheld: the provider repeated a write-only value here)";

impl Value {
    /// Returns true if the value is the text in place of a withheld one.
    pub fn is_withheld(&self) -> bool {
        self.as_str() == Some(WITHHELD)
    }

    /// Returns true if a text or key anywhere inside the value contains the text in place of a withheld one, whatever
    /// the marks.
    pub fn has_withheld(&self) -> bool {
        match self.kind() {
            Kind::String(text) => text.contains(WITHHELD),
            Kind::Map(entries) | Kind::Object(entries) => {
                entries.iter().any(|(key, part)| key.contains(WITHHELD) || part.has_withheld())
            }
            Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
                items.iter().any(Value::has_withheld)
            }
            Kind::Null | Kind::Unknown(_) | Kind::Bool(_) | Kind::Number(_) => false,
        }
    }

    /// Returns this value with every string withheld that is withheld in `before`, the value at the same place, and
    /// every key that is new where a key was withheld. A provider may return there an older secret, which is known no
    /// longer.
    #[must_use]
    pub fn still_withheld(&self, before: &Value) -> Value {
        match (self.kind(), before.kind()) {
            (Kind::String(_), Kind::String(_)) if before.is_withheld() => {
                Value::string(WITHHELD).with_marks(self.marks())
            }
            _ if !before.has_withheld() => self.clone(),
            (
                Kind::Map(entries) | Kind::Object(entries),
                Kind::Map(known) | Kind::Object(known),
            ) if known.contains_key(WITHHELD) => {
                let kept = entries.iter().map(|(key, part)| match known.get(key) {
                    Some(it) => (key.clone(), part.still_withheld(it)),
                    None => (WITHHELD.into(), part.clone()),
                });
                let kept = kept.collect();
                let kept = match self.ty() {
                    Type::Map(element) => Value::map(Type::clone(&element), kept),
                    _ => Value::object(kept),
                };
                kept.with_marks(self.marks())
            }
            _ => self.map_parts(|step, part| {
                step.apply(before).map_or_else(|| part.clone(), |it| part.still_withheld(&it))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{decode_implied, encode};

    #[test]
    fn withheld_strings_stay_withheld_at_their_places() {
        let text = |it: &str| it.replace("W", WITHHELD);
        for (before, now, expected) in [
            (r#"{"a":"W","b":"x"}"#, r#"{"a":"new","b":"y"}"#, r#"{"a":"W","b":"y"}"#),
            (r#"{"a":["x",{"c":"W"}]}"#, r#"{"a":["y",{"c":"z"}]}"#, r#"{"a":["y",{"c":"W"}]}"#),
            (r#"{"a":"W"}"#, r#"{"a":{"b":"x"}}"#, r#"{"a":{"b":"x"}}"#),
            (r#"{"a":"W"}"#, r#"{"a":null}"#, r#"{"a":null}"#),
            (r#"{"a":"W"}"#, r#"{"c":"x"}"#, r#"{"c":"x"}"#),
            (r#"{"a":"x"}"#, r#"{"a":"y"}"#, r#"{"a":"y"}"#),
            (r#"{"a":1,"W":2}"#, r#"{"a":3,"old":4}"#, r#"{"W":4,"a":3}"#),
        ] {
            let value = |it: &str| decode_implied(text(it).as_bytes()).expect("JSON");
            let kept = value(now).still_withheld(&value(before));
            let kept = encode(&kept, &kept.ty()).expect("can be encoded");
            assert_eq!(kept, text(expected), "{before} {now}");
        }
        let inside = Value::string(format!("<{WITHHELD}>"));
        assert!(inside.has_withheld() && !inside.is_withheld());
        assert!(Value::object_from([(WITHHELD, Value::int(1))]).has_withheld());
        assert!(Value::string(WITHHELD).is_withheld());
        assert!(!Value::null(Type::String).is_withheld());
    }
}
