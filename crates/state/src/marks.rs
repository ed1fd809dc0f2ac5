//! The only way from marked values to files: ephemeral parts are refused, and sensitive parts become paths.

use values::{Mark, MarkKind, Marks, Path, Value};

use crate::error::EncodeError;

/// Splits a value into its unmarked form and the paths of its sensitive parts. Deprecation marks are dropped,
/// because the next run derives them from the configuration again.
///
/// `what` names the value in errors.
pub(crate) fn split(value: &Value, what: &str) -> Result<(Value, Vec<Path>), EncodeError> {
    if value.deep_marks().is_empty() {
        return Ok((value.clone(), Vec::new()));
    }
    let (plain, marked) = value.unmark_deep();
    let mut sensitive = Vec::new();
    for (path, marks) in marked {
        if marks.has(MarkKind::Ephemeral) {
            return Err(EncodeError::ephemeral(what, &path));
        }
        if marks.has(MarkKind::Sensitive) {
            sensitive.push(path);
        }
    }
    Ok((plain, sensitive))
}

/// Marks the parts at the paths as sensitive again.
pub(crate) fn join(value: &Value, sensitive: &[Path]) -> Value {
    if sensitive.is_empty() {
        return value.clone();
    }
    let marks = Marks::from(Mark::Sensitive);
    let marked: Vec<_> = sensitive.iter().map(|path| (path.clone(), marks.clone())).collect();
    value.with_path_marks(&marked)
}
