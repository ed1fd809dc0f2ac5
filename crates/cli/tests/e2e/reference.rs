//! The real `tofu`, for tests that compare with it. `MAYFLY_TOFU` names the executable.

use std::io::Write;

/// The executable. `None`, with a message on stderr, if `MAYFLY_TOFU` is not set.
pub(crate) fn tofu(test: &str) -> Option<String> {
    let named = std::env::var("MAYFLY_TOFU").ok().filter(|it| !it.is_empty());
    if named.is_none() {
        // Write to stderr directly: the test harness captures the output of print macros.
        let _ = writeln!(std::io::stderr(), "skipped: {test}, because MAYFLY_TOFU is not set");
    }
    named
}
