//! The abstract domain: the facts that are known of an expression's value without running anything.
//!
//! An abstract value holds a type, a constant where the source determines one, and for every path and mark whether
//! the value there is marked: *no*, *maybe* or *yes*. It contains no runtime value.
//!
//! **Invariant:** a value that is marked at run time is *maybe* or *yes* here, at the same path or above.
//! **Invariant:** a value that is *yes* here and is evaluated is marked at run time, at the same path or above.
//! **Invariant:** a value that may be ephemeral, or has a part that may be, has an [`Origin`].
//! **Invariant:** in runs in which every value that is read is known, a value is ephemeral exactly as its
//! [`Ephemerality`] states ([`when`]).

pub(crate) mod failing;
pub(crate) mod inside;
pub(crate) mod join;
pub(crate) mod marks;
pub(crate) mod runtime;
pub mod when;

use std::sync::Arc;

use values::{MarkKind, Str, Type, Value, ValueMap};

use crate::{
    analysis::{origin::Origin, value::runtime::LARGEST_CONSTANT},
    expr::SymbolId,
    item::ConstValue,
};

pub use failing::Failing;

pub use inside::{Attrs, Inside, Parts, Presence};

pub use marks::{Tri, TriMarks};

pub use when::{Ephemerality, When};

/// The facts that are known about a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abstract {
    /// The type of the value. It is dynamic, or contains dynamic types, as far as it is not known.
    pub ty: Type,
    /// The value itself, without marks, if the source determines it. It is the same in every phase.
    pub constant: Option<Arc<ConstValue>>,
    /// The marks of the value itself.
    pub marks: TriMarks,
    /// The facts about the parts of the value.
    pub inside: Inside,
    /// The certainty that the value is not null and not unknown.
    pub presence: Presence,
    /// The changes to these facts if the evaluation fails.
    pub failing: Failing,
    /// Why the value, or a part of it, is or may be ephemeral.
    pub origin: Option<Arc<Origin>>,
    /// When the value, or a part of it, is ephemeral.
    pub ephemeral: Ephemerality,
    /// True if the value is certainly a sequence although its type is not known.
    pub is_sequence: bool,
}

impl Abstract {
    /// Returns true if the value is a constant string that is not empty.
    pub(crate) fn is_nonempty_text(&self) -> bool {
        let text = self.constant.as_ref().and_then(|it| it.0.as_str());
        text.is_some_and(|it| !it.is_empty())
    }

    /// A value of which nothing is known, without marks.
    pub fn any() -> Abstract {
        Abstract::of_type(Type::Dynamic)
    }

    /// A value of the type, without marks. It may be null.
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

    /// An object with exactly these attributes. It has a constant if all attributes are unmarked constants.
    pub fn object(attrs: Attrs) -> Abstract {
        let ty = Type::object(attrs.iter().map(|(name, attr)| (name.clone(), attr.ty.clone())));
        let constants =
            attrs.iter().map(|(name, attr)| Some((name.clone(), attr.plain_constant()?.clone())));
        let constant = constants.collect::<Option<ValueMap>>().map(Value::object).filter(is_kept);
        let object = Abstract::object_of_type(ty, attrs);
        let constant = constant.filter(|_| object.presence == Presence::Known);
        Abstract { constant: constant.map(ConstValue::shared), ..object }
    }

    /// An object with exactly these attributes and the given type. Unlike [`Abstract::object`] it never has a
    /// constant, which saves building one.
    pub fn object_of_type(ty: Type, attrs: Attrs) -> Abstract {
        let origin = first_origin(attrs.values());
        let failing = all_failing(attrs.values());
        let container = Abstract { failing, origin, ..Abstract::of_type(ty) };
        container.known(None, Inside::attrs(attrs))
    }

