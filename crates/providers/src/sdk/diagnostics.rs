//! What a provider says of a call, while the call runs.

use provider::{ProviderDiagnostic, Severity};
use values::Path;

/// One thing that a provider says. Its texts must not quote secrets.
pub type Diagnostic = ProviderDiagnostic;

/// Collects what is said during one call.
#[derive(Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Says one more thing.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Says an error about the call as a whole.
    pub fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Diagnostic::error(summary, detail));
    }

    /// Says an error about a part of the configuration.
    pub fn error_at(&mut self, path: Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Diagnostic::error(summary, detail).at(path));
    }

    /// Says a warning about a part of the configuration.
    pub fn warn_at(&mut self, path: Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Diagnostic::warning(summary, detail).at(path));
    }

    /// Whether anything said is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|it| it.severity == Severity::Error)
    }

    /// Takes in how a step ended.
    pub(super) fn absorb(&mut self, ended: Result<(), Diagnostic>) {
        if let Err(diagnostic) = ended {
            self.push(diagnostic);
        }
    }

    /// All that was said, in order.
    #[must_use]
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}
