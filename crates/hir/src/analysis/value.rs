//! The abstract domain: what can be said of an expression's value without running anything.
//!
//! An abstract value holds a type, a constant where one is written in the source, and for every path and mark whether
//! the value there is marked: *no*, *maybe* or *yes*. Nothing in it is a runtime value.

use std::{collections::BTreeMap, sync::Arc};

use values::{Mark, MarkKind, Str, Type, Value};

use super::origin::Origin;
use crate::item::ConstValue;

/// Whether something holds: a lattice of three, ordered so that joining what may be together is `max`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tri {
    /// Never.
    #[default]
    No,
    /// In some runs.
    Maybe,
    /// Whenever it is evaluated.
    Yes,
}

impl Tri {
    /// What holds of one of two values, of which we do not know which it will be.
    pub fn either(self, other: Tri) -> Tri {
        if self == other { self } else { Tri::Maybe }
    }

    /// The same, but only perhaps.
    pub fn weakened(self) -> Tri {
        self.min(Tri::Maybe)
    }
}

/// The marks of one place of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriMarks {
    /// `sensitive`
    pub sensitive: Tri,
    /// `ephemeral`
    pub ephemeral: Tri,
    /// `deprecated`
    pub deprecated: Tri,
}

impl TriMarks {
    /// No mark at all.
    pub const NONE: TriMarks = TriMarks { sensitive: Tri::No, ephemeral: Tri::No, deprecated: Tri::No };

    /// Marks of two things that both flow into one.
    pub fn union(&self, other: &TriMarks) -> TriMarks {
        self.zip(other, Tri::max)
    }

    /// Marks of one of two things.
    pub fn either(&self, other: &TriMarks) -> TriMarks {
        self.zip(other, Tri::either)
    }

    /// The same, but only perhaps.
    pub fn weakened(&self) -> TriMarks {
        self.zip(self, |mark, _| mark.weakened())
    }

    /// One mark.
    pub fn get(&self, kind: MarkKind) -> Tri {
        match kind {
            MarkKind::Sensitive => self.sensitive,
            MarkKind::Ephemeral => self.ephemeral,
            MarkKind::Deprecated => self.deprecated,
        }
    }

    /// The same with one mark set.
    pub fn with(mut self, kind: MarkKind, value: Tri) -> TriMarks {
        match kind {
            MarkKind::Sensitive => self.sensitive = value,
            MarkKind::Ephemeral => self.ephemeral = value,
            MarkKind::Deprecated => self.deprecated = value,
        }
        self
    }

    fn zip(&self, other: &TriMarks, f: impl Fn(Tri, Tri) -> Tri) -> TriMarks {
        TriMarks {
            sensitive: f(self.sensitive, other.sensitive),
            ephemeral: f(self.ephemeral, other.ephemeral),
            deprecated: f(self.deprecated, other.deprecated),
        }
    }

    /// The marks that hold at least as surely as `least`, on a runtime value.
    fn apply(&self, value: Value, least: Tri) -> Value {
        let mut value = value;
        if self.sensitive >= least {
            value = value.with_mark(Mark::Sensitive);
        }
        if self.ephemeral >= least {
            value = value.with_mark(Mark::Ephemeral);
        }
        value
    }
}

/// What is known about a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abstract {
    /// Its type; dynamic where that is not known.
    pub ty: Type,
    /// The value itself where the source determines it, without marks.
    pub constant: Option<ConstValue>,
    /// Marks of the value itself.
    pub marks: TriMarks,
    /// What is known of its parts.
    pub inside: Inside,
    /// Why it, or a part of it, is or may be ephemeral.
    pub origin: Option<Arc<Origin>>,
}

/// What is known of the parts of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// Nothing but which marks may be somewhere inside.
    Opaque(TriMarks),
    /// The attributes of an object, or the known keys of a map.
    Attrs(Arc<BTreeMap<Str, Abstract>>),
    /// The elements of a tuple.
    Items(Arc<[Abstract]>),
    /// Every element is like this one; how many there are is not known.
    Each(Arc<Abstract>),
}

impl Inside {
    /// No marks inside.
    pub const PLAIN: Inside = Inside::Opaque(TriMarks::NONE);
}

