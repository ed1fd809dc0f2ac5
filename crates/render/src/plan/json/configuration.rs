//! The configuration behind a plan: what each block says, as constants or as the references in it.

use hir::Program;
use serde_json::{Value as Json, json};
use values::{Str, Value};

/// Defaults of the root module's variables, without those of ephemeral ones.
pub(super) fn defaults(program: &Program) -> Vec<(Str, Value)> {
    let _ = program;
    Vec::new()
}

/// The document.
pub(super) fn configuration(program: &Program) -> Json {
    let _ = program;
    json!({})
}
