use values::{Kind, Path, Step, Value};

use crate::schema::Block;

/// The paths for which a provider requires replacement, sorted by whether they change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplacePaths {
    /// Paths whose value changes, may change, or is write-only.
    pub changed: Vec<Path>,
    /// True if a changed path leads to a write-only attribute: the object is replaced although its values are
    /// equal.
    pub has_write_only: bool,
    /// Paths that exist in neither object, which is an error of the provider.
    pub nonexistent: Vec<Path>,
}

/// Selects the paths whose values differ between the prior and the planned object. Without a prior object nothing
/// is replaced.
///
/// A path that exists in only one of the objects counts as changed. So does a comparison whose result is unknown.
pub fn replace_paths(
    block: &Block,
    prior: &Value,
    planned: &Value,
    requires_replace: &[Path],
) -> ReplacePaths {
    let mut found = ReplacePaths::default();
    if prior.is_null() {
        return found;
    }
    let (prior, planned) = (prior.without_all_marks(), planned.without_all_marks());
    for path in requires_replace {
        let write_only = block.attribute_by_path(path).is_some_and(|it| it.write_only);
        let changed = match (resolve(&prior, path), resolve(&planned, path)) {
            (None, None) => {
                found.nonexistent.push(path.clone());
                continue;
            }
            (Some(prior), Some(planned)) => planned.equals(&prior).as_bool() != Some(true),
            _ => true,
        };
        if changed || write_only {
            found.has_write_only |= write_only;
            found.changed.push(path.clone());
        }
    }
    found
}

/// Resolves a path as an expression does: names also select map elements, and string indexes also select
/// attributes.
fn resolve(value: &Value, path: &Path) -> Option<Value> {
    path.steps().iter().try_fold(value.clone(), |value, step| {
        if !value.is_known() {
            return Some(Value::dynamic());
        }
        match (value.kind(), step) {
            (Kind::Object(parts) | Kind::Map(parts), Step::Attr(name)) => parts.get(name).cloned(),
            (Kind::Object(parts), Step::Index(key)) => parts.get(key.as_str()?).cloned(),
            (Kind::Map(_) | Kind::List(_) | Kind::Tuple(_), step) => step.apply(&value),
            _ => None,
        }
    })
}
