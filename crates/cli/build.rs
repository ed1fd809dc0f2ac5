//! Links the executable at a fixed address, on x86-64 Linux with glibc.
//!
//! A position-independent executable has 90,000 pointers that the dynamic loader must relocate at each start: 0.9
//! milliseconds and 300 page faults, which a small `validate` would feel. The executables of Go, terraform and OpenTofu
//! are linked in the same way. Libraries, heap and stacks keep their random addresses.
//!
//! A static executable (`+crt-static`) stays as it is: the flag would make it a dynamic one.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo passes the target to a build script in variables"
)]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|it| it == "crt-static");
    if is_linux && is("CARGO_CFG_TARGET_ARCH", "x86_64") && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
