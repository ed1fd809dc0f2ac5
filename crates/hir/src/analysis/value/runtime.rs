//! Between the abstract and the concrete: constants as abstract values, and abstract values as unknown ones, on which
//! functions show what they do.

use std::collections::BTreeMap;

use values::{Deprecation, Kind, Mark, Refinements, Str, Type, Value};

use super::{Abstract, Inside, Presence, TriMarks};
use crate::item::ConstValue;

/// The largest constant that is kept, in bytes. A query would hold a larger one for good.
pub(super) const LARGEST_CONSTANT: u64 = 4 << 20;

impl Abstract {
    /// What is known of a value that the source determines. Its parts may be unknown or marked.
    pub fn constant(value: Value) -> Abstract {
        if value.unshared_size() > LARGEST_CONSTANT {
            return Abstract::too_large(&value);
        }
        let plain = Abstract {
            marks: TriMarks::sure(value.marks()),
            presence: presence(&value),
            constant: value.is_wholly_known().then(|| ConstValue(value.without_all_marks())),
            ..Abstract::of_type(value.ty())
        };
        if value.is_wholly_known() && value.deep_marks() == *value.marks() {
            return plain.ephemeral_as_marked();
        }
        let part = |part: &Value| Abstract::constant(part.clone());
        let inside = match value.kind() {
            Kind::Object(attrs) | Kind::Map(attrs) => {
                Inside::attrs(attrs.iter().map(|(name, attr)| (name.clone(), part(attr))).collect())
            }
            Kind::Tuple(items) | Kind::List(items) => {
                Inside::items(items.iter().map(part).collect())
            }
            // Elements of a set have no marks, and which of them are equal is not known yet.
            _ => Inside::PLAIN,
        };
        Abstract { inside, ..plain }.ephemeral_as_marked()
    }

    /// A value of which only its marks are kept, and its type where that does not grow with the value.
    fn too_large(value: &Value) -> Abstract {
        let ty = if value.ty().is_shaped_by_values() { Type::Dynamic } else { value.ty() };
        let inside = TriMarks::sure(&value.deep_marks()).weakened();
        let presence = presence(value).min(Presence::NotNull);
        Abstract {
            marks: TriMarks::sure(value.marks()),
            presence,
            inside: Inside::Opaque(inside),
            ..Abstract::of_type(ty)
        }
    }

    /// The value without marks as far as it is known, with unknown values for the rest.
    pub fn plain_value(&self) -> Value {
        self.value_with(&mut |_, value| value)
    }

    /// The value with a tag on every part that is marked, not on the value itself.
    pub(in crate::analysis) fn tagged_parts(&self, tags: &mut Tags) -> Value {
        let (bare, _) = self.tagged(tags).unmark();
        bare
    }

    /// The value with a tag on it and on every part that is marked.
    pub(in crate::analysis) fn tagged(&self, tags: &mut Tags) -> Value {
        self.value_with(&mut |part, value| {
            tags.put(part.clone().with_origin(self.origin.clone()), value)
        })
    }

    fn value_with(&self, finish: &mut impl FnMut(&Abstract, Value) -> Value) -> Value {
        let value = match &self.constant {
            Some(constant) if self.inside.marks() == TriMarks::NONE => constant.0.clone(),
            _ => self.rebuilt(finish).unwrap_or_else(|| self.unknown()),
        };
        finish(self, value)
    }

    fn unknown(&self) -> Value {
        match self.presence {
            Presence::Open => Value::unknown(self.ty.clone()),
            _ => Value::unknown_with(self.ty.clone(), Refinements::non_null()),
        }
    }

    /// The value made of its parts, where they are all there.
    fn rebuilt(&self, finish: &mut impl FnMut(&Abstract, Value) -> Value) -> Option<Value> {
        if self.presence < Presence::Known {
            return None;
        }
        match (&self.inside, &self.ty) {
            (Inside::Attrs(attrs), ty) => {
                let parts = attrs.iter();
                let parts: BTreeMap<Str, Value> =
                    parts.map(|(name, part)| (name.clone(), part.value_with(finish))).collect();
                match ty {
                    Type::Object(_) => Some(Value::object(parts)),
                    Type::Map(element) if parts.values().all(|part| part.ty() == **element) => {
                        Some(Value::map(Type::clone(element), parts))
                    }
                    _ => None,
                }
            }
            (Inside::Items(items), ty) => {
                let parts: Vec<Value> = items.iter().map(|part| part.value_with(finish)).collect();
                match ty {
                    Type::Tuple(_) => Some(Value::tuple(parts)),
                    Type::List(element) if parts.iter().all(|part| part.ty() == **element) => {
                        Some(Value::list(Type::clone(element), parts))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn presence(value: &Value) -> Presence {
    match value.kind() {
        Kind::Null => Presence::Open,
        Kind::Unknown(known) if known.is_not_null() => Presence::NotNull,
        Kind::Unknown(_) => Presence::Open,
        _ => Presence::Known,
    }
}

/// Abstract values that stand for parts of runtime values, so that they are found again where a function carries
/// those to. A part is tagged by a mark of a kind that the rules do not look at.
#[derive(Default)]
pub(in crate::analysis) struct Tags {
    parts: Vec<Abstract>,
}

impl Tags {
    fn put(&mut self, part: Abstract, value: Value) -> Value {
        if part.deep_marks() == TriMarks::NONE {
            return value;
        }
        let number = self.parts.len();
        self.parts.push(part);
        let tag = Deprecation { what: number.to_string().into(), message: "".into() };
        value.with_mark(Mark::Deprecated(tag))
    }

    /// The parts whose tags are on a value itself.
    pub(in crate::analysis) fn of<'a>(
        &'a self,
        value: &'a Value,
    ) -> impl Iterator<Item = &'a Abstract> {
        value
            .marks()
            .deprecations()
            .filter_map(|tag| self.parts.get(tag.what.parse::<usize>().ok()?))
    }
}
