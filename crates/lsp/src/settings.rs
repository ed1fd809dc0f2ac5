//! The settings of the user.
//!
//! A missing or malformed setting has its default value, because the configuration of an editor is untrusted
//! input.

use serde_json::Value;

/// All settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) inlay_hints: InlayHints,
    /// True if code lenses show the number of references.
    pub(crate) reference_counts: bool,
}

/// The kinds of inlay hints to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InlayHints {
    /// True for hints about ephemeral and sensitive values.
    pub(crate) marks: bool,
    /// True for hints about the types of local values.
    pub(crate) types: bool,
    /// True for hints about values that are known only after apply.
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
    /// The settings after an update from `initializationOptions` or from the section `mayfly` of the
    /// configuration. Settings that `options` does not contain keep their values.
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
    fn invalid_settings_are_ignored() {
        for options in
            [json!(null), json!([]), json!({"inlayHints": 1, "codeLens": {"references": "no"}})]
        {
            assert_eq!(Settings::default().with(&options), Settings::default(), "{options}");
        }
        let set = Settings::default().with(&json!({"mayfly": {"inlayHints": {"types": false}}}));
        assert!(set.inlay_hints.marks && !set.inlay_hints.types && set.reference_counts);
    }
}
