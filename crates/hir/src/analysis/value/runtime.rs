//! Conversion between abstract and runtime values: constants become abstract values, and abstract values become
//! partly unknown runtime values that functions are called with.

use values::{Deprecation, Kind, Mark, Refinements, Type, Value, ValueMap};

use crate::{
    analysis::value::{
        Abstract,
        inside::{Inside, Presence},
        marks::TriMarks,
    },
    item::ConstValue,
};

/// The largest constant that is kept, in bytes. Queries keep their results for the lifetime of the database, so a
/// larger constant would stay in memory.
pub(super) const LARGEST_CONSTANT: u64 = 4 << 20;

impl Abstract {
    /// The abstract value of a value that the source determines. Parts of it may be unknown or marked.
    pub fn constant(value: Value) -> Abstract {
        if value.unshared_size() > LARGEST_CONSTANT {
            return Abstract::too_large(&value);
        }
        let plain = Abstract {
            marks: TriMarks::sure(value.marks()),
            presence: presence(&value),
            constant: value
                .is_wholly_known()
                .then(|| ConstValue::shared(value.without_all_marks())),
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
            // Elements of a set have no marks, and while some are unknown it is not known which of them are equal.
            _ => Inside::PLAIN,
        };
        Abstract { inside, ..plain }.ephemeral_as_marked()
    }

    /// The abstract value of a constant that is too large: only its marks are kept, and its type if that does not
    /// grow with the value.
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

    /// Returns the value without marks. Unknown parts are unknown values.
    pub fn plain_value(&self) -> Value {
        self.value_with(&mut |_, value| value)
    }

    /// Returns the value with a tag on every part that is marked, but none on the value itself.
    pub(in crate::analysis) fn tagged_parts(&self, tags: &mut Tags) -> Value {
        let (bare, _) = self.tagged(tags).unmark();
        bare
    }

    /// Returns the value with a tag on itself and on every part, as far as each is marked.
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

    /// Rebuilds the value from its parts. `None` if they are not all known, or do not fit the type.
    fn rebuilt(&self, finish: &mut impl FnMut(&Abstract, Value) -> Value) -> Option<Value> {
        if self.presence < Presence::Known {
            return None;
        }
        match (&self.inside, &self.ty) {
            (Inside::Attrs(attrs), ty) => {
                let parts = attrs.iter();
                let parts: ValueMap =
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

/// The abstract values that tags on runtime values stand for. A function that carries a tagged part into its result
/// carries the tag along, so the abstract value of the part is found again. A tag is a deprecation mark, which the
/// mark rules ignore.
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

    /// The abstract values whose tags are on the value itself.
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
