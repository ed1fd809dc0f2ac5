//! Messages of conditions that would show a secret, in the words that the analysis and whoever runs them share.

use values::MarkKind;

/// The id of the diagnostic.
pub const ID: &str = "error-message-marks";

/// Its summary.
pub fn summary(kind: MarkKind) -> String {
    format!("Error message refers to {} values", words(kind).0)
}

/// Its detail.
pub fn detail(kind: MarkKind) -> String {
    let (kind, way_out) = words(kind);
    format!(
        "The error expression used to explain this condition refers to {kind} values, so Mayfly will not display the resulting message.\n\nYou can correct \
         this by removing references to {kind} values or by utilizing the builtin {way_out}."
    )
}

/// What a message must not show, and how it is made to; all that is not ephemeral is sensitive.
fn words(kind: MarkKind) -> (&'static str, &'static str) {
    match kind {
        MarkKind::Ephemeral => ("ephemeral", "ephemeralasnull() function"),
        _ => (
            "sensitive",
            "nonsensitive() function, if the message does not reveal the sensitive data",
        ),
    }
}
