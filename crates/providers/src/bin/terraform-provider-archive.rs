//! `mayfly/archive` as a separate executable, for `terraform` and `tofu`.

use std::process::ExitCode;

fn main() -> ExitCode {
    mayfly_sdk::main(providers::archive::Archive)
}
