//! The pages that explain diagnostics: `docs/diagnostics/CODE.md`, one for each rule.

use db::Rule;

/// Includes the texts in the executable.
macro_rules! pages {
    ($($rule:ident $code:literal,)*) => {
        /// Returns the text of a rule's page.
        pub(super) fn page(rule: db::Rule) -> &'static str {
            match rule {
                $(db::Rule::$rule => include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"), "/../../docs/diagnostics/", $code, ".md"
                )),)*
            }
        }
    };
}

#[path = "generated/pages.rs"]
mod generated;

/// Returns the Markdown text of a rule's page.
pub(crate) fn page(rule: Rule) -> &'static str {
    generated::page(rule)
}
