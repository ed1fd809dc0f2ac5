//! Errors of the store as diagnostics.

use mayfly_sdk::Diagnostic;

use super::store::StoreError;

/// Converts an error of the store to a diagnostic. The error quotes no secret.
#[expect(clippy::needless_pass_by_value, reason = "it is used with `map_err`")]
pub(super) fn store_error(error: StoreError) -> Diagnostic {
    Diagnostic::error("The playground's store cannot be used", format!("Failed: {error}."))
}
