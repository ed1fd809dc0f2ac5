//! Parts of the language that this version does not run. They are refused wherever they are found, by the analysis and
//! once more by whoever would run them, in the same words: to go on as if they were not there would do something else
//! than what was asked for.

/// The id of the diagnostic.
pub const ID: &str = "not-supported-yet";

/// Its summary.
pub const SUMMARY: &str = "Not supported yet";

/// Its detail; `what` completes "does not support …".
pub fn detail(what: &str) -> String {
    format!(
        "This version of Mayfly does not support {what}, and does not run a configuration that asks for it. Nothing was done. Take it out of the \
         configuration to go on."
    )
}

/// What is not supported about a provisioner.
pub fn provisioner(kind: &str) -> Option<String> {
    (kind != "local-exec").then(|| format!("the provisioner \"{kind}\""))
}

/// What is not supported about `backend "type" {}`: state is kept in local files.
pub fn backend(kind: &str) -> Option<String> {
    (kind != "local").then(|| format!("the backend \"{kind}\" (state is kept in local files only)"))
}

/// What is not supported about `cloud {}`.
pub fn cloud() -> String {
    "\"cloud\" in the terraform block".to_owned()
}
