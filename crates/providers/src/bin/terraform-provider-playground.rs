//! The playground as a separate executable, for `terraform` and `tofu`. With `-debug`, a person starts it, and it
//! prints the variable that makes a core find it.

#![expect(clippy::print_stderr, reason = "a plugin that a person starts says so on stderr")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let debug = std::env::args().skip(1).any(|it| it == "-debug" || it == "--debug");
    let served = if debug {
        providers::serve_playground_for_debugging()
    } else {
        providers::serve_playground()
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
