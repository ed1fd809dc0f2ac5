//! The parts in which two values differ.

use sorted::TreeSet;
use values::{Kind, Marks, Path, Step, Value};

/// The part of a value at steps that may name the keys of maps as attributes, with the marks of the parts around it.
/// An unknown value has unknown parts.
pub(crate) fn part(value: &Value, steps: &[Step]) -> Value {
    let (mut value, mut marks) = (value.clone(), Marks::default());
    for step in steps {
        marks.add(value.marks());
        value = match value.is_known() {
            true => normal(&value, step).apply(&value).unwrap_or_else(null),
            false => Value::dynamic(),
        };
    }
    value.with_marks(&marks)
}

fn null() -> Value {
    Value::null(values::Type::Dynamic)
}

/// A path in the notation that the value has: attributes of objects, keys of maps.
pub(crate) fn normal_path(value: &Value, steps: &[Step]) -> Path {
    let mut value = value.clone();
    let mut path = Path::root();
    for step in steps {
        let step = normal(&value, step);
        value = step.apply(&value).unwrap_or_else(Value::dynamic);
        path.push(step);
    }
    path
}

fn normal(value: &Value, step: &Step) -> Step {
    match (value.kind(), step) {
        (Kind::Map(_), Step::Attr(name)) => Step::Index(Value::string(name.clone())),
        (Kind::Object(_), Step::Index(key)) => match key.as_str() {
            Some(name) => Step::Attr(name.into()),
            None => step.clone(),
        },
        _ => step.clone(),
    }
}

/// Returns true if two values have the same known content. Marks do not count.
pub(crate) fn is_same(before: &Value, after: &Value) -> bool {
    before.is_wholly_known()
        && after.is_wholly_known()
        && before.without_all_marks().equals(&after.without_all_marks()).as_bool() == Some(true)
}

/// The smallest parts in which two values differ, in the order of their names. Elements of lists and sets are no
/// parts: only objects and maps are divided.
pub(crate) fn differing(before: &Value, after: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    compare(before, after, &mut Path::root(), &mut found);
    found
}

fn compare(before: &Value, after: &Value, at: &mut Path, found: &mut Vec<Path>) {
    if is_same(before, after) {
        return;
    }
    let (Some(old), Some(new)) = (before.as_map(), after.as_map()) else {
        return found.push(at.clone());
    };
    let names: TreeSet<_> = old.keys().chain(new.keys()).collect();
    let absent = null();
    for name in names {
        at.push(match before.kind() {
            Kind::Map(_) => Step::Index(Value::string(name.clone())),
            _ => Step::Attr(name.clone()),
        });
        let (a, b) = (old.get(name).unwrap_or(&absent), new.get(name).unwrap_or(&absent));
        compare(a, b, at, found);
        at.pop();
    }
}
