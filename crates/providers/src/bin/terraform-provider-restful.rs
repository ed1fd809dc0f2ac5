//! `mayfly/restful` as a separate executable, for `terraform` and `tofu`.

#![expect(clippy::print_stderr, reason = "a plugin that a person starts says so on stderr")]

use std::process::ExitCode;

fn main() -> ExitCode {
    match providers::serve_restful() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
