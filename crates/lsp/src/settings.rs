//! What a person has set.
//!
//! A setting that is not there, or that is no setting, is what it was by default: an editor's configuration is hostile
//! input like any other.

use serde_json::Value;

/// All of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) inlay_hints: InlayHints,
    /// Whether lenses count references.
    pub(crate) reference_counts: bool,
}

/// Which hints are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InlayHints {
    /// That something is ephemeral or sensitive.
    pub(crate) marks: bool,
    /// Types of local values.
    pub(crate) types: bool,
    /// That a value is known after apply only.
    pub(crate) unknown: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            inlay_hints: InlayHints { marks: true, types: true, unknown: true },
            reference_counts: true,
        }
    }
}

impl Settings {
    /// The settings that `initializationOptions` or the section `mayfly` of the configuration say; the others stay.
    pub(crate) fn with(self, options: &Value) -> Settings {
        let options = options.get("mayfly").unwrap_or(options);
        let flag = |group: &str, name: &str, default: bool| {
            options.pointer(&format!("/{group}/{name}")).and_then(Value::as_bool).unwrap_or(default)
        };
        Settings {
            inlay_hints: InlayHints {
                marks: flag("inlayHints", "marks", self.inlay_hints.marks),
                types: flag("inlayHints", "types", self.inlay_hints.types),
                unknown: flag("inlayHints", "unknown", self.inlay_hints.unknown),
            },
            reference_counts: flag("codeLens", "references", self.reference_counts),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Settings;

    #[test]
    fn what_is_no_setting_changes_nothing() {
        for options in
            [json!(null), json!([]), json!({"inlayHints": 1, "codeLens": {"references": "no"}})]
        {
            assert_eq!(Settings::default().with(&options), Settings::default(), "{options}");
        }
        let set = Settings::default().with(&json!({"mayfly": {"inlayHints": {"types": false}}}));
        assert!(set.inlay_hints.marks && !set.inlay_hints.types && set.reference_counts);
    }
}
