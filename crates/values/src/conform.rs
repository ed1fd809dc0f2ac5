//! Checks whether the type of a value conforms to the type of a schema, without conversion.

use crate::{Path, Type, Value};

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
