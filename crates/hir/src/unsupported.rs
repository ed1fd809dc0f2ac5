//! Parts of the language that this version does not run. They are refused wherever they are found, by the analysis and
//! once more by whoever would run them, in the same words: to go on as if they were not there would do something else
//! than what was asked for.

use crate::item::Block;

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

/// What is not supported about `backend "type" {}`: state is kept in local files, where flags say.
pub fn backend(backend: &Block) -> Option<String> {
    let kind = backend.labels.first().map(|it| &**it).unwrap_or_default();
    match kind {
        "local" if backend.body.attrs.is_empty() && backend.body.blocks.is_empty() => None,
        "local" => Some(
            "arguments of the local backend (use the flags -state and -state-out instead)"
                .to_owned(),
        ),
        _ => Some(format!("the backend \"{kind}\" (state is kept in local files only)")),
    }
}
