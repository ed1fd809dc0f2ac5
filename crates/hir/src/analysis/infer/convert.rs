//! Conversion of abstract values: types, marks and structure as the conversion of values has them.

use std::sync::Arc;

use values::{MarkKind, Type, convert, rules::RuleId};

use super::{Flow, Infer};
use crate::{
    analysis::value::{Abstract, Inside, Presence, Tri, TriMarks},
    item::ConstValue,
};

impl Infer<'_> {
    /// The value converted to a type; what is open in the type stays as the value has it.
    pub(super) fn converted(&self, value: &Abstract, to: &Type) -> Abstract {
        if *to == Type::Dynamic || (value.ty == *to && !to.has_dynamic()) {
            return value.clone();
        }
        let converted = |constant: &ConstValue| convert::convert(&constant.0, to).ok();
        let constant = value.constant.as_ref().and_then(converted).map(ConstValue);
        let ty = match &constant {
            Some(constant) => constant.0.ty(),
            // Until a part has its type, nobody knows what they all become.
            None if is_open(value) && to.has_dynamic() => to.without_optional(),
            None => result_type(&value.ty, to),
        };
        let mut flow = Flow::default();
        let inside = match to {
            Type::Set(_) => {
                // A set cannot hold marked elements.
                let elements = Abstract { marks: TriMarks::NONE, ..value.clone() };
                flow.add(self.rule_marks(RuleId::SetConstruction, &elements), value);
                Inside::PLAIN
            }
            _ => self.converted_inside(&value.inside, &ty),
        };
        if is_read_from_elements(&value.ty, to) && may_shape(value) {
            // The new element type holds names out of ephemeral elements.
            flow.add(value.inner_marks().only(MarkKind::Ephemeral).weakened(), value);
        }
        // While elements of a set are unknown, so is a list of them.
        let waits = matches!((&value.ty, to), (Type::Set(_), Type::List(_)));
        let presence = if waits { value.presence.min(Presence::NotNull) } else { value.presence };
        flow.onto(Abstract { ty, constant, inside, presence, ..value.clone() })
    }

    fn converted_inside(&self, inside: &Inside, to: &Type) -> Inside {
        match (inside, to) {
            (Inside::Attrs(attrs), Type::Object(object)) => {
                let names = object.iter();
                let parts = names.map(|(name, ty)| match attrs.get(name) {
                    Some(attr) => (name.clone(), self.converted(attr, ty)),
                    None => (name.clone(), Abstract::constant(values::Value::null(ty.clone()))),
                });
                Inside::attrs(parts.collect())
            }
            (Inside::Attrs(attrs), Type::Map(element)) => {
                let parts = attrs.iter();
                Inside::attrs(
                    parts.map(|(name, attr)| (name.clone(), self.element(attr, element))).collect(),
                )
            }
            (Inside::Items(items), Type::List(element)) => {
                Inside::items(items.iter().map(|item| self.element(item, element)).collect())
            }
            (Inside::Items(items), Type::Tuple(types)) if items.len() == types.len() => {
                let pairs = items.iter().zip(types.iter());
                Inside::items(pairs.map(|(item, ty)| self.converted(item, ty)).collect())
            }
            (Inside::Each(each), Type::List(element) | Type::Map(element)) => {
                Inside::Each(Arc::new(self.element(each, element)))
            }
            (Inside::Opaque(marks), _) => Inside::Opaque(*marks),
            (inside, _) => Inside::Opaque(inside.marks()),
        }
    }

    /// An element of a collection. Where its type is open, all elements take one type, which is not looked for here.
    fn element(&self, element: &Abstract, to: &Type) -> Abstract {
        if !to.has_dynamic() {
            return self.converted(element, to);
        }
        let inside = match &element.inside {
            inside if inside.marks() == Default::default() => Inside::PLAIN,
            inside => inside.map(&mut Abstract::opened),
        };
        Abstract { ty: Type::Dynamic, constant: None, inside, ..element.clone() }
    }
}

/// Whether the type is not certain before everything is known.
fn is_open(value: &Abstract) -> bool {
    value.has_open_type() || !value.failing.keeps_type
}

/// Whether a conversion looks for the element type among the elements.
fn is_read_from_elements(from: &Type, to: &Type) -> bool {
    matches!(from, Type::Tuple(_) | Type::Object(_) | Type::Dynamic) && to.has_dynamic()
}

/// Whether something inside may be ephemeral and have names in its type.
fn may_shape(value: &Abstract) -> bool {
    match &value.inside {
        inside if inside.marks().ephemeral == Tri::No => false,
        Inside::Opaque(_) => true,
        Inside::Attrs(attrs) => attrs.values().any(is_or_may_shape),
        Inside::Items(items) => items.iter().any(is_or_may_shape),
        Inside::Each(element) => is_or_may_shape(element),
    }
}

fn is_or_may_shape(part: &Abstract) -> bool {
    // What a `try` waits for has any type until then.
    let is_shaped = part.ty.is_shaped_by_values() || part.ty.has_dynamic() || part.has_open_type();
    (part.marks.ephemeral > Tri::No && is_shaped) || may_shape(part)
}

/// The type after a conversion. What is open on both sides is decided by values.
fn result_type(from: &Type, to: &Type) -> Type {
    if to.has_dynamic() && from.has_dynamic() {
        return to.without_optional();
    }
    convert::result_type(from, to)
}
