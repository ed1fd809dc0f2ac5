//! Checks whether the type of a value conforms to the type of a schema, without conversion.

use crate::{Kind, Path, Str, Type, Value};

/// A position at which a type differs from the wanted one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The path to the part that differs.
    pub path: Path,
    /// The description of the difference, such as `attribute "a" is required`.
    pub message: String,
}

/// Returns the differences between `given` and `want`; empty if the type conforms. A [`Type::Dynamic`] in `want`
/// accepts every type. Optional markers in `want` are ignored.
#[must_use]
pub fn conforms(given: &Type, want: &Type) -> Vec<Mismatch> {
    let mut acc = Vec::new();
    compare(&mut acc, &mut Path::root(), given, want);
    acc
}

/// Returns the differences between the type of `value` and `want`, as [`conforms`] does. The type of an object that
/// conforms is not built.
#[must_use]
pub fn value_conforms(value: &Value, want: &Type) -> Vec<Mismatch> {
    match is_of_type(value, want) {
        true => Vec::new(),
        false => conforms(&value.ty(), want),
    }
}

fn is_of_type(value: &Value, want: &Type) -> bool {
    match (value.kind(), want) {
        (Kind::Object(given), Type::Object(want)) => {
            let has_type = |((name, value), (wanted, ty)): ((&Str, &Value), (&Str, &Type))| {
                name == wanted && is_of_type(value, ty)
            };
            given.len() == want.len() && given.iter().zip(want.iter()).all(has_type)
        }
        (_, Type::Dynamic) => true,
        _ => conforms(&value.ty(), want).is_empty(),
    }
}

fn compare(acc: &mut Vec<Mismatch>, path: &mut Path, given: &Type, want: &Type) {
    match (given, want) {
        (_, Type::Dynamic) => {}
        (given, want) if given == want => {}
        (Type::List(given), Type::List(want))
        | (Type::Set(given), Type::Set(want))
        | (Type::Map(given), Type::Map(want)) => {
            let key =
                if matches!(want.as_ref(), Type::Map(_)) { Type::String } else { Type::Number };
            path.push(crate::Step::Index(Value::unknown(key)));
            compare(acc, path, given, want);
            path.pop();
        }
        (Type::Tuple(given), Type::Tuple(want)) => {
            if given.len() != want.len() {
                report(
                    acc,
                    path,
                    format!("{} elements are required, but got {}", want.len(), given.len()),
                );
                return;
            }
            for (i, (given, want)) in given.iter().zip(want.iter()).enumerate() {
                path.push(Value::index_step(i));
                compare(acc, path, given, want);
                path.pop();
            }
        }
        (Type::Object(given), Type::Object(want)) => compare_objects(acc, path, given, want),
        _ => report(acc, path, format!("{} required", want.friendly_constraint())),
    }
}

fn compare_objects(
    acc: &mut Vec<Mismatch>,
    path: &mut Path,
    given: &crate::ObjectType,
    want: &crate::ObjectType,
) {
    for (name, _) in given.iter().filter(|(name, _)| want.get(name).is_none()) {
        report(acc, path, format!("unsupported attribute {name:?}"));
    }
    for (name, want) in want.iter() {
        let Some(given) = given.get(name) else {
            report(acc, path, format!("attribute {name:?} is required"));
            continue;
        };
        path.push(crate::Step::Attr(name.clone()));
        compare(acc, path, given, want);
        path.pop();
    }
}

fn report(acc: &mut Vec<Mismatch>, path: &Path, message: String) {
    acc.push(Mismatch { path: path.clone(), message });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &Value, want: &[(&str, Type)], expected: &[&str]) {
        let want = Type::object(want.iter().cloned());
        let found = value_conforms(value, &want);
        assert_eq!(found, conforms(&value.ty(), &want));
        let found: Vec<String> =
            found.iter().map(|it| format!("{}: {}", it.path, it.message)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn values_are_compared_with_a_type() {
        let value = Value::object_from([
            ("a", Value::int(1)),
            ("b", Value::unknown(Type::String)),
            ("c", Value::object_from([("d", Value::null(Type::Bool))])),
        ]);
        let inner = |ty| Type::object([("d", ty)]);
        let fits = [("a", Type::Number), ("b", Type::String), ("c", inner(Type::Bool))];
        check(&value, &fits, &[]);
        check(&value, &[("a", Type::Dynamic), fits[1].clone(), ("c", inner(Type::Dynamic))], &[]);
        check(&value, &[fits[0].clone(), fits[1].clone()], &[": unsupported attribute \"c\""]);
        check(
            &value,
            &[fits[0].clone(), ("b", Type::Number), ("c", inner(Type::String))],
            &[".b: number required", ".c.d: string required"],
        );
    }
}
