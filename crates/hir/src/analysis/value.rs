//! The abstract domain: what can be said of an expression's value without running anything.
//!
//! An abstract value holds a type, a constant where one is written in the source, and for every path and mark whether
//! the value there is marked: *no*, *maybe* or *yes*. Nothing in it is a runtime value.
//!
//! **Invariant:** what is marked at run is *maybe* or *yes* here, at the same path or above.
//! **Invariant:** what is *yes* here and evaluated is marked at run, at the same path or above.
//! **Invariant:** where a value, or a part of it, may be ephemeral, there is an [`Origin`].
//! **Invariant:** in runs in which all that is read is known, a value is ephemeral as its [`Ephemerality`] says ([`when`]).

mod failing;
mod inside;
mod join;
mod marks;
mod runtime;
pub mod when;

use std::{collections::BTreeMap, sync::Arc};

pub use failing::Failing;
pub use inside::{Attrs, Inside, Parts, Presence};
pub(super) use join::join_types;
pub use marks::{Tri, TriMarks};
use runtime::LARGEST_CONSTANT;
pub(super) use runtime::Tags;
use values::{MarkKind, Str, Type, Value};
pub use when::{Ephemerality, When};

use super::origin::Origin;
use crate::{expr::SymbolId, item::ConstValue};

/// What is known about a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abstract {
    /// Its type; dynamic, here or inside, where that is not known.
    pub ty: Type,
    /// The value itself where the source determines it, without marks. It is the same in every phase.
    pub constant: Option<ConstValue>,
    /// Marks of the value itself.
    pub marks: TriMarks,
    /// What is known of its parts.
    pub inside: Inside,
    /// Whether it can be null or unknown.
    pub presence: Presence,
    /// What holds where the evaluation fails.
    pub failing: Failing,
    /// Why it, or a part of it, is or may be ephemeral.
    pub origin: Option<Arc<Origin>>,
    /// When it, or a part of it, is ephemeral.
    pub ephemeral: Ephemerality,
    /// Whether it is surely a sequence, although its type is not known.
    pub is_sequence: bool,
}

impl Abstract {
    /// Nothing is known, and nothing is marked.
    pub fn any() -> Abstract {
        Abstract::of_type(Type::Dynamic)
    }

    /// Some value of a type, perhaps null, without marks.
    pub fn of_type(ty: Type) -> Abstract {
        Abstract {
            ty,
            constant: None,
            marks: TriMarks::NONE,
            inside: Inside::PLAIN,
            presence: Presence::Open,
            failing: Failing::NEVER,
            origin: None,
            ephemeral: Ephemerality::NEVER,
            is_sequence: false,
        }
    }

    /// An object of known attributes.
    pub fn object(attrs: Attrs) -> Abstract {
        let ty = Type::object(attrs.iter().map(|(name, attr)| (name.clone(), attr.ty.clone())));
        let constants =
            attrs.iter().map(|(name, attr)| Some((name.clone(), attr.plain_constant()?.clone())));
        let constant =
            constants.collect::<Option<BTreeMap<_, _>>>().map(Value::object).filter(is_kept);
        let object = Abstract::object_of_type(ty, attrs);
        let constant = constant.filter(|_| object.presence == Presence::Known);
        Abstract { constant: constant.map(ConstValue), ..object }
    }

    /// The same of a type that is known, of which nobody asks whether it is constant.
    pub fn object_of_type(ty: Type, attrs: Attrs) -> Abstract {
        let origin = first_origin(attrs.values());
        let failing = all_failing(attrs.values());
        let container = Abstract { failing, origin, ..Abstract::of_type(ty) };
        container.known(None, Inside::attrs(attrs))
    }

    /// A tuple of known elements.
    pub fn tuple(items: Vec<Abstract>) -> Abstract {
        let ty = Type::tuple(items.iter().map(|item| item.ty.clone()));
        let constants = items.iter().map(|item| item.plain_constant().cloned());
        let constant = constants.collect::<Option<Vec<_>>>().map(Value::tuple).filter(is_kept);
        let origin = first_origin(items.iter());
        let failing = all_failing(items.iter());
        let container = Abstract { failing, origin, ..Abstract::of_type(ty) };
        container.known(constant, Inside::items(items))
    }

    fn known(self, constant: Option<Value>, inside: Inside) -> Abstract {
        let ephemeral = Ephemerality::new(When::Never, inside.ephemeral());
        if inside.size() > MOST_PARTS {
            // Many questions walk through all parts: of more, only the marks are kept.
            let inside = Inside::Opaque(inside.marks().weakened());
            let ephemeral = ephemeral.weakened();
            let (ty, presence) = (Type::Dynamic, Presence::NotNull);
            return Abstract { ty, inside, presence, ephemeral, ..self };
        }
        let constant = constant.map(ConstValue);
        Abstract { constant, inside, presence: Presence::Known, ephemeral, ..self }
    }

