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
