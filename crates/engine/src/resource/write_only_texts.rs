//! The write-only values of a configuration, as texts that are looked for in the answers of a provider.

use provider::{Attribute, Block, NestedBlock, Nesting, Private};
use state::Attributes;
use values::{Kind, MarkKind, Path, Step, Type, Value, ValueMap, WITHHELD};

use crate::redact::{Finder, Trace};

/// The shortest text that is searched for, in bytes. A shorter text satisfies no rule for passwords, but is often
/// a word.
const MIN_SEARCHED_BYTES: usize = 8;

/// The attributes by which providers find an object again, whatever its type.
const IDENTIFYING: [&str; 4] = ["id", "arn", "name", "self_link"];

/// The write-only texts of one configuration; `None` if there are none, as for most types.
#[derive(Default)]
pub(crate) struct WriteOnlyTexts(Option<Box<Finder>>);

impl WriteOnlyTexts {
    /// Collects the secret texts of a configuration that has its marks, without those that `stored` contains.
    pub(super) fn of(config: &Value, block: &Block, stored: Option<&Attributes>) -> WriteOnlyTexts {
        let mut texts = Vec::new();
        for value in provider::write_only_values(config, block) {
            own_texts(&value, true, &mut texts);
        }
        if texts.is_empty() {
            return WriteOnlyTexts::default();
        }
        let rest = provider::null_write_only(config, block);
        let mut write_only = Finder::default();
        for text in texts {
            let mut one = Finder::default();
            one.add(&text);
            if !is_in(&one, &rest) && !stored.is_some_and(|it| is_stored(&one, it)) {
                write_only.add(&text);
            }
        }
        WriteOnlyTexts((!write_only.is_empty()).then(|| Box::new(write_only)))
    }

    /// Returns true if the private data of a provider repeat a secret.
    pub(super) fn is_in_bytes(&self, private: &Private) -> bool {
        self.0.as_ref().is_some_and(|it| it.is_in_bytes(private.as_bytes()))
    }

    /// Returns how far an identity repeats a secret: not at all, in a part of a text, or in a whole text.
    /// Attribute names come from the schema and are not searched.
    pub(super) fn trace_in_identity(&self, identity: &Value) -> Trace {
        let Some(finder) = &self.0 else { return Trace::None };
        let traces = identity.parts().map(|(_, part)| trace(finder, part));
        traces.max().unwrap_or(Trace::None)
    }

    /// Returns the object without the texts that repeat a secret, and all attributes with such a text: an attribute
    /// that identifies the object is null, or kept; in others, the texts are withheld. With `is_strict`, they are
    /// null too.
    pub(super) fn taken_out(
        &self,
        object: &Value,
        block: &Block,
        identity: Option<&Block>,
        is_strict: bool,
    ) -> (Value, Vec<Repeated>) {
        let Some(finder) = &self.0 else { return (object.clone(), Vec::new()) };
        let (path, found) = (Path::root(), Vec::new());
        let mut repeats = Repeats { finder, identity, is_strict, path, found };
        let without = repeats.block(object, block);
        if repeats.found.is_empty() {
            return (object.clone(), Vec::new());
        }
        (without, repeats.found)
    }
}

/// Collects the texts of a write-only value that are searched for. `is_own` is true if the value is secret by
/// itself and not only next to a secret.
fn own_texts(value: &Value, is_own: bool, texts: &mut Vec<String>) {
    match value.kind() {
        Kind::String(text) if is_own => {
            let text = text.trim();
            if text.len() >= MIN_SEARCHED_BYTES {
                texts.push(text.to_owned());
            }
        }
        _ => value.parts().for_each(|(_, part)| {
            // A mark of a value applies to its parts.
            let is_own = has_own_mark(value) || part.has_deep_secret();
            own_texts(&part.with_marks(value.marks()), is_own, texts);
        }),
    }
}

fn has_own_mark(value: &Value) -> bool {
    value.marks().has(MarkKind::Ephemeral) || value.marks().has(MarkKind::Sensitive)
}

/// Returns true if a text or key of the value contains a text of the finder.
fn is_in(finder: &Finder, value: &Value) -> bool {
    match value.kind() {
        Kind::String(text) => finder.finds(text),
        Kind::Map(entries) | Kind::Object(entries) => {
            entries.iter().any(|(key, part)| finder.finds(key) || is_in(finder, part))
        }
        _ => value.parts().any(|(_, part)| is_in(finder, part)),
    }
}

/// Returns the largest share that a text of the finder has in any text or key of the value.
pub(super) fn trace(finder: &Finder, value: &Value) -> Trace {
    trace_typed(finder, value, &Type::Dynamic)
}

