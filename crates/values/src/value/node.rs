//! The shared content of values, with cached facts about their parts.

use std::sync::{Arc, OnceLock};

use crate::{
    Marks, Number, ObjectType, Refinements, Text, Type, Value, ValueMap,
    budget::{ENTRY, Size},
    text,
};

/// The representation of a value.
#[derive(Clone)]
pub(super) enum Node {
    Null(Type),
    Unknown(Arc<Unknown>),
    Bool(bool),
    Number(Number),
    String(Text),
    List(Arc<Items>),
    Set(Arc<Items>),
    Map(Arc<Entries>),
    Tuple(Arc<Items>),
    Object(Arc<Entries>),
}

pub(super) struct Unknown {
    pub(super) ty: Type,
    pub(super) refinements: Refinements,
}

/// The elements of a list, a set or a tuple.
pub(super) struct Items {
    ty: OnceLock<Type>,
    items: Vec<Value>,
    summary: Summary,
}

/// The elements of a map or the attributes of an object.
pub(super) struct Entries {
    ty: OnceLock<Type>,
    entries: ValueMap,
    summary: Summary,
}

/// Facts about a container that are queried too often to compute them each time.
pub(super) struct Summary {
    pub(super) wholly_known: bool,
    /// The marks of all parts, at every depth.
    pub(super) marks_inside: Marks,
    pub(super) size: Size,
}

impl Summary {
    fn of<'a>(parts: impl Iterator<Item = &'a Value>) -> Summary {
        let size = Size { nodes: 1, text: 0 };
        let mut summary = Summary { wholly_known: true, marks_inside: Marks::NONE, size };
        for part in parts {
            summary.size.add(part.size());
            summary.wholly_known &= part.is_wholly_known();
            summary.marks_inside.add(&part.marks);
            if let Some(inner) = part.node.summary() {
                summary.marks_inside.add(&inner.marks_inside);
            }
        }
        summary
    }

    fn of_entries(entries: &ValueMap) -> Summary {
        let mut summary = Summary::of(entries.values());
        let names: u64 = entries.keys().map(|name| name.len() as u64 + ENTRY).sum();
        summary.size.add(Size { nodes: 0, text: names });
        summary
    }
}

impl Items {
    pub(super) fn new(ty: Type, items: Vec<Value>) -> Items {
        Items { ty: ty.into(), summary: Summary::of(items.iter()), items }
    }

    /// Creates the elements of a tuple, whose type is computed on demand.
    pub(super) fn untyped(items: Vec<Value>) -> Items {
        Items { ty: OnceLock::new(), summary: Summary::of(items.iter()), items }
    }

    pub(super) fn as_slice(&self) -> &[Value] {
        &self.items
    }

    pub(super) fn ty(&self) -> Type {
        self.ty.get_or_init(|| Type::tuple(self.items.iter().map(Value::ty))).clone()
    }
}

impl Entries {
    pub(super) fn map(ty: Type, entries: ValueMap) -> Entries {
        let entries = with_normal_keys(entries);
        Entries { ty: ty.into(), summary: Summary::of_entries(&entries), entries }
    }

    /// Creates the attributes of an object, whose type is computed on demand.
    pub(super) fn object(entries: ValueMap) -> Entries {
        let entries = with_normal_keys(entries);
        Entries { ty: OnceLock::new(), summary: Summary::of_entries(&entries), entries }
    }

    /// Creates the attributes of an object with a given type, which must be theirs.
    pub(super) fn object_of(ty: Type, entries: ValueMap) -> Entries {
        Entries { ty: ty.into(), summary: Summary::of_entries(&entries), entries }
    }

    pub(super) fn as_map(&self) -> &ValueMap {
        &self.entries
    }

    pub(super) fn ty(&self) -> Type {
        self.ty
            .get_or_init(|| {
                let attributes =
                    self.entries.iter().map(|(name, value)| (name.clone(), value.ty()));
                Type::Object(Arc::new(ObjectType::of_normal_names(attributes.collect())))
            })
            .clone()
    }
}

fn with_normal_keys(entries: ValueMap) -> ValueMap {
    if entries.keys().all(|key| key.is_ascii()) {
        return entries;
    }
    entries.into_iter().map(|(key, value)| (text::normalized_name(key), value)).collect()
}

impl Node {
    #[inline]
    pub(super) fn ty(&self) -> Type {
        match self {
            Node::Null(ty) => ty.clone(),
            Node::Unknown(unknown) => unknown.ty.clone(),
            Node::Bool(_) => Type::Bool,
            Node::Number(_) => Type::Number,
            Node::String(_) => Type::String,
            Node::List(items) | Node::Set(items) | Node::Tuple(items) => items.ty(),
            Node::Map(entries) | Node::Object(entries) => entries.ty(),
        }
    }

    pub(super) fn summary(&self) -> Option<&Summary> {
        match self {
            Node::List(items) | Node::Set(items) | Node::Tuple(items) => Some(&items.summary),
            Node::Map(entries) | Node::Object(entries) => Some(&entries.summary),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn size(&self) -> Size {
        match (self, self.summary()) {
            (Node::String(text), _) => Size { nodes: 1, text: text.len() as u64 },
            (_, Some(summary)) => summary.size,
            (_, None) => Size { nodes: 1, text: 0 },
        }
    }

    pub(super) fn is_wholly_known(&self) -> bool {
        match self {
            Node::Unknown(_) => false,
            _ => self.summary().is_none_or(|summary| summary.wholly_known),
        }
    }
}

/// Returns the only value that the refinements permit, or `None` if they permit several.
pub(super) fn collapsed(ty: &Type, refinements: &Refinements) -> Option<Value> {
    /// The maximum length; longer lists stay unknown, so that a hostile length costs nothing.
    const LONGEST: u64 = 1024;
    if !refinements.is_not_null() {
        return None;
    }
    match ty {
        Type::Number => refinements.only_number().cloned().map(Value::number),
        Type::List(element) | Type::Set(element) | Type::Map(element) => {
            let element = Type::clone(element);
            match (refinements.only_length()?, ty) {
                (0, Type::Map(_)) => Some(Value::map(element, ValueMap::new())),
                (0, Type::Set(_)) => Some(Value::set(element, Vec::new())),
                (1, Type::Set(_)) => {
                    Some(Value::set(element.clone(), vec![Value::unknown(element)]))
                }
                (length @ 0..=LONGEST, Type::List(_)) => {
                    let length = usize::try_from(length).ok()?;
                    Some(Value::list(element.clone(), vec![Value::unknown(element); length]))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the length of a known collection as a range, since elements of a set that are not wholly known may turn
/// out to be equal.
pub(super) fn length_range(value: &Value) -> Refinements {
    let length = value.stored_length().unwrap_or(0) as u64;
    let uncertain = matches!(value.node, Node::Set(_)) && length > 1 && !value.is_wholly_known();
    let least = if uncertain { 1 } else { length };
    Refinements::non_null().with_min_length(least).with_max_length(length)
}

/// Returns the element type of a collection. If the declared type is open and all elements have the same type,
/// that type.
pub(super) fn concrete_element<'a>(
    declared: Type,
    elements: impl Iterator<Item = &'a Value>,
) -> Type {
    if !declared.has_dynamic() {
        return declared;
    }
    let mut types = elements.map(Value::ty).filter(|ty| *ty != Type::Dynamic);
    match types.next() {
        Some(first) if types.all(|ty| ty == first) => first,
        _ => declared,
    }
}
