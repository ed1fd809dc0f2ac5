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
//! crates and modules, a small `plan` has 20 MB of machine code in memory; with the executed ones together, 10 MB.
//! `cargo xtask function-order` writes the linker script. Debug builds do without it, because they link often, and
//! profile-guided ones, because the linker sees no crates then. `MAYFLY_FUNCTION_ORDER=off` does without it, too.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo passes the target to a build script in variables"
)]

use std::{env, fs, path::Path, process::Command};

/// The linker script.
const SCRIPT: &str = "function_order.ld";

/// The variable that disables the script.
const SWITCH: &str = "MAYFLY_FUNCTION_ORDER";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={SWITCH}");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let is_static = features.split(',').any(|it| it == "crt-static");
    if !is_linux || !is("CARGO_CFG_TARGET_ARCH", "x86_64") || is_static {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let is_native = env::var("HOST") == env::var("TARGET");
    if is("PROFILE", "release") && is_native && !is(SWITCH, "off") && is_linker_known() {
        println!("cargo::rerun-if-changed={SCRIPT}");
        let folder = env::var("OUT_DIR").expect("cargo sets it");
        // Cargo corrects the path of this copy if the project is moved.
        fs::copy(SCRIPT, Path::new(&folder).join(SCRIPT)).expect("the script is readable");
        println!("cargo::rustc-link-arg-bins=-T{folder}/{SCRIPT}");
    }
}

/// Returns true if the linker is that of GNU or LLVM, and sees crates. The linker gold refuses scripts with `INSERT`,
/// mold refuses those with `SECTIONS`.
fn is_linker_known() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_other = flags.split('\u{1f}').any(|flag| {
        let flag = flag.strip_prefix("-C").or(flag.strip_prefix("-Z")).unwrap_or(flag);
        ["link", "profile-"].iter().any(|it| flag.starts_with(it))
    });
    if is_other || env::var_os("RUSTC_LINKER").is_some() {
        return false;
    }
    // The compiler calls `cc`, which calls the system's linker or, with a compiler that brings it, that of LLVM. If the
    // system's is unknown, the script is left out in both cases, which costs memory alone.
    let version = Command::new("cc").arg("-Wl,--version").output();
    let version = version.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    version.is_ok_and(|it| it.starts_with("GNU ld") || it.contains("LLD"))
}
