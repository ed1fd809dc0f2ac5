//! Links the executable at a fixed address on Linux.
//!
//! A position-independent executable has 90,000 pointers that the dynamic loader must relocate at each start: a
//! millisecond and 300 page faults, which a small `validate` would feel. The executables of Go, terraform and OpenTofu
//! are linked in the same way. Libraries, heap and stacks keep their random addresses.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo passes the target to a build script in variables"
)]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is_linux && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