impl Abstract {
    /// Nothing is known, and nothing is marked.
    pub fn any() -> Abstract {
        Abstract::of_type(Type::Dynamic)
    }

    /// Some value of a type, without marks.
    pub fn of_type(ty: Type) -> Abstract {
        Abstract { ty, constant: None, marks: TriMarks::NONE, inside: Inside::PLAIN, origin: None }
    }

    /// A constant. Its own marks count; parts are found on demand.
    pub fn constant(value: Value) -> Abstract {
        if value.is_marked_deep() {
            return Abstract::between(&value, &value);
        }
        let ty = value.ty();
        let constant = value.is_wholly_known().then_some(ConstValue(value));
        Abstract { constant, ..Abstract::of_type(ty) }
    }

    /// An object of known attributes.
    pub fn object(attrs: BTreeMap<Str, Abstract>) -> Abstract {
        let ty = Type::object(attrs.iter().map(|(name, attr)| (name.clone(), attr.ty.clone())));
        let constants = attrs.iter().map(|(name, attr)| Some((name.clone(), attr.plain_constant()?.clone())));
        let constant = constants.collect::<Option<BTreeMap<_, _>>>().map(|attrs| ConstValue(Value::object(attrs)));
        let origin = attrs.values().find_map(|attr| attr.origin.clone());
        Abstract { ty, constant, marks: TriMarks::NONE, inside: Inside::Attrs(Arc::new(attrs)), origin }
    }

    /// A tuple of known elements.
    pub fn tuple(items: Vec<Abstract>) -> Abstract {
        let ty = Type::tuple(items.iter().map(|item| item.ty.clone()));
        let constants = items.iter().map(|item| item.plain_constant().cloned());
        let constant = constants.collect::<Option<Vec<_>>>().map(|items| ConstValue(Value::tuple(items)));
        let origin = items.iter().find_map(|item| item.origin.clone());
        Abstract { ty, constant, marks: TriMarks::NONE, inside: Inside::Items(items.into()), origin }
    }

    /// A collection of an unknown number of alike elements; `ty` is its type where that is known.
    pub fn each(ty: Type, element: Abstract) -> Abstract {
        let origin = element.origin.clone();
        Abstract { inside: Inside::Each(Arc::new(element)), origin, ..Abstract::of_type(ty) }
    }

    /// The constant of a value without any marks; only such a constant may be a part of another.
    pub fn plain_constant(&self) -> Option<&Value> {
        let constant = self.constant.as_ref()?;
        (self.deep_marks() == TriMarks::NONE).then_some(&constant.0)
    }

    /// The same value with further marks on it.
    pub fn with_marks(mut self, marks: &TriMarks) -> Abstract {
        self.marks = self.marks.union(marks);
        self
    }

    /// The same value with one mark set on it.
    pub fn with_mark(mut self, kind: MarkKind, value: Tri) -> Abstract {
        let joined = self.marks.get(kind).max(value);
        self.marks = self.marks.with(kind, joined);
        self
    }

    /// The same value, explained by `origin` unless it is explained already.
    pub fn with_origin(mut self, origin: Option<Arc<Origin>>) -> Abstract {
        if self.origin.is_none() {
            self.origin = origin;
        }
        self
    }

    /// Marks of the value and of everything inside of it.
    pub fn deep_marks(&self) -> TriMarks {
        self.marks.union(&self.inner_marks())
    }

    /// Marks of everything inside: *yes* if some part is surely marked.
    pub fn inner_marks(&self) -> TriMarks {
        let union = |parts: &mut dyn Iterator<Item = &Abstract>| {
            parts.fold(TriMarks::NONE, |marks, part| marks.union(&part.deep_marks()))
        };
        match &self.inside {
            Inside::Opaque(marks) => marks.clone(),
            Inside::Attrs(attrs) => union(&mut attrs.values()),
            Inside::Items(items) => union(&mut items.iter()),
            // There may be no element at all.
            Inside::Each(element) => element.deep_marks().weakened(),
        }
    }

    /// The same value without a mark, on it and inside.
    pub fn without_deep(&self, kind: MarkKind) -> Abstract {
        self.map(&mut |node| node.marks = std::mem::take(&mut node.marks).with(kind, Tri::No))
    }