    /// A tuple of exactly these elements.
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
        if inside.size() > MAX_PARTS {
            // Many operations walk through all parts. Above the limit, keep only the marks.
            let inside = Inside::Opaque(inside.marks().weakened());
            let ephemeral = ephemeral.weakened();
            let (ty, presence) = (Type::Dynamic, Presence::NotNull);
            return Abstract { ty, inside, presence, ephemeral, ..self };
        }
        let constant = constant.map(ConstValue::shared);
        Abstract { constant, inside, presence: Presence::Known, ephemeral, ..self }
    }

    /// A collection of an unknown number of elements, each like `element`. `ty` is the type of the collection if it
    /// is known, or dynamic.
    pub fn each(ty: Type, element: Abstract) -> Abstract {
        let origin = element.origin.clone();
        let failing = element.failing.clone();
        let inside = Inside::Each(Arc::new(element));
        let ephemeral = Ephemerality::new(When::Never, inside.ephemeral());
        Abstract { inside, failing, origin, ephemeral, ..Abstract::of_type(ty) }
    }

    /// Returns the value with an [`Ephemerality`] derived from its marks alone: *yes* becomes always, *maybe*
    /// becomes a dependence on unnamed values.
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

    /// Returns the constant if neither the value nor a part of it is marked. Only such a constant may become part
    /// of another constant.
    pub fn plain_constant(&self) -> Option<&Value> {
        let constant = self.constant.as_ref()?;
        (self.deep_marks() == TriMarks::NONE).then_some(&constant.0)
    }

    /// Returns true if all parts are constants and only the size of the whole keeps it from having a constant.
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

    /// Returns true if a message may show the constant: nothing in it may be sensitive or ephemeral.
    pub(in crate::analysis) fn is_showable(&self) -> bool {
        let marks = self.deep_marks();
        marks.sensitive == Tri::No && marks.ephemeral == Tri::No
    }

    /// Returns true if a message may show the names and the number of the parts. Both carry the marks of the value
    /// itself, not those of its parts.
    pub(in crate::analysis) fn has_showable_shape(&self) -> bool {
        self.marks.sensitive == Tri::No && self.ephemeral.here().is_never()
    }

    /// Returns true if the value is known to be null.
    pub fn is_null(&self) -> bool {
        self.constant.as_ref().is_some_and(|it| it.0.is_null())
    }

    /// Returns true if part of the type depends on the runtime value. The type of a constant never does.
    pub fn has_open_type(&self) -> bool {
        self.constant.is_none() && (self.ty.has_dynamic() || !self.failing.is_typed_early)
    }

    /// Returns the value with further marks on it. The conditions of its [`Ephemerality`] do not change.
    pub fn with_marks(mut self, marks: &TriMarks) -> Abstract {
        self.marks = self.marks.union(marks);
        self
    }

    /// Returns the value with one mark set on it, and with the [`Ephemerality`] that follows from that mark.
    pub fn with_mark(mut self, kind: MarkKind, value: Tri) -> Abstract {
        let joined = self.marks.get(kind).max(value);
        self.marks = self.marks.with(kind, joined);
        if kind == MarkKind::Ephemeral {
            self.ephemeral = self.ephemeral.or_here(&When::of_mark(value));
        }
        self
    }

    /// Returns the value with `origin`, if the value may be ephemeral and has no origin yet.
    pub fn with_origin(mut self, origin: Option<Arc<Origin>>) -> Abstract {
        if self.origin.is_none() && self.deep_marks().ephemeral > Tri::No {
            self.origin = origin;
        }
        self
    }

    /// The marks of the value and of everything inside, joined. O(1).
    #[inline]
    pub fn deep_marks(&self) -> TriMarks {
        self.marks.union(&self.inner_marks())
    }

    /// The marks of everything inside: *yes* if some part certainly exists and is marked. O(1).
    #[inline]
    pub fn inner_marks(&self) -> TriMarks {
        match self.presence {
            // A null has no parts.
            Presence::Open => self.inside.marks().weakened(),
            Presence::NotNull | Presence::Known => self.inside.marks(),
        }
    }

    /// The marks that are *yes* on the value or inside; all others are *no*.
    pub(in crate::analysis) fn sure_marks(&self) -> TriMarks {
        let deep = self.deep_marks();
        MarkKind::ALL.into_iter().fold(TriMarks::NONE, |marks, kind| match deep.get(kind) {
            Tri::Yes => marks.with(kind, Tri::Yes),
            _ => marks,
        })
    }

    /// Returns the value without one kind of mark, on it and inside.
    pub fn without_deep(&self, kind: MarkKind) -> Abstract {
        self.with_every_mark(&mut |marks| marks.with(kind, Tri::No))
    }

    /// Returns the value without any marks, on it and inside.
    pub fn unmarked(&self) -> Abstract {
        self.with_every_mark(&mut |_| TriMarks::NONE)
    }

    /// Returns the value with every *yes* mark lowered to *maybe*, on it and inside.
    pub fn weakened(&self) -> Abstract {
        self.with_every_mark(&mut |marks| marks.weakened())
    }

    /// Returns the value as it is outside of the construct that binds `names`. Conditions that mention one of the
    /// names become a dependence on `reads`, the references of the collection that the names are bound to.
    pub(in crate::analysis) fn outside_of(&self, names: &[SymbolId], reads: &[Str]) -> Abstract {
        if self.deep_marks().ephemeral == Tri::No {
            return self.clone();
        }
        let inside = self.inside.map(&mut |part| part.outside_of(names, reads));
        let ephemeral = self.ephemeral.map(|when| when.outside_of(names, reads));
        Abstract { inside, ephemeral, ..self.clone() }
    }

    /// Returns the value for a place that may hide its failure. Marks that a failure would lose are lowered to
    /// *maybe*.
    pub(in crate::analysis) fn if_it_holds(self) -> Abstract {
        if self.failing.keeps_marks { self } else { self.weakened() }
    }

    /// Returns the value with its type forgotten, and everything that depends on the type.
    pub(in crate::analysis) fn opened(&self) -> Abstract {
        let presence = self.open_presence();
        Abstract { ty: Type::Dynamic, constant: None, presence, ..self.with_open_parts() }
    }

    /// The presence of the value after a conversion to another type. While elements of a set are unknown, a list of
    /// them is unknown as a whole.
    pub(in crate::analysis) fn open_presence(&self) -> Presence {
        match &self.ty {
            Type::Set(_) => self.presence.min(Presence::NotNull),
            _ => self.presence,
        }
    }

    /// Returns the value with the types of its parts forgotten, and without its constant.
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

    /// Returns an attribute of an object or an element of a map. `None` if the value certainly has none of that
    /// name.
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

    /// An attribute without marks, as the constant or the type determines it. `None` if there is none of that name.
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

    /// Returns a part of this value as a value of its own.
    fn taken_out(&self, part: Abstract, is_sure: bool) -> Abstract {
        let mut part = part.with_origin(self.origin.clone());
        if self.presence < Presence::Known {
            // While the container is unknown, so is the part.
            part.constant = None;
            part.presence = part.presence.min(Presence::NotNull);
        }
        let is_there = is_sure && self.presence >= Presence::NotNull;
        part.failing.keeps_type &= is_there;
        part.failing.keeps_marks &= is_there;
        part
    }

    /// Returns the element of a tuple or list at a position. `None` if there certainly is none.
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

    /// The number of elements, or `None` if it is not known.
    pub fn known_length(&self) -> Option<usize> {
        match &self.inside {
            Inside::Attrs(attrs) => Some(attrs.len()),
            Inside::Items(items) => Some(items.len()),
            Inside::Each(_) => None,
            Inside::Opaque(_) => self.constant.as_ref()?.0.stored_length(),
        }
    }

    /// Returns the elements in order, each with its key. `None` if they are not all known, or if there are more
    /// than `most`.
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

