//! [`Value`]: its representation, its constructors, and its queries in constant time.

mod debug;
mod marked;
mod node;
mod walk;

use std::sync::Arc;

use node::{Entries, Items, Node, Unknown};
use sorted::SortedMap;

use crate::{
    Marks, Number, ObjectType, Refinements, Str, Text, Type,
    budget::Size,
    rules::{self, RuleId},
    set_order, text,
};

/// A value of a configuration, a state or a provider: known or unknown, perhaps null, perhaps marked. Cloning is
/// O(1).
///
/// `==` is [`Value::raw_equals`].
#[derive(Clone)]
pub struct Value {
    node: Node,
    /// The marks of the value itself; its parts have their own.
    marks: Marks,
}

/// The elements of a map or the attributes of an object, in a list that is sorted by their names: most objects have
/// few attributes. Collecting names in any order takes O(n log n) steps. Inserting one name takes O(n), so code that
/// inserts many names uses another map and collects it.
pub type ValueMap = SortedMap<Str, Value>;

/// The content of a value, for `match`. It does not include the marks.
#[derive(Clone, Copy)]
pub enum Kind<'a> {
    /// A null of the value's type.
    Null,
    /// An unknown value.
    Unknown(&'a Refinements),
    /// True or false.
    Bool(bool),
    /// A number.
    Number(&'a Number),
    /// Text.
    String(&'a Text),
    /// The elements of a list.
    List(&'a [Value]),
    /// The elements of a set, in cty's order.
    Set(&'a [Value]),
    /// The elements of a map by key.
    Map(&'a ValueMap),
    /// The elements of a tuple.
    Tuple(&'a [Value]),
    /// The attributes of an object.
    Object(&'a ValueMap),
}

impl Value {
    fn plain(node: Node) -> Value {
        Value { node, marks: Marks::NONE }
    }

    /// Creates a null of a type.
    #[must_use]
    #[inline]
    pub fn null(ty: Type) -> Value {
        Value::plain(Node::Null(ty.without_optional()))
    }

    /// Creates an unknown value of a type.
    #[must_use]
    pub fn unknown(ty: Type) -> Value {
        let ty = ty.without_optional();
        Value::plain(Node::Unknown(Arc::new(Unknown { ty, refinements: Refinements::NONE })))
    }

    /// Creates an unknown value with refinements. If they permit only one value (a number between equal bounds, a
    /// collection of known length), returns that value. Refinements that do not fit the type, or that contradict
    /// each other, are dropped. Use [`Refinements::fits`] and [`Refinements::is_contradictory`] where such
    /// refinements must be an error.
    #[must_use]
    pub fn unknown_with(ty: Type, refinements: Refinements) -> Value {
        let ty = ty.without_optional();
        let mut refinements = refinements.fitting(&ty);
        if refinements.is_contradictory() {
            refinements =
                if refinements.is_not_null() { Refinements::non_null() } else { Refinements::NONE };
        }
        node::collapsed(&ty, &refinements)
            .unwrap_or_else(|| Value::plain(Node::Unknown(Arc::new(Unknown { ty, refinements }))))
    }

    /// Creates an unknown value of unknown type.
    #[must_use]
    pub fn dynamic() -> Value {
        Value::unknown(Type::Dynamic)
    }

    /// Creates a bool.
    #[must_use]
    pub fn bool(value: bool) -> Value {
        Value::plain(Node::Bool(value))
    }

    /// Creates a number.
    #[must_use]
    pub fn number(number: Number) -> Value {
        Value::plain(Node::Number(number))
    }

    /// Creates an integer with the precision of a count or an index.
    #[must_use]
    pub fn int(value: i64) -> Value {
        Value::number(Number::from(value))
    }

    /// Creates a string; the text is normalized to form C.
    #[must_use]
    pub fn string(value: impl Into<Text>) -> Value {
        Value::plain(Node::String(text::normalized_text(value.into())))
    }

    /// Creates a list. All elements have the type `element`. If that type contains [`Type::Dynamic`], they may
    /// have one common type that conforms to it, which the list then takes.
    #[must_use]
    pub fn list(element: Type, elements: Vec<Value>) -> Value {
        let element = node::concrete_element(element, elements.iter());
        Value::plain(Node::List(Arc::new(Items::new(Type::list(element), elements))))
    }

    /// Creates a set. Equal elements are merged, marks of elements move to the set, and elements are sorted in
    /// cty's order. For types, see [`Value::list`].
    #[must_use]
    pub fn set(element: Type, elements: Vec<Value>) -> Value {
        let element = node::concrete_element(element, elements.iter());
        let marks = rules::result_marks(RuleId::SetConstruction, &elements);
        let bare = elements.iter().map(Value::without_all_marks).collect();
        let distinct = set_order::distinct_in_order(bare);
        Value { node: Node::Set(Arc::new(Items::new(Type::set(element), distinct))), marks }
    }

    /// Creates a map. Keys are normalized. For types, see [`Value::list`].
    #[must_use]
    pub fn map(element: Type, elements: ValueMap) -> Value {
        let element = node::concrete_element(element, elements.values());
        Value::plain(Node::Map(Arc::new(Entries::map(Type::map(element), elements))))
    }

    /// Creates a tuple.
    #[must_use]
    pub fn tuple(elements: Vec<Value>) -> Value {
        Value::plain(Node::Tuple(Arc::new(Items::untyped(elements))))
    }

    /// Creates an object. Attribute names are normalized.
    #[must_use]
    pub fn object(attributes: ValueMap) -> Value {
        Value::plain(Node::Object(Arc::new(Entries::object(attributes))))
    }

    /// Creates an object whose attributes are exactly those of `ty`, so that the type is shared and not computed
    /// again.
    pub(crate) fn object_of(ty: &Arc<ObjectType>, attributes: ValueMap) -> Value {
        if !ty.is_exact() {
            return Value::object(attributes);
        }
        debug_assert!(
            attributes
                .iter()
                .map(|(name, value)| (name, value.ty()))
                .eq(ty.iter().map(|(n, t)| (n, t.clone())))
        );
        Value::plain(Node::Object(Arc::new(Entries::object_of(
            Type::Object(Arc::clone(ty)),
            attributes,
        ))))
    }

    /// Creates an object from pairs.
    pub fn object_from<N: AsRef<str>>(attributes: impl IntoIterator<Item = (N, Value)>) -> Value {
        Value::object(
            attributes.into_iter().map(|(name, value)| (Str::from(name.as_ref()), value)).collect(),
        )
    }

    /// Creates the object without attributes.
    #[must_use]
    pub fn empty_object() -> Value {
        Value::object(ValueMap::new())
    }

    /// Creates the tuple without elements.
    #[must_use]
    pub fn empty_tuple() -> Value {
        Value::tuple(Vec::new())
    }

    /// Returns the type. It contains no optional attributes.
    #[must_use]
    #[inline]
    pub fn ty(&self) -> Type {
        self.node.ty()
    }

    /// Returns the content of the value.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> Kind<'_> {
        match &self.node {
            Node::Null(_) => Kind::Null,
            Node::Unknown(unknown) => Kind::Unknown(&unknown.refinements),
            Node::Bool(value) => Kind::Bool(*value),
            Node::Number(number) => Kind::Number(number),
            Node::String(text) => Kind::String(text),
            Node::List(items) => Kind::List(items.as_slice()),
            Node::Set(items) => Kind::Set(items.as_slice()),
            Node::Map(entries) => Kind::Map(entries.as_map()),
            Node::Tuple(items) => Kind::Tuple(items.as_slice()),
            Node::Object(entries) => Kind::Object(entries.as_map()),
        }
    }

    /// Returns true if the value is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.node, Node::Null(_))
    }

    #[inline]
    pub(crate) fn size(&self) -> Size {
        self.node.size()
    }

    /// Returns true if the value itself is known; its parts may be unknown.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !matches!(self.node, Node::Unknown(_))
    }

    /// Returns true if the value and all its parts are known. O(1).
    #[must_use]
    #[inline]
    pub fn is_wholly_known(&self) -> bool {
        self.node.is_wholly_known()
    }

    /// Returns true if the value cannot be null: it is known and not null, or unknown with a non-null refinement.
    #[must_use]
    pub fn is_definitely_not_null(&self) -> bool {
        match self.kind() {
            Kind::Null => false,
            Kind::Unknown(refinements) => refinements.is_not_null(),
            _ => true,
        }
    }

    /// Returns the bool; `None` if the value is not a known bool.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.node {
            Node::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the text; `None` if the value is not a known string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.node {
            Node::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number; `None` if the value is not a known number.
    #[must_use]
    pub fn as_number(&self) -> Option<&Number> {
        match &self.node {
            Node::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the elements of a known list, set or tuple; `None` for any other value.
    #[must_use]
    pub fn as_slice(&self) -> Option<&[Value]> {
        match self.kind() {
            Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the entries of a known map or object; `None` for any other value.
    #[must_use]
    #[inline]
    pub fn as_map(&self) -> Option<&ValueMap> {
        match self.kind() {
            Kind::Map(entries) | Kind::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns an attribute of a known object, without the marks of the object.
    #[must_use]
    pub fn get_attr(&self, name: &str) -> Option<Value> {
        match self.kind() {
            Kind::Object(attributes) => attributes.get(name).cloned(),
            _ => None,
        }
    }

    /// Returns the keys and elements of a known container, in order; a set's elements are their own keys. Empty
    /// for every other value.
    pub fn elements(&self) -> impl Iterator<Item = (Value, &Value)> {
        let keyed = self.as_map().into_iter().flatten();
        let keyed = keyed.map(|(key, value)| (Value::plain(Node::String(key.to_text())), value));
        let is_set = matches!(self.node, Node::Set(_));
        let indexed = self.as_slice().into_iter().flatten().enumerate().map(move |(i, value)| {
            let key = if is_set { value.clone() } else { Value::number(Number::from(i)) };
            (key, value)
        });
        keyed.chain(indexed)
    }

    /// Returns the number of stored elements or attributes of a known container. In a set with unknown elements,
    /// some may turn out to be equal. `None` for any other value.
    #[must_use]
    pub fn stored_length(&self) -> Option<usize> {
        self.as_slice().map(<[Value]>::len).or_else(|| self.as_map().map(|it| it.len()))
    }

    /// Returns the known facts about the value as refinements; for a known value, its exact range.
    #[must_use]
    pub fn range(&self) -> Refinements {
        match self.kind() {
            Kind::Null => Refinements::NONE,
            Kind::Unknown(refinements) => refinements.clone(),
            Kind::Number(number) => Refinements::non_null()
                .with_lower(number.clone(), true)
                .with_upper(number.clone(), true),
            Kind::String(text) => Refinements::non_null().with_prefix(text),
            Kind::List(_) | Kind::Map(_) | Kind::Set(_) => node::length_range(self),
            _ => Refinements::non_null(),
        }
    }

    /// Returns the value, with more refinements if it is unknown. Marks stay.
    #[must_use]
    pub fn refined(&self, more: &Refinements) -> Value {
        match &self.node {
            Node::Unknown(unknown) => {
                let refined =
                    Value::unknown_with(unknown.ty.clone(), unknown.refinements.and(more));
                refined.with_marks(&self.marks)
            }
            _ => self.clone(),
        }
    }

    /// Returns the value, refined to be not null if it is unknown. Marks stay.
    #[must_use]
    pub fn refined_not_null(&self) -> Value {
        if self.is_definitely_not_null() {
            self.clone()
        } else {
            self.refined(&Refinements::non_null())
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::string(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::string(value)
    }
}

impl From<Str> for Value {
    fn from(value: Str) -> Value {
        Value::string(value)
    }
}

impl From<Number> for Value {
    fn from(value: Number) -> Value {
        Value::number(value)
    }
}

#[cfg(test)]
mod tests;
