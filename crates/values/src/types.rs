//! Types of values, and their two texts: the name in messages and the constraint syntax.

use std::{collections::BTreeSet, fmt, sync::Arc};

use sorted::SortedMap;

use crate::Str;

/// A type of values. Cloning is cheap.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A type that is not known yet, or "any" in a constraint.
    Dynamic,
    /// True and false.
    Bool,
    /// Numbers, see [`crate::Number`].
    Number,
    /// Text in normalization form C.
    String,
    /// A sequence of values of one type.
    List(Arc<Type>),
    /// Distinct values of one type, in cty's order.
    Set(Arc<Type>),
    /// Values of one type under text keys.
    Map(Arc<Type>),
    /// A fixed sequence of values, each with its own type. A reference to a `Vec` takes one word, one to a slice two,
    /// and each value has room for a type.
    Tuple(Arc<Vec<Type>>),
    /// Named attributes, each with its own type.
    Object(Arc<ObjectType>),
}

/// The attributes of an object type. Optional attributes occur only in constraints, never in a value's type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ObjectType {
    attributes: SortedMap<Str, Type>,
    optional: BTreeSet<Str>,
    /// True if [`Type::Dynamic`] occurs inside. Cached, because large types are queried often.
    has_dynamic: bool,
    /// True if an optional attribute occurs inside.
    has_optional: bool,
}

impl ObjectType {
    /// Creates an object type whose attributes are all required. Names are normalized.
    pub fn new<N: AsRef<str>>(attributes: impl IntoIterator<Item = (N, Type)>) -> ObjectType {
        let attributes =
            attributes.into_iter().map(|(name, ty)| (crate::text::normalized(name.as_ref()), ty));
        ObjectType::of_normal_names(attributes.collect())
    }

    /// Creates an object type from names that are already normalized and shared.
    pub(crate) fn of_normal_names(attributes: SortedMap<Str, Type>) -> ObjectType {
        let has_dynamic = attributes.values().any(Type::has_dynamic);
        let has_optional = attributes.values().any(Type::has_optional);
        ObjectType { attributes, optional: BTreeSet::new(), has_dynamic, has_optional }
    }

    /// Returns true if every value of the type has exactly this type.
    pub(crate) fn is_exact(&self) -> bool {
        !self.has_dynamic && !self.has_optional
    }

    /// Returns the type with the named attributes marked optional; names without an attribute are ignored.
    #[must_use]
    pub fn with_optional<N: AsRef<str>>(
        mut self,
        names: impl IntoIterator<Item = N>,
    ) -> ObjectType {
        let names = names.into_iter().map(|name| crate::text::normalized(name.as_ref()));
        let attributes = &self.attributes;
        self.optional.extend(names.filter(|name| attributes.contains_key(name)));
        self.has_optional |= !self.optional.is_empty();
        self
    }

    /// Returns the shared name and the type of an attribute.
    pub(crate) fn entry(&self, name: &str) -> Option<(&Str, &Type)> {
        self.attributes.get_key_value(name)
    }

    /// Returns the type of an attribute.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Type> {
        self.attributes.get(name)
    }

    /// Returns all attributes in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Str, &Type)> {
        self.attributes.iter()
    }

    /// Returns true if a value may lack the attribute in a conversion.
    #[must_use]
    pub fn is_optional(&self, name: &str) -> bool {
        self.optional.contains(name)
    }

    /// Returns the names of the optional attributes, in order.
    pub fn optional(&self) -> impl ExactSizeIterator<Item = &Str> {
        self.optional.iter()
    }

    /// Returns the number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Returns true if there are no attributes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }
}

