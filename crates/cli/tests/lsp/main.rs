//! The language server of the real executable, over its standard input and output.

#![expect(clippy::disallowed_methods, reason = "the tests look at processes and files")]

mod bench;
mod diagnostics;
mod features;
mod races;
mod robustness;
