//! Language features that this version does not support. The analysis refuses them, and so does the engine, with
//! the same diagnostic: to ignore a feature would do something else than the configuration asks for.

use db::Rule;

/// The id of the diagnostic.
pub const ID: Rule = Rule::NotSupportedYet;

/// The detail of the diagnostic; `what` completes the sentence "does not support …".
pub fn detail(what: &str) -> String {
    format!(
        "This version of Mayfly does not support {what}, and does not run a configuration that \
         uses it. Nothing was done. Remove it from the configuration to continue."
    )
}

/// The words for an unsupported backend. `None` for `local`, the only supported backend: state is kept in local
/// files.
pub fn backend(kind: &str) -> Option<String> {
    (kind != "local").then(|| format!("the backend \"{kind}\" (state is kept in local files only)"))
}

/// The words for a `cloud` block, which is unsupported.
pub fn cloud() -> String {
    "\"cloud\" in the terraform block".to_owned()
}