impl Type {
    /// Returns `list(element)`.
    #[must_use]
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }

    /// Returns `set(element)`.
    #[must_use]
    pub fn set(element: Type) -> Type {
        Type::Set(Arc::new(element))
    }

    /// Returns `map(element)`.
    #[must_use]
    pub fn map(element: Type) -> Type {
        Type::Map(Arc::new(element))
    }

    /// Returns `tuple([…])`.
    pub fn tuple(elements: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(Arc::new(elements.into_iter().collect()))
    }

    /// Returns `object({…})` with all attributes required.
    pub fn object<N: AsRef<str>>(attributes: impl IntoIterator<Item = (N, Type)>) -> Type {
        Type::Object(Arc::new(ObjectType::new(attributes)))
    }

    /// Returns the element type of a list, set or map; `None` for other types.
    #[must_use]
    pub fn element(&self) -> Option<&Type> {
        match self {
            Type::List(element) | Type::Set(element) | Type::Map(element) => Some(element),
            _ => None,
        }
    }

    /// Returns the attributes of an object type; `None` for other types.
    #[must_use]
    pub fn as_object(&self) -> Option<&Arc<ObjectType>> {
        match self {
            Type::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns the element types of a tuple type; `None` for other types.
    #[must_use]
    pub fn as_tuple(&self) -> Option<&[Type]> {
        match self {
            Type::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns true for a bool, number or string.
    #[must_use]
    pub fn is_primitive(&self) -> bool {
        matches!(self, Type::Bool | Type::Number | Type::String)
    }

    /// Returns true for a list, set or map.
    #[must_use]
    pub fn is_collection(&self) -> bool {
        self.element().is_some()
    }

    /// Returns true if the type contains attribute names or a number of elements at any depth. These come from
    /// values.
    pub fn is_shaped_by_values(&self) -> bool {
        match self {
            Type::Dynamic | Type::Bool | Type::Number | Type::String => false,
            Type::List(element) | Type::Set(element) | Type::Map(element) => {
                element.is_shaped_by_values()
            }
            Type::Tuple(_) | Type::Object(_) => true,
        }
    }

    /// Returns true if [`Type::Dynamic`] occurs anywhere inside.
    #[must_use]
    pub fn has_dynamic(&self) -> bool {
        match self {
            Type::Dynamic => true,
            Type::Bool | Type::Number | Type::String => false,
            Type::List(element) | Type::Set(element) | Type::Map(element) => element.has_dynamic(),
            Type::Tuple(elements) => elements.iter().any(Type::has_dynamic),
            Type::Object(object) => object.has_dynamic,
        }
    }

    /// Returns true if an optional attribute occurs anywhere inside.
    #[must_use]
    #[inline]
    pub fn has_optional(&self) -> bool {
        match self {
            Type::Dynamic | Type::Bool | Type::Number | Type::String => false,
            Type::List(element) | Type::Set(element) | Type::Map(element) => element.has_optional(),
            Type::Tuple(elements) => elements.iter().any(Type::has_optional),
            Type::Object(object) => object.has_optional,
        }
    }

    /// Returns the type with every attribute required, as in the type of a value.
    #[must_use]
    pub fn without_optional(&self) -> Type {
        if !self.has_optional() {
            return self.clone();
        }
        match self {
            Type::List(element) => Type::list(element.without_optional()),
            Type::Set(element) => Type::set(element.without_optional()),
            Type::Map(element) => Type::map(element.without_optional()),
            Type::Tuple(elements) => Type::tuple(elements.iter().map(Type::without_optional)),
            Type::Object(object) => {
                let attributes =
                    object.iter().map(|(name, ty)| (name.clone(), ty.without_optional()));
                Type::Object(Arc::new(ObjectType::of_normal_names(attributes.collect())))
            }
            other => other.clone(),
        }
    }

    /// Returns the name used in messages, such as `list of string`.
    #[must_use]
    pub fn friendly_name(&self) -> String {
        self.described("dynamic", "dynamic")
    }

    /// Returns the name of a constraint, in which [`Type::Dynamic`] reads `any type`.
    #[must_use]
    pub fn friendly_constraint(&self) -> String {
        self.described("any type", "any single type")
    }

    /// Returns the name of the type. `dynamic` names the open type, and `inner` names it as an element type.
    fn described(&self, dynamic: &str, inner: &str) -> String {
        match self {
            Type::Dynamic => dynamic.to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Number => "number".to_owned(),
            Type::String => "string".to_owned(),
            Type::List(element) => format!("list of {}", element.described(inner, inner)),
            Type::Set(element) => format!("set of {}", element.described(inner, inner)),
            Type::Map(element) => format!("map of {}", element.described(inner, inner)),
            Type::Tuple(_) => "tuple".to_owned(),
            Type::Object(_) => "object".to_owned(),
        }
    }
}

impl fmt::Display for Type {
    /// Writes the constraint syntax of a configuration: `list(string)`, `object({ name = string, size =
    /// optional(number) })`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dynamic => f.write_str("any"),
            Type::Bool => f.write_str("bool"),
            Type::Number => f.write_str("number"),
            Type::String => f.write_str("string"),
            Type::List(element) => write!(f, "list({element})"),
            Type::Set(element) => write!(f, "set({element})"),
            Type::Map(element) => write!(f, "map({element})"),
            Type::Tuple(elements) => {
                f.write_str("tuple([")?;
                for (i, element) in elements.iter().enumerate() {
                    write!(f, "{}{element}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str("])")
            }
            Type::Object(object) => fmt_object(object, f),
        }
    }
}

fn fmt_object(object: &ObjectType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if object.is_empty() {
        return f.write_str("object({})");
    }
    f.write_str("object({ ")?;
    for (i, (name, ty)) in object.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        if object.is_optional(name) {
            write!(f, "{name} = optional({ty})")?;
        } else {
            write!(f, "{name} = {ty}")?;
        }
    }
    f.write_str(" })")
}
