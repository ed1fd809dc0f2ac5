//! Settings of the process that protect secrets and the state. The process cannot be dumped, and a panic prints only
//! its code location, never a message that might quote a value. In addition, `allocator.rs` clears memory when it is
//! freed. A write beyond the file size limit is an error, not the end of the process.

/// Makes the process undumpable and replaces the panic hook. Must be called first.
pub(crate) fn harden() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    #[cfg(target_os = "linux")]
    disable_huge_pages();
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    std::panic::set_hook(Box::new(|info| {
        use std::io::Write as _;
        let place =
            info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        let _ = writeln!(
            std::io::stderr(),
            "\nMayfly crashed at {place}. This is a bug. All changes made so far are kept in the \
             state. Values in memory are not shown here."
        );
    }));
}

/// Disables huge pages for this process and those that it starts. The heap has many small values in many pages: with
/// huge pages that are only partly used, clearing memory costs a quarter of the time of a large run. The allocator does
/// not ask for any (`no_thp`), but the system may use them without being asked.
#[cfg(target_os = "linux")]
fn disable_huge_pages() {
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail with an error, as on a full disk. Without a
/// handler, the signal would end the process before the state is saved. Child processes do not inherit the
/// handler.
pub(crate) fn report_file_size_limit() -> std::io::Result<()> {
    let kind = tokio::signal::unix::SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    tokio::signal::unix::signal(kind).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "secret-in-a-panic";
    const CHILD: &str = "MAYFLY_TEST_PANICS";

    #[test]
    fn panic_prints_its_location_without_the_message() {
        if std::env::var_os(CHILD).is_some() {
            harden();
            panic!("{SECRET}");
        }
        // A panic hook is global, so the panic happens in a child process: this test binary in another role.
        let test = "harden::tests::panic_prints_its_location_without_the_message";
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

    #[cfg(target_os = "linux")]
    #[test]
    fn huge_pages_are_disabled_for_the_process() {
        disable_huge_pages();
        let status = std::fs::read_to_string("/proc/self/status").expect("is readable");
        let enabled = status.lines().find_map(|it| it.strip_prefix("THP_enabled:"));
        // Kernels before 5.0 do not tell.
        assert_eq!(enabled.map_or("0", str::trim), "0");
    }
}