    /// A collection of an unknown number of alike elements; `ty` is its type where that is known.
    pub fn each(ty: Type, element: Abstract) -> Abstract {
        let origin = element.origin.clone();
        let failing = element.failing.clone();
        let inside = Inside::Each(Arc::new(element));
        let ephemeral = Ephemerality::new(When::Never, inside.ephemeral());
        Abstract { inside, failing, origin, ephemeral, ..Abstract::of_type(ty) }
    }

    /// The same value with what its marks say of when it is ephemeral: what is only perhaps marked depends on nothing that
    /// has a name.
    #[must_use]
    pub fn ephemeral_as_marked(self) -> Abstract {
        let inside = match &self.inside {
            Inside::Opaque(marks) => When::of_mark(marks.ephemeral),
            inside => inside.ephemeral(),
        };
        let inside = if self.presence == Presence::Open { inside.weakened() } else { inside };
        let ephemeral = Ephemerality::new(When::of_mark(self.marks.ephemeral), inside);
        Abstract { ephemeral, ..self }
    }

    /// The constant of a value without any marks; only such a constant may be a part of another.
    pub fn plain_constant(&self) -> Option<&Value> {
        let constant = self.constant.as_ref()?;
        (self.deep_marks() == TriMarks::NONE).then_some(&constant.0)
    }

    /// Whether all of its parts are constants, and only its size keeps it from being one.
    pub(in crate::analysis) fn is_too_large_for_constant(&self) -> bool {
        let is_constant = |part: &Abstract| part.plain_constant().is_some();
        self.constant.is_none()
            && self.presence == Presence::Known
            && match &self.inside {
                Inside::Items(items) => !items.is_empty() && items.iter().all(is_constant),
                Inside::Attrs(attrs) => !attrs.is_empty() && attrs.values().all(is_constant),
                Inside::Each(_) | Inside::Opaque(_) => false,
            }
    }

    /// Whether a message may show the constant.
    pub(in crate::analysis) fn is_showable(&self) -> bool {
        let marks = self.deep_marks();
        marks.sensitive == Tri::No && marks.ephemeral == Tri::No
    }

    /// Whether a message may show the names of the parts and their number: those are marked as the whole is.
    pub(in crate::analysis) fn has_showable_shape(&self) -> bool {
        self.marks.sensitive == Tri::No && self.ephemeral.here().is_never()
    }

    /// Whether it is known to be null.
    pub fn is_null(&self) -> bool {
        self.constant.as_ref().is_some_and(|it| it.0.is_null())
    }

    /// Whether something of its type is decided by its value only: of a constant, nothing is.
    pub fn has_open_type(&self) -> bool {
        self.constant.is_none() && (self.ty.has_dynamic() || !self.failing.is_typed_early)
    }

    /// The same value with further marks on it. When it is ephemeral stays as it is.
    pub fn with_marks(mut self, marks: &TriMarks) -> Abstract {
        self.marks = self.marks.union(marks);
        self
    }

    /// The same value with one mark set on it.
    pub fn with_mark(mut self, kind: MarkKind, value: Tri) -> Abstract {
        let joined = self.marks.get(kind).max(value);
        self.marks = self.marks.with(kind, joined);
        if kind == MarkKind::Ephemeral {
            self.ephemeral = self.ephemeral.or_here(&When::of_mark(value));
        }
        self
    }

    /// The same value, explained by `origin` if there is something to explain and it is not explained already.
    pub fn with_origin(mut self, origin: Option<Arc<Origin>>) -> Abstract {
        if self.origin.is_none() && self.deep_marks().ephemeral > Tri::No {
            self.origin = origin;
        }
        self
    }

    /// Marks of the value and of everything inside of it. O(1).
    pub fn deep_marks(&self) -> TriMarks {
        self.marks.union(&self.inner_marks())
    }

    /// Marks of everything inside: *yes* if some part is surely there and marked. O(1).
    pub fn inner_marks(&self) -> TriMarks {
        match self.presence {
            // A null has no parts.
            Presence::Open => self.inside.marks().weakened(),
            Presence::NotNull | Presence::Known => self.inside.marks(),
        }
    }

    /// The marks that are sure, on it or inside.
    pub(in crate::analysis) fn sure_marks(&self) -> TriMarks {
        let deep = self.deep_marks();
        MarkKind::ALL.into_iter().fold(TriMarks::NONE, |marks, kind| match deep.get(kind) {
            Tri::Yes => marks.with(kind, Tri::Yes),
            _ => marks,
        })
    }

