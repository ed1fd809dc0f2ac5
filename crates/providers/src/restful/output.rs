//! `output` and `sensitive_output`: the answer of the API in the state.

use std::collections::BTreeSet;

use values::{Path, Type, Value};

use super::{
    document::{
        attributes::{Filter, FilterError},
        convert::{from_json_implied, to_json},
        overlap::difference,
        tree::Tree,
    },
    session::unusable,
};
use mayfly_sdk::{Diagnostic, Diagnostics, Key, Model, Object, validate::Validator};

/// The attributes for the answer of the API.
#[derive(Clone, Model)]
pub(super) struct Output {
    /// The parts of the answer that `output` keeps; by default all.
    #[attribute(validate = AreOutputPaths)]
    output_attrs: Option<BTreeSet<Option<String>>>,
    /// Store the answer in `sensitive_output` in place of `output`.
    #[attribute(requires_replace)]
    use_sensitive_output: Option<bool>,
    /// The answer of the API.
    #[attribute(computed)]
    output: Value,
    /// The answer of the API, if `use_sensitive_output` is true.
    #[attribute(computed, sensitive)]
    sensitive_output: Value,
}

/// A validator for `output_attrs`.
struct AreOutputPaths;

impl Validator for AreOutputPaths {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        let paths = value.elements().filter_map(|(_, it)| it.as_str());
        if let Err(error) = Filter::parse(paths) {
            diagnostics.error_at(path.clone(), "Invalid Output Attributes", error.to_string());
        }
    }
}

/// The attribute that has the answer.
pub(super) fn active(planned: &Object) -> Key<Value> {
    match planned.bool(Output::USE_SENSITIVE_OUTPUT) {
        Some(true) => Output::SENSITIVE_OUTPUT,
        Some(false) | None => Output::OUTPUT,
    }
}

impl Output {
    /// Stores an answer: the parts that `output_attrs` names, without those that an `ephemeral_body` of this shape set.
    /// An answer without bytes becomes null.
    ///
    /// # Errors
    /// Returns an error if the answer is not JSON, or has none of the structure that `output_attrs` names.
    pub(super) fn store(&mut self, answer: &[u8], shape: Option<&Tree>) -> Result<(), Diagnostic> {
        let value = self.kept(answer, shape)?;
        self.place(value);
        Ok(())
    }

    /// Stores an answer as [`Output::store`] does. If `output_attrs` does not fit it, nothing is stored, and the reason
    /// is returned: a refresh uses the attributes of the state, so an error would also prevent their correction.
    ///
    /// # Errors
    /// Returns an error if the answer is not JSON.
    pub(super) fn store_what_fits(
        &mut self,
        answer: &[u8],
        shape: Option<&Tree>,
    ) -> Result<Option<Diagnostic>, Diagnostic> {
        match self.store(answer, shape) {
            Err(mut misfit) if misfit.path.as_ref() == Some(&Output::OUTPUT_ATTRS.path()) => {
                misfit.severity = provider::Severity::Warning;
                misfit.detail =
                    format!("{} `output` is null until the attribute is corrected.", misfit.detail);
                self.clear();
                Ok(Some(misfit))
            }
            stored => stored.map(|()| None),
        }
    }

    /// Stores that there is no answer.
    pub(super) fn clear(&mut self) {
        self.place(Value::null(Type::Dynamic));
    }

    fn place(&mut self, value: Value) {
        let other = Value::null(Type::Dynamic);
        (self.output, self.sensitive_output) = match self.use_sensitive_output {
            Some(true) => (other, value),
            Some(false) | None => (value, other),
        };
    }

    fn kept(&self, answer: &[u8], shape: Option<&Tree>) -> Result<Value, Diagnostic> {
        let filter = Filter::parse(self.output_attrs.iter().flatten().flatten());
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
    pub(super) fn document(&self) -> Result<Vec<u8>, Diagnostic> {
        let (name, value) = match self.output.is_null() {
            false => ("output", &self.output),
            true => ("sensitive_output", &self.sensitive_output),
        };
        let json = to_json(value).map_err(|it| unusable(name, &it.to_string()))?;
        Ok(json.unwrap_or_default().into_bytes())
    }
}
