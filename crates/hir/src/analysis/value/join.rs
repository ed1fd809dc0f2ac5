//! Joins of abstract values: the facts that hold of one of several values if it is not known which one it is.

use std::{borrow::Cow, sync::Arc};

use values::Type;

use crate::analysis::value::{
    Abstract,
    inside::{Attrs, Inside, Presence},
    marks::TriMarks,
    when::{Ephemerality, When},
};

impl Abstract {
    /// Joins two values if it is not known which of them it is.
    pub fn either(&self, other: &Abstract) -> Abstract {
        self.either_by(other, &When::depends([]))
    }

    /// Joins this value, which applies if the condition `first` holds, with `other`, which applies if it does not.
    pub fn either_by(&self, other: &Abstract, first: &When) -> Abstract {
        let constant = match (&self.constant, &other.constant) {
            (Some(a), Some(b)) if a == b => Some(a.clone()),
            _ => None,
        };
        let marks = self.marks.either(&other.marks);
        let inside = match (self.is_null(), other.is_null()) {
            // A null has no parts that could differ.
            (true, _) => other.inside.clone(),
            (_, true) => self.inside.clone(),
            _ => either_inside(self, other, first),
        };
        let joined = Abstract {
            ty: join_types(&self.ty, &other.ty),
            constant,
            marks,
            inside,
            presence: self.presence.min(other.presence),
            failing: self.failing.clone().with(&other.failing),
            origin: None,
            ephemeral: Ephemerality::choose(first, &self.ephemeral, &other.ephemeral),
            is_sequence: self.is_sequence && other.is_sequence,
        };
        joined.with_origin(self.origin.clone().or_else(|| other.origin.clone()))
    }

    /// The join of all elements of a collection, tuple or object: the result of an unknown index, and the element
    /// of a `for`.
    pub fn any_element(&self) -> Abstract {
        let element = match &self.inside {
            Inside::Attrs(attrs) => join(attrs.values()),
            Inside::Items(items) => join(items.iter()),
            Inside::Each(element) => Some((**element).clone()),
            Inside::Opaque(marks) => Some(self.opaque_part(self.plain_element(), marks)),
        };
        let mut element = element.unwrap_or_else(Abstract::any);
        element.constant = None;
        self.taken_out(element, false)
    }

    /// The join of all elements as the type determines them, without marks.
    fn plain_element(&self) -> Abstract {
        let mut types: Box<dyn Iterator<Item = &Type>> = match &self.ty {
            Type::Tuple(types) => Box::new(types.iter()),
            Type::Object(object) => Box::new(object.iter().map(|(_, ty)| ty)),
            other => return Abstract::of_type(other.element().cloned().unwrap_or(Type::Dynamic)),
        };
        let first = types.next().cloned();
        let joined = first.map(|first| types.fold(first, |all, ty| join_types(&all, ty)));
        Abstract::of_type(joined.unwrap_or(Type::Dynamic))
    }

    /// Returns the parts one by one if a constant stands for all of them.
    fn structured(&self) -> Cow<'_, Inside> {
        let Some(constant) = self.plain_constant() else { return Cow::Borrowed(&self.inside) };
        let part = |value: &values::Value| Abstract::constant(value.clone());
        match constant.kind() {
            values::Kind::Object(attrs) | values::Kind::Map(attrs) => Cow::Owned(Inside::attrs(
                attrs.iter().map(|(name, value)| (name.clone(), part(value))).collect(),
            )),
            values::Kind::Tuple(items) | values::Kind::List(items) => {
                Cow::Owned(Inside::items(items.iter().map(part).collect()))
            }
            _ => Cow::Borrowed(&self.inside),
        }
    }
}

fn join<'a>(parts: impl Iterator<Item = &'a Abstract>) -> Option<Abstract> {
    parts.fold(None, |joined: Option<Abstract>, part| {
        Some(joined.map_or_else(|| part.clone(), |it| it.either(part)))
    })
}

fn either_inside(a: &Abstract, b: &Abstract, first: &When) -> Inside {
    if a.inside.marks() == TriMarks::NONE && b.inside.marks() == TriMarks::NONE {
        if let (Inside::Attrs(parts), Inside::Attrs(others)) = (&a.inside, &b.inside)
            && Arc::ptr_eq(parts, others)
        {
            return Inside::Attrs(Arc::clone(parts));
        }
        let is_alike = matches!(
            (&a.inside, &b.inside),
            (Inside::Attrs(_), Inside::Attrs(_))
                | (Inside::Items(_), Inside::Items(_))
                | (Inside::Each(_), Inside::Each(_))
        );
        if !is_alike {
            return Inside::PLAIN;
        }
    }
    let (inside_a, inside_b) = (a.structured(), b.structured());
    match (&*inside_a, &*inside_b) {
        (Inside::Attrs(a), Inside::Attrs(b)) if a.keys().eq(b.keys()) => {
            let pairs = a.iter().zip(b.values());
            let parts: Attrs =
                pairs.map(|((name, a), b)| (name.clone(), a.either_by(b, first))).collect();
            Inside::attrs(parts)
        }
        (Inside::Items(a), Inside::Items(b)) if a.len() == b.len() => {
            Inside::items(a.iter().zip(b.iter()).map(|(a, b)| a.either_by(b, first)).collect())
        }
        (Inside::Each(a), Inside::Each(b)) => Inside::Each(Arc::new(a.either_by(b, first))),
        (Inside::Items(items), Inside::Each(element))
        | (Inside::Each(element), Inside::Items(items)) => {
            let joined = items.iter().fold((**element).clone(), |all, item| all.either(item));
            Inside::Each(Arc::new(joined))
        }
        (Inside::Items(a), Inside::Items(b)) => match join(a.iter().chain(b.iter())) {
            Some(element) => Inside::Each(Arc::new(element)),
            None => Inside::PLAIN,
        },
        (a, b) => Inside::Opaque(a.marks().either(&b.marks())),
    }
}

/// Returns the type that values of either type conform to without a conversion.
pub(in crate::analysis) fn join_types(a: &Type, b: &Type) -> Type {
    match (a, b) {
        _ if a == b => a.clone(),
        (Type::List(a), Type::List(b)) => Type::list(join_types(a, b)),
        (Type::Set(a), Type::Set(b)) => Type::set(join_types(a, b)),
        (Type::Map(a), Type::Map(b)) => Type::map(join_types(a, b)),
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
            Type::tuple(a.iter().zip(b.iter()).map(|(a, b)| join_types(a, b)))
        }
        (Type::Object(a), Type::Object(b))
            if a.iter().map(|(name, _)| name).eq(b.iter().map(|(name, _)| name)) =>
        {
            let pairs = a.iter().zip(b.iter());
            Type::object(pairs.map(|((name, a), (_, b))| (name.clone(), join_types(a, b))))
        }
        _ => Type::Dynamic,
    }
}

impl Abstract {
    /// Returns the value for a place where a plan may not know yet whether this value is chosen: it may be unknown,
    /// and only a null stays a constant.
    pub fn undecided(self) -> Abstract {
        let presence = self.presence.min(Presence::NotNull);
        let constant = self.constant.filter(|it| it.0.is_null());
        Abstract { constant, presence, ..self }
    }
}