    /// The same value without a mark, on it and inside.
    pub fn without_deep(&self, kind: MarkKind) -> Abstract {
        self.with_every_mark(&mut |marks| marks.with(kind, Tri::No))
    }

    /// The same value with no marks at all.
    pub fn unmarked(&self) -> Abstract {
        self.with_every_mark(&mut |_| TriMarks::NONE)
    }

    /// The same value with every mark only perhaps there.
    pub fn weakened(&self) -> Abstract {
        self.with_every_mark(&mut |marks| marks.weakened())
    }

    /// The same value outside of what binds these names, about elements of what `reads` says.
    pub(in crate::analysis) fn outside_of(&self, names: &[SymbolId], reads: &[Str]) -> Abstract {
        if self.deep_marks().ephemeral == Tri::No {
            return self.clone();
        }
        let inside = self.inside.map(&mut |part| part.outside_of(names, reads));
        let ephemeral = self.ephemeral.map(|when| when.outside_of(names, reads));
        Abstract { inside, ephemeral, ..self.clone() }
    }

    /// The same value where its failing may be hidden: marks that are not there then are only perhaps there.
    pub(in crate::analysis) fn if_it_holds(self) -> Abstract {
        if self.failing.keeps_marks { self } else { self.weakened() }
    }

    /// The same value, of which neither the type is known nor anything that depends on it.
    pub(in crate::analysis) fn opened(&self) -> Abstract {
        let presence = self.open_presence();
        Abstract { ty: Type::Dynamic, constant: None, presence, ..self.with_open_parts() }
    }

    /// Whether it can be null or unknown once it has another type: while elements of a set are unknown, so is a list of
    /// them.
    pub(in crate::analysis) fn open_presence(&self) -> Presence {
        match &self.ty {
            Type::Set(_) => self.presence.min(Presence::NotNull),
            _ => self.presence,
        }
    }

    /// The same value with parts of which that holds.
    pub(in crate::analysis) fn with_open_parts(&self) -> Abstract {
        let inside = self.inside.map(&mut Abstract::opened);
        Abstract { constant: None, inside, ..self.clone() }
    }

    fn with_every_mark(&self, change: &mut impl FnMut(TriMarks) -> TriMarks) -> Abstract {
        if self.deep_marks() == TriMarks::NONE {
            return self.clone();
        }
        let inside = match &self.inside {
            Inside::Opaque(marks) => Inside::Opaque(change(*marks)),
            inside => inside.map(&mut |part| part.with_every_mark(change)),
        };
        let ephemeral = match change(SURELY_EPHEMERAL).ephemeral {
            Tri::No => Ephemerality::NEVER,
            Tri::Maybe => self.ephemeral.weakened(),
            Tri::Yes => self.ephemeral.clone(),
        };
        let changed = Abstract { marks: change(self.marks), inside, ephemeral, ..self.clone() };
        let is_explained = changed.deep_marks().ephemeral > Tri::No;
        Abstract { origin: changed.origin.filter(|_| is_explained), ..changed }
    }

    /// An attribute of an object or an element of a map. `None` where there is surely none of that name.
    pub fn attr(&self, name: &str) -> Option<Abstract> {
        let part = match &self.inside {
            Inside::Attrs(attrs) => attrs.get(name)?.clone(),
            Inside::Each(element) if is_keyed(&self.ty) => (**element).clone(),
            Inside::Each(_) | Inside::Items(_) => return None,
            Inside::Opaque(marks) => self.opaque_part(self.plain_attr(name)?, marks),
        };
        let is_sure = !matches!(self.ty, Type::Map(_));
        Some(self.taken_out(part, is_sure))
    }

    /// An attribute as the constant or the type tells it, without marks.
    fn plain_attr(&self, name: &str) -> Option<Abstract> {
        if let Some(entries) = self.constant.as_ref().and_then(|it| it.0.as_map()) {
            return entries.get(name).map(|part| Abstract::constant(part.clone()));
        }
        let ty = match &self.ty {
            Type::Object(object) => object.get(name)?.clone(),
            Type::Map(element) => Type::clone(element),
            Type::Dynamic => Type::Dynamic,
            _ => return None,
        };
        Some(Abstract::of_type(ty))
    }

    /// A part of this value, as it is when it stands alone.
    fn taken_out(&self, part: Abstract, is_sure: bool) -> Abstract {
        let mut part = part.with_origin(self.origin.clone());
        if self.presence < Presence::Known {
            // While this is unknown, so is the part.
            part.constant = None;
            part.presence = part.presence.min(Presence::NotNull);
        }
        let is_there = is_sure && self.presence >= Presence::NotNull;
        part.failing.keeps_type &= is_there;
        part.failing.keeps_marks &= is_there;
        part
    }