/// Like [`trace`], for a value whose type comes from the schema. The names in that type are not secret.
fn trace_typed(finder: &Finder, value: &Value, ty: &Type) -> Trace {
    let own = value.as_str().map_or(Trace::None, |text| finder.trace(text));
    let parts = value.elements().map(|(key, part)| {
        let (is_name, ty) = match ty {
            Type::Object(known) => {
                let known = key.as_str().and_then(|it| known.get(it));
                (known.is_some(), known.unwrap_or(&Type::Dynamic))
            }
            Type::Map(element) | Type::List(element) | Type::Set(element) => (false, &**element),
            _ => (false, &Type::Dynamic),
        };
        let key = if is_name { None } else { key.as_str() };
        let key = key.map_or(Trace::None, |it| finder.trace(it));
        key.max(trace_typed(finder, part, ty))
    });
    parts.max().unwrap_or(Trace::None).max(own)
}

/// Replaces every text and key that repeats a text of the finder. The names in the type are no keys.
fn withheld(finder: &Finder, value: &Value, ty: &Type) -> Value {
    let is_found = |text: &str| finder.trace(text) != Trace::None;
    let part = |name: &str, part: &Value| match ty {
        Type::Object(known) => withheld(finder, part, known.get(name).unwrap_or(&Type::Dynamic)),
        Type::Map(element) => withheld(finder, part, element),
        _ => withheld(finder, part, &Type::Dynamic),
    };
    match value.kind() {
        Kind::String(text) if is_found(text) => Value::string(WITHHELD),
        Kind::Map(entries) | Kind::Object(entries) => {
            let is_name = |key: &str| matches!(ty, Type::Object(it) if it.get(key).is_some());
            let kept = entries.iter().map(|(key, value)| {
                let is_secret = !is_name(key) && is_found(key);
                let kept = if is_secret { WITHHELD.into() } else { key.clone() };
                (kept, part(key, value))
            });
            let kept: ValueMap = kept.collect();
            match value.ty() {
                Type::Map(element) => Value::map(Type::clone(&element), kept),
                _ => Value::object(kept),
            }
        }
        _ => {
            let element = ty.element().unwrap_or(&Type::Dynamic);
            value.map_parts(|_, it| withheld(finder, it, element))
        }
    }
}

fn is_stored(finder: &Finder, stored: &Attributes) -> bool {
    match stored {
        Attributes::Json(text) => finder.finds(text),
        Attributes::Flat(entries) => entries.values().any(|it| finder.finds(it)),
    }
}

/// Takes the texts that repeat a secret out of attributes.
struct Repeats<'c> {
    finder: &'c Finder,
    identity: Option<&'c Block>,
    is_strict: bool,
    path: Path,
    found: Vec<Repeated>,
}

/// An attribute that repeats a secret.
pub(super) struct Repeated {
    pub(super) path: Path,
    pub(super) fate: Fate,
}

/// The fate of an attribute that repeats a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// The texts that repeat the secret are replaced by [`values::WITHHELD`].
    Withheld,
    /// The attribute becomes null.
    Discarded,
    /// The attribute is kept, because the object would be lost without it.
    Kept,
}

