//! Walks through values, and rebuilds values from changed parts.

use std::sync::Arc;

use super::{Entries, Items, Kind, Node, Value};
use crate::{Number, Path, Step, Str, ValueMap};

impl Value {
    /// Returns the parts of a known container, each with the step that leads to it; empty for other values.
    pub fn parts(&self) -> impl Iterator<Item = (Step, &Value)> {
        let is_object = matches!(self.node, Node::Object(_));
        let attributes = self.as_map().filter(|_| is_object).into_iter().flatten();
        let attributes = attributes.map(|(name, value)| (Step::Attr(name.clone()), value));
        let elements = (!is_object).then(|| self.elements()).into_iter().flatten();
        attributes.chain(elements.map(|(key, value)| (Step::Index(key), value)))
    }

    /// Returns the container with each part replaced, and other values unchanged. Marks of the container stay. The
    /// type follows the new parts, except that a list, set or map keeps its element type if the parts disagree.
    #[must_use]
    pub fn map_parts(&self, mut replace: impl FnMut(&Step, &Value) -> Value) -> Value {
        let mapped = match &self.node {
            Node::List(items) | Node::Set(items) | Node::Tuple(items) => {
                let changed: Vec<Value> =
                    self.parts().map(|(step, part)| replace(&step, part)).collect();
                if changed.iter().zip(items.as_slice()).all(|(new, old)| same(new, old)) {
                    return self.clone();
                }
                self.with_items(changed)
            }
            Node::Map(_) | Node::Object(_) => {
                let changed: ValueMap = self
                    .as_map()
                    .into_iter()
                    .flatten()
                    .map(|(key, part)| (key.clone(), replace(&self.step_to(key), part)))
                    .collect();
                self.with_entries(changed)
            }
            _ => return self.clone(),
        };
        mapped.with_marks(&self.marks)
    }

    /// Rebuilds the value from the leaves up: `replace` receives each part after its own parts have been replaced.
    #[must_use]
    pub fn transform(&self, replace: &mut impl FnMut(&Path, &Value) -> Value) -> Value {
        self.transform_at(&mut Path::root(), replace)
    }

    fn transform_at(
        &self,
        path: &mut Path,
        replace: &mut impl FnMut(&Path, &Value) -> Value,
    ) -> Value {
        let inner = self.map_parts(|step, part| {
            path.push(step.clone());
            let changed = part.transform_at(path, replace);
            path.pop();
            changed
        });
        replace(path, &inner)
    }

    /// Returns the value with null in place of everything that is unknown.
    #[must_use]
    pub fn with_unknown_as_null(&self) -> Value {
        if self.is_wholly_known() {
            return self.clone();
        }
        self.transform(&mut |_, part| match part.is_known() {
            true => part.clone(),
            false => Value::null(part.ty()).with_marks(&part.marks),
        })
    }

    /// Calls `visit` for the value and all its parts, outermost first. If it returns false for a part, the walk
    /// skips the parts of that part.
    pub fn walk(&self, visit: &mut impl FnMut(&Path, &Value) -> bool) {
        self.walk_at(&mut Path::root(), visit);
    }

    fn walk_at(&self, path: &mut Path, visit: &mut impl FnMut(&Path, &Value) -> bool) {
        if !visit(path, self) {
            return;
        }
        for (step, part) in self.parts() {
            path.push(step);
            part.walk_at(path, visit);
            path.pop();
        }
    }

    /// Returns true if `part` occurs in a text anywhere inside the value, whatever its marks.
    pub fn has_text(&self, part: &str) -> bool {
        self.as_str().is_some_and(|it| it.contains(part))
            || self.parts().any(|(_, inner)| inner.has_text(part))
    }

    /// Returns the path of an infinite number, or `None` if there is none. Plans and states cannot represent
    /// infinity.
    pub fn infinite_part(&self) -> Option<Path> {
        if !self.has_infinity() {
            return None;
        }
        match self.kind() {
            Kind::Number(number) => number.is_infinite().then(Path::root),
            _ => self.parts().find_map(|(step, part)| {
                let inner = part.infinite_part()?;
                Some(Path::from_iter([step]).join(&inner))
            }),
        }
    }

    /// Returns true if the value is or contains an infinite number. Unlike [`Value::infinite_part`], does not
    /// allocate.
    fn has_infinity(&self) -> bool {
        match self.kind() {
            Kind::Number(number) => number.is_infinite(),
            Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
                items.iter().any(Value::has_infinity)
            }
            Kind::Map(entries) | Kind::Object(entries) => entries.values().any(Value::has_infinity),
            Kind::Null | Kind::Unknown(_) | Kind::Bool(_) | Kind::String(_) => false,
        }
    }

    /// Returns the value with the part at `step` replaced; unchanged if there is no such part.
    #[must_use]
    pub fn with_part(&self, step: &Step, replace: impl FnOnce(&Value) -> Value) -> Value {
        let mut replace = Some(replace);
        self.map_parts(|at, part| match replace.take_if(|_| at == step) {
            Some(replace) => replace(part),
            None => part.clone(),
        })
    }

    fn step_to(&self, key: &Str) -> Step {
        match self.node {
            Node::Object(_) => Step::Attr(key.clone()),
            _ => Step::Index(Value::string(key.clone())),
        }
    }

    fn with_items(&self, items: Vec<Value>) -> Value {
        match &self.node {
            Node::List(old) => match agreed_type(items.iter()) {
                Some(element) => Value::list(element, items),
                None => Value::plain(Node::List(Arc::new(Items::new(old.ty(), items)))),
            },
            Node::Set(_) => {
                let declared = self.ty().element().cloned().unwrap_or(crate::Type::Dynamic);
                Value::set(agreed_type(items.iter()).unwrap_or(declared), items)
            }
            _ => Value::tuple(items),
        }
    }

    fn with_entries(&self, entries: ValueMap) -> Value {
        match &self.node {
            Node::Map(old) => match agreed_type(entries.values()) {
                Some(element) => Value::map(element, entries),
                None => Value::plain(Node::Map(Arc::new(Entries::map(old.ty(), entries)))),
            },
            _ => Value::object(entries),
        }
    }

    /// Returns an index as a step.
    #[must_use]
    pub fn index_step(index: usize) -> Step {
        Step::Index(Value::number(Number::from(index)))
    }
}

fn agreed_type<'a>(mut values: impl Iterator<Item = &'a Value>) -> Option<crate::Type> {
    let first = values.next()?.ty();
    values.all(|value| value.ty() == first).then_some(first)
}

/// Returns true if both share the same node and have the same marks. False if equality cannot be determined
/// cheaply.
fn same(a: &Value, b: &Value) -> bool {
    a.shares_node(b) && a.marks == b.marks
}