/// Returns true if a constant is small enough to be kept.
pub(super) fn is_kept(constant: &Value) -> bool {
    constant.unshared_size() <= LARGEST_CONSTANT
}

/// The input that shows how a function on marks treats an ephemeral mark that is *yes*.
const SURELY_EPHEMERAL: TriMarks =
    TriMarks { sensitive: Tri::No, ephemeral: Tri::Yes, deprecated: Tri::No };

/// The largest number of parts that an abstract value holds, at all depths together.
const MAX_PARTS: u64 = 1_000_000;

/// Returns true if the elements of a type can be found by name. A dynamic type may have such elements.
fn is_keyed(ty: &Type) -> bool {
    matches!(ty, Type::Map(_) | Type::Object(_) | Type::Dynamic)
}

/// Joins the [`Failing`] of several parts, any of which may fail.
fn all_failing<'a>(parts: impl Iterator<Item = &'a Abstract>) -> Failing {
    parts.fold(Failing::NEVER, |failing, part| failing.with(&part.failing))
}

/// Returns the origin of the first part that has one.
fn first_origin<'a>(parts: impl Iterator<Item = &'a Abstract>) -> Option<Arc<Origin>> {
    parts.fold(None, |found, part| found.or_else(|| part.origin.clone()))
}

impl Abstract {
    /// Returns a part of this value when only the marks inside, not the parts themselves, are known.
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
