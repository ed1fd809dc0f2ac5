//! The diagnostics of a call.

use provider::{ProviderDiagnostic, Severity};
use values::{Kind, Path, Value};

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
        self.count_errors() > 0
    }

    pub(crate) fn count_errors(&self) -> usize {
        self.0.iter().filter(|it| it.severity == Severity::Error).count()
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

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(diagnostics: I) -> Diagnostics {
        Diagnostics(diagnostics.into_iter().collect())
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

/// The key of an element for the path of a diagnostic. The key of an element of a set is the element itself, which may
/// be secret, so an unknown one stands for it.
pub(crate) fn public_key(collection: &Value, key: Value) -> Value {
    if matches!(collection.kind(), Kind::Set(_)) { Value::dynamic() } else { key }
}

/// The text of a path in a sentence, without the dot before its first attribute.
#[must_use]
pub fn shown(path: &Path) -> String {
    path.to_string().trim_start_matches('.').to_owned()
}
