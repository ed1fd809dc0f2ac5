//! What a provider is told in confidence, the write-only values, and that it repeats none of them where it would be kept.
//!
//! Looked at is everything of an answer that goes into plan or state: texts and keys of the object, the identity, and
//! the provider's own bytes. Looked for are the texts of write-only attributes in all their spellings, each as a whole,
//! unless
//!
//! - it is shorter than [`LEAST_CONFIDED`] bytes: short texts occur anywhere;
//! - the rest of the configuration or the object in the state has the text, too: then it is no secret there, and the
//!   provider may repeat or build upon it;
//! - it is a part of a write-only object or list without a mark of its own: names of regions and machines stand there
//!   beside passwords.
//!
//! **Invariant:** no message quotes what was found.

use provider::{Attribute, Block, NestedBlock, Nesting, Private};
use state::Attributes;
use values::{Kind, Path, Step, Type, Value};

use super::Subject;
use crate::{
    redact::Finder,
    walk::{Failed, Walk},
};

/// The shortest text that is looked for, in bytes: what is shorter is no password by any rule, but often a word.
const LEAST_CONFIDED: usize = 8;

/// The write-only texts of one configuration.
#[derive(Default)]
pub(crate) struct Confided(Finder);

impl Confided {
    /// What is secret about a configuration that has its marks, and not in `stored`.
    pub(super) fn of(config: &Value, block: &Block, stored: Option<&Attributes>) -> Confided {
        let mut texts = Vec::new();
        for value in provider::write_only_values(config, block) {
            own_texts(&value, true, &mut texts);
        }
        if texts.is_empty() {
            return Confided::default();
        }
        let rest = provider::null_write_only(config, block);
        let mut confided = Finder::default();
        for text in texts {
            let mut one = Finder::default();
            one.add(&text);
            if !is_in(&one, &rest) && !stored.is_some_and(|it| is_stored(&one, it)) {
                confided.add(&text);
            }
        }
        Confided(confided)
    }

    pub(super) fn is_in_bytes(&self, private: &Private) -> bool {
        self.0.finds_in_bytes(private.as_bytes())
    }

    /// Whether an identity repeats something. Its names are the schema's.
    pub(super) fn is_in_identity(&self, identity: &Value) -> bool {
        !self.0.is_empty() && identity.parts().any(|(_, part)| is_in(&self.0, part))
    }

    /// The object with null for every attribute that repeats something, and where those are.
    pub(super) fn taken_out(&self, object: &Value, block: &Block) -> (Value, Vec<Path>) {
        if self.0.is_empty() {
            return (object.clone(), Vec::new());
        }
        let mut repeats = Repeats { finder: &self.0, path: Path::root(), found: Vec::new() };
        let without = repeats.block(object, block);
        if repeats.found.is_empty() {
            return (object.clone(), Vec::new());
        }
        (without, repeats.found)
    }
}

/// The texts of a write-only value that are looked for.
fn own_texts(value: &Value, is_own: bool, texts: &mut Vec<String>) {
    match value.kind() {
        Kind::String(text) if is_own => {
            let text = text.trim();
            if text.len() >= LEAST_CONFIDED {
                texts.push(text.to_owned());
            }
        }
        _ => value.parts().for_each(|(_, part)| {
            let is_own = part.has_deep_secret();
            own_texts(part, is_own, texts);
        }),
    }
}

/// Whether a text or key of the value holds what is looked for.
fn is_in(finder: &Finder, value: &Value) -> bool {
    match value.kind() {
        Kind::String(text) => finder.finds(text),
        Kind::Map(entries) | Kind::Object(entries) => {
            entries.iter().any(|(key, part)| finder.finds(key) || is_in(finder, part))
        }
        _ => value.parts().any(|(_, part)| is_in(finder, part)),
    }
}

/// Like [`is_in`], for a value of which the schema says the type: the names that it gives are nobody's secret.
fn is_in_typed(finder: &Finder, value: &Value, ty: &Type) -> bool {
    match (value.kind(), ty) {
        (Kind::Object(attributes), Type::Object(known)) => attributes.iter().any(|(name, part)| {
            is_in_typed(finder, part, known.get(name).unwrap_or(&Type::Dynamic))
        }),
        (Kind::Map(entries), Type::Map(element)) => entries
            .iter()
            .any(|(key, part)| finder.finds(key) || is_in_typed(finder, part, element)),
        (Kind::List(items) | Kind::Set(items), Type::List(element) | Type::Set(element)) => {
            items.iter().any(|part| is_in_typed(finder, part, element))
        }
        _ => is_in(finder, value),
    }
}

fn is_stored(finder: &Finder, stored: &Attributes) -> bool {
    match stored {
        Attributes::Json(text) => finder.finds(text),
        Attributes::Flat(entries) => entries.values().any(|it| finder.finds(it)),
    }
}