impl Repeats<'_> {
    fn block(&mut self, object: &Value, block: &Block) -> Value {
        if !matches!(object.kind(), Kind::Object(_)) {
            return object.clone();
        }
        object.map_parts(|step, part| {
            let Step::Attr(name) = step else { return part.clone() };
            self.path.push(step.clone());
            let kept = match (block.attributes().get(name), block.blocks().get(name)) {
                (Some(attribute), _) => self.attribute(part, name, attribute),
                (None, Some(nested)) => self.nested(part, nested),
                (None, None) => part.clone(),
            };
            self.path.pop();
            kept
        })
    }

    fn attribute(&mut self, value: &Value, name: &str, attribute: &Attribute) -> Value {
        let ty = attribute.implied_type();
        let trace = trace_typed(self.finder, value, &ty);
        if trace == Trace::None {
            return value.clone();
        }
        let fate = match (trace, self.identifies(name)) {
            (Trace::Part, true) => Fate::Kept,
            (_, true) => Fate::Discarded,
            _ if self.is_strict => Fate::Discarded,
            _ => Fate::Withheld,
        };
        self.found.push(Repeated { path: self.path.clone(), fate });
        match fate {
            Fate::Withheld => withheld(self.finder, value, &ty),
            Fate::Discarded => Value::null(ty),
            Fate::Kept => value.clone(),
        }
    }

    /// Returns true if the attribute at the current path identifies the object.
    fn identifies(&self, name: &str) -> bool {
        let is_of_object = self.path.steps().len() == 1;
        let is_in_identity = self.identity.is_some_and(|it| it.attributes().contains_key(name));
        is_of_object && (is_in_identity || IDENTIFYING.contains(&name))
    }

    fn nested(&mut self, value: &Value, nested: &NestedBlock) -> Value {
        if matches!(nested.nesting, Nesting::Single | Nesting::Group) {
            return self.block(value, &nested.block);
        }
        value.map_parts(|step, part| {
            // Keys of maps and elements of sets are values. The path must not quote them.
            let is_plain = matches!(step, Step::Index(key) if key.as_number().is_some());
            if is_plain {
                self.path.push(step.clone());
            }
            let kept = self.block(part, &nested.block);
            if is_plain {
                self.path.pop();
            }
            kept
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use provider::NestedBlock;
    use sorted::SortedMap;
    use values::{Mark, Str, json};

    use super::*;

    /// Attributes of many types, among them `password`, a name that could also be a password. Each nested block
    /// has `name` and `secret_wo`.
    fn schema() -> Block {
        let write_only = |ty| Attribute { write_only: true, ..Attribute::optional(ty) };
        let attributes = |list: Vec<(&str, Attribute)>| -> SortedMap<Str, Attribute> {
            list.into_iter().map(|(name, it)| (Str::from(name), it)).collect()
        };
        let inner = attributes(vec![
            ("name", Attribute::optional(Type::String)),
            ("secret_wo", write_only(Type::String)),
        ]);
        let nested =
            |nesting| NestedBlock::new(nesting, Block::new(inner.clone(), SortedMap::new()));
        let own = attributes(vec![
            ("password", Attribute::optional(Type::String)),
            ("tags", Attribute::optional(Type::map(Type::String))),
            ("texts", Attribute::optional(Type::set(Type::String))),
            ("any", Attribute::optional(Type::Dynamic)),
            ("secret_wo", write_only(Type::String)),
            ("any_wo", write_only(Type::Dynamic)),
        ]);
        let blocks = [
            ("list", nested(Nesting::List)),
            ("map", nested(Nesting::Map)),
            ("single", nested(Nesting::Single)),
        ];
        Block::new(own, blocks.into_iter().map(|(name, it)| (Str::from(name), it)).collect())
    }

    /// An object of the schema. Attributes that the text does not name are null; blocks that it does not name are
    /// empty.
    fn object(text: &str) -> Value {
        let schema = schema();
        let given: serde_json::Map<_, _> = serde_json::from_str(text).expect("an object");
        let parts = schema.empty_value().as_map().expect("an object").clone().into_iter();
        let parts = parts.map(|(name, empty)| {
            let Some(given) = given.get(&*name) else { return (name, empty) };
            let ty = match (schema.attributes().get(&name), schema.blocks().get(&name)) {
                (Some(it), _) => it.implied_type(),
                (_, Some(it)) => it.implied_type(),
                _ => unreachable!("the schema has it"),
            };
            let text = given.to_string();
            let value = match ty {
                Type::Dynamic => json::decode_implied(text.as_bytes()),
                ty => json::decode(text.as_bytes(), &ty),
            };
            (name, value.expect("fits"))
        });
        Value::object(parts.collect())
    }

    /// Checks that the attributes at the `expected` paths of an answer repeat write-only values of the
    /// configuration.
    #[track_caller]
    fn check(config: &Value, answer: &str, expected: &[&str]) {
        let (schema, answer) = (schema(), object(answer));
        let write_only = WriteOnlyTexts::of(config, &schema, None);
        for (is_strict, fate) in [(false, Fate::Withheld), (true, Fate::Discarded)] {
            let (without, found) = write_only.taken_out(&answer, &schema, None, is_strict);
            assert!(found.iter().all(|it| it.fate == fate));
            let found: Vec<String> = found.iter().map(|it| it.path.to_string()).collect();
            assert_eq!(found, expected, "{answer:?}");
            let again = write_only.taken_out(&without, &schema, None, is_strict);
            assert!(again.1.is_empty(), "nothing is left");
            assert_eq!(without == answer, expected.is_empty());
            assert_eq!(has_withheld(&without), !is_strict && !expected.is_empty());
        }
    }

    fn has_withheld(value: &Value) -> bool {
        let mut finder = Finder::default();
        finder.add(WITHHELD);
        is_in(&finder, value)
    }

    #[test]
    fn only_the_repeating_texts_are_withheld() {
        let config = object(r#"{"secret_wo": "the canary"}"#);
        let answer = object(
            r#"{"any": {"a": "the canary", "b": ["x", "the canary"], "c": {"the canary": 1}}}"#,
        );
        let write_only = WriteOnlyTexts::of(&config, &schema(), None);
        let (without, _) = write_only.taken_out(&answer, &schema(), None, false);
        let kept = without.get_attr("any").expect("has it");
        let expected = r#"{"W":1}"#.replace('W', WITHHELD);
        let expected = format!(r#"{{"a":{WITHHELD:?},"b":["x",{WITHHELD:?}],"c":{expected}}}"#);
        assert_eq!(json::encode(&kept, &kept.ty()).expect("can be encoded"), expected);
    }

    #[test]
    fn write_only_value_is_found_in_any_stored_text_or_key() {
        let long = object(r#"{"secret_wo": "the canary of all"}"#);
        check(&long, r#"{"password": "it is the canary of all!"}"#, &[".password"]);
        check(&long, r#"{"tags": {"x-the canary of all": "x"}}"#, &[".tags"]);
        let config = object(r#"{"secret_wo": "the canary"}"#);
        check(&config, r#"{"password": "<the canary>"}"#, &[".password"]);
        check(
            &config,
            r#"{"tags": {"the canary": "x"}, "texts": ["the canary"]}"#,
            &[".tags", ".texts"],
        );
        check(&config, r#"{"any": {"deep": [{"the canary": 1}]}}"#, &[".any"]);
        check(&config, r#"{"any": {"deep": "746865206361" }}"#, &[]);
        check(&config, r#"{"any": {"deep": "7468652063616e617279" }}"#, &[".any"]);
        let blocks = r#"{"list": [{"name": "a"}, {"name": "the canary"}], "map": {"k": {"name": "the canary"}}, "single": {"name": "the canary"}}"#;
        check(&config, blocks, &[".list[1].name", ".map.name", ".single.name"]);
        let nested = object(r#"{"list": [{"secret_wo": "the canary"}]}"#);
        check(&nested, r#"{"password": "the canary"}"#, &[".password"]);
    }

    #[test]
    fn names_short_and_public_texts_are_no_write_only_leaks() {
        let named = object(r#"{"secret_wo": "password"}"#);
        check(&named, r#"{"password": "x"}"#, &[]);
        check(&object(r#"{"secret_wo": "seven77"}"#), r#"{"password": "seven77"}"#, &[]);
        let public = object(r#"{"secret_wo": "the canary", "tags": {"a": "for the canary"}}"#);
        check(&public, r#"{"password": "the canary"}"#, &[]);
        let stored = Attributes::Json(Arc::from(r#"{"password":"the canary"}"#));
        let config = object(r#"{"secret_wo": "the canary"}"#);
        let write_only = WriteOnlyTexts::of(&config, &schema(), Some(&stored));
        assert!(write_only.0.is_none());
    }

    #[test]
    fn marked_parts_of_a_write_only_object_are_searched() {
        let config = object(r#"{"any_wo": {"engine": "postgresql", "password": "the canary"}}"#);
        check(&config, r#"{"password": "the canary of postgresql"}"#, &[]);
        let marked = config.with_part(&Step::Attr("any_wo".into()), |any| {
            any.with_part(&Step::Attr("password".into()), |it| it.with_mark(Mark::Ephemeral))
        });
        check(&marked, r#"{"password": "postgresql"}"#, &[]);
        check(&marked, r#"{"password": "the canary"}"#, &[".password"]);
        let as_a_whole =
            config.with_part(&Step::Attr("any_wo".into()), |any| any.with_mark(Mark::Ephemeral));
        check(&as_a_whole, r#"{"password": "the canary"}"#, &[".password"]);
    }

    #[test]
    fn identity_is_withheld_only_if_it_equals_the_secret() {
        let computed = |name: &str| (Str::from(name), Attribute::computed(Type::String));
        let secret = Attribute { write_only: true, ..Attribute::optional(Type::String) };
        let attributes =
            ["id", "number", "text"].map(computed).into_iter().chain([("wo".into(), secret)]);
        let schema = Block::new(attributes.collect(), SortedMap::new());
        let identity = Block::new([computed("number")].into(), SortedMap::new());
        let object = |text: &str, wo: &str| {
            Value::object_from([
                ("id", Value::from(text)),
                ("number", Value::from(text)),
                ("text", Value::from(text)),
                ("wo", Value::from(wo)),
            ])
        };
        let config = object("public", "Battery-staple-17");
        let write_only = WriteOnlyTexts::of(&config, &schema, None);
        for (text, kept) in [("at:Battery-staple-17", true), ("Battery-staple-17", false)] {
            let answer = object(text, "");
            let (without, found) = write_only.taken_out(&answer, &schema, Some(&identity), false);
            let found: Vec<_> = found.iter().map(|it| (it.path.to_string(), it.fate)).collect();
            let fate = if kept { Fate::Kept } else { Fate::Discarded };
            let all = [(".id", fate), (".number", fate), (".text", Fate::Withheld)];
            assert_eq!(found, all.map(|(path, fate)| (path.to_owned(), fate)), "{text}");
            for name in ["id", "number"] {
                let part = without.get_attr(name).expect("has it");
                assert_eq!(!part.is_null(), kept, "{text}: {name}");
            }
            assert!(without.get_attr("text").is_some_and(|it| it.is_withheld()));
        }
    }
}