    /// The same value with no marks at all.
    pub fn unmarked(&self) -> Abstract {
        self.map(&mut |node| node.marks = TriMarks::NONE)
    }

    /// The same structure with every mark only perhaps there.
    pub fn weakened(&self) -> Abstract {
        let mut weak = self.map(&mut |node| node.marks = node.marks.weakened());
        weak.constant = None;
        weak
    }

    fn map(&self, change: &mut impl FnMut(&mut Abstract)) -> Abstract {
        let mut node = self.clone();
        node.inside = match &self.inside {
            Inside::Opaque(marks) => {
                let mut inner = Abstract { marks: marks.clone(), ..Abstract::any() };
                change(&mut inner);
                Inside::Opaque(inner.marks)
            }
            Inside::Attrs(attrs) => {
                Inside::Attrs(Arc::new(attrs.iter().map(|(name, attr)| (name.clone(), attr.map(change))).collect()))
            }
            Inside::Items(items) => Inside::Items(items.iter().map(|item| item.map(change)).collect()),
            Inside::Each(element) => Inside::Each(Arc::new(element.map(change))),
        };
        change(&mut node);
        if node.deep_marks().ephemeral == Tri::No {
            node.origin = None;
        }
        node
    }

    /// One of two values, of which we do not know which it will be.
    pub fn either(&self, other: &Abstract) -> Abstract {
        let ty = if self.ty == other.ty {
            self.ty.clone()
        } else {
            values::convert::unify(&[self.ty.clone(), other.ty.clone()]).unwrap_or(Type::Dynamic)
        };
        let constant = match (&self.constant, &other.constant) {
            (Some(a), Some(b)) if a == b => Some(a.clone()),
            _ => None,
        };
        let inside = match (&self.inside, &other.inside) {
            (Inside::Attrs(a), Inside::Attrs(b)) if a.keys().eq(b.keys()) => Inside::Attrs(Arc::new(
                a.iter().zip(b.values()).map(|((name, a), b)| (name.clone(), a.either(b))).collect(),
            )),
            (Inside::Items(a), Inside::Items(b)) if a.len() == b.len() => {
                Inside::Items(a.iter().zip(b.iter()).map(|(a, b)| a.either(b)).collect())
            }
            (Inside::Each(a), Inside::Each(b)) => Inside::Each(Arc::new(a.either(b))),
            _ => Inside::Opaque(self.inner_marks().either(&other.inner_marks())),
        };
        let origin = self.origin.clone().or_else(|| other.origin.clone());
        Abstract { ty, constant, marks: self.marks.either(&other.marks), inside, origin }
    }

    /// An attribute of an object or a known key of a map. `None` where nothing is known of a part of that name.
    pub fn attr(&self, name: &str) -> Option<Abstract> {
        let part = match &self.inside {
            Inside::Attrs(attrs) => attrs.get(name)?.clone(),
            Inside::Each(element) => (**element).clone(),
            Inside::Items(_) => return None,
            Inside::Opaque(marks) => {
                let constant = self.constant.as_ref().and_then(|it| it.0.get_attr(name)).map(Abstract::constant);
                let known = constant.or_else(|| {
                    let ty = match &self.ty {
                        Type::Object(object) => object.get(name)?.clone(),
                        Type::Map(element) => (**element).clone(),
                        Type::Dynamic => Type::Dynamic,
                        _ => return None,
                    };
                    Some(Abstract::of_type(ty))
                })?;
                opaque_part(known, marks)
            }
        };
        Some(part.with_origin(self.origin.clone()))
    }

    /// Some element of a collection, tuple or object: what an unknown index gives, and what a `for` walks over.
    pub fn any_element(&self) -> Abstract {
        let join = |parts: &mut dyn Iterator<Item = &Abstract>| {
            parts.fold(None, |joined: Option<Abstract>, part| Some(joined.map_or_else(|| part.clone(), |it| it.either(part))))
        };
        let element = match &self.inside {
            Inside::Attrs(attrs) => join(&mut attrs.values()),
            Inside::Items(items) => join(&mut items.iter()),
            Inside::Each(element) => Some((**element).clone()),
            Inside::Opaque(marks) => {
                let ty = self.ty.element().cloned().unwrap_or(Type::Dynamic);
                Some(opaque_part(Abstract::of_type(ty), marks))
            }
        };
        element.unwrap_or_else(Abstract::any).with_origin(self.origin.clone())
    }

