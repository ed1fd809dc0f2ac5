//! Conversion of abstract values. Types, marks and structure change as the conversion of runtime values changes
//! them.

use std::sync::Arc;

use values::{MarkKind, Type, convert, rules::RuleId};

use crate::{
    analysis::{
        infer::{
            Infer,
            flow::{Contribution, Flow},
        },
        value::{
            Abstract,
            inside::{Attrs, Inside, Presence},
            marks::{Tri, TriMarks},
            when::{Ephemerality, When},
        },
    },
    eval::constraint::with_defaults,
    item::{ConstValue, DefaultStep, Defaults, TypeConstraint},
};

impl Infer<'_> {
    /// Converts a value to a type. Where the type is open, the value keeps its own.
    pub(super) fn converted(&self, value: &Abstract, to: &Type) -> Abstract {
        if *to == Type::Dynamic || (value.ty == *to && !to.has_dynamic()) {
            return value.clone();
        }
        let converted = |constant: &Arc<ConstValue>| convert::convert(&constant.0, to).ok();
        let constant = value.constant.as_ref().and_then(converted).map(ConstValue::shared);
        let ty = match &constant {
            Some(constant) => constant.0.ty(),
            // The types of the other parts depend on the part whose type is not known yet.
            None if is_open(value) && to.has_dynamic() => to.without_optional(),
            None => result_type(&value.ty, to),
        };
        let mut flow = Flow::default();
        let mut ephemeral = value.ephemeral.clone();
        let inside = match to {
            Type::Set(_) => {
                // A set cannot hold marked elements. An attribute that the conversion leaves out marks nothing.
                let list = Type::list(ty.element().cloned().unwrap_or(Type::Dynamic));
                let inside = self.converted_inside(&value.inside, &value.ty, &list);
                let kept = kept_inside(value, &inside, &list);
                let elements = Abstract {
                    marks: TriMarks::NONE,
                    inside,
                    ephemeral: Ephemerality::new(When::Never, kept),
                    ..value.clone()
                };
                flow.add(self.contribution(RuleId::SetConstruction, &elements), value);
                ephemeral = ephemeral.with_inside(When::Never);
                Inside::PLAIN
            }
            _ => {
                let inside = self.converted_inside(&value.inside, &value.ty, &ty);
                ephemeral = ephemeral.with_inside(kept_inside(value, &inside, &ty));
                inside
            }
        };
        if is_read_from_elements(&value.ty, to) && may_shape(value) {
            // The new element type contains attribute names from ephemeral elements.
            let marks = value.inner_marks().only(MarkKind::Ephemeral);
            let when = value.ephemeral.inside().clone();
            flow.add(Contribution { marks, when }.weakened(), value);
        }
        // While elements of a set are unknown, so is a list of them.
        let waits = matches!((&value.ty, to), (Type::Set(_), Type::List(_)));
        let presence = if waits { value.presence.min(Presence::NotNull) } else { value.presence };
        flow.onto(Abstract { ty, constant, inside, presence, ephemeral, ..value.clone() })
    }

    /// Converts a value to a type constraint. Defaults of optional attributes are filled in first.
    pub(super) fn given_type(&self, value: &Abstract, constraint: &TypeConstraint) -> Abstract {
        match &constraint.defaults {
            Some(defaults) => {
                self.converted(&self.filled(value, defaults, &constraint.ty), &constraint.ty)
            }
            None => self.converted(value, &constraint.ty),
        }
    }

    /// Returns the value with defaults for attributes that are missing or may be null.
    fn filled(&self, value: &Abstract, defaults: &Defaults, to: &Type) -> Abstract {
        if value.is_null() {
            return value.clone();
        }
        let inside = self.filled_inside(value, defaults, to);
        // The parts of a collection take one common type after they are filled in.
        let inside = match value.ty {
            Type::Object(_) | Type::Tuple(_) => inside,
            _ => inside.map(&mut Abstract::opened),
        };
        let constant = value.constant.as_ref();
        let constant = constant.map(|it| with_defaults(defaults, to, it.0.clone()));
        let ty = match &constant {
            Some(constant) => constant.ty(),
            None if value.ty.is_collection() && !to.has_dynamic() => value.ty.clone(),
            None => Type::Dynamic,
        };
        let waits = matches!((&value.ty, to), (Type::Set(_), Type::List(_)));
        let presence = if waits { value.presence.min(Presence::NotNull) } else { value.presence };
        let filled = Abstract {
            ty,
            constant: constant.map(ConstValue::shared),
            inside,
            presence,
            ..value.clone()
        };
        // A default may replace a value that was marked.
        let ephemeral = match &filled.inside {
            _ if value.ephemeral.inside().is_never() && filled.inside.ephemeral().is_never() => {
                value.ephemeral.clone()
            }
            inside if value.presence == Presence::Known => {
                filled.ephemeral.with_inside(match inside {
                    Inside::Opaque(_) => value.ephemeral.inside().weakened(),
                    inside => inside.ephemeral(),
                })
            }
            inside => {
                let when = value.ephemeral.inside().weakened().or(&inside.ephemeral().weakened());
                filled.ephemeral.with_inside(when)
            }
        };
        Abstract { ephemeral, ..filled }
    }

    fn filled_inside(&self, value: &Abstract, defaults: &Defaults, to: &Type) -> Inside {
        let filled_part = |part: &Abstract, step: &DefaultStep, to: Option<&Type>| {
            let mut children = defaults.children.iter();
            match (children.find(|(at, _)| at == step), to) {
                (Some((_, child)), Some(to)) => self.filled(part, child, to),
                _ => part.clone(),
            }
        };
        match (&value.inside, to) {
            (Inside::Attrs(attrs), Type::Object(object)) => {
                let with_default = defaults.attributes.iter().map(|(name, default)| {
                    (name.clone(), self.given_or_default(attrs.get(name), default))
                });
                let mut attrs = Attrs::clone(attrs);
                attrs.extend(with_default.collect::<Vec<_>>());
                let filled = attrs.iter().map(|(name, attr)| {
                    let step = DefaultStep::Attr(name.clone());
                    (name.clone(), filled_part(attr, &step, object.get(name)))
                });
                Inside::attrs(filled.collect())
            }
            (Inside::Items(items), Type::Tuple(types)) => {
                let positions = (0..).map(DefaultStep::Position);
                let items = items.iter().zip(positions).enumerate();
                let filled =
                    items.map(|(at, (item, step))| filled_part(item, &step, types.get(at)));
                Inside::items(filled.collect())
            }
            (Inside::Opaque(marks), _) => Inside::Opaque(marks.weakened()),
            (inside, to) if to.is_collection() => {
                inside.map(&mut |part| filled_part(part, &DefaultStep::Element, to.element()))
            }
            // A marked part may be a null, which a default replaces.
            (inside, _) => Inside::Opaque(inside.marks().weakened()),
        }
    }

    /// Returns an attribute, or its default if it is missing or null.
    fn given_or_default(&self, given: Option<&Abstract>, default: &ConstValue) -> Abstract {
        let default = Abstract::constant(default.0.clone());
        let Some(given) = given else { return default };
        if !given.is_null() && given.presence >= Presence::NotNull {
            return given.clone();
        }
        let mut flow = Flow::default();
        flow.add(self.contribution(RuleId::OptionalDefault, given), given);
        let presence = if default.is_null() { given.presence } else { Presence::NotNull };
        let default = flow.onto(default);
        match given.is_null() {
            true => default,
            false => Abstract { presence, ..given.either(&default) },
        }
    }

    fn converted_inside(&self, inside: &Inside, from: &Type, to: &Type) -> Inside {
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
            // The marked part may be one that is left out.
            (inside, to) if leaves_out(from, to) => Inside::Opaque(inside.marks().weakened()),
            (inside, _) => Inside::Opaque(inside.marks()),
        }
    }

    /// Converts an element of a collection. If the element type is open, all elements take one common type, which
    /// is not computed here.
    fn element(&self, element: &Abstract, to: &Type) -> Abstract {
        if !to.has_dynamic() {
            return self.converted(element, to);
        }
        let inside = match &element.inside {
            inside if inside.marks() == Default::default() => Inside::PLAIN,
            inside if leaves_out(&element.ty, to) => Inside::Opaque(inside.marks().weakened()),
            inside => inside.map(&mut Abstract::opened),
        };
        let ephemeral = match leaves_out(&element.ty, to) {
            true => element.ephemeral.with_inside(element.ephemeral.inside().weakened()),
            false => element.ephemeral.clone(),
        };
        let presence = element.open_presence();
        let (ty, constant) = (Type::Dynamic, None);
        Abstract { ty, constant, inside, ephemeral, presence, ..element.clone() }
    }
}

