//! `mayfly/local` as a separate executable, for `terraform` and `tofu`.

use std::process::ExitCode;

fn main() -> ExitCode {
    mayfly_sdk::main(providers::local::Local)
}
