//! Tests of the real executable as a language server over standard input and output.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the tests look at processes and files, and say what they skip"
)]

mod bench;
mod diagnostics;
mod editors;
mod features;
mod races;
#[cfg(unix)]
mod reading;
mod robustness;
mod secrets;
mod statics;
mod tfvars;
