//! The diagnostic for an error message of a condition that contains secret values, shared by the analysis and the
//! engine.

use db::Summary;
use values::MarkKind;

/// The summary of the warning.
pub fn summary(kind: MarkKind) -> Summary {
    match kind {
        MarkKind::Ephemeral => Summary::EPHEMERAL_ERROR_MESSAGE,
        _ => Summary::SENSITIVE_ERROR_MESSAGE,
    }
}

/// The summary of the error for a validation that failed.
pub fn failed_summary(kind: MarkKind) -> Summary {
    match kind {
        MarkKind::Ephemeral => Summary::EPHEMERAL_VALIDATION_MESSAGE,
        _ => Summary::SENSITIVE_VALIDATION_MESSAGE,
    }
}

/// The detail of the diagnostic.
pub fn detail(kind: MarkKind) -> String {
    let (kind, way_out) = words(kind);
    format!(
        "The error expression used to explain this condition refers to {kind} values, so Mayfly \
         will not display the resulting message.\n\nYou can correct this by removing references to \
         {kind} values or by utilizing the builtin {way_out}."
    )
}

/// The adjective for the mark and the function that removes it. All marks but ephemeral count as sensitive.
fn words(kind: MarkKind) -> (&'static str, &'static str) {
    match kind {
        MarkKind::Ephemeral => ("ephemeral", "ephemeralasnull() function"),
        _ => (
            "sensitive",
            "nonsensitive() function, if the message does not reveal the sensitive data",
        ),
    }
}
