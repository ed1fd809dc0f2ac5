//! Links the executable at a fixed address, on x86-64 Linux with glibc, and places the functions together that
//! commands execute.
//!
//! A position-independent executable has 90,000 pointers that the dynamic loader must relocate at each start: 0.9
//! milliseconds and 300 page faults, which a small `validate` would feel. The executables of Go, terraform and OpenTofu
//! are linked in the same way. Libraries, heap and stacks keep their random addresses.
//!
//! A static executable (`+crt-static`) stays as it is: the flag would make it a dynamic one.
//!
//! Linux maps 64 KiB of an executable around each page that a process touches. With the functions in the order of
//! crates and modules, `plan` has 20 MB of machine code in memory; with the executed ones together, 10 MB.
//! `cargo xtask function-order` writes the linker script. Debug builds do without it, because they link often.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo passes the target to a build script in variables"
)]

use std::{env, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=function_order.ld");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|it| it == "crt-static");
    if !is_linux || !is("CARGO_CFG_TARGET_ARCH", "x86_64") || is_static {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let is_native = env::var("HOST") == env::var("TARGET");
    if is("PROFILE", "release") && is_native && is_linker_known() {
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-T{folder}/function_order.ld");
    }
}

/// Returns true if the linker is that of GNU or LLVM: others refuse scripts, or read only some of them.
fn is_linker_known() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if env::var_os("RUSTC_LINKER").is_some() || flags.contains("link") || flags.contains("-ld") {
        return false;
    }
    // The compiler links by `cc`, and by a linker of its own only if it brings that of LLVM.
    let version = Command::new("cc").arg("-Wl,--version").output();
    let version = version.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    version.is_ok_and(|it| it.contains("GNU ld") || it.contains("LLD"))
}
