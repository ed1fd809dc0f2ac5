//! `mayfly/restful` as a separate executable, for `terraform` and `tofu`.

use std::process::ExitCode;

fn main() -> ExitCode {
    mayfly_sdk::main(providers::restful::Restful)
}