    /// The elements in order with their keys, where all of them are known.
    pub fn known_elements(&self) -> Option<Vec<(Abstract, Abstract)>> {
        let key = |value: Value| Abstract::constant(value);
        match &self.inside {
            Inside::Attrs(attrs) => {
                Some(attrs.iter().map(|(name, attr)| (key(Value::string(name.clone())), attr.clone())).collect())
            }
            Inside::Items(items) => {
                Some(items.iter().enumerate().map(|(i, item)| (key(Value::int(i as i64)), item.clone())).collect())
            }
            Inside::Each(_) => None,
            Inside::Opaque(_) => {
                let constant = &self.constant.as_ref()?.0;
                constant.as_map().is_some().then_some(()).or_else(|| constant.as_slice().map(|_| ()))?;
                let elements = constant.elements();
                Some(elements.map(|(k, v)| (key(k), Abstract::constant(v.clone()))).collect())
            }
        }
    }

    /// A value as the concrete domain has it while nothing is known: unknown, with the marks that are sure.
    pub fn to_value(&self, least: Tri) -> Value {
        if let Some(constant) = &self.constant
            && self.deep_marks() == TriMarks::NONE
        {
            return constant.0.clone();
        }
        let value = match &self.inside {
            Inside::Attrs(attrs) if !matches!(self.ty, Type::Map(_)) => {
                Value::object(attrs.iter().map(|(name, attr)| (name.clone(), attr.to_value(least))).collect())
            }
            Inside::Items(items) if !matches!(self.ty, Type::List(_) | Type::Set(_)) => {
                Value::tuple(items.iter().map(|item| item.to_value(least)).collect())
            }
            _ => match &self.constant {
                Some(constant) => constant.0.clone(),
                None => Value::unknown(self.ty.clone()),
            },
        };
        self.marks.apply(value, least)
    }

    /// From the same operation run twice: on values with the marks that are sure, and with those that are possible.
    pub fn between(sure: &Value, possible: &Value) -> Abstract {
        let mark = |kind| match (sure.marks().has(kind), possible.marks().has(kind)) {
            (true, _) => Tri::Yes,
            (false, true) => Tri::Maybe,
            (false, false) => Tri::No,
        };
        let marks = TriMarks {
            sensitive: mark(MarkKind::Sensitive),
            ephemeral: mark(MarkKind::Ephemeral),
            deprecated: mark(MarkKind::Deprecated),
        };
        let inside = match (sure.kind(), possible.kind()) {
            (values::Kind::Object(a) | values::Kind::Map(a), values::Kind::Object(b) | values::Kind::Map(b)) => {
                Inside::Attrs(Arc::new(
                    a.iter().filter_map(|(name, a)| Some((name.clone(), Abstract::between(a, b.get(name)?)))).collect(),
                ))
            }
            (
                values::Kind::Tuple(a) | values::Kind::List(a) | values::Kind::Set(a),
                values::Kind::Tuple(b) | values::Kind::List(b) | values::Kind::Set(b),
            ) if a.len() == b.len() => Inside::Items(a.iter().zip(b).map(|(a, b)| Abstract::between(a, b)).collect()),
            _ => Inside::PLAIN,
        };
        let constant = sure.is_wholly_known().then(|| ConstValue(sure.without_all_marks()));
        Abstract { ty: sure.ty(), constant, marks, inside, origin: None }
    }
}

/// A part of something of which we only know the marks inside.
fn opaque_part(part: Abstract, marks: &TriMarks) -> Abstract {
    let weak = marks.weakened();
    let inside = match part.ty.is_primitive() {
        true => Inside::PLAIN,
        false => Inside::Opaque(weak.clone()),
    };
    let inside = if weak == TriMarks::NONE { part.inside.clone() } else { inside };
    Abstract { inside, ..part }.with_marks(&weak)
}
