//! Refuses write-only values from a core that does not support write-only attributes.

use provider::{ProviderDiagnostic, Schema, ValidateRequest, write_only_paths};
use values::Value;

/// Returns one error for each write-only attribute that is set. A core that does not announce support for
/// write-only attributes would write their values to its state.
pub(super) fn refusals(request: &ValidateRequest, schema: &Schema) -> Vec<ProviderDiagnostic> {
    let paths = write_only_paths(&request.config, schema.block()).into_iter();
    let set =
        paths.filter(|path| path.apply(&request.config).is_some_and(|it: Value| !it.is_null()));
    let refusal = |path: values::Path| {
        let detail = format!(
            "{path} is write-only, which the program that asks does not support. Upgrade it."
        );
        ProviderDiagnostic::error("WriteOnly Attribute Not Allowed", detail).at(path)
    };
    set.map(refusal).collect()
}

#[cfg(test)]
mod tests {
    use provider::{Attribute, Block};
    use sorted::SortedMap;
    use values::Type;

    use super::*;

    #[test]
    fn write_only_values_are_refused_only_if_set() {
        let write_only = Attribute { write_only: true, ..Attribute::optional(Type::String) };
        let attributes = [("name", Attribute::optional(Type::String)), ("pass_wo", write_only)];
        let attributes: SortedMap<_, _> = attributes.map(|(name, it)| (name.into(), it)).into();
        let schema = Schema::new(0, Block::new(attributes, SortedMap::new()));
        let request = |secret: Value| ValidateRequest {
            type_name: "t".into(),
            config: Value::object_from([("name", Value::string("n")), ("pass_wo", secret)]),
        };
        assert!(refusals(&request(Value::null(Type::String)), &schema).is_empty());
        let refused = refusals(&request(Value::string("s")), &schema);
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].path.as_ref().map(ToString::to_string).as_deref(), Some(".pass_wo"));
        assert!(!refused[0].detail.contains("\"s\""));
    }
}
