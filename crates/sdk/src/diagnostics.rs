//! The diagnostics of a call.

use provider::{ProviderDiagnostic, Severity};
use values::Path;

/// A diagnostic of a provider. Its texts must not quote secrets.
pub type Diagnostic = ProviderDiagnostic;

/// The diagnostics that are collected during one call.
#[derive(Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds an error about the call as a whole.
    pub fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Diagnostic::error(summary, detail));
    }

    /// Adds an error about a part of the configuration.
    pub fn error_at(&mut self, path: Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Diagnostic::error(summary, detail).at(path));
    }

    /// Adds a warning about a part of the configuration.
    pub fn warn_at(&mut self, path: Path, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Diagnostic::warning(summary, detail).at(path));
    }

    /// Returns true if there is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|it| it.severity == Severity::Error)
    }

    /// Adds the error of a step, if it failed.
    pub(crate) fn absorb(&mut self, ended: Result<(), Diagnostic>) {
        if let Err(diagnostic) = ended {
            self.push(diagnostic);
        }
    }

    /// Returns all diagnostics in order.
    #[must_use]
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }
}

/// Converts other errors to diagnostics.
pub trait OrDiagnostic<T> {
    /// Replaces the error by a diagnostic with this summary and the text of the error as detail. The text must not
    /// quote secrets.
    ///
    /// # Errors
    /// If `self` is an error.
    fn or_diagnostic(self, summary: impl Into<String>) -> Result<T, Diagnostic>;
}

impl<T, E: std::fmt::Display> OrDiagnostic<T> for Result<T, E> {
    fn or_diagnostic(self, summary: impl Into<String>) -> Result<T, Diagnostic> {
        self.map_err(|error| Diagnostic::error(summary, error.to_string()))
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

/// The text of a path in a sentence, without the dot before its first attribute.
#[must_use]
pub fn shown(path: &Path) -> String {
    path.to_string().trim_start_matches('.').to_owned()
}
