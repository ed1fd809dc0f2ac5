//! From what `ide` and the analysis say to what the protocol wants.

pub(crate) mod diagnostic;
mod hover;

pub(crate) use hover::hover;
