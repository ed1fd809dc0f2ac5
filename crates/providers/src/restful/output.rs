//! `output` and `sensitive_output`: the answer of the API in the state.

use values::{Path, Type, Value};

use super::{
    document::{
        attributes::{Filter, FilterError},
        convert::{from_json_implied, to_json},
        overlap::difference,
        tree::Tree,
    },
    schema::{OUTPUT, SENSITIVE_OUTPUT},
    session::unusable,
};
use mayfly_sdk::{Diagnostic, Object};

/// Stores an answer: the parts that `output_attrs` names, without those that an `ephemeral_body` of this shape set.
/// An answer without bytes becomes null.
///
/// # Errors
/// Returns an error if the answer is not JSON, or has none of the structure that `output_attrs` names.
pub(super) fn store(
    state: &mut Object,
    answer: &[u8],
    shape: Option<&Tree>,
) -> Result<(), Diagnostic> {
    let value = kept(state, answer, shape)?;
    place(state, value);
    Ok(())
}

/// Stores an answer as [`store`] does. If `output_attrs` does not fit it, nothing is stored, and the reason is
/// returned: a refresh uses the attributes of the state, so an error would also prevent their correction.
///
/// # Errors
/// Returns an error if the answer is not JSON.
pub(super) fn store_what_fits(
    state: &mut Object,
    answer: &[u8],
    shape: Option<&Tree>,
) -> Result<Option<Diagnostic>, Diagnostic> {
    let attribute = Path::root().attr("output_attrs");
    match store(state, answer, shape) {
        Err(mut misfit) if misfit.path.as_ref() == Some(&attribute) => {
            misfit.severity = provider::Severity::Warning;
            misfit.detail =
                format!("{} `output` is null until the attribute is corrected.", misfit.detail);
            clear(state);
            Ok(Some(misfit))
        }
        stored => stored.map(|()| None),
    }
}

/// Stores that there is no answer.
pub(super) fn clear(state: &mut Object) {
    place(state, Value::null(Type::Dynamic));
}

fn place(state: &mut Object, value: Value) {
    let (active, other) = names(state);
    state.set(active, value);
    state.set(other, Value::null(Type::Dynamic));
}

/// The attribute that has the answer, and the one that is null.
fn names(state: &Object) -> (&'static str, &'static str) {
    match state.bool("use_sensitive_output") {
        Some(true) => (SENSITIVE_OUTPUT, OUTPUT),
        Some(false) | None => (OUTPUT, SENSITIVE_OUTPUT),
    }
}

/// The attribute that has the answer.
pub(super) fn active(state: &Object) -> &'static str {
    names(state).0
}

fn kept(state: &Object, answer: &[u8], shape: Option<&Tree>) -> Result<Value, Diagnostic> {
    let filter = Filter::parse(state.strings("output_attrs"));
    let filter = filter.map_err(|it| unusable("output_attrs", &it.to_string()))?;
    let unread = |it: &dyn std::fmt::Display| {
        let detail = format!("The answer of the API is not used: {it}.");
        Diagnostic::error("Answer Cannot Be Stored", detail)
    };
    let text = match answer.is_empty() {
        true => String::new(),
        false => filter.apply(answer).map_err(|it| match it {
            FilterError::Json(it) => unread(&it),
            it => unusable("output_attrs", &it.to_string()),
        })?,
    };
    let text = match (shape, text.is_empty()) {
        (Some(shape), false) => {
            difference(Tree::parse(text.as_bytes()).map_err(|it| unread(&it))?, shape).text()
        }
        _ => text,
    };
    from_json_implied(text.as_bytes()).map_err(|it| unread(&it))
}

/// Returns the stored answer as JSON, the document of expressions. Without one, there are no bytes.
pub(super) fn document(state: &Object) -> Result<Vec<u8>, Diagnostic> {
    let stored = [OUTPUT, SENSITIVE_OUTPUT].into_iter().find(|it| !state.is_absent(it));
    let Some(name) = stored else { return Ok(Vec::new()) };
    let json = to_json(&state.attr(name)).map_err(|it| unusable(name, &it.to_string()))?;
    Ok(json.unwrap_or_default().into_bytes())
}
