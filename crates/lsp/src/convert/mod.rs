//! From what `ide` and the analysis say to what the protocol wants.

mod completion;
pub(crate) mod diagnostic;
mod hover;
mod inlay;
mod signature;
pub(crate) mod tokens;

pub(crate) use completion::completion;
pub(crate) use hover::hover;
pub(crate) use inlay::inlay_hints;
pub(crate) use signature::signature_help;
pub(crate) use tokens::{semantic_tokens, semantic_tokens_in};
