//! Conversion of the results of `ide` and the analysis to protocol types.

pub(crate) mod calls;
mod completion;
pub(crate) mod diagnostic;
mod edits;
mod formatting;
mod hover;
mod inlay;
pub(crate) mod lenses;
mod navigation;
mod ranges;
mod signature;
mod symbols;
pub(crate) mod tokens;

pub(crate) use completion::{completion, completion_in_variables_file};
pub(crate) use edits::{code_actions, prepare_rename, rename};
pub(crate) use formatting::{formatting, formatting_of_variables_file};
pub(crate) use hover::{hover, hover_in_variables_file};
pub(crate) use inlay::inlay_hints;
pub(crate) use navigation::{definition, highlights, references};
pub(crate) use ranges::{folds, links, selections};
pub(crate) use signature::signature_help;
pub(crate) use symbols::{document_symbols, workspace_symbols};
pub(crate) use tokens::{semantic_tokens, semantic_tokens_in};
