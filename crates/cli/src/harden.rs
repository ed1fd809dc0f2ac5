//! What keeps secrets inside the process (DESIGN 3): memory is cleared when it is freed (`allocator.rs`), the process cannot be
//! dumped, and a panic prints a place, never a message that might quote a value.

/// Makes the process undumpable and its panics discreet. To be called first.
pub(crate) fn harden() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    // Many small values in many pages: clearing huge pages that are used in part costs a quarter of a large run.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    std::panic::set_hook(Box::new(|info| {
        use std::io::Write as _;
        let place =
            info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        let _ = writeln!(
            std::io::stderr(),
            "\nMayfly crashed at {place}. This is a bug. What was done so far is kept in the state; nothing of the values in memory is shown \
             here."
        );
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "secret-in-a-panic";
    const CHILD: &str = "MAYFLY_TEST_PANICS";

    #[test]
    fn a_panic_tells_its_place_and_no_message() {
        if std::env::var_os(CHILD).is_some() {
            harden();
            panic!("{SECRET}");
        }
        // Hooks are of the whole process, so another one panics: this test, in another role.
        let test = "harden::tests::a_panic_tells_its_place_and_no_message";
        let program = std::env::current_exe().expect("is known");
        let ended = std::process::Command::new(program)
            .args([test, "--exact", "--nocapture"])
            .env(CHILD, "1")
            .output()
            .expect("starts");
        let printed = String::from_utf8_lossy(&[ended.stdout, ended.stderr].concat()).into_owned();
        assert!(!ended.status.success());
        assert!(printed.contains("Mayfly crashed at crates/cli/src/harden.rs:"), "{printed}");
        assert!(!printed.contains(SECRET), "{printed}");
    }
}
