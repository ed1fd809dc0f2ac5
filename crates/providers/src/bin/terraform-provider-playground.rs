//! The playground as a separate executable, for `terraform` and `tofu`.

use std::process::ExitCode;

use providers::playground;

fn main() -> ExitCode {
    mayfly_sdk::main_of(playground::provider(), playground::SOURCE)
}