    /// The element of a tuple or list at a position. `None` where there is surely none.
    pub fn item(&self, position: usize) -> Option<Abstract> {
        let (part, is_sure) = match &self.inside {
            Inside::Items(items) => (items.get(position)?.clone(), true),
            Inside::Each(element) => ((**element).clone(), false),
            Inside::Attrs(_) => return None,
            Inside::Opaque(marks) => {
                let constant = self.constant.as_ref().and_then(|it| it.0.as_slice());
                let (part, is_sure) = match (constant, &self.ty) {
                    (Some(items), _) => (Abstract::constant(items.get(position)?.clone()), true),
                    (None, Type::Tuple(types)) => {
                        (Abstract::of_type(types.get(position)?.clone()), true)
                    }
                    (None, ty) => {
                        let element = ty.element().cloned().unwrap_or(Type::Dynamic);
                        (Abstract::of_type(element), false)
                    }
                };
                (self.opaque_part(part, marks), is_sure)
            }
        };
        Some(self.taken_out(part, is_sure))
    }

    /// The number of elements, where all of them are known.
    pub fn known_length(&self) -> Option<usize> {
        match &self.inside {
            Inside::Attrs(attrs) => Some(attrs.len()),
            Inside::Items(items) => Some(items.len()),
            Inside::Each(_) => None,
            Inside::Opaque(_) => self.constant.as_ref()?.0.stored_length(),
        }
    }

    /// The elements in order with their keys, where all of them are known; nothing if there are more than `most`.
    pub fn known_elements(&self, most: usize) -> Option<Vec<(Abstract, Abstract)>> {
        let text = |name: &Str| Abstract::constant(Value::string(name.clone()));
        let number =
            |i: usize| Abstract::constant(Value::int(i64::try_from(i).unwrap_or(i64::MAX)));
        let elements: Vec<(Abstract, Abstract)> = match &self.inside {
            Inside::Attrs(attrs) if attrs.len() <= most => {
                attrs.iter().map(|(name, attr)| (text(name), attr.clone())).collect()
            }
            Inside::Items(items) if items.len() <= most => {
                items.iter().enumerate().map(|(i, item)| (number(i), item.clone())).collect()
            }
            Inside::Opaque(_) => {
                let constant = &self.constant.as_ref()?.0;
                if constant.stored_length()? > most {
                    return None;
                }
                let pair = |(key, value): (Value, &Value)| {
                    (Abstract::constant(key), Abstract::constant(value.clone()))
                };
                constant.elements().map(pair).collect()
            }
            _ => return None,
        };
        let taken_out = |(key, part)| (key, self.taken_out(part, true));
        Some(elements.into_iter().map(taken_out).collect())
    }
}

/// Whether a constant is small enough to be kept.
pub(super) fn is_kept(constant: &Value) -> bool {
    constant.unshared_size() <= LARGEST_CONSTANT
}

/// With this, a change of marks shows what it does to a mark that is sure.
const SURELY_EPHEMERAL: TriMarks =
    TriMarks { sensitive: Tri::No, ephemeral: Tri::Yes, deprecated: Tri::No };

/// The most parts that are known of one value, at all depths together.
const MOST_PARTS: u64 = 1_000_000;

/// Whether the elements of a type are found by name. What is not known may be found so.
fn is_keyed(ty: &Type) -> bool {
    matches!(ty, Type::Map(_) | Type::Object(_) | Type::Dynamic)
}

/// What holds where one of several parts fails.
fn all_failing<'a>(parts: impl Iterator<Item = &'a Abstract>) -> Failing {
    parts.fold(Failing::NEVER, |failing, part| failing.with(&part.failing))
}

/// The first reason among parts.
fn first_origin<'a>(parts: impl Iterator<Item = &'a Abstract>) -> Option<Arc<Origin>> {
    parts.fold(None, |found, part| found.or_else(|| part.origin.clone()))
}

impl Abstract {
    /// A part of this, of which only the marks inside are known.
    fn opaque_part(&self, part: Abstract, marks: &TriMarks) -> Abstract {
        let weak = marks.weakened();
        if weak == TriMarks::NONE {
            return part;
        }
        let is_whole = part.ty.is_primitive();
        let inside = if is_whole { Inside::PLAIN } else { Inside::Opaque(weak) };
        let when = self.ephemeral.inside().weakened();
        let ephemeral = Ephemerality::new(when.clone(), if is_whole { When::Never } else { when });
        Abstract { inside, ephemeral, ..part }.with_marks(&weak)
    }
}
