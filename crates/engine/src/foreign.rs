//! Diagnostics in the words of a provider.

use db::{Diagnostic, Summary};
use provider::ProviderDiagnostic;

/// Converts a diagnostic of a provider. `redact` removes secrets from its texts.
pub(crate) fn diagnostic(
    found: &ProviderDiagnostic,
    redact: impl Fn(&str) -> String,
) -> Diagnostic {
    let words = redact(&found.summary);
    let summary = match found.is_error() {
        true => Summary::provider_error(words),
        false => Summary::provider_warning(words),
    };
    Diagnostic::new(summary, redact(&found.detail))
}
