//! The executable of the provider. A core such as `mayfly`, `tofu` or `terraform` starts it.

use std::process::ExitCode;

use terraform_provider_notes::NotesProvider;

fn main() -> ExitCode {
    mayfly_sdk::main(NotesProvider)
}
