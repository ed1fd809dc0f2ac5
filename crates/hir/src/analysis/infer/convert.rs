//! Conversion of abstract values: types, marks and structure as the conversion of values has them.

use std::sync::Arc;

use values::{Type, convert, rules::RuleId};

use super::{Flow, Infer};
use crate::{
    analysis::value::{Abstract, Inside},
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
            None => result_type(&value.ty, to),
        };
        let mut hoisted = Flow::default();
        let inside = match (to, &value.inside) {
            (Type::Set(_), _) => {
                // A set cannot hold marked elements.
                let elements = Abstract { marks: Default::default(), ..value.clone() };
                hoisted.add(self.rule_marks(RuleId::SetConstruction, &elements), value);
                Inside::PLAIN
            }
            (_, inside) => self.converted_inside(inside, &ty),
        };
        hoisted.onto(Abstract { ty, constant, inside, ..value.clone() })
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
        let constant = element.constant.clone().filter(|it| it.0.is_null());
        let inside = match &element.inside {
            inside if inside.marks() == Default::default() => Inside::PLAIN,
            inside => inside.clone(),
        };
        Abstract { ty: Type::Dynamic, constant, inside, ..element.clone() }
    }
}

/// The type after a conversion. What is open on both sides is decided by values.
fn result_type(from: &Type, to: &Type) -> Type {
    if to.has_dynamic() && from.has_dynamic() {
        return to.without_optional();
    }
    convert::result_type(from, to)
}