/// The condition that something inside of a value is ephemeral after its conversion.
fn kept_inside(value: &Abstract, converted: &Inside, to: &Type) -> When {
    let before = value.ephemeral.inside();
    let is_known = value.presence == Presence::Known;
    match converted {
        _ if before.is_never() && converted.ephemeral().is_never() => When::Never,
        Inside::Attrs(_) | Inside::Items(_) if is_known => converted.ephemeral(),
        _ if leaves_out(&value.ty, to) => before.weakened(),
        _ => before.clone(),
    }
}

/// Returns true if a conversion may leave out attributes that the target type does not have.
fn leaves_out(from: &Type, to: &Type) -> bool {
    let has_object = |ty: &Type| leaves_out(&Type::Dynamic, ty);
    match (from, to) {
        (Type::Object(from), Type::Object(to)) => {
            from.iter().any(|(name, ty)| to.get(name).is_none_or(|to| leaves_out(ty, to)))
        }
        (_, Type::Object(_)) => true,
        (Type::Object(from), Type::Map(to)) => from.iter().any(|(_, ty)| leaves_out(ty, to)),
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => {
            from.iter().any(|ty| leaves_out(ty, to))
        }
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.iter().zip(to.iter()).any(|(from, to)| leaves_out(from, to))
        }
        (Type::List(from) | Type::Set(from), Type::List(to) | Type::Set(to))
        | (Type::Map(from), Type::Map(to)) => leaves_out(from, to),
        (_, Type::List(to) | Type::Set(to) | Type::Map(to)) => has_object(to),
        (_, Type::Tuple(to)) => to.iter().any(has_object),
        _ => false,
    }
}

/// Returns true if the type is not certain until everything is known.
fn is_open(value: &Abstract) -> bool {
    value.has_open_type() || !value.failing.keeps_type
}

/// Returns true if a conversion computes the element type from the elements.
fn is_read_from_elements(from: &Type, to: &Type) -> bool {
    matches!(from, Type::Tuple(_) | Type::Object(_) | Type::Dynamic) && to.has_dynamic()
}

/// Returns true if something inside may be ephemeral and have attribute names in its type.
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
    // The result of a `try` that waits has any type until then.
    let is_shaped = part.ty.is_shaped_by_values() || part.ty.has_dynamic() || part.has_open_type();
    (part.marks.ephemeral > Tri::No && is_shaped) || may_shape(part)
}

/// The type after a conversion. Where both types are open, the value decides.
fn result_type(from: &Type, to: &Type) -> Type {
    if to.has_dynamic() && from.has_dynamic() {
        return to.without_optional();
    }
    convert::result_type(from, to)
}