/// Puts null where something is repeated.
struct Repeats<'c> {
    finder: &'c Finder,
    path: Path,
    found: Vec<Path>,
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
                (Some(attribute), _) => self.attribute(part, attribute),
                (None, Some(nested)) => self.nested(part, nested),
                (None, None) => part.clone(),
            };
            self.path.pop();
            kept
        })
    }

    fn attribute(&mut self, value: &Value, attribute: &Attribute) -> Value {
        let ty = attribute.implied_type();
        if !is_in_typed(self.finder, value, &ty) {
            return value.clone();
        }
        self.found.push(self.path.clone());
        Value::null(ty)
    }

    fn nested(&mut self, value: &Value, nested: &NestedBlock) -> Value {
        if matches!(nested.nesting, Nesting::Single | Nesting::Group) {
            return self.block(value, &nested.block);
        }
        value.map_parts(|step, part| {
            // Keys and elements of sets are values, which the path would quote.
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

/// What of an answer is kept beside the object.
pub(super) struct Beside<'a> {
    pub(super) private: &'a Private,
    pub(super) identity: Option<&'a Value>,
}

impl Walk<'_> {
    /// Learns what the configuration tells the provider in confidence, whatever its marks: nobody else is to read it.
    pub(super) fn confide(&self, subject: &Subject, config: &Value) -> Confided {
        let block = subject.schema.block();
        if !block.has_write_only() {
            return Confided::default();
        }
        for value in provider::write_only_values(config, block) {
            self.environment.redactor.learn_whole(&value);
        }
        let stored = self.object(&subject.address);
        Confided::of(config, block, stored.as_ref().map(|it| &it.attributes))
    }

    /// Refuses an answer that repeats what the provider was told in confidence.
    pub(super) fn refuse_repeated(
        &self,
        subject: &Subject,
        object: &Value,
        beside: &Beside<'_>,
        when: &str,
    ) -> Result<(), Failed> {
        let (_, found) = subject.confided.taken_out(object, subject.schema.block());
        let found = self.report_repeated(subject, &found, beside, when);
        if found { Err(Failed) } else { Ok(()) }
    }

    /// Tells where an answer repeats something; gives whether it does.
    pub(super) fn report_repeated(
        &self,
        subject: &Subject,
        attributes: &[Path],
        beside: &Beside<'_>,
        when: &str,
    ) -> bool {
        let mut places: Vec<String> =
            attributes.iter().map(|path| format!("the attribute {path}")).collect();
        if beside.identity.is_some_and(|it| subject.confided.is_in_identity(it)) {
            places.push("the identity".to_owned());
        }
        if subject.confided.is_in_bytes(beside.private) {
            places.push("the private data".to_owned());
        }
        for place in &places {
            let what = format!(
                "Provider {} returned the value of a write-only attribute in {place} of {} {when}. Such a value must be \
                 kept nowhere, so what was returned there is not kept",
                subject.provider.source.for_display(),
                subject.text
            );
            self.report_provider_bug(
                &subject.text,
                "provider-returned-secret",
                "Provider returned a secret",
                &what,
            );
        }
        !places.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use provider::NestedBlock;
    use values::{Mark, Str, json};

    use super::*;

    /// Attributes of many types, among them `password`, whose name may be somebody's password; each nested block has
    /// `name` and `secret_wo`.
    fn schema() -> Block {
        let write_only = |ty| Attribute { write_only: true, ..Attribute::optional(ty) };
        let attributes = |list: Vec<(&str, Attribute)>| -> BTreeMap<Str, Attribute> {
            list.into_iter().map(|(name, it)| (Str::from(name), it)).collect()
        };
        let inner = attributes(vec![
            ("name", Attribute::optional(Type::String)),
            ("secret_wo", write_only(Type::String)),
        ]);
        let nested =
            |nesting| NestedBlock::new(nesting, Block::new(inner.clone(), BTreeMap::new()));
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

    /// An object of the schema; attributes that are not named are null, blocks not there.
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

    /// Where an answer repeats what the configuration says in confidence.
    #[track_caller]
    fn check(config: &Value, answer: &str, expected: &[&str]) {
        let (schema, answer) = (schema(), object(answer));
        let confided = Confided::of(config, &schema, None);
        let (without, found) = confided.taken_out(&answer, &schema);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{answer:?}");
        assert_eq!(confided.taken_out(&without, &schema).1, [], "nothing is left");
        assert_eq!(without == answer, expected.is_empty());
    }

    #[test]
    fn texts_and_keys_are_looked_at_everywhere() {
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
    fn what_is_no_secret_is_not_found() {
        let named = object(r#"{"secret_wo": "password"}"#);
        check(&named, r#"{"password": "x"}"#, &[]);
        check(&object(r#"{"secret_wo": "seven77"}"#), r#"{"password": "seven77"}"#, &[]);
        let public = object(r#"{"secret_wo": "the canary", "tags": {"a": "for the canary"}}"#);
        check(&public, r#"{"password": "the canary"}"#, &[]);
        let stored = Attributes::Json(Arc::from(r#"{"password":"the canary"}"#));
        let config = object(r#"{"secret_wo": "the canary"}"#);
        let confided = Confided::of(&config, &schema(), Some(&stored));
        assert!(confided.0.is_empty());
    }

    #[test]
    fn of_a_write_only_object_what_is_marked_counts() {
        let config = object(r#"{"any_wo": {"engine": "postgresql", "password": "the canary"}}"#);
        check(&config, r#"{"password": "the canary of postgresql"}"#, &[]);
        let marked = config.with_part(&Step::Attr("any_wo".into()), |any| {
            any.with_part(&Step::Attr("password".into()), |it| it.with_mark(Mark::Ephemeral))
        });
        check(&marked, r#"{"password": "postgresql"}"#, &[]);
        check(&marked, r#"{"password": "the canary"}"#, &[".password"]);
    }
}
